"""A kernel interrupt, or Ctrl-C, becomes the cancellation of the compositions somebody waits for.

A `KeyboardInterrupt` raised in the middle of an event loop leaves tasks behind whose ``finally`` never
runs, and ends a kernel when a task raises it. So, as long as a run is awaited in the main thread, SIGINT
cancels the run instead, and only where the run was started does the cancellation become a
`KeyboardInterrupt`.
"""

from __future__ import annotations

import _thread
import asyncio
import signal
import sys
import threading
import time
from contextlib import suppress
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import FrameType, TracebackType

__all__ = ["Interrupted", "Leaving", "Run", "is_for_all", "is_interrupt", "returned"]

T = TypeVar("T")

FIRST_RESEND_SECONDS = 0.4
NEXT_RESEND_SECONDS = 0.1
FRAGILE = frozenset({"agentctx_nb", "asyncio", "nest_asyncio", "nest_asyncio2"})
HOSTS = frozenset({"IPython", "concurrent", "ipykernel", "selectors", "tornado", "traitlets", "zmq"})

_around: ContextVar[Run[Any] | None] = ContextVar("agentctx_nb_run", default=None)


class Interrupted(asyncio.CancelledError):
    """The cancellation that SIGINT throws into code that holds the loop, as nothing else would reach it."""


def is_interrupt(error: asyncio.CancelledError) -> bool:
    """Whether a cancellation nobody else asked for comes from SIGINT, by itself or through a task of its own."""
    run = _around.get()
    while run is not None and (run.over or not run.asked):
        run = run.outer
    return run is not None or isinstance(error, Interrupted)


def is_for_all(error: BaseException) -> bool:
    """Whether an error ends more than the provider or action it came from.

    That is ``SystemExit`` or ``KeyboardInterrupt``, be it in a group, a coroutine that is closed, or SIGINT.
    """
    if isinstance(error, asyncio.CancelledError):
        return is_interrupt(error)
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup((SystemExit, KeyboardInterrupt)) is not None
    return isinstance(error, SystemExit | KeyboardInterrupt | GeneratorExit)


class Leaving:
    """What a coroutine raised, as a value: raised in a task of its own it would end the event loop."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


async def returned(coroutine: Coroutine[Any, Any, T]) -> T | Leaving:
    """Await ``coroutine``; where it exits or is interrupted, return that, to be raised by who waits."""
    __tracebackhide__ = True
    try:
        return await coroutine
    except (SystemExit, KeyboardInterrupt) as exc:
        return Leaving(exc)


class Run(Generic[T]):
    """One coroutine started as a task of ``loop``, cancelled by SIGINT while its ``with`` block lasts.

    The block ends with `KeyboardInterrupt` if a signal came, or with `CancelledError` where that would
    pass through the event loop: inside another run, or in a task of a kernel.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, T]) -> None:
        self.loop = loop
        self.asked = 0
        self.arrived = 0
        self.over = False
        self.outer = _around.get()
        context = copy_context()
        context.run(_around.set, self)
        self.task: asyncio.Task[T | Leaving] = context.run(loop.create_task, returned(coroutine))

    @property
    def late(self) -> bool:
        """Whether a cancellation was asked for that the loop has not come round to."""
        return self.arrived < self.asked

    def ask(self) -> None:
        """Have the loop cancel the task, waking the loop if it waits; safe in a signal handler."""
        self.asked += 1
        with suppress(RuntimeError):  # the loop is closed, so nothing runs there
            self.loop.call_soon_threadsafe(self._cancel)

    def outcome(self) -> T:
        """Return what the ended task returned, or raise what it left with."""
        __tracebackhide__ = True
        result = self.task.result()
        if isinstance(result, Leaving):
            raise result.error
        return result

    def _cancel(self) -> None:
        if self.late:
            self.arrived = self.asked
            self.task.cancel()

    def __enter__(self) -> Self:
        _watch.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        __tracebackhide__ = True
        self.over = True
        _watch.remove(self)
        if self.asked and (kind is None or not issubclass(kind, KeyboardInterrupt | SystemExit)):
            inside = self.outer is not None and not self.outer.over
            if inside or _in_bare_task(sys._getframe(1)):  # noqa: SLF001  the only way up the stack
                raise Interrupted from None
            raise KeyboardInterrupt from None


