"""The traceback of an error: where it starts for the one who reads it, and what its frames hold on to."""

from __future__ import annotations

from contextlib import suppress
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

__all__ = ["clear_frames_of", "place_of", "theirs", "traceback_of", "without_our_frames"]

_MAY_WAIT = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR  # code whose frame may be left and come back to
_NOTING = "agentctx_nb.usage."


def without_our_frames(error: Exception) -> Exception:
    """Return ``error`` with its traceback starting where the provider's own code does.

    What stands above it is this package, and asyncio where a worker thread's error came back. Below it, what
    notes the reads of an action is left out: to the one who reads, a `KeyError` of a dict is one of the dict.
    """
    trace = traceback_of(error)
    while trace is not None and _is_plumbing(trace.tb_frame.f_globals.get("__name__")):
        trace = trace.tb_next
    BaseException.with_traceback(error, trace)  # not its own, which may do anything
    last = trace
    while trace is not None:
        if not str(trace.tb_frame.f_globals.get("__name__")).startswith(_NOTING):
            last = trace
        trace = trace.tb_next
    if last is not None:
        last.tb_next = None
    return error


def clear_frames_of(ended: object, error: BaseException) -> None:
    """Let go of what our frames held that called the code an error arose in; ``ended`` is the run they served.

    A frame holds on to those that called it, and an error to those it came through. Ours hold the run, which
    holds the error: a circle that only the garbage collector ends, and with it all that stood in the provider.
    Frames of another run, which an error that is raised twice may lead to, can be those of a provider that
    still waits: only such are cleared as hold ``ended``, or were called by one that does.
    """
    for caused in _with_causes(error):
        trace = traceback_of(caused)
        around = [] if trace is None else [*_ours_around(trace.tb_frame.f_back)]
        while trace is not None and _is_ours(trace.tb_frame):
            around.insert(0, trace.tb_frame)
            trace = trace.tb_next
        within: list[FrameType] = []
        for frame in around:
            if not frame.f_code.co_flags & _MAY_WAIT:
                _clear(frame)
                continue
            within.append(frame)
            if any(held is ended for held in frame.f_locals.values()):
                for over in within:
                    _clear(over)
                within = []


def _with_causes(error: BaseException) -> list[BaseException]:
    """Return an error with all it came from and, of a group, all that are in it; past what their classes say."""
    found: dict[int, BaseException] = {}
    open_ones: list[BaseException | None] = [error]
    while open_ones:
        one = open_ones.pop()
        if one is None or id(one) in found:
            continue
        found[id(one)] = one
        open_ones += [BaseException.__dict__[name].__get__(one) for name in ("__cause__", "__context__")]
        if issubclass(type(one), BaseExceptionGroup):  # not asking the error itself, which may do anything
            open_ones += BaseExceptionGroup.__dict__["exceptions"].__get__(one)
    return list(found.values())


def _ours_around(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None and _is_ours(frame):
        yield frame
        frame = frame.f_back


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith("agentctx_nb.")


def _clear(frame: FrameType) -> None:
    with suppress(RuntimeError):  # it still runs, as of who asks for this
        frame.clear()
        frame.f_locals  # noqa: B018  read anew: 3.12 keeps what was there before


def place_of(error: BaseException) -> str:
    """Return where in the user's own code an error arose, as ``in get, line 4``; empty where it cannot be told.

    A line of one of the ready providers is none of the user's.
    """
    trace = traceback_of(error)
    if trace is None or str(trace.tb_frame.f_globals.get("__name__")).startswith("agentctx_nb.library"):
        return ""
    return f"in {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}"


def theirs(error: Exception) -> Exception | None:
    """Return ``error`` as the cause of one of ours where other people's code raised it, else None.

    One that came up in this package, as of ``int("five")``, tells nothing that ours does not.
    """
    return error if traceback_of(without_our_frames(error)) is not None else None


def traceback_of(error: BaseException) -> TracebackType | None:
    """Return the traceback of ``error``, whatever its class makes of ``__traceback__``."""
    trace: TracebackType | None = BaseException.__dict__["__traceback__"].__get__(error)
    return trace


def _is_plumbing(module: object) -> bool:
    if not isinstance(module, str):  # of code that was run from a text
        return False
    package, _, inner = module.partition(".")
    if package == "agentctx_nb":
        return not inner.startswith("library")
    return package in ("asyncio", "dotpromptz_handlebars")
