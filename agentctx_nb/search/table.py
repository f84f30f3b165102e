"""The rows of one table of a store that can be found by their vectors: an index a room, and what rows are asked by.

A store hands its rows in, each under a key that grows with every write, and gets keys back. A room of some size
has an index of its own, because nearly every search names a room; small rooms share one, so that ten thousand
of them are searched together at no more than the cost of their rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agentctx_nb.search.best import Best
from agentctx_nb.search.bm25 import Bm25, mixed
from agentctx_nb.search.homes import Home

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["NEAR_TWIN", "Conditions", "SearchRow", "SearchTable"]

NEAR_TWIN = 0.95  # the cosine from which two rows say the same
_ROOM_OF_ITS_OWN = 256  # rows
_TEXTS_AT_ONCE = 4096
_SHARED, _NO_ROOM = -1, -2
_ROUNDING = 1e-5  # at most what two scores of one row differ by
_COLUMNS = np.dtype(
    [
        ("key", "i8"),
        ("room", "i4"),
        ("entity", "i4"),
        ("agent", "i4"),
        ("world", "i4"),
        ("row", "i4"),  # in the index the room belongs to ...
        ("moved", "?"),  # ... or in the new one it is moving to
        ("created_at", "f8"),
        ("unique", "?"),
        ("alive", "?"),
    ]
)


@dataclass(frozen=True, slots=True)
class SearchRow:
    """What a row can be asked by, beside its vector."""

    key: int
    room_id: str | None
    entity_id: str | None
    agent_id: str | None
    world_id: str | None
    created_at: float
    unique: bool | None


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a hit must meet; ``None`` leaves a condition out."""

    room_id: str | None = None
    entity_id: str | None = None
    agent_id: str | None = None
    world_id: str | None = None
    unique: bool = False
    start: float | None = None
    end: float | None = None


