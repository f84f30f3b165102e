"""A Python warning that points at the user's line, however deep in this package it arises, and shows none of it."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["caution", "overheard"]

_PACKAGE = __name__.partition(".")[0]
_heard: ContextVar[list[str] | None] = ContextVar("agentctx_nb_heard", default=None)


@contextmanager
def overheard() -> Iterator[list[str]]:
    """Collect what the block warns of, for one who says it in a line of his own, in place of warnings.

    >>> with overheard() as said:
    ...     caution("it is late")
    >>> said
    ['it is late']
    """
    said: list[str] = []
    token = _heard.set(said)
    try:
        yield said
    finally:
        _heard.reset(token)


def caution(message: str) -> None:
    """Warn, as of the first line that is not ours; `warnings` can do so itself from 3.12 on only.

    Python prints the line that a warning comes from, and secrets are what such lines are likely to hold. So
    the place is given as ``file:line``, a name under which no source is found.
    """
    heard = _heard.get()
    if heard is not None:
        heard.append(message)
        return
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  what `warnings` reads as well
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame = frame.f_back
    if frame is None:
        warnings.warn_explicit(message, UserWarning, "sys", 1)
        return
    warnings.warn_explicit(
        message,
        UserWarning,
        f"{frame.f_code.co_filename}:{frame.f_lineno}",
        frame.f_lineno,
        module=frame.f_globals.get("__name__", "<unknown>"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )
