"""What a runtime remembers: memories and entities, in whatever store it was given."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentctx_nb.model import Entity, Memory, as_entity, as_message

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from agentctx_nb.memory.store import Store
    from agentctx_nb.model import MessageLike

__all__ = ["Remembering"]


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
    _store: Store | None

    def clock(self) -> datetime:
        """Return the present; the runtime says which."""
        raise TypeError("a Remembering without a clock is no runtime")

    @property
    def store(self) -> Store:
        """Where memories and entities live."""
        if self._store is None:
            from agentctx_nb.memory.in_process import InProcessStore

            self._store = InProcessStore(clock=self.clock)
        return self._store

    async def create_memory(
        self, memory: MessageLike, table_name: str = "messages", *, unique: bool = False
    ) -> str:
        """Store a memory in a table and return its id; ``agent_id`` is this agent's where it is missing."""
        given = as_message(memory)
        if given.agent_id is None:
            given = replace(given, agent_id=self.agent_id)
        return await self.store.create_memory(given, table_name, unique=unique)

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

        wanted = read_arguments(given, arguments, known=GET_MEMORIES, of="get_memories")
        wanted.setdefault("table_name", "messages")
        return await self.store.get_memories(**wanted)

    async def delete_memory(self, memory_id: str) -> bool:
        """Remove a memory; return whether it was there."""
        return await self.store.delete_memory(memory_id)

    async def get_entity_by_id(self, entity_id: str | None) -> Entity | None:
        """Return the entity, or None where there is none."""
        return await self.store.get_entity_by_id(entity_id)

    async def create_entity(self, entity: Entity | Mapping[str, Any]) -> str:
        """Store an entity and return its id."""
        return await self.store.create_entity(as_entity(entity))

    async def update_entity(self, entity: Entity | Mapping[str, Any]) -> None:
        """Replace the entity of the same id."""
        await self.store.update_entity(as_entity(entity))
