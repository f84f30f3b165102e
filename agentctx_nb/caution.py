"""A Python warning that points at the user's line, however deep in this package it arises."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["caution"]

_PACKAGE = __name__.partition(".")[0]


def caution(message: str) -> None:
    """Warn, as of the first line that is not ours; `warnings` can do so itself from 3.12 on only."""
    depth = 2  # the caller of this function
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  what `warnings` reads as well
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        depth += 1
        frame = frame.f_back
    warnings.warn(message, UserWarning, stacklevel=depth)
