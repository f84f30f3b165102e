"""What a runtime asks of a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from agentctx_nb.errors import AgentCtxError, DefinitionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentctx_nb.model import Entity, Memory

__all__ = [
    "EmbedderMark",
    "MissingVectorsError",
    "Store",
    "StoreClosedError",
    "StoreError",
    "StoreStats",
]


class StoreError(AgentCtxError, RuntimeError):
    """A store cannot do what it is asked for; the message says what stands in the way and what to do."""


class StoreClosedError(StoreError):
    """The store was closed and is asked for something."""

    def __init__(self) -> None:
        super().__init__("the store is closed; make a new runtime, or close this one later")


class MissingVectorsError(DefinitionError):
    """New vectors for a table leave some of its rows out; ``missing`` holds their ids, nothing was changed."""

    def __init__(self, table_name: str, missing: tuple[str, ...]) -> None:
        self.missing = missing
        super().__init__(
            f"{len(missing):,} of the rows with a vector in table {table_name!r} are given no new one; "
            "embed them too (somebody may have written them meanwhile)"
        )


@dataclass(frozen=True, slots=True)
class StoreStats:
    """How much a store holds: ``memories`` maps each table to its rows.

    >>> StoreStats(entities=2, memories={"messages": 7}).memories["messages"]
    7
    """

    entities: int = 0
    memories: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EmbedderMark:
    """Which embedder made the vectors of a table.

    ``dim`` is how many numbers a vector has; ``fingerprint`` tells two versions of one name apart.
    """

    name: str
    dim: int
    fingerprint: str


@runtime_checkable
class Store(Protocol):
    """Where a runtime keeps memories and entities.

    Writes copy what they are given and reads return the caller's own copy. An embedding is kept, and read
    back, as a numpy array of float32; a ``similarity`` is set by a search and never kept. Every write that
    returned is there for the next read; one that raised stored nothing. After `close` every other call
    raises `StoreClosedError`.
    """

    async def create_memory(
        self, memory: Memory, table_name: str, *, unique: bool = False, mark: EmbedderMark | None = None
    ) -> str:
        """Store ``memory`` and return its id, made here when it has none.

        ``unique`` marks the row unique unless a near twin (a cosine of at least 0.95) stands in the same
        table and room. A row that is there already, the same in all it says, is kept as it is; another one
        of its id is an error.

        The first vector of a table fixes how many numbers its vectors have, and ``mark`` which embedder
        makes them; another embedder is refused from then on, a vector without a mark only if it is of
        another length. A table whose last vector was deleted is free again.
        """

    async def create_memories(
        self,
        memories: Iterable[Memory],
        table_name: str,
        *,
        unique: bool = False,
        mark: EmbedderMark | None = None,
        replacing: Iterable[str] = (),
    ) -> list[str]:
        """Store all of ``memories`` in their order, or none of them, and return their ids.

        The rows whose ids ``replacing`` names, in whatever table, are gone with the same write: everybody
        sees the old ones or the new ones, whenever the process is killed. A memory may have the id of a row
        it replaces; ids of no row are passed over.
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
        """Return the rows of a table nearest to ``embedding``, best first, ties by the earlier write.

        The ``similarity`` of a hit is always the cosine, at most 1.0, and ``match_threshold`` always applies
        to it: rows at least that similar are hits; 0 or ``None`` is no threshold, and brings the rows of
        negative similarity too. Rows without a vector, or with one of nothing but zeros, are never hits.

        Parameters
        ----------
        query
            The words that were asked. With them the *order* is by cosine and BM25, mixed six to four, each
            as a z-score over all rows that meet the conditions, whether above the threshold or not.
        approximate
            Allows a faster search that may miss a row now and then.
        mark
            The embedder of ``embedding``, refused where another one made the vectors of the table.

        The other conditions are those of `get_memories`.
        """

    async def get_memory_by_id(self, memory_id: str | None) -> Memory | None:
        """Return the memory, or ``None`` when there is none, or no id."""

    async def delete_memory(self, memory_id: str) -> bool:
        """Remove a row; tell whether it was there."""

    async def delete_memories(self, *, table_name: str, room_id: str | None = None) -> int:
        """Remove the rows of a table, or of one room in it, and return how many they were."""

    async def embedder_mark(self, table_name: str) -> EmbedderMark | None:
        """Return which embedder makes the vectors of a table, ``None`` where nothing says so."""

    async def replace_embeddings(
        self, table_name: str, vectors: Mapping[str, Any], mark: EmbedderMark | None
    ) -> None:
        """Give rows of a table, by id, new vectors of the embedder ``mark``, all at once.

        Ids that are not in the table are passed over; a row that has a vector and is given no new one is a
        `MissingVectorsError`.
        """

    async def create_entity(self, entity: Entity) -> str:
        """Store ``entity`` and return its id, made here when it has none."""

    async def update_entity(self, entity: Entity) -> None:
        """Replace the entity of the same id; its ``created_at`` stays unless another is given."""

    async def get_entity_by_id(self, entity_id: str | None) -> Entity | None:
        """Return the entity, or ``None`` when there is none, or no id."""

    async def stats(self) -> StoreStats:
        """Return how much the store holds; empty tables are left out."""

    async def close(self) -> None:
        """Let go of whatever the store holds open; a second time does nothing."""
