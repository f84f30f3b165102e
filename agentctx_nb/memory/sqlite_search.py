"""The vectors of an SQLite file in memory, kept up to date with whoever writes to the file."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from agentctx_nb.memory.checks import agreed_mark
from agentctx_nb.memory.sqlite_rows import table_state, texts_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from agentctx_nb.memory.store import EmbedderMark
    from agentctx_nb.search.table import Conditions, SearchTable

__all__ = ["FileIndex"]

_NEWEST = """
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'memories'), 0),
       coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'deletions'), 0),
       (SELECT total(generation) FROM tables)
"""
_ROWS = (
    "SELECT table_name, seq, room_id, entity_id, agent_id, world_id, created_at, is_unique, embedding"
    " FROM memories WHERE embedding IS NOT NULL AND {} ORDER BY seq"
)
_AT_ONCE = 4096  # rows


class FileIndex:
    """The tables of a file that have been searched, each as a `SearchTable`.

    Every method wants a connection with a transaction in which nothing has been read or written yet:
    what is looked at is then at least as new as all that was looked at before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tables: dict[str, SearchTable] = {}
        self._generations: dict[str, int] = {}
        self._wanted: set[str] = set()
        self._seen = (0, 0, 0.0)  # the last write, the last deletion, how often vectors were replaced

    def search(
        self,
        connection: sqlite3.Connection,
        table_name: str,
        vector: NDArray[np.float32],
        conditions: Conditions,
        *,
        query: str | None,
        count: int | None,
        threshold: float | None,
        approximate: bool,
        mark: EmbedderMark | None,
    ) -> list[tuple[int, float]]:
        """Return ``seq`` and cosine of the nearest rows, best first."""
        with self._lock:
            table = self._table(connection, table_name)
            if table is None:
                return []
            dim, known = table_state(connection, table_name)
            agreed_mark(table_name, dim, known, given_dim=len(vector), given=mark)
            if count == 0:
                return []
            if query is None:
                return table.search(
                    vector, conditions, count=count, threshold=threshold, approximate=approximate
                )
            return table.search_words(
                vector,
                query,
                lambda keys: texts_of(connection, keys),
                conditions,
                count=count,
                threshold=threshold,
            )

    def near_twins(
        self,
        connection: sqlite3.Connection,
        table_name: str,
        rows: Sequence[tuple[NDArray[np.float32], str | None]],
    ) -> list[bool]:
        """Tell for each vector and room whether a near twin stands in the table."""
        with self._lock:
            table = self._table(connection, table_name)
            if table is None:
                return [False] * len(rows)
            return [len(vector) == table.dim and table.near_twin(vector, room) for vector, room in rows]

    def want(self, table_name: str) -> None:
        """Have `follow` read a table whose first vectors are being written, while it is small."""
        self._wanted.add(table_name)

    def follow(self, connection: sqlite3.Connection) -> None:
        """Take in what was written, so that no search has to read many rows or their words."""
        with self._lock:
            self._catch_up(connection)
            while self._wanted:
                self._table(connection, self._wanted.pop())
            for table in self._tables.values():
                if table.knows_words:
                    table.read_words(lambda keys: texts_of(connection, keys))

    def forget(self) -> None:
        """Drop everything; the next search reads it anew."""
        with self._lock:
            self._tables.clear()

    def _table(self, connection: sqlite3.Connection, table_name: str) -> SearchTable | None:
        self._catch_up(connection)
        if table_name not in self._tables:
            row = connection.execute(
                "SELECT dim, generation FROM tables WHERE table_name = ? AND dim IS NOT NULL", (table_name,)
            ).fetchone()
            if row is None:
                return None
            from agentctx_nb.search.table import SearchTable

            table = SearchTable(row[0])
            self._read({table_name: table}, connection.execute(_ROWS.format("table_name = ?"), (table_name,)))
            self._tables[table_name], self._generations[table_name] = table, row[1]
        return self._tables[table_name]

    def _catch_up(self, connection: sqlite3.Connection) -> None:
        newest = connection.execute(_NEWEST).fetchone()
        written, deleted, replaced = self._seen
        self._seen = newest
        if not self._tables or newest == (written, deleted, replaced):
            return
        try:
            if newest[2] != replaced:
                self._drop_replaced(connection)
            if newest[1] != deleted:
                self._remove_deleted(connection, since=deleted)
            if newest[0] != written:
                self._read(self._tables, connection.execute(_ROWS.format("seq > ?"), (written,)))
        except BaseException:
            self._tables.clear()  # half of it may be in already
            raise

    def _drop_replaced(self, connection: sqlite3.Connection) -> None:
        generations = dict(connection.execute("SELECT table_name, generation FROM tables"))
        for name in [*self._tables]:
            if generations.get(name) != self._generations[name]:
                del self._tables[name]

    def _remove_deleted(self, connection: sqlite3.Connection, *, since: int) -> None:
        rows = connection.execute(
            "SELECT change, seq, table_name FROM deletions WHERE change > ? ORDER BY change", (since,)
        ).fetchall()
        if not rows or rows[0][0] != since + 1:  # the log has been cut since we looked
            self._tables.clear()
            return
        for _, seq, table_name in rows:
            if table_name in self._tables:
                self._tables[table_name].remove(seq)

    @staticmethod
    def _read(tables: dict[str, SearchTable], rows: sqlite3.Cursor) -> None:
        import numpy as np

        from agentctx_nb.search.table import SearchRow

        while some := rows.fetchmany(_AT_ONCE):
            by_table: dict[str, tuple[list[SearchRow], list[bytes]]] = {}
            for name, seq, room, entity, agent, world, created_at, unique, vector in some:
                if name in tables:
                    found, vectors = by_table.setdefault(name, ([], []))
                    found.append(SearchRow(seq, room, entity, agent, world, created_at, unique=unique == 1))
                    vectors.append(vector)
            for name, (found, vectors) in by_table.items():
                matrix = np.frombuffer(b"".join(vectors), "<f4").reshape(len(found), tables[name].dim)
                tables[name].add_many(found, matrix)
