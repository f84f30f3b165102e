"""The store of a runtime that was given none: lists and dicts, gone with the process."""

from __future__ import annotations

import math
import threading
from bisect import bisect_left, bisect_right, insort
from copy import copy
from dataclasses import fields, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.freeze import copy_containers
from agentctx_nb.memory.store import (
    StoreClosedError,
    StoreStats,
    check_count,
    check_moment,
    check_table_name,
)
from agentctx_nb.model import Content, Entity, Memory
from agentctx_nb.moments import milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["InProcessStore"]

# (created_at, place in the order of writing, memory): no two are equal, so the memory is never compared.
_Row: TypeAlias = tuple[float, int, Memory]
_NEAR_TWIN = 0.95
_FILLED_IN = ("id", "created_at", "unique", "similarity")


class InProcessStore:
    """Memories and entities in plain lists and dicts, safe to use from several threads.

    Parameters
    ----------
    clock
        Says what time it is, for rows that come without ``created_at``.
    new_id
        Makes the id of a row that comes without one.
    """

    def __init__(
        self, *, clock: Callable[[], datetime] | None = None, new_id: Callable[[], str] | None = None
    ) -> None:
        self._clock = clock or _now
        self._new_id = new_id or _random_id
        self._lock = threading.Lock()
        self._tables: dict[str, _Table] = {}
        self._places: dict[str, tuple[str, _Row]] = {}  # id -> table and row
        self._entities: dict[str, Entity] = {}
        self._written = 0
        self._closed = False

    async def create_memory(self, memory: Memory, table_name: str, *, unique: bool = False) -> str:
        """Store a copy of ``memory`` and return its id; see `Store.create_memory`."""
        check_table_name(table_name)
        if not isinstance(memory, Memory):
            raise DefinitionTypeError(f"a store keeps a Memory, not {type(memory).__name__}")
        check_moment(memory.created_at, of="created_at")
        row = _copy_memory(memory)
        with self._open():
            if row.id is not None and row.id in self._places:
                self._refuse_another(row, table_name)
                return row.id
            row.id = self._new_id() if row.id is None else row.id
            if row.created_at is None:
                row.created_at = milliseconds(self._clock())
            table = self._tables.setdefault(table_name, _Table())
            if unique:
                row.unique = not _has_near_twin(row, table.rows_of(row.room_id))
            self._written += 1
            placed = (row.created_at, self._written, row)
            table.add(placed)
            self._places[row.id] = (table_name, placed)
            return row.id

    async def get_memories(
        self,
        *,
        table_name: str,
        room_id: str | None = None,
        entity_id: str | None = None,
        agent_id: str | None = None,
        world_id: str | None = None,
        count: int | None = None,
        unique: bool = False,
        start: float | None = None,
        end: float | None = None,
    ) -> list[Memory]:
        """Return copies of the rows asked for, newest first; see `Store.get_memories`."""
        check_table_name(table_name)
        check_count(count)
        check_moment(start, of="start")
        check_moment(end, of="end")
        wanted = {"entity_id": entity_id, "agent_id": agent_id, "world_id": world_id}
        conditions: list[tuple[str, object]] = [
            (name, value) for name, value in wanted.items() if value is not None
        ]
        if unique:
            conditions.append(("unique", True))
        with self._open():
            table = self._tables.get(table_name)
            if table is None:
                return []
            rows = table.all_rows if room_id is None else table.rows_of(room_id)
            found = (
                row
                for row in _newest_first(rows, start, end)
                if all(getattr(row, name) == value for name, value in conditions)
            )
            return [_copy_memory(row) for row in islice(found, count)]

    async def delete_memory(self, memory_id: str) -> bool:
        """Remove a row; tell whether it was there."""
        with self._open():
            place = self._places.pop(memory_id, None)
            if place is None:
                return False
            self._tables[place[0]].remove(place[1])
            return True

    async def create_entity(self, entity: Entity) -> str:
        """Store a copy of ``entity`` and return its id; see `Store.create_entity`."""
        kept = self._checked_copy(entity)
        with self._open():
            if kept.id is not None and kept.id in self._entities:
                known = self._entities[kept.id]
                if kept.created_at is None:
                    kept.created_at = known.created_at
                if not _equal(kept, known):
                    raise DefinitionError(
                        f"another entity is stored as {kept.id!r}; change it with update_entity"
                    )
                return kept.id
            kept.id = self._new_id() if kept.id is None else kept.id
            if kept.created_at is None:
                kept.created_at = milliseconds(self._clock())
            self._entities[kept.id] = kept
            return kept.id

    async def update_entity(self, entity: Entity) -> None:
        """Replace the entity of the same id; its ``created_at`` stays unless another is given."""
        kept = self._checked_copy(entity)
        with self._open():
            known = self._entities.get(kept.id) if kept.id is not None else None
            if kept.id is None or known is None:
                raise DefinitionError(f"no entity is stored as {kept.id!r}; make it with create_entity")
            if kept.created_at is None:
                kept.created_at = known.created_at
            self._entities[kept.id] = kept

    async def get_entity_by_id(self, entity_id: str | None) -> Entity | None:
        """Return a copy of the entity, or ``None`` when there is none, or no id."""
        with self._open():
            entity = self._entities.get(entity_id) if entity_id is not None else None
            return None if entity is None else _copy_entity(entity)

    async def stats(self) -> StoreStats:
        """Return how much the store holds; empty tables are left out."""
        with self._open():
            counts = {name: len(table.all_rows) for name, table in self._tables.items() if table.all_rows}
            return StoreStats(entities=len(self._entities), memories=counts)

    async def close(self) -> None:
        """Forget everything; a second time does nothing."""
        with self._lock:
            self._closed = True
            self._tables, self._places, self._entities = {}, {}, {}

    def _open(self) -> threading.Lock:
        if self._closed:
            raise StoreClosedError
        return self._lock

    def _checked_copy(self, entity: Entity) -> Entity:
        if not isinstance(entity, Entity):
            raise DefinitionTypeError(f"a store keeps an Entity, not {type(entity).__name__}")
        check_moment(entity.created_at, of="created_at")
        return _copy_entity(entity)

    def _refuse_another(self, row: Memory, table_name: str) -> None:
        """Raise unless ``row`` says what the stored row of its id says, so that a cell can run again."""
        stored_in, (_, _, stored) = self._places[row.id or ""]
        if stored_in != table_name or not _equal(_said(row, stored), _said(stored, row)):
            raise DefinitionError(
                f"another memory is stored as {row.id!r}, in table {stored_in!r}; "
                "delete it first, or leave the id out"
            )


