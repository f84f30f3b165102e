"""Indexes that do not keep for ever what was deleted from them.

A place is a row of a table's columns; ``row`` and ``moved`` in it say where in its home the vector is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from agentctx_nb.search.index import VectorIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Home", "Part"]

_NOWHERE = -1  # instead of a place, for a row that is gone
_GONE = 4096  # rows that are gone before the others move to a new index
_MOVED = 16  # rows looked at with every change while they move; a vector is turned back at 10 to 20 us


class Part:
    """One index, and which place of the table each of its rows stands for, in the order of the places."""

    __slots__ = ("index", "places", "used")

    def __init__(self, dim: int) -> None:
        self.index = VectorIndex(dim)
        self.places = np.zeros(16, np.int64)
        self.used = 0

    def append_many(self, places: NDArray[np.int64], vectors: NDArray[np.float32]) -> int:
        """Take in rows and return the number of the first."""
        first = self.used
        if len(places) == 1:
            self.index.append(vectors[0])
        else:
            self.index.append_many(vectors)
        self.used += len(places)
        if self.used > len(self.places):
            self.places = np.resize(self.places, max(self.used, 2 * len(self.places)))
        self.places[first : self.used] = places
        return first

    @property
    def gone(self) -> int:
        """How many rows are gone and still take room."""
        return self.used - len(self.index)


class Home:
    """Where the rows of one room, or of all small ones, are: in one index, or on their way to a new one.

    An index keeps the room of rows that are gone. Once they are the most, what is left moves to a new index, a
    few rows with every change, oldest first; new rows still go to the old one, so each is in the order of places.
    """

    __slots__ = ("_dim", "_moved_until", "_new", "_old")

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._old = Part(dim)
        self._new: Part | None = None
        self._moved_until = 0  # row of the old index

    def parts(self) -> list[Part]:
        """Return the indexes that hold rows."""
        return [part for part in (self._new, self._old) if part is not None and len(part.index)]

    def append_many(
        self, columns: NDArray[Any], places: NDArray[np.int64], vectors: NDArray[np.float32]
    ) -> None:
        """Take in rows and write down where they are."""
        first = self._old.append_many(places, vectors)
        columns["row"][places] = np.arange(first, first + len(places))
        columns["moved"][places] = False

    def vector(self, place: NDArray[Any]) -> NDArray[np.float32]:
        """Return the vector of a place, with unit length."""
        return self._part(place).index.vector(int(place["row"]))

    def remove(self, place: NDArray[Any]) -> None:
        """Let the row of a place be found no more."""
        part, row = self._part(place), int(place["row"])
        part.index.delete(row)
        part.places[row] = _NOWHERE

    def tidy(self, columns: NDArray[Any]) -> None:
        """Move a few rows, if the old index is mostly of rows that are gone."""
        if self._new is None:
            if self._old.gone <= max(_GONE, len(self._old.index)):
                return
            self._new, self._moved_until = Part(self._dim), 0
        until = min(self._old.used, self._moved_until + _MOVED)
        places = self._old.places[self._moved_until : until]
        for place in places[places != _NOWHERE].tolist():
            vector = self.vector(columns[place])
            self.remove(columns[place])
            columns["row"][place] = self._new.append_many(np.array([place]), vector[None])
            columns["moved"][place] = True
        self._moved_until = until
        if until == self._old.used:
            places = self._new.places[: self._new.used]
            columns["moved"][places[places != _NOWHERE]] = False
            self._old, self._new = self._new, None

    def _part(self, place: NDArray[Any]) -> Part:
        return self._new if self._new is not None and place["moved"] else self._old
