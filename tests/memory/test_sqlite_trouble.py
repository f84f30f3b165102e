"""Files of other versions, files that are none, and trouble while one is open."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from agentctx_nb.errors import DefinitionError
from agentctx_nb.memory import StoreError, sqlite_file
from agentctx_nb.memory.sqlite import SqliteStore
from agentctx_nb.model import Entity, Memory
from tests.memory.sqlite_asking import MARK, execute, found, put, run

# Older, newer and other files ----------------------------------------------------------------


def test_a_file_of_the_version_before_is_brought_up_to_date(path, opened):
    execute(path, (Path(__file__).parent / "format_1.sql").read_text(encoding="utf-8"))
    for store in (opened(), opened()):
        messages = run(store.get_memories(table_name="messages", room_id="lobby", entity_id="u1"))
        assert [m.id for m in messages] == ["m1", "m2"]
        assert messages[1].to_dict() == {
            "content": {"text": "Hello", "source": "chat"},
            "entity_id": "u1",
            "room_id": "lobby",
            "id": "m2",
            "agent_id": "agent",
            "world_id": "w",
            "created_at": 2000,
            "metadata": {"k": [1, 2]},
        }
        assert found(store) == ["east", "north"]
        assert [m.created_at for m in run(store.get_memories(table_name="documents"))] == [1000.5, 1000, 1000]
        assert run(store.get_entity_by_id("u1")) == Entity(
            "u1", names=["Ada"], metadata={"preferences": {"language": "en"}}, created_at=7
        )
        assert run(store.embedder_mark("documents")) is None
    with pytest.raises(DefinitionError, match="table 'documents' holds vectors of 2"):
        put(store, "wrong", embedding=[1.0])
    put(store, "new", embedding=[1.0, 0.0], mark=MARK)
    run(store.delete_memory("d2"))
    assert found(store) == ["new", "north"]


def test_an_old_file_that_cannot_be_brought_up_to_date_stays_as_it_is(path):
    execute(path, (Path(__file__).parent / "format_1.sql").read_text(encoding="utf-8"))
    execute(path, "UPDATE memories SET embedding = 'nonsense' WHERE id = 'd2'")
    with pytest.raises(StoreError, match=r"agent\.db cannot be used"):
        SqliteStore(path)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    assert connection.execute("SELECT count(embedding), count(*) FROM memories").fetchone() == (2, 5)
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'tables'").fetchone() == (0,)
    connection.close()


def test_a_newer_file_says_what_to_install(path):
    run(SqliteStore(path).close())
    execute(path, f"PRAGMA user_version = {sqlite_file.FORMAT + 1}")
    with pytest.raises(
        StoreError, match=r"newer agentctx_nb \(format 3, this one knows 2\); install the newer"
    ):
        SqliteStore(path)


def test_another_program_s_file_is_left_alone(path):
    execute(path, "CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x')")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is an SQLite file of another program; name another file"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_alone(path):
    path.write_bytes(b"Dear diary, " * 500)
    with pytest.raises(StoreError, match="is no SQLite file; name another file"):
        SqliteStore(path)
    assert path.read_bytes() == b"Dear diary, " * 500


def test_a_damaged_file_says_how_to_save_it(path):
    store = SqliteStore(path)
    run(store.create_memories([Memory("x" * 500) for _ in range(200)], "documents"))
    run(store.close())
    raw = bytearray(path.read_bytes())
    raw[8192:] = b"\xff" * (len(raw) - 8192)
    path.write_bytes(raw)
    store = SqliteStore(path)
    with pytest.raises(StoreError, match=r"agent\.db is damaged; copy it"):
        run(store.get_memories(table_name="documents"))
    run(store.close())


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"there is no folder .*nowhere for agent\.db; make it first"):
        SqliteStore(tmp_path / "nowhere" / "agent.db")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(StoreError, match=r"is a folder; name a file in it, such as .*agent\.db"):
        SqliteStore(tmp_path)


# Trouble while it is open --------------------------------------------------------------------


def on_the_connection(store, statement: str) -> None:
    run(store._writer.run(lambda connection: connection.execute(statement)))


def test_a_full_disk_stores_nothing_and_says_so(opened):
    store = opened()
    put(store, "a", embedding=[1.0, 0.0])
    on_the_connection(store, "PRAGMA max_page_count = 1")  # as small as the file is now
    with pytest.raises(StoreError, match="cannot grow, the disk is full, so nothing was stored; make room"):
        run(
            store.create_memories(
                [Memory("x" * 10_000, embedding=[1.0, 0.0]) for _ in range(50)], "documents"
            )
        )
    assert found(store) == ["a"]
    on_the_connection(store, "PRAGMA max_page_count = 100000")
    put(store, "b", embedding=[1.0, 0.0])
    assert found(store) == ["a", "b"]


def test_a_read_only_file_says_so_and_can_still_be_read(opened):
    store = opened()
    put(store, "a", embedding=[1.0, 0.0])
    on_the_connection(store, "PRAGMA query_only = 1")
    with pytest.raises(StoreError, match="is read-only, so nothing was stored; allow writing"):
        put(store, "b")
    with pytest.raises(StoreError, match="is read-only"):
        run(store.delete_memories(table_name="documents"))
    assert found(store) == ["a"]


def test_a_file_that_is_locked_for_good_says_so(path, monkeypatch):
    monkeypatch.setattr(sqlite_file, "_PATIENCE", 0.05)
    store = SqliteStore(path)
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(
        StoreError, match="was being written by another process for 30 seconds, so nothing was stored"
    ):
        put(store, "a")
    assert run(store.get_memories(table_name="documents")) == []
    blocker.execute("COMMIT")
    blocker.close()
    put(store, "a")
    run(store.close())


def test_a_file_that_was_moved_away_takes_no_writes(opened, path):
    store = opened()
    put(store, "a")
    path.rename(path.with_name("moved.db"))
    for attempt in (lambda: put(store, "b"), lambda: found(store)):
        with pytest.raises(
            StoreError, match="was moved or deleted while it was in use, so nothing is stored"
        ):
            attempt()
    assert not path.exists()
    path.with_name("moved.db").rename(path)
    put(store, "c")
    assert [m.content.text for m in run(store.get_memories(table_name="documents"))] == ["c", "a"]


def test_a_forked_process_is_told_to_open_the_file_again(opened, monkeypatch):
    store = opened()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", lambda: -1)
        with pytest.raises(StoreError, match="was opened before this process was forked; open it again here"):
            put(store, "a")
    put(store, "b")


def test_the_cause_of_trouble_is_kept(path):
    path.write_bytes(b"Dear diary, " * 500)
    with pytest.raises(StoreError) as caught:
        SqliteStore(path)
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)