class _Table:
    """The rows of one table by time, and the same rows by room."""

    __slots__ = ("_rooms", "all_rows")

    def __init__(self) -> None:
        self.all_rows: list[_Row] = []
        self._rooms: dict[str | None, list[_Row]] = {}

    def rows_of(self, room_id: str | None) -> list[_Row]:
        return self._rooms.get(room_id, [])

    def add(self, row: _Row) -> None:
        insort(self.all_rows, row)
        insort(self._rooms.setdefault(row[2].room_id, []), row)

    def remove(self, row: _Row) -> None:
        room_id = row[2].room_id
        for rows in (self.all_rows, self._rooms[room_id]):
            del rows[bisect_left(rows, row)]
        if not self._rooms[room_id]:
            del self._rooms[room_id]


def _newest_first(rows: list[_Row], start: float | None, end: float | None) -> Iterator[Memory]:
    first = 0 if start is None else bisect_left(rows, start, key=_time)
    last = len(rows) - 1 if end is None else bisect_right(rows, end, key=_time) - 1
    for index in range(last, first - 1, -1):
        yield rows[index][2]


def _said(memory: Memory, other: Memory) -> dict[str, Any]:
    """Return the fields of ``memory`` that count in a comparison with ``other``."""
    said: dict[str, Any] = {
        f.name: getattr(memory, f.name) for f in fields(Memory) if f.name not in _FILLED_IN
    }
    said["embedding"] = None if memory.embedding is None else [float(x) for x in memory.embedding]
    if memory.created_at is not None and other.created_at is not None:
        said["created_at"] = memory.created_at
    return said


def _equal(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001  a value that cannot be compared, such as two DataFrames
        return False


def _has_near_twin(row: Memory, others: list[_Row]) -> bool:
    if row.embedding is None:
        return False
    return any(_cosine(row.embedding, other.embedding) >= _NEAR_TWIN for _, _, other in others)


def _cosine(one: Any, other: Any) -> float:
    if other is None or len(one) != len(other):
        return 0.0
    length = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / length if length else 0.0


def _copy_memory(memory: Memory) -> Memory:
    """Return a plain copy, of a sealed message too, that shares no container with ``memory``."""
    content = Content()
    content.__dict__.update(copy_containers(memory.content.__dict__))
    return Memory(
        content,
        entity_id=memory.entity_id,
        room_id=memory.room_id,
        id=memory.id,
        agent_id=memory.agent_id,
        world_id=memory.world_id,
        created_at=memory.created_at,
        embedding=copy(memory.embedding),
        similarity=memory.similarity,
        metadata=copy_containers(memory.metadata),
        unique=memory.unique,
    )


def _copy_entity(entity: Entity) -> Entity:
    return replace(entity, metadata=copy_containers(entity.metadata))


def _time(row: _Row) -> float:
    return row[0]


def _now() -> datetime:
    return datetime.now(UTC)


def _random_id() -> str:
    import uuid

    return str(uuid.uuid4())
