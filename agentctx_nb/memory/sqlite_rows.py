"""Reading from the file of an `SqliteStore`: the statements, each for one transaction, and columns as memories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentctx_nb.memory.as_json import read_json
from agentctx_nb.memory.store import EmbedderMark
from agentctx_nb.model import Content, Entity, Memory

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "AT_ONCE",
    "MEMORY",
    "by_id",
    "counts",
    "memories_of",
    "newest",
    "read_entity",
    "read_memory",
    "table_state",
    "texts_of",
]

MEMORY = (
    "seq, id, table_name, room_id, entity_id, agent_id, world_id, created_at, is_unique, content, metadata, "
    "embedding"
)
AT_ONCE = 500  # rows named in one statement; SQLite allows 999 everywhere


def read_memory(row: tuple[Any, ...]) -> Memory:
    """Return a row of the columns `MEMORY` as a memory."""
    _, memory_id, _, room, entity, agent, world, created_at, unique, content, metadata, embedding = row
    said = Content()
    said.__dict__.update(read_json(content))
    if embedding is not None:
        import numpy as np

        embedding = np.frombuffer(embedding, "<f4").astype(np.float32)
    return Memory(
        said,
        entity_id=entity,
        room_id=room,
        id=memory_id,
        agent_id=agent,
        world_id=world,
        created_at=created_at,
        embedding=embedding,
        metadata=read_json(metadata),
        unique=None if unique is None else bool(unique),
    )


def newest(
    connection: sqlite3.Connection,
    columns: Mapping[str, str | None],
    *,
    unique: bool,
    start: float | None,
    end: float | None,
    count: int | None,
) -> list[Memory]:
    """Return the memories that meet the conditions, newest first; ``None`` leaves a column out."""
    wanted: dict[str, Any] = {f"{column} = ?": name for column, name in columns.items() if name is not None}
    limits = {"created_at >= ?": start, "created_at <= ?": end, "is_unique = ?": True if unique else None}
    wanted.update({condition: limit for condition, limit in limits.items() if limit is not None})
    rows = connection.execute(
        f"SELECT {MEMORY} FROM memories WHERE {' AND '.join(wanted)}"  # noqa: S608  no name of a caller's in it
        " ORDER BY created_at DESC, seq DESC LIMIT ?",
        [*wanted.values(), -1 if count is None else min(count, 2**62)],
    )
    return [read_memory(row) for row in rows]


def by_id(connection: sqlite3.Connection, memory_id: str | None) -> tuple[Memory, str] | None:
    """Return the memory of this id and the table it stands in, or ``None``."""
    row = connection.execute(f"SELECT {MEMORY} FROM memories WHERE id = ?", (memory_id,)).fetchone()  # noqa: S608
    return None if row is None else (read_memory(row), row[2])


def counts(connection: sqlite3.Connection) -> tuple[int, dict[str, int]]:
    """Return the number of entities, and of memories by table."""
    entities = connection.execute("SELECT count(*) FROM entities").fetchone()[0]
    tables = connection.execute(
        "SELECT table_name, count(*) FROM memories GROUP BY table_name ORDER BY table_name"
    )
    return entities, dict(tables.fetchall())


def memories_of(connection: sqlite3.Connection, keys: Sequence[int]) -> list[Memory]:
    """Return the memories of these ``seq``, in this order."""
    found = {row[0]: read_memory(row) for row in _by_seq(connection, MEMORY, keys)}
    return [found[key] for key in keys]


def texts_of(connection: sqlite3.Connection, keys: Sequence[int]) -> list[str]:
    """Return what the memories of these ``seq`` say, in this order."""
    found = {
        seq: json.loads(content)["text"] or "" for seq, content in _by_seq(connection, "seq, content", keys)
    }
    return [found[key] for key in keys]


def _by_seq(connection: sqlite3.Connection, columns: str, keys: Sequence[int]) -> Iterator[Any]:
    for start in range(0, len(keys), AT_ONCE):
        some = keys[start : start + AT_ONCE]
        places = ", ".join("?" * len(some))
        yield from connection.execute(f"SELECT {columns} FROM memories WHERE seq IN ({places})", some)  # noqa: S608


def table_state(connection: sqlite3.Connection, table_name: str) -> tuple[int | None, EmbedderMark | None]:
    """Return how many numbers the vectors of a table have, and which embedder makes them."""
    row = connection.execute(
        "SELECT dim, embedder, fingerprint FROM tables WHERE table_name = ?", (table_name,)
    ).fetchone()
    if row is None:
        return None, None
    dim, name, fingerprint = row
    return dim, None if name is None else EmbedderMark(name, dim, fingerprint)


def read_entity(connection: sqlite3.Connection, entity_id: str | None) -> Entity | None:
    """Return the entity of this id, or ``None``."""
    row = connection.execute(
        "SELECT id, names, metadata, created_at, agent_id FROM entities WHERE id = ?", (entity_id,)
    ).fetchone()
    if row is None:
        return None
    known_id, names, metadata, created_at, agent_id = row
    return Entity(known_id, json.loads(names), read_json(metadata), created_at=created_at, agent_id=agent_id)
