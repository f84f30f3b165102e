"""What a runtime remembers: memories and entities, in whatever store it was given."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.model import Content, Entity, Memory, as_entity, as_message
from agentctx_nb.names import shown
from agentctx_nb.short_errors import short_errors

if TYPE_CHECKING:
    from datetime import datetime

    from agentctx_nb.memory.store import EmbedderMark, Store
    from agentctx_nb.model import MessageLike

__all__ = ["Remembering", "check_store"]

_OPENING = threading.Lock()


class Remembering:
    """The half of `AgentRuntime` that stands on its store; every method that reads or writes is awaited.

    >>> import asyncio
    >>> from agentctx_nb import AgentRuntime
    >>> async def remember():
    ...     async with AgentRuntime() as runtime:
    ...         await runtime.create_memory({"text": "Hello", "roomId": "lobby"}, "messages")
    ...         return await runtime.get_memories(table_name="messages", room_id="lobby", count=10)
    >>> asyncio.run(remember())[0].content.text
    'Hello'
    """

    agent_id: str
    _like_none: set[str]  # names of empty tables that no other table's name was near to since the last write
    _store_given: Any
    _store: Store | None

    def clock(self) -> datetime:
        """Return the present; the runtime says which."""
        raise TypeError("a Remembering without a clock is no runtime")

    @property
    def store(self) -> Store:
        """Where memories and entities live."""
        if self._store is None:
            from agentctx_nb.memory.opening import open_store

            with _OPENING:  # two threads may be the first
                if self._store is None:
                    self._store = open_store(self._store_given, self.clock)
        return self._store

    async def mark_for(self, embedding: Any) -> EmbedderMark | None:
        """Return the mark of the embedder a vector comes from, where that is known."""
        return None

    async def say_if_misnamed(self, table_name: str) -> None:
        """Tell of a table that holds nothing where another has nearly its name; who has a log does so."""

    async def create_memory(
        self, memory: MessageLike, table_name: str = "messages", *, unique: bool = False
    ) -> str:
        """Store a memory in a table and return its id; ``agent_id`` is this agent's where it is missing."""
        with short_errors(self):
            given = self._ours(memory)
            mark = await self.mark_for(given.embedding)
            return await self.store.create_memory(given, table_name, unique=unique, mark=mark)

    async def create_memories(
        self,
        memories: Iterable[MessageLike],
        table_name: str = "messages",
        *,
        unique: bool = False,
        replacing: Iterable[str] = (),
    ) -> list[str]:
        """Store many memories, all or none of them, and return their ids.

        The rows whose ids ``replacing`` names are gone with the same write, so that nobody sees old and new
        ones together or neither, even where the process is killed.
        """
        with short_errors(self):
            if isinstance(memories, str | bytes | Mapping | Memory | Content) or not isinstance(
                memories, Iterable
            ):
                raise DefinitionTypeError(f"create_memories takes a list of memories, not {shown(memories)}")
            given = [self._ours(memory) for memory in memories]
            embedded = next((memory.embedding for memory in given if memory.embedding is not None), None)
            mark = await self.mark_for(embedded)
            return await self.store.create_memories(
                given, table_name, unique=unique, mark=mark, replacing=replacing
            )

    def _ours(self, memory: MessageLike) -> Memory:
        self._like_none.clear()
        given = as_message(memory)
        return replace(given, agent_id=self.agent_id) if given.agent_id is None else given

    async def get_memories(self, given: Mapping[str, Any] | None = None, /, **arguments: Any) -> list[Memory]:
        """Return the rows of a table, newest first.

        Parameters
        ----------
        given, arguments
            ``table_name``, ``room_id``, ``entity_id``, ``agent_id``, ``world_id``, ``count`` (0 is none,
            omitted is all), ``unique``, ``start`` and ``end`` (milliseconds since the epoch), as one dict
            in either spelling or by keyword.
        """
        from agentctx_nb.memory.arguments import GET_MEMORIES, read_arguments

        with short_errors(self):
            wanted = read_arguments(given, arguments, known=GET_MEMORIES, of="get_memories")
            wanted.setdefault("table_name", "messages")
            rows = await self.store.get_memories(**wanted)
            if not rows and wanted.get("count") != 0:
                await self.say_if_misnamed(wanted["table_name"])
            return rows

    async def delete_memory(self, memory_id: str) -> bool:
        """Remove a memory; return whether it was there."""
        with short_errors(self):
            return await self.store.delete_memory(memory_id)

    async def delete_memories(self, table_name: str, *, room_id: str | None = None) -> int:
        """Remove all rows of a table, or of one room in it; return how many there were."""
        with short_errors(self):
            return await self.store.delete_memories(table_name=table_name, room_id=room_id)

    async def get_memory_by_id(self, memory_id: str) -> Memory | None:
        """Return the memory, or None where there is none."""
        with short_errors(self):
            return await self.store.get_memory_by_id(memory_id)

    async def get_entity_by_id(self, entity_id: str | None) -> Entity | None:
        """Return the entity, or None where there is none."""
        with short_errors(self):
            return await self.store.get_entity_by_id(entity_id)

    async def create_entity(self, entity: Entity | Mapping[str, Any]) -> str:
        """Store an entity and return its id."""
        with short_errors(self):
            return await self.store.create_entity(as_entity(entity))

    async def update_entity(self, entity: Entity | Mapping[str, Any]) -> None:
        """Replace the entity of the same id."""
        with short_errors(self):
            await self.store.update_entity(as_entity(entity))


def check_store(given: object) -> None:
    """Raise `DefinitionTypeError` unless ``given`` may name a store; a path is opened when it is needed."""
    if given is not None and not isinstance(given, str) and not hasattr(given, "__fspath__"):
        from agentctx_nb.memory.opening import open_store

        open_store(given)  # type: ignore[arg-type]  # a store comes back as it is, all else raises