class SearchTable:
    """The vectors of one table, all of ``dim`` numbers, and the words of its rows from the first query on."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._columns = np.zeros(16, _COLUMNS)
        self._used = 0
        self._codes: dict[str, dict[str | None, int]] = {
            name: {} for name in ("room", "entity", "agent", "world")
        }
        self._shared = Home(dim)
        self._own: dict[int, Home] = {}  # by code of the room
        self._room_sizes: dict[int, int] = {}
        self._words: Bm25 | None = None
        self._words_until = 0
        self._length = 0

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._length

    @property
    def knows_words(self) -> bool:
        """Whether there was a search with a query text."""
        return self._words is not None

    def unread_words(self) -> int:
        """Return of how many rows the next search with a query text will read the words."""
        return self._used - self._words_until

    # Writing ------------------------------------------------------------------------------

    def add(self, row: SearchRow, vector: NDArray[np.float32]) -> None:
        """Take in a row; its key is greater than every one before."""
        self.add_many([row], vector[None])

    def add_many(self, rows: Sequence[SearchRow], vectors: NDArray[np.float32]) -> None:
        """Take in rows in the order of their keys, all greater than every one before."""
        first = self._place(rows)
        codes = self._columns["room"][first : self._used]
        for code in set(codes.tolist()):
            if code not in self._own and self._room_sizes[code] >= _ROOM_OF_ITS_OWN:
                self._move_out(code, before=first)
        homes = np.where(np.isin(codes, [*self._own]), codes, _SHARED)
        for code in set(homes.tolist()):
            home = self._own.get(code, self._shared)
            chosen = np.flatnonzero(homes == code)
            home.append_many(self._columns, first + chosen, vectors[chosen])
            home.tidy(self._columns)

    def remove(self, key: int) -> None:
        """Forget a row; nothing happens where there is none of this key."""
        place = int(np.searchsorted(self._columns["key"][: self._used], key))
        if place >= self._used or self._columns["key"][place] != key or not self._columns["alive"][place]:
            return
        code = int(self._columns["room"][place])
        home = self._own.get(code, self._shared)
        home.remove(self._columns[place])
        self._columns["alive"][place] = False
        self._room_sizes[code] -= 1
        self._length -= 1
        if self._words is not None:
            self._words.remove(place)
        if code in self._own and not self._room_sizes[code]:
            del self._own[code]
        else:
            home.tidy(self._columns)

    def _place(self, rows: Sequence[SearchRow]) -> int:
        """Write down everything about ``rows`` but their vectors; return the place of the first."""
        first, self._used = self._used, self._used + len(rows)
        if self._used > len(self._columns):
            grown = np.zeros(max(self._used, 2 * len(self._columns)), _COLUMNS)
            grown[:first] = self._columns[:first]
            self._columns = grown
        for place, row in enumerate(rows, start=first):
            room = self._code("room", row.room_id)
            self._room_sizes[room] = self._room_sizes.get(room, 0) + 1
            self._columns[place] = (
                row.key,
                room,
                self._code("entity", row.entity_id),
                self._code("agent", row.agent_id),
                self._code("world", row.world_id),
                0,
                False,
                row.created_at,
                row.unique is True,
                True,
            )
        self._length += len(rows)
        return first

    def _code(self, column: str, name: str | None) -> int:
        codes = self._codes[column]
        return codes.setdefault(name, len(codes))

    def _move_out(self, code: int, *, before: int) -> None:
        """Give a room that has grown an index of its own, with what is in it before a place."""
        columns = self._columns[:before]
        places = np.flatnonzero((columns["room"] == code) & columns["alive"])
        home = Home(self.dim)
        if len(places):
            vectors = self._vectors(places)
            for place in places:
                self._shared.remove(columns[place])
            home.append_many(self._columns, places, vectors)
        self._own[code] = home

    def _vectors(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        rows = self._columns[places]
        homes = [self._own.get(code, self._shared) for code in rows["room"].tolist()]
        return np.stack([home.vector(row) for home, row in zip(homes, rows, strict=True)])

    # Reading ------------------------------------------------------------------------------

    def near_twin(self, vector: NDArray[np.float32], room_id: str | None) -> bool:
        """Tell whether a row of the room is as good as the same."""
        code = self._codes["room"].get(room_id)
        if code is None or not self._room_sizes[code]:
            return False
        code = self._codes["room"].get(room_id, _NO_ROOM)
        places, _ = self._nearest(vector, Conditions(), room=code, count=1, threshold=NEAR_TWIN)
        return bool(len(places))

    def search(
        self,
        vector: NDArray[np.float32],
        conditions: Conditions,
        *,
        count: int | None,
        threshold: float | None,
        approximate: bool = False,
    ) -> list[tuple[int, float]]:
        """Return key and cosine of the rows nearest to ``vector``, best first, ties by key."""
        places, cosines = self._nearest(
            vector,
            conditions,
            room=self._room(conditions),
            count=count,
            threshold=threshold,
            approximate=approximate,
        )
        return self._keyed(places, cosines)

    def search_words(
        self,
        vector: NDArray[np.float32],
        query: str,
        texts: Callable[[list[int]], Sequence[str]],
        conditions: Conditions,
        *,
        count: int | None,
        threshold: float | None,
    ) -> list[tuple[int, float]]:
        """Return what `search` does in the order of cosine and words together.

        ``texts`` is as for `read_words`.
        """
        words = self.read_words(texts)
        room = self._room(conditions)
        places, cosines = self._nearest(vector, conditions, room=room, count=None, threshold=None)
        scores = mixed(cosines, words.scores(query, places))
        if threshold is not None:
            similar = cosines >= threshold
            places, cosines, scores = places[similar], cosines[similar], scores[similar]
        best = np.lexsort((places, -scores))[:count]
        return self._keyed(places[best], cosines[best])

    def _keyed(self, places: NDArray[np.int64], cosines: NDArray[np.float32]) -> list[tuple[int, float]]:
        keys = self._columns["key"][places].tolist()
        return list(zip(keys, np.minimum(cosines, 1.0).tolist(), strict=True))

    def _nearest(
        self,
        vector: NDArray[np.float32],
        conditions: Conditions,
        *,
        room: int | None,
        count: int | None,
        threshold: float | None,
        approximate: bool = False,
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return places and cosines, best first, of one room or, with ``None``, of all of them."""
        unit = _unit(vector)
        shared = room is not None and room not in self._own
        if room is None:
            parts = [part for home in (self._shared, *self._own.values()) for part in home.parts()]
        else:
            parts = self._own.get(room, self._shared).parts()
        best = Best(count=count, threshold=threshold, margin=_ROUNDING)
        for part in parts:
            allowed = self._allowed(part.places[: part.used], conditions, room=room if shared else None)
            rows, cosines = part.index.search(
                unit, count=count, threshold=threshold, allowed=allowed, approximate=approximate
            )
            if len(parts) == 1:
                return part.places[rows], cosines
            best.add(part.places[rows], cosines)
        # Equal rows of two indexes get equal scores here, and so the order of their places.
        return best.answers(unit, self._vectors)

    def _room(self, conditions: Conditions) -> int | None:
        name = conditions.room_id
        return None if name is None else self._codes["room"].get(name, _NO_ROOM)

    def _allowed(
        self, places: NDArray[np.int64], conditions: Conditions, *, room: int | None
    ) -> NDArray[np.bool_] | None:
        """Return which rows of an index meet the conditions, ``None`` where all of them do."""
        checks: list[NDArray[np.bool_]] = []
        if room is not None:
            checks.append(self._columns["room"][places] == room)
        asked = {
            "entity": conditions.entity_id,
            "agent": conditions.agent_id,
            "world": conditions.world_id,
        }
        for column, name in asked.items():
            if name is not None:
                checks.append(self._columns[column][places] == self._codes[column].get(name, -1))
        if conditions.start is not None:
            checks.append(self._columns["created_at"][places] >= conditions.start)
        if conditions.end is not None:
            checks.append(self._columns["created_at"][places] <= conditions.end)
        if conditions.unique:
            checks.append(self._columns["unique"][places])
        return np.logical_and.reduce(checks) if checks else None

    def read_words(self, texts: Callable[[list[int]], Sequence[str]]) -> Bm25:
        """Read the words of rows not yet read; ``texts`` returns the texts of keys."""
        words = self._words = Bm25() if self._words is None else self._words
        columns = self._columns[self._words_until : self._used]
        places = self._words_until + np.flatnonzero(columns["alive"])
        for start in range(0, len(places), _TEXTS_AT_ONCE):
            some = places[start : start + _TEXTS_AT_ONCE]
            for place, text in zip(some.tolist(), texts(self._columns["key"][some].tolist()), strict=True):
                words.add(place, text)
            self._words_until = int(some[-1]) + 1
        self._words_until = self._used
        return words


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``vector`` with unit length, however long or short it is; zeros stay zeros."""
    exact = vector.astype(np.float64)
    length = math.sqrt(exact @ exact)
    return (exact / length).astype(np.float32) if length else vector