class _Watch:
    """The process's SIGINT handler while any run is active in the main thread."""

    def __init__(self) -> None:
        self._runs: list[Run[Any]] = []
        self._before: Any = None
        self._handler = self._handle
        self._lock = threading.Lock()
        self._resent = False
        self._insisting = False
        self._told: list[FrameType] = []

    def add(self, run: Run[Any]) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if not self._runs:
            before = signal.getsignal(signal.SIGINT)
            ignored = before is signal.SIG_IGN and "ipykernel" not in sys.modules  # a job in the background
            if before is None or ignored:
                return
            if before != self._handler:
                self._before = before
            signal.signal(signal.SIGINT, self._handler)
        self._runs.append(run)

    def remove(self, run: Run[Any]) -> None:
        if run not in self._runs:
            return
        with self._lock:  # not between the watchdog's look at the runs and its signal
            self._runs.remove(run)
        if not self._runs:
            self._told.clear()
            if signal.getsignal(signal.SIGINT) == self._handler:
                signal.signal(signal.SIGINT, self._before)

    def _handle(self, _number: int, frame: FrameType | None) -> None:
        # No runs: ipykernel put this handler back after a message it served during a run. Between
        # cells it ignores SIGINT, and so do we.
        if not self._runs:
            return
        blocked = any(run.late for run in self._runs)
        if self._resent:
            self._resent = False
        else:
            self._told.clear()
            for run in reversed(self._runs):
                run.ask()
            self._insist()
        culprit = _blocking_frame(frame) if blocked else None
        # Once for each press in one provider: its ``finally`` may take its time.
        if culprit is not None and not any(culprit is told for told in self._told):
            self._told.append(culprit)
            raise Interrupted

    def _insist(self) -> None:
        if not self._insisting:
            self._insisting = True
            # Not threading.Thread, whose lock the interrupted code may be holding.
            _thread.start_new_thread(self._watchdog, ())

    def _watchdog(self) -> None:
        seconds = FIRST_RESEND_SECONDS
        while True:
            time.sleep(seconds)
            with self._lock:
                if not any(run.late for run in self._runs):
                    self._insisting = False
                    return
                self._resent = True
                _signal_main_thread()
            seconds = NEXT_RESEND_SECONDS


def _signal_main_thread() -> None:
    main = threading.main_thread().ident
    if sys.platform == "win32" or main is None:
        _thread.interrupt_main()
    else:
        signal.pthread_kill(main, signal.SIGINT)  # unlike interrupt_main, this ends a sleep


def _room(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__") or ""
    return name.partition(".")[0]


def _blocking_frame(frame: FrameType | None) -> FrameType | None:
    """Return the outermost frame of the user's code that keeps the loop waiting.

    None where the loop itself is at work, or the code that runs the providers: an exception there
    would tear what has to stay whole.
    """
    if frame is None or _room(frame) in FRAGILE:
        return None
    outermost = None
    while frame is not None:
        name = frame.f_code.co_name
        room = _room(frame)
        if room == "asyncio" and name == "_run":
            break
        if room in FRAGILE and name == "_run_once":
            return None
        if room not in FRAGILE and room not in HOSTS:
            outermost = frame
        frame = frame.f_back
    return outermost


def _in_bare_task(frame: FrameType | None) -> bool:
    """Whether IPython's event loop, and no cell, would be the first to meet a `KeyboardInterrupt` from here."""
    in_callback = False
    while frame is not None:
        room = _room(frame)
        if room in {"IPython", "ipykernel"}:
            return in_callback
        in_callback = in_callback or (room == "asyncio" and frame.f_code.co_name == "_run")
        frame = frame.f_back
    return False


_watch = _Watch()  # signals belong to the process, so there is one
