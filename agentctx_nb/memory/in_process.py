"""The store of a runtime that was given none: lists and dicts, gone with the process."""

from __future__ import annotations

import asyncio
import threading
from itertools import islice
from typing import TYPE_CHECKING, Any

from agentctx_nb.memory import checks
from agentctx_nb.memory.as_json import check_writable
from agentctx_nb.memory.in_process_table import Table, newest_first, written
from agentctx_nb.memory.rows import (
    copy_entity,
    copy_memory,
    kept_entity,
    kept_memory,
    now,
    random_id,
    refuse_another,
)
from agentctx_nb.memory.store import MissingVectorsError, StoreClosedError, StoreStats
from agentctx_nb.moments import milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from agentctx_nb.memory.in_process_table import Row
    from agentctx_nb.memory.store import EmbedderMark
    from agentctx_nb.model import Entity, Memory

__all__ = ["InProcessStore"]

_FELT = 50_000  # rows of a search that what else runs on the event loop would notice
_FELT_WRITES = 1000  # memories to be copied, likewise
_FELT_TEXTS = 200  # texts to be read for the words in them, likewise


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
        self._clock = clock or now
        self._new_id = new_id or random_id
        self._lock = threading.Lock()
        self._tables: dict[str, Table] = {}
        self._places: dict[str, tuple[str, Row]] = {}  # id -> table and row
        self._entities: dict[str, Entity] = {}
        self._written = 0
        self._closed = False

    def __repr__(self) -> str:
        return "InProcessStore()"

    # Memories -----------------------------------------------------------------------------

    async def create_memory(
        self, memory: Memory, table_name: str, *, unique: bool = False, mark: EmbedderMark | None = None
    ) -> str:
        """Store a copy of ``memory`` and return its id; see `Store.create_memory`."""
        return (await self.create_memories((memory,), table_name, unique=unique, mark=mark))[0]

    async def create_memories(
        self,
        memories: Iterable[Memory],
        table_name: str,
        *,
        unique: bool = False,
        mark: EmbedderMark | None = None,
        replacing: Iterable[str] = (),
    ) -> list[str]:
        """Store copies of all of ``memories``, or none of them; see `Store.create_memories`."""
        checks.check_table_name(table_name)
        listed = checks.check_memories(memories)
        old = checks.check_ids(replacing, of="replacing")
        if len(listed) > _FELT_WRITES:
            return await asyncio.to_thread(
                self._create_all, listed, table_name, unique=unique, mark=mark, old=old
            )
        return self._create_all(listed, table_name, unique=unique, mark=mark, old=old)

    def _create_all(
        self,
        memories: list[Any],
        table_name: str,
        *,
        unique: bool,
        mark: EmbedderMark | None,
        old: Sequence[str] = (),
    ) -> list[str]:
        given = [kept_memory(memory) for memory in memories]
        for row in given:
            check_writable(row.content.__dict__, of="content")
            check_writable(row.metadata, of="metadata")
        with self._open():
            fixed = self._refuse_any(given, table_name, mark, leaving=set(old))
            for row in given:
                row.id = self._new_id() if row.id is None else row.id
                row.created_at = milliseconds(self._clock()) if row.created_at is None else row.created_at
            for memory_id in old:  # from here on nothing can be refused
                self._remove(memory_id)
            table = self._tables.get(table_name) or Table()
            try:
                for row in given:
                    if str(row.id) in self._places:
                        continue
                    if unique:
                        row.unique = not table.has_near_twin(row)
                    self._written += 1
                    placed = (float(row.created_at or 0), self._written, row)
                    self._places[str(row.id)] = (table_name, placed)
                    table.add(placed, at_once=unique)
            finally:  # what was interrupted is there as far as it came
                table.dim, table.mark = fixed
                if table.all_rows:
                    self._tables[table_name] = table
            table.index_waiting()
            return [str(row.id) for row in given]

    def _refuse_any(
        self, given: list[Memory], table_name: str, mark: EmbedderMark | None, *, leaving: set[str]
    ) -> tuple[int | None, EmbedderMark | None]:
        """Raise when one of the rows cannot be stored; return what the table's vectors are fixed to with them.

        The rows ``leaving`` are taken as gone already.
        """
        coming: dict[str, Memory] = {}
        table = self._tables.get(table_name)
        stays = table is not None and table.has_vectors_without(leaving)
        dim, known = (table.dim, table.mark) if table is not None and stays else (None, None)
        for row in given:
            if row.id is not None and row.id in self._places and row.id not in leaving:
                stored_in, (_, _, stored) = self._places[row.id]
                refuse_another(row, stored, table_name=table_name, stored_in=stored_in)
            elif row.id is not None and row.id in coming:
                refuse_another(row, coming[row.id], table_name=table_name, stored_in=table_name)
            elif row.embedding is not None:
                length = len(row.embedding)
                known = checks.agreed_mark(table_name, dim, known, given_dim=length, given=mark)
                dim = length
            if row.id is not None:
                coming.setdefault(row.id, row)
        return dim, known

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
        wanted = {"entity_id": entity_id, "agent_id": agent_id, "world_id": world_id}
        checks.check_conditions(
            table_name=table_name, count=count, start=start, end=end, names={"room_id": room_id, **wanted}
        )
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
                for row in newest_first(rows, start, end)
                if all(getattr(row, name) == value for name, value in conditions)
            )
            return [
                copy_memory(row) for row in islice(found, None if count is None else min(count, len(rows)))
            ]

    async def search_memories(
        self,
        *,
        table_name: str,
        embedding: Any = None,
        query: str | None = None,
        room_id: str | None = None,
        entity_id: str | None = None,
        agent_id: str | None = None,
        world_id: str | None = None,
        match_threshold: float | None = None,
        count: int | None = None,
        unique: bool = False,
        start: float | None = None,
        end: float | None = None,
        approximate: bool = False,
        mark: EmbedderMark | None = None,
    ) -> list[Memory]:
        """Return copies of the rows nearest to ``embedding``, best first; see `Store.search_memories`."""
        names = {"room_id": room_id, "entity_id": entity_id, "agent_id": agent_id, "world_id": world_id}
        checks.check_conditions(table_name=table_name, count=count, start=start, end=end, names=names)
        threshold = checks.check_threshold(match_threshold)
        vector = checks.check_query(embedding, query)
        from agentctx_nb.search.table import Conditions

        conditions = Conditions(**names, unique=unique, start=start, end=end)

        def search() -> list[Memory]:
            with self._open():
                table = self._tables.get(table_name)
                if table is not None:
                    table.index_waiting()
                if table is None or table.index is None:
                    return []
                checks.agreed_mark(table_name, table.dim, table.mark, given_dim=len(vector), given=mark)
                if count == 0:
                    return []
                if query is None:
                    hits = table.index.search(
                        vector, conditions, count=count, threshold=threshold, approximate=approximate
                    )
                else:
                    hits = table.index.search_words(
                        vector, query, table.texts, conditions, count=count, threshold=threshold
                    )
                return [table.hit(key, similarity) for key, similarity in hits]

        with self._open():
            index = self._tables[table_name].index if table_name in self._tables else None
            felt = index is not None and (
                len(index) > _FELT or (query is not None and index.unread_words() > _FELT_TEXTS)
            )
        return await asyncio.to_thread(search) if felt else search()

    async def get_memory_by_id(self, memory_id: str | None) -> Memory | None:
        """Return a copy of the memory, or ``None`` when there is none, or no id."""
        checks.check_name(memory_id, of="memory_id")
        with self._open():
            place = self._places.get(memory_id) if memory_id is not None else None
            return None if place is None else copy_memory(place[1][2])

    async def delete_memory(self, memory_id: str) -> bool:
        """Remove a row; tell whether it was there."""
        checks.check_name(memory_id, of="memory_id")
        with self._open():
            return self._remove(memory_id)

    def _remove(self, memory_id: str) -> bool:
        place = self._places.pop(memory_id, None)
        if place is None:
            return False
        table_name, row = place
        self._tables[table_name].remove(row)
        if not self._tables[table_name].all_rows:
            del self._tables[table_name]
        return True

    async def delete_memories(self, *, table_name: str, room_id: str | None = None) -> int:
        """Remove the rows of a table, or of one room in it, and return how many they were."""
        checks.check_table_name(table_name)
        checks.check_name(room_id, of="room_id")
        with self._open():
            table = self._tables.get(table_name)
            if table is None:
                return 0
            rows = table.all_rows if room_id is None else [*table.rows_of(room_id)]
            for _, _, memory in rows:
                del self._places[str(memory.id)]
            if len(rows) == len(table.all_rows):
                del self._tables[table_name]
            else:
                table.remove_room(room_id)
            return len(rows)

    # Embedders ----------------------------------------------------------------------------

    async def embedder_mark(self, table_name: str) -> EmbedderMark | None:
        """Return which embedder makes the vectors of a table, ``None`` where nothing says so."""
        checks.check_table_name(table_name)
        with self._open():
            table = self._tables.get(table_name)
            return None if table is None else table.mark

    async def replace_embeddings(
        self, table_name: str, vectors: Mapping[str, Any], mark: EmbedderMark | None
    ) -> None:
        """Give rows of a table new vectors, all at once; see `Store.replace_embeddings`."""
        checks.check_table_name(table_name)
        checked = checks.check_vectors(vectors, mark, table_name)
        with self._open():
            table = self._tables.get(table_name)
            if table is None:
                return
            rows = sorted(table.all_rows, key=written)
            missing = tuple(
                str(memory.id)
                for _, _, memory in rows
                if memory.embedding is not None and memory.id not in checked
            )
            if missing:
                raise MissingVectorsError(table_name, missing)
            table.replace([(row, checked[str(row[2].id)]) for row in rows if row[2].id in checked], mark)

    # Entities -----------------------------------------------------------------------------

    async def create_entity(self, entity: Entity) -> str:
        """Store a copy of ``entity`` and return its id; see `Store.create_entity`."""
        return self._keep_entity(entity, update=False)

    async def update_entity(self, entity: Entity) -> None:
        """Replace the entity of the same id; its ``created_at`` stays unless another is given."""
        self._keep_entity(entity, update=True)

    async def get_entity_by_id(self, entity_id: str | None) -> Entity | None:
        """Return a copy of the entity, or ``None`` when there is none, or no id."""
        checks.check_name(entity_id, of="entity_id")
        with self._open():
            entity = self._entities.get(entity_id) if entity_id is not None else None
            return None if entity is None else copy_entity(entity)

    def _keep_entity(self, entity: Entity, *, update: bool) -> str:
        given = checks.check_entity(entity)
        check_writable(given.metadata, of="metadata")
        with self._open():
            known = self._entities.get(given.id) if given.id is not None else None
            kept = kept_entity(given, known, update=update)
            kept.id = self._new_id() if kept.id is None else kept.id
            if kept.created_at is None:
                kept.created_at = milliseconds(self._clock())
            self._entities[kept.id] = kept
            return kept.id

    # The store itself ---------------------------------------------------------------------

    async def stats(self) -> StoreStats:
        """Return how much the store holds; empty tables are left out."""
        with self._open():
            counts = {name: len(table.all_rows) for name, table in sorted(self._tables.items())}
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
