"""What is kept of who read what: a count for each reader, key and provider."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["NOBODY", "THE_CALLER", "THE_TEXT", "Path", "ReadNotes", "ReadRecorder"]

# ("values", key), ("data", "providers", name, …) or ("text",): parts, for a name may have a dot in it.
Path: TypeAlias = tuple[str, ...]

MOST_ROWS = 10_000
NOBODY, THE_CALLER, THE_TEXT = "(nobody)", "(the caller)", "(the text)"


class ReadNotes:
    """What one reader looks up in one run: each path once, in order.

    ``passed`` notes a step on the way to something deeper, ``read`` what was taken whole, ``missed`` what
    was not there.
    """

    __slots__ = ("_missed", "_passed", "_read")

    def __init__(self) -> None:
        self._passed: dict[Path, None] = {}
        self._read: dict[Path, None] = {}
        self._missed: dict[Path, None] = {}

    def passed(self, path: Path) -> None:
        """Note a step; it counts as read only if nothing below it is."""
        self._passed[path] = None

    def read(self, path: Path) -> None:
        """Note what was read whole; what is below it is not noted apart."""
        self._read[path] = None

    def missed(self, path: Path) -> None:
        """Note what was looked for in vain."""
        self._missed[path] = None

    def found(self) -> list[Path]:
        """Return what was read: the longest ways only, and nothing below what was read whole.

        >>> notes = ReadNotes()
        >>> notes.passed(("data", "providers")), notes.passed(("data", "providers", "A"))
        (None, None)
        >>> notes.found()
        [('data', 'providers', 'A')]
        """
        if not self._passed and not any(len(path) > 2 for path in self._read):
            return [*self._read]  # values alone, as nearly always: none is on the way to another
        noted = {**self._passed, **self._read}
        above = {path[:end] for path in (*noted, *self._missed) for end in range(1, len(path))}
        return [
            path
            for path in noted
            if (path in self._read or path not in above)
            and not any(path[:end] in self._read for end in range(1, len(path)))
        ]

    def not_found(self) -> list[Path]:
        """Return what was looked for in vain and not found later."""
        return [path for path in self._missed if path not in self._read and path not in self._passed]


class ReadRecorder:
    """Counts by (reader, path, provider), oldest first; the oldest go when there are too many."""

    __slots__ = ("_lock", "_times")

    def __init__(self) -> None:
        self._times: dict[tuple[str, Path, str], int] = {}
        self._lock = threading.Lock()

    def add(self, reader: str, reads: Iterable[tuple[Path, str]]) -> None:
        """Count one more time for each (path, provider) that ``reader`` read in a run."""
        with self._lock:
            for path, provider in reads:
                row = (reader, path, provider)
                if row not in self._times and len(self._times) >= MOST_ROWS:
                    del self._times[next(iter(self._times))]
                self._times[row] = self._times.get(row, 0) + 1

    def rows(self) -> list[tuple[str, Path, str, int]]:
        """Return (reader, path, provider, times) of everything counted."""
        with self._lock:
            return [(*row, times) for row, times in self._times.items()]
