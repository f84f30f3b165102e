"""Writing to the file of an `SqliteStore`: the statements, each for one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentctx_nb.memory.as_json import write_json
from agentctx_nb.memory.checks import agreed_mark
from agentctx_nb.memory.rows import refuse_another
from agentctx_nb.memory.sqlite_rows import AT_ONCE, by_id, table_state
from agentctx_nb.memory.store import EmbedderMark, MissingVectorsError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from agentctx_nb.memory.sqlite_search import FileIndex
    from agentctx_nb.model import Entity, Memory

__all__ = ["NewRow", "delete_ids", "delete_rows", "insert_all", "replace_vectors", "write_entity"]

_REMEMBERED_DELETIONS = 100_000  # a process that has seen fewer reads its vectors anew


@dataclass(frozen=True, slots=True)
class NewRow:
    """A memory ready to be written: what its caller gave, its vector checked, and what was filled in."""

    given: Memory
    id: str
    created_at: float
    content: str
    metadata: str

    @classmethod
    def of(cls, given: Memory, *, memory_id: str, created_at: float) -> NewRow:
        """Write out a memory; its content and metadata must be what JSON can hold."""
        return cls(
            given,
            memory_id,
            created_at,
            write_json(given.content.__dict__, of="content"),
            write_json(given.metadata, of="metadata"),
        )


def insert_all(
    connection: sqlite3.Connection,
    rows: Sequence[NewRow],
    table_name: str,
    index: FileIndex,
    *,
    unique: bool,
    mark: EmbedderMark | None,
    replacing: Sequence[str] = (),
) -> list[str]:
    """Delete the rows of the ids ``replacing``, write the others in their order, and return their ids.

    A row that is there already is left as it is.
    """
    gone = delete_ids(connection, replacing)
    twins: Sequence[bool | None] = [None] * len(rows)
    if unique:
        try:
            twins = _twins(connection, rows, table_name, index)
        finally:
            if gone:
                index.forget()  # it has seen a deletion that may yet be taken back
    dim, known = before = table_state(connection, table_name)
    for row, twin in zip(rows, twins, strict=True):
        stored = None if row.given.id is None else by_id(connection, row.id)
        if stored is not None:
            refuse_another(row.given, stored[0], table_name=table_name, stored_in=stored[1])
            continue
        if row.given.embedding is not None:
            length = len(row.given.embedding)
            known = agreed_mark(table_name, dim, known, given_dim=length, given=mark)
            dim = length
        _insert(connection, row, table_name, unique=row.given.unique if twin is None else not twin)
    if dim != before[0]:
        index.want(table_name)
    if (dim, known) != before:
        _fix_table(connection, table_name, dim, known)
    return [row.id for row in rows]


def _twins(
    connection: sqlite3.Connection, rows: Sequence[NewRow], table_name: str, index: FileIndex
) -> list[bool]:
    """Tell for each row whether a near twin stands in the table already or comes earlier in ``rows``."""
    placed = [
        (number, row.given.embedding, row.given.room_id)
        for number, row in enumerate(rows)
        if row.given.embedding is not None
    ]
    twins = [False] * len(rows)
    if not placed:
        return twins
    from agentctx_nb.search.table import SearchRow, SearchTable

    there = index.near_twins(connection, table_name, [(vector, room) for _, vector, room in placed])
    coming: dict[int, SearchTable] = {}  # by length of the vectors, in case one of them is wrong
    for (number, vector, room), twin in zip(placed, there, strict=True):
        table = coming.setdefault(len(vector), SearchTable(len(vector)))
        twins[number] = twin or table.near_twin(vector, room)
        if len(rows) > 1:
            table.add(SearchRow(number, room, None, None, None, 0.0, unique=None), vector)
    return twins


def _insert(connection: sqlite3.Connection, row: NewRow, table_name: str, *, unique: bool | None) -> None:
    given = row.given
    connection.execute(
        "INSERT INTO memories (id, table_name, room_id, entity_id, agent_id, world_id, created_at, is_unique,"
        " content, metadata, embedding) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            row.id,
            table_name,
            given.room_id,
            given.entity_id,
            given.agent_id,
            given.world_id,
            row.created_at,
            None if unique is None else int(unique),
            row.content,
            row.metadata,
            None if given.embedding is None else _as_bytes(given.embedding),
        ),
    )


def _as_bytes(vector: NDArray[np.float32]) -> bytes:
    # Little-endian on every machine, so that a file can be carried to another one.
    return vector.astype("<f4", copy=False).tobytes()


def delete_rows(connection: sqlite3.Connection, conditions: Mapping[str, str]) -> int:
    """Delete the rows of these columns and return how many; a table left without vectors is free again."""
    where = " AND ".join(f"{column} = ?" for column in conditions)
    return _delete(connection, where, [*conditions.values()])


def delete_ids(connection: sqlite3.Connection, ids: Sequence[str]) -> int:
    """Delete the rows of these ids, as `delete_rows` does."""
    gone = 0
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        gone += _delete(connection, f"id IN ({', '.join('?' * len(some))})", some)
    return gone


def _delete(connection: sqlite3.Connection, where: str, values: Sequence[str]) -> int:
    names = connection.execute(
        f"SELECT DISTINCT table_name FROM memories WHERE {where}",  # noqa: S608
        values,
    ).fetchall()
    gone = connection.execute(f"DELETE FROM memories WHERE {where}", values).rowcount  # noqa: S608
    for (name,) in names:
        connection.execute(
            "UPDATE tables SET dim = NULL, embedder = NULL, fingerprint = NULL, generation = generation + 1"
            " WHERE table_name = ? AND dim IS NOT NULL AND NOT EXISTS"
            " (SELECT 1 FROM memories WHERE table_name = ? AND embedding IS NOT NULL)",
            (name, name),
        )
    connection.execute(
        "DELETE FROM deletions WHERE change <= (SELECT max(change) FROM deletions) - ?",
        (_REMEMBERED_DELETIONS,),
    )
    return gone


def replace_vectors(
    connection: sqlite3.Connection,
    table_name: str,
    vectors: Mapping[str, NDArray[np.float32]],
    mark: EmbedderMark | None,
) -> None:
    """Give rows of a table, by id, other vectors; every row that has one must be given another."""
    rows = connection.execute(
        "SELECT id, embedding IS NOT NULL FROM memories WHERE table_name = ? ORDER BY seq", (table_name,)
    ).fetchall()
    missing = tuple(memory_id for memory_id, placed in rows if placed and memory_id not in vectors)
    if missing:
        raise MissingVectorsError(table_name, missing)
    ours = [memory_id for memory_id, _ in rows if memory_id in vectors]
    connection.executemany(
        "UPDATE memories SET embedding = ? WHERE id = ?",
        ((_as_bytes(vectors[memory_id]), memory_id) for memory_id in ours),
    )
    if ours:
        _fix_table(connection, table_name, len(vectors[ours[0]]), mark, replaced=True)


def _fix_table(
    connection: sqlite3.Connection,
    table_name: str,
    dim: int | None,
    mark: EmbedderMark | None,
    *,
    replaced: bool = False,
) -> None:
    connection.execute(
        "INSERT INTO tables (table_name, dim, embedder, fingerprint, generation) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (table_name) DO UPDATE SET dim = excluded.dim, embedder = excluded.embedder,"
        " fingerprint = excluded.fingerprint, generation = tables.generation + excluded.generation",
        (table_name, dim, mark and mark.name, mark and mark.fingerprint, int(replaced)),
    )


def write_entity(connection: sqlite3.Connection, entity: Entity, *, names: str, metadata: str) -> None:
    """Keep an entity under its id, in place of any other; ``names`` and ``metadata`` are written out already."""
    connection.execute(
        "INSERT OR REPLACE INTO entities (id, names, metadata, created_at, agent_id) VALUES (?, ?, ?, ?, ?)",
        (entity.id, names, metadata, entity.created_at, entity.agent_id),
    )
