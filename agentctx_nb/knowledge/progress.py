"""One line of text on long work, in a terminal or a cell, gone when the work is done."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

    Progress = Callable[[int, int], object]

__all__ = ["progress_line"]

_FIRST_SECONDS = 2.0  # what is done sooner needs no line, and leaves none in a saved notebook
_EVERY_SECONDS = 0.5


@contextmanager
def progress_line(
    what: str,
    *,
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
    first_seconds: float = _FIRST_SECONDS,
) -> Iterator[Progress]:
    """Give a function ``(done, total)`` that keeps one line on standard error up to date, if it takes long."""
    out = sys.stderr if stream is None else stream
    next_at = clock() + first_seconds
    width = 0

    def progress(done: int, total: int) -> None:
        nonlocal next_at, width
        now = clock()
        if now < next_at:
            return
        next_at = now + _EVERY_SECONDS
        line = f"{done:,} of {total:,} {what}"
        out.write("\r" + line.ljust(width))
        out.flush()
        width = len(line)

    try:
        yield progress
    finally:
        if width:
            out.write("\r" + " " * width + "\r")
            out.flush()
