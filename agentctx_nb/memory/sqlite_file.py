"""The file of an `SqliteStore`: its tables, older forms of it brought up to date, and its errors in plain words."""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from agentctx_nb.errors import DefinitionError
from agentctx_nb.memory.store import StoreError
from agentctx_nb.names import counted, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FORMAT", "connect", "explained", "open_file", "place_of", "transaction"]

FORMAT = 2  # kept in the file as user_version
_OURS = 0x41637478  # application_id: "Actx"
_PATIENCE = 30.0  # seconds to wait while another process writes

# ``seq`` is the order of writing and never used twice, so what is new since a look is what is greater.
# ``deletions`` says the same of what is gone; ``generation`` grows when the vectors of a table are replaced.
_TABLES = """
CREATE TABLE memories (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    table_name TEXT NOT NULL,
    room_id TEXT,
    entity_id TEXT,
    agent_id TEXT,
    world_id TEXT,
    created_at NUMERIC NOT NULL,
    is_unique INTEGER,
    content TEXT NOT NULL,
    metadata TEXT NOT NULL,
    embedding BLOB
);
CREATE INDEX memories_by_time ON memories (table_name, created_at);
CREATE INDEX memories_by_room ON memories (table_name, room_id, created_at);
CREATE INDEX memories_by_entity ON memories (table_name, entity_id, created_at);
CREATE INDEX memories_with_vectors ON memories (table_name) WHERE embedding IS NOT NULL;
CREATE TABLE deletions (change INTEGER PRIMARY KEY AUTOINCREMENT, seq INTEGER NOT NULL, table_name TEXT NOT NULL);
CREATE TRIGGER log_deletions AFTER DELETE ON memories WHEN old.embedding IS NOT NULL BEGIN
    INSERT INTO deletions (seq, table_name) VALUES (old.seq, old.table_name);
END;
CREATE TABLE tables (
    table_name TEXT PRIMARY KEY,
    dim INTEGER,
    embedder TEXT,
    fingerprint TEXT,
    generation INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE entities (
    id TEXT PRIMARY KEY,
    names TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at NUMERIC NOT NULL,
    agent_id TEXT
);
"""

# Format 1 wrote vectors as JSON, knew nothing of embedders, and logged no deletions.
_SET_ASIDE_1 = """
ALTER TABLE memories RENAME TO old_memories;
ALTER TABLE entities RENAME TO old_entities;
DROP INDEX IF EXISTS memories_by_time;
"""
_BRING_OVER_1 = """
INSERT INTO memories
        (id, table_name, room_id, entity_id, agent_id, world_id, created_at, content, metadata, embedding)
    SELECT id, table_name, room_id, entity_id, agent_id, world_id, created_at, content, metadata,
        vector_bytes(embedding) FROM old_memories ORDER BY rowid;
INSERT INTO tables (table_name, dim)
    SELECT table_name, max(length(embedding)) / 4 FROM memories WHERE embedding IS NOT NULL GROUP BY table_name;
INSERT INTO entities (id, names, metadata, created_at) SELECT id, names, metadata, created_at FROM old_entities;
DROP TABLE old_memories;
DROP TABLE old_entities;
"""


def place_of(given: str | os.PathLike[str]) -> Path:
    """Return the whole path that ``given`` means; `DefinitionError` where no file can have it."""
    try:
        path = Path(given).expanduser().absolute()
        if b"\0" in os.fsencode(path):
            raise DefinitionError(f"store={shown(given)} names no file: a path holds no NUL")
    except UnicodeEncodeError:
        raise DefinitionError(f"store={shown(given)} names no file: it holds half of a character") from None
    except RuntimeError:  # of expanduser
        raise DefinitionError(f"store={shown(given)} names no file: there is no such user") from None
    except OSError as exc:
        raise StoreError(f"the folder this process works in is gone, so name all of the path: {exc}") from exc
    return path


