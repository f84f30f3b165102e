"""The store that outlives the process: one SQLite file, open in any number of kernels at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from agentctx_nb.memory import checks, sqlite_rows
from agentctx_nb.memory.as_json import write_json
from agentctx_nb.memory.rows import copy_entity, kept_entity, kept_memory, now, random_id
from agentctx_nb.memory.sqlite_file import open_file, place_of, transaction
from agentctx_nb.memory.sqlite_search import FileIndex
from agentctx_nb.memory.sqlite_thread import SqliteThread
from agentctx_nb.memory.sqlite_write import NewRow, delete_rows, insert_all, replace_vectors, write_entity
from agentctx_nb.memory.store import StoreClosedError, StoreStats
from agentctx_nb.moments import milliseconds

if TYPE_CHECKING:
    import os
    import sqlite3
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from agentctx_nb.memory.store import EmbedderMark
    from agentctx_nb.model import Entity, Memory

__all__ = ["SqliteStore"]

_MANY = 100  # memories whose writing out would be felt by what else runs on the event loop


class SqliteStore:
    """Memories and entities in the file ``path``, made where there is none.

    Several kernels and processes may have it open: what one of them writes, the others find in their next
    read and search. A write that returned is in the file even if the process is killed the moment after.
    Vectors are read into memory at the first search of their table.

    Content and metadata are kept as JSON. Beside what JSON knows, tuples, sets, bytes, dates and times,
    Decimal, UUID, numpy numbers and arrays and dicts with any such keys read back equal; anything else is
    refused with its place.

    Parameters
    ----------
    clock
        Says what time it is, for rows that come without ``created_at``.
    new_id
        Makes the id of a row that comes without one.

    Raises
    ------
    StoreError
        The file cannot be used; the message says why.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        clock: Callable[[], datetime] | None = None,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self.path = place_of(path)
        self._clock = clock or now
        self._new_id = new_id or random_id
        self._index = FileIndex()
        self._closed = False
        connection = open_file(self.path)
        self._reader = SqliteThread(self.path, write=False)
        self._writer = SqliteThread(self.path, connection, write=True, after=self._follow)

    def __repr__(self) -> str:
        return f"SqliteStore({str(self.path)!r})"

    # Memories -----------------------------------------------------------------------------

    async def create_memory(
        self, memory: Memory, table_name: str, *, unique: bool = False, mark: EmbedderMark | None = None
    ) -> str:
        """Store ``memory`` and return its id; see `Store.create_memory`."""
        self._check_open()
        checks.check_table_name(table_name)
        row = self._new_row(memory)
        return (await self._writer.run(insert_all, [row], table_name, self._index, unique=unique, mark=mark))[
            0
        ]

    async def create_memories(
        self,
        memories: Iterable[Memory],
        table_name: str,
        *,
        unique: bool = False,
        mark: EmbedderMark | None = None,
        replacing: Iterable[str] = (),
    ) -> list[str]:
        """Store all of ``memories``, or none of them, and return their ids; see `Store.create_memories`."""
        self._check_open()
        checks.check_table_name(table_name)
        given = checks.check_memories(memories)
        old = checks.check_ids(replacing, of="replacing")
        if len(given) > _MANY:
            rows = await asyncio.to_thread(lambda: [self._new_row(memory) for memory in given])
        else:
            rows = [self._new_row(memory) for memory in given]
        return await self._writer.run(
            insert_all, rows, table_name, self._index, unique=unique, mark=mark, replacing=old
        )

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
        """Return the rows asked for, newest first; see `Store.get_memories`."""
        self._check_open()
        names = {"room_id": room_id, "entity_id": entity_id, "agent_id": agent_id, "world_id": world_id}
        checks.check_conditions(table_name=table_name, count=count, start=start, end=end, names=names)
        return await self._reader.run(
            sqlite_rows.newest,
            {"table_name": table_name, **names},
            unique=unique,
            start=start,
            end=end,
            count=count,
        )

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
        """Return the rows nearest to ``embedding``, best first; see `Store.search_memories`."""
        self._check_open()
        names = {"room_id": room_id, "entity_id": entity_id, "agent_id": agent_id, "world_id": world_id}
        checks.check_conditions(table_name=table_name, count=count, start=start, end=end, names=names)
        threshold = checks.check_threshold(match_threshold)
        vector = checks.check_query(embedding, query)
        from agentctx_nb.search.table import Conditions

        conditions = Conditions(**names, unique=unique, start=start, end=end)

        def search(connection: sqlite3.Connection) -> list[Memory]:
            hits = self._index.search(
                connection,
                table_name,
                vector,
                conditions,
                query=query,
                count=count,
                threshold=threshold,
                approximate=approximate,
                mark=mark,
            )
            found = sqlite_rows.memories_of(connection, [seq for seq, _ in hits])
            for memory, (_, similarity) in zip(found, hits, strict=True):
                memory.similarity = similarity
            return found

        return await self._reader.run(search)

    async def get_memory_by_id(self, memory_id: str | None) -> Memory | None:
        """Return the memory, or ``None`` when there is none, or no id."""
        self._check_open()
        checks.check_name(memory_id, of="memory_id")
        found = await self._reader.run(sqlite_rows.by_id, memory_id)
        return None if found is None else found[0]

    async def delete_memory(self, memory_id: str) -> bool:
        """Remove a row; tell whether it was there."""
        self._check_open()
        checks.check_name(memory_id, of="memory_id")
        return bool(await self._writer.run(delete_rows, {"id": memory_id}))

    async def delete_memories(self, *, table_name: str, room_id: str | None = None) -> int:
        """Remove the rows of a table, or of one room in it, and return how many they were."""
        self._check_open()
        checks.check_table_name(table_name)
        checks.check_name(room_id, of="room_id")
        conditions = (
            {"table_name": table_name} if room_id is None else {"table_name": table_name, "room_id": room_id}
        )
        return await self._writer.run(delete_rows, conditions)

    # Embedders ----------------------------------------------------------------------------

    async def embedder_mark(self, table_name: str) -> EmbedderMark | None:
        """Return which embedder makes the vectors of a table, ``None`` where nothing says so."""
        self._check_open()
        checks.check_table_name(table_name)
        return (await self._reader.run(sqlite_rows.table_state, table_name))[1]

    async def replace_embeddings(
        self, table_name: str, vectors: Mapping[str, Any], mark: EmbedderMark | None
    ) -> None:
        """Give rows of a table new vectors, all at once; see `Store.replace_embeddings`."""
        self._check_open()
        checks.check_table_name(table_name)
        checked = checks.check_vectors(vectors, mark, table_name)
        await self._writer.run(replace_vectors, table_name, checked, mark)

    # Entities -----------------------------------------------------------------------------

    async def create_entity(self, entity: Entity) -> str:
        """Store ``entity`` and return its id; see `Store.create_entity`."""
        return await self._keep_entity(entity, update=False)

    async def update_entity(self, entity: Entity) -> None:
        """Replace the entity of the same id; its ``created_at`` stays unless another is given."""
        await self._keep_entity(entity, update=True)

    async def get_entity_by_id(self, entity_id: str | None) -> Entity | None:
        """Return the entity, or ``None`` when there is none, or no id."""
        self._check_open()
        checks.check_name(entity_id, of="entity_id")
        return await self._reader.run(sqlite_rows.read_entity, entity_id)

    async def _keep_entity(self, entity: Entity, *, update: bool) -> str:
        self._check_open()
        given = copy_entity(checks.check_entity(entity))
        if given.id is None and not update:
            given.id = self._new_id()
        moment = milliseconds(self._clock())
        names, metadata = write_json(given.names, of="names"), write_json(given.metadata, of="metadata")

        def keep(connection: sqlite3.Connection) -> str:
            kept = kept_entity(given, sqlite_rows.read_entity(connection, given.id), update=update)
            if kept.created_at is None:
                kept.created_at = moment
            write_entity(connection, kept, names=names, metadata=metadata)
            return str(kept.id)

        return await self._writer.run(keep)

    # The store itself ---------------------------------------------------------------------

    async def stats(self) -> StoreStats:
        """Return how much the store holds; empty tables are left out."""
        self._check_open()
        entities, memories = await self._reader.run(sqlite_rows.counts)
        return StoreStats(entities=entities, memories=memories)

    async def close(self) -> None:
        """Finish what is being written and let go of the file; a second time does nothing."""
        if not self._closed:
            self._closed = True
            # One after the other: only the last to let go moves what was written ahead into the file, and of two
            # at the same moment neither is.
            await self._reader.close()
            await self._writer.close()
            self._index.forget()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosedError

    def _new_row(self, memory: Memory) -> NewRow:
        given = kept_memory(memory)
        moment = milliseconds(self._clock()) if given.created_at is None else given.created_at
        return NewRow.of(given, memory_id=self._new_id() if given.id is None else given.id, created_at=moment)

    def _follow(self, connection: sqlite3.Connection) -> None:
        """Take a write into the index at once, so that no search pays for many of them."""
        try:
            with transaction(connection, write=False):
                self._index.follow(connection)
        except Exception:  # noqa: BLE001  the write is done and must say so; the next search reads all anew
            self._index.forget()
