"""What a runtime asks of a store, and the checks every store makes alike."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from agentctx_nb.errors import AgentCtxError, DefinitionError, DefinitionTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentctx_nb.model import Entity, Memory

__all__ = ["Store", "StoreClosedError", "StoreStats", "check_count", "check_moment", "check_table_name"]


class StoreClosedError(AgentCtxError, RuntimeError):
    """The store was closed and is asked for something."""

    def __init__(self) -> None:
        super().__init__("the store is closed; make a new runtime, or close this one later")


@dataclass(frozen=True, slots=True)
class StoreStats:
    """How much a store holds: ``memories`` maps each table to its rows.

    >>> StoreStats(entities=2, memories={"messages": 7}).memories["messages"]
    7
    """

    entities: int = 0
    memories: Mapping[str, int] = field(default_factory=dict)


@runtime_checkable
class Store(Protocol):
    """Where a runtime keeps memories and entities.

    Writes copy what they are given and reads return the caller's own copy. Every write that returned
    is there for the next read. After `close` every other call raises `StoreClosedError`.
    """

    async def create_memory(self, memory: Memory, table_name: str, *, unique: bool = False) -> str:
        """Store ``memory`` and return its id, made here when it has none.

        ``unique`` marks the row unique unless a near twin stands in the same table and room. A row that
        is there already, the same in all it says, is kept as it is; another one of its id is an error.
        """

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
        """Return the rows of a table, newest first, ties by the later write.

        ``None`` leaves a condition out; ``count=0`` is nothing. ``start`` and ``end`` are milliseconds
        since the epoch, both included. ``unique`` returns only the rows marked so.
        """

    async def delete_memory(self, memory_id: str) -> bool:
        """Remove a row; tell whether it was there."""

    async def create_entity(self, entity: Entity) -> str:
        """Store ``entity`` and return its id, made here when it has none."""

    async def update_entity(self, entity: Entity) -> None:
        """Replace the entity of the same id; its ``created_at`` stays unless another is given."""

    async def get_entity_by_id(self, entity_id: str | None) -> Entity | None:
        """Return the entity, or ``None`` when there is none, or no id."""

    async def stats(self) -> StoreStats:
        """Return how much the store holds."""

    async def close(self) -> None:
        """Let go of whatever the store holds open; a second time does nothing."""


def check_table_name(table_name: object) -> None:
    """Raise when ``table_name`` is not a string that names a table."""
    if not isinstance(table_name, str):
        raise DefinitionTypeError(
            f"table_name is a string such as 'messages', not {type(table_name).__name__}"
        )
    if not table_name.strip():
        raise DefinitionError("table_name is empty; name a table such as 'messages'")


def check_count(count: object) -> None:
    """Raise when ``count`` is neither ``None`` nor a whole number from 0 up."""
    if count is None:
        return
    if isinstance(count, bool) or not isinstance(count, int):
        raise DefinitionTypeError(f"count is a whole number or None, not {count!r}")
    if count < 0:
        raise DefinitionError(f"count cannot be negative, as {count} is; leave it out to get all rows")


def check_moment(moment: object, *, of: str) -> None:
    """Raise when ``moment`` is neither ``None`` nor a finite number of milliseconds."""
    if moment is None:
        return
    if isinstance(moment, bool) or not isinstance(moment, (int, float)):
        raise DefinitionTypeError(f"{of} is milliseconds since the epoch, not {type(moment).__name__}")
    if not math.isfinite(moment):
        raise DefinitionError(f"{of} is milliseconds since the epoch, not {moment}")
