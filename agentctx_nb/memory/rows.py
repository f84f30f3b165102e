"""Memories and entities as a store hands them in and out: plain copies, and when two say the same."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionError
from agentctx_nb.freeze import copy_containers
from agentctx_nb.memory.checks import as_vector, check_memory
from agentctx_nb.model import Content, Memory

if TYPE_CHECKING:
    from agentctx_nb.model import Entity

__all__ = ["copy_entity", "copy_memory", "kept_entity", "kept_memory", "now", "random_id", "refuse_another"]

_FILLED_IN = ("id", "created_at", "unique", "similarity")


def copy_memory(memory: Memory) -> Memory:
    """Return a copy of what a store keeps that shares nothing with it."""
    return _copied(memory, None if memory.embedding is None else memory.embedding.copy())


def kept_memory(memory: object) -> Memory:
    """Return a copy of ``memory`` as a store keeps it, checked: plain, its vector in float32, no similarity."""
    given = check_memory(memory)
    return _copied(given, None if given.embedding is None else as_vector(given.embedding))


def _copied(memory: Memory, embedding: Any) -> Memory:
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
        embedding=embedding,
        metadata=copy_containers(memory.metadata),
        unique=memory.unique,
    )


def copy_entity(entity: Entity) -> Entity:
    """Return a copy that shares no container with ``entity``."""
    return replace(entity, metadata=copy_containers(entity.metadata))


def refuse_another(given: Memory, stored: Memory, *, table_name: str, stored_in: str) -> None:
    """Raise unless ``given`` says what is stored under its id already, so that a cell can run again."""
    if stored_in != table_name or not _equal(_said(given, stored), _said(stored, given)):
        raise DefinitionError(
            f"another memory is stored as {given.id!r}, in table {stored_in!r}; "
            "delete it first, or leave the id out"
        )


def kept_entity(given: Entity, known: Entity | None, *, update: bool) -> Entity:
    """Return what is to be kept under an id that holds ``known``; an update replaces it, a create must agree."""
    if update and (given.id is None or known is None):
        raise DefinitionError(f"no entity is stored as {given.id!r}; make it with create_entity")
    kept = copy_entity(given)
    if known is None:
        return kept
    if kept.created_at is None:
        kept.created_at = known.created_at
    if not update and not _equal(kept, known):
        raise DefinitionError(f"another entity is stored as {kept.id!r}; change it with update_entity")
    return kept


def now() -> datetime:
    """Return the present in UTC."""
    return datetime.now(UTC)


def random_id() -> str:
    """Return an id nobody else makes."""
    import uuid

    return str(uuid.uuid4())


def _said(memory: Memory, other: Memory) -> dict[str, Any]:
    """Return the fields of ``memory`` that count in a comparison with ``other``."""
    said: dict[str, Any] = {
        f.name: getattr(memory, f.name) for f in fields(Memory) if f.name not in _FILLED_IN
    }
    said["embedding"] = None if memory.embedding is None else memory.embedding.tolist()
    if memory.created_at is not None and other.created_at is not None:
        said["created_at"] = memory.created_at
    return said


def _equal(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001  a value that cannot be compared, such as two DataFrames
        return False
