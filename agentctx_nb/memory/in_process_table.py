"""One table of an `InProcessStore`: its rows by time, by room, and by vector."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING, Any, TypeAlias

from agentctx_nb.memory.rows import copy_memory

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from agentctx_nb.memory.store import EmbedderMark
    from agentctx_nb.model import Memory
    from agentctx_nb.search.table import SearchTable

__all__ = ["Row", "Table", "newest_first", "written"]

# (created_at, place in the order of writing, memory): no two are equal, so the memory is never compared.
Row: TypeAlias = "tuple[float, int, Memory]"


class Table:
    """The rows of one table; ``dim`` and ``mark`` are what its vectors are fixed to, ``None`` without any."""

    __slots__ = ("_by_key", "_rooms", "_waiting", "all_rows", "dim", "index", "mark")

    def __init__(self) -> None:
        self.all_rows: list[Row] = []
        self.dim: int | None = None
        self.mark: EmbedderMark | None = None
        self.index: SearchTable | None = None
        self._rooms: dict[str | None, list[Row]] = {}
        self._by_key: dict[int, Memory] = {}  # those with a vector, by place in the order of writing
        self._waiting: list[Row] = []

    def rows_of(self, room_id: str | None) -> list[Row]:
        """Return the rows of a room, oldest first."""
        return self._rooms.get(room_id, [])

    def add(self, row: Row, *, at_once: bool) -> None:
        """Take in a row; unless ``at_once``, `index_waiting` makes its vector known."""
        insort(self.all_rows, row)
        insort(self._rooms.setdefault(row[2].room_id, []), row)
        if row[2].embedding is not None:
            self._by_key[row[1]] = row[2]
            self._waiting.append(row)
            if at_once:
                self.index_waiting()

    def index_waiting(self) -> None:
        """Make the vectors of all rows known to searches; where that is interrupted, it begins anew the next time."""
        if not self._waiting:
            return
        try:
            self._index([row for row in self._waiting if row[1] in self._by_key])
        except BaseException:
            self.index = None
            self._waiting = [row for row in self.all_rows if row[1] in self._by_key]
            self._waiting.sort(key=written)
            raise
        self._waiting = []

    def _index(self, rows: list[Row]) -> None:
        if not rows:
            return
        import numpy as np

        from agentctx_nb.search.table import SearchTable

        if self.index is None:
            self.index = SearchTable(len(rows[0][2].embedding))
        found = [_search_row(row) for row in rows]
        if len(rows) == 1:
            self.index.add(found[0], rows[0][2].embedding)
        else:
            self.index.add_many(found, np.stack([memory.embedding for _, _, memory in rows]))

    def has_near_twin(self, memory: Memory) -> bool:
        """Tell whether a row as good as the same stands in the room of ``memory``."""
        if memory.embedding is None or self.index is None:
            return False
        return self.index.near_twin(memory.embedding, memory.room_id)

    def has_vectors_without(self, leaving: Collection[str]) -> bool:
        """Tell whether a row with a vector stays when those of the ids ``leaving`` are gone."""
        return any(memory.id not in leaving for memory in self._by_key.values())

    def hit(self, key: int, similarity: float) -> Memory:
        """Return a copy of a row that was found."""
        found = copy_memory(self._by_key[key])
        found.similarity = similarity
        return found

    def texts(self, keys: Sequence[int]) -> list[str]:
        """Return what the rows say."""
        return [self._by_key[key].content.text or "" for key in keys]

    def remove(self, row: Row) -> None:
        """Take out a row."""
        room_id = row[2].room_id
        for rows in (self.all_rows, self._rooms[room_id]):
            del rows[bisect_left(rows, row)]
        if not self._rooms[room_id]:
            del self._rooms[room_id]
        self._forget_vector(row)

    def remove_room(self, room_id: str | None) -> None:
        """Take out all rows of a room."""
        rows = self._rooms.pop(room_id, [])
        self.all_rows = [row for row in self.all_rows if row[2].room_id != room_id]
        for row in rows:
            self._forget_vector(row)

    def replace(self, rows: Sequence[tuple[Row, Any]], mark: EmbedderMark | None) -> None:
        """Give rows, in the order of writing, other vectors; no row with a vector may be missing."""
        for row, vector in rows:
            row[2].embedding = vector
        if rows:
            self.index, self._waiting = None, [row for row, _ in rows]
            self._by_key = {key: memory for _, key, memory in self._waiting}
            self.dim, self.mark = len(rows[0][1]), mark
            self.index_waiting()

    def _forget_vector(self, row: Row) -> None:
        if self._by_key.pop(row[1], None) is not None and self.index is not None:
            self.index.remove(row[1])
        if not self._by_key:
            self.index = self.dim = self.mark = None


def newest_first(rows: list[Row], start: float | None, end: float | None) -> Iterator[Memory]:
    """Yield the memories of rows sorted by time, those of ``start`` and ``end`` included."""
    first = 0 if start is None else bisect_left(rows, start, key=_time)
    last = len(rows) - 1 if end is None else bisect_right(rows, end, key=_time) - 1
    for index in range(last, first - 1, -1):
        yield rows[index][2]


def written(row: Row) -> int:
    """Return the place of a row in the order of writing."""
    return row[1]


def _search_row(row: Row) -> Any:
    from agentctx_nb.search.table import SearchRow

    created_at, key, memory = row
    return SearchRow(
        key,
        memory.room_id,
        memory.entity_id,
        memory.agent_id,
        memory.world_id,
        created_at,
        unique=memory.unique,
    )


def _time(row: Row) -> float:
    return row[0]