def connect(path: Path) -> sqlite3.Connection:
    """Open a file that is there, outside of any transaction; one thread at a time may use what is returned."""
    # A URI, because mode=rw does not make a file where another process has removed it meanwhile.
    address = f"file:{quote(os.fsencode(path))}?mode=rw"
    connection = sqlite3.connect(
        address, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        # A commit stands in the log before it returns, so a killed process loses nothing; that the log is on the
        # disk is waited for at checkpoints only. A power cut may cost the last moments, never the file.
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def open_file(path: Path) -> sqlite3.Connection:
    """Open a file, made where there is none and brought up to date where it is older."""
    with explained(path):
        if path.is_dir():
            raise StoreError(f"{path} is a folder; name a file in it, such as {path / 'agent.db'}")
        if not path.parent.is_dir():
            raise StoreError(f"there is no folder {path.parent} for {path.name}; make it first")
        if not path.exists():
            path.touch()
        connection = connect(path)
        try:
            found = _format(connection, path)
            _write_ahead(connection)
            if found != FORMAT:
                with transaction(connection):
                    _bring_up_to_date(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection


def _format(connection: sqlite3.Connection, path: Path) -> int:
    """Return which format the file has, 0 when it is empty; raise when it is none of ours."""
    if _pragma(connection, "application_id") != _OURS:
        # Asked again after the tables: another process may have made the file ours between the two.
        tables = connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        if tables and _pragma(connection, "application_id") != _OURS:
            raise StoreError(f"{path} is an SQLite file of another program; name another file")
        if not tables:
            return 0
    found = _pragma(connection, "user_version")
    if found > FORMAT:
        raise StoreError(
            f"{path} was written by a newer agentctx_nb (format {found}, this one knows {FORMAT}); "
            "install the newer version, or name another file"
        )
    return found


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Have changes written to a log beside the file, so that readers and a writer do not wait for each other."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as exc:
            # SQLite does not wait by itself here, where another process has the new file open too.
            if exc.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    found = _format(connection, path)
    if found == FORMAT:  # another process was first
        return
    connection.create_function("vector_bytes", 1, _vector_bytes, deterministic=True)
    for script in (_SET_ASIDE_1, _TABLES, _BRING_OVER_1) if found == 1 else (_TABLES,):
        for statement in _statements(script):
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_OURS}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script one by one; `executescript` would commit what was done before it."""
    lines: list[str] = []
    for line in script.replace(";", ";\n").splitlines():
        lines.append(line)
        statement = "\n".join(lines)
        if sqlite3.complete_statement(statement):
            yield statement
            lines.clear()


def _vector_bytes(text: str | None) -> bytes | None:
    if text is None:
        return None
    numbers = json.loads(text)
    return struct.pack(f"<{len(numbers)}f", *numbers)


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


@contextmanager
def transaction(connection: sqlite3.Connection, *, write: bool = True) -> Iterator[None]:
    """All that is done inside, or nothing of it; what is read inside is of one moment."""
    connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system complain of into a `StoreError` that says what to do."""
    try:
        yield
    except sqlite3.Error as exc:
        code = getattr(exc, "sqlite_errorname", "")
        for start, words in _WORDS.items():
            if code.startswith(start):
                raise StoreError(f"{path} {words}") from exc
        raise StoreError(f"{path} cannot be used: {exc}") from exc
    except OSError as exc:
        raise StoreError(f"{path} cannot be used: {exc.strerror or exc}; name a file you may write") from exc


_WORDS = {
    "SQLITE_NOTADB": "is no SQLite file; name another file, or move this one away",
    "SQLITE_CORRUPT": "is damaged; copy it, then save what can be read with: sqlite3 FILE .recover",
    "SQLITE_READONLY": "is read-only, so nothing was stored; allow writing to it and to its folder, or copy it",
    "SQLITE_PERM": "may not be written by you; allow it, or name another file",
    "SQLITE_AUTH": "may not be written by you; allow it, or name another file",
    "SQLITE_CANTOPEN": "cannot be opened; its folder must be there and allow writing",
    "SQLITE_FULL": "cannot grow, the disk is full, so nothing was stored; make room and try again",
    "SQLITE_IOERR": "could not be read or written, so nothing was stored; see whether the disk is well and has room",
    "SQLITE_BUSY": (
        f"was being written by another process for {counted(int(_PATIENCE), 'second')}, so nothing was stored; "
        "try again"
    ),
    "SQLITE_TOOBIG": "cannot hold a row of that size (1 GB is the limit), so nothing was stored",
}
