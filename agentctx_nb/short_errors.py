"""Errors, told to a person without the way they took through this package, and with no secret in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentctx_nb.errors import AgentCtxError
from agentctx_nb.tracebacks import traceback_of, without_our_frames

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["short_errors", "shorten"]


class _ShortErrors:
    """Out of a ``with`` block an error of ours comes with the frames of other people's code only.

    What the block of a method was called from adds itself again, so that a mistake shows as the line it
    stands in. Any other exception keeps its whole traceback: it may be a mistake of ours.

    Called with a runtime or a state, it gives one that also hides what their ``mask`` hides, in exceptions of
    every kind: here is where they leave the package, and Python prints them as they are.
    """

    __slots__ = ("_owner",)

    def __init__(self, owner: object = None) -> None:
        self._owner = owner

    def __call__(self, owner: object) -> _ShortErrors:
        return _ShortErrors(owner)

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            shorten(error, self._owner)


def shorten(error: Exception, owner: object) -> None:
    """Do with ``error`` what leaving a block of `short_errors` does, for one that costs too much to enter.

    Raises a masked copy where the error holds a secret of ``owner``; else it is for the caller to raise again.
    """
    if isinstance(error, AgentCtxError | ExceptionGroup):
        without_our_frames(error)
        # Where a loop runs already, as in a kernel, this is what runs ours inside of it.
        while (trace := traceback_of(error)) and trace.tb_frame.f_globals.get("__name__") == "nest_asyncio2":
            BaseException.with_traceback(error, trace.tb_next)
            without_our_frames(error)
    mask = getattr(owner, "mask", None)
    if mask is None:
        return
    from agentctx_nb.secrecy.masked_errors import masked_error

    shown = masked_error(error, mask)
    if shown is not error:
        context, trace = shown.__context__, shown.__traceback__
        try:
            raise shown
        finally:  # raised here, it would name the one that holds the secret as what it came from
            shown.__context__ = context
            shown.__traceback__ = trace


short_errors = _ShortErrors()
