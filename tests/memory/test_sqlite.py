"""What only a file does: it stays, other kernels write to it, and it can be wrong in many ways."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from agentctx_nb.errors import DefinitionError
from agentctx_nb.memory import EmbedderMark, StoreError, sqlite_file, sqlite_write
from agentctx_nb.memory.sqlite import SqliteStore
from agentctx_nb.model import Entity, Memory

MARK = EmbedderMark("small", 2, "f1")


def run(coroutine):
    return asyncio.run(coroutine)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "agent.db"


@pytest.fixture
def opened(path):
    """Open the file of the test, as often as it is called."""
    stores = []

    def open_another() -> SqliteStore:
        stores.append(SqliteStore(path))
        return stores[-1]

    yield open_another
    for store in stores:
        run(store.close())


def put(store, text, table="documents", **fields) -> str:
    mark = fields.pop("mark", None)
    return run(store.create_memory(Memory(text, **fields), table, mark=mark))


def found(store, **arguments) -> list[str]:
    hits = run(store.search_memories(**{"table_name": "documents", "embedding": [1.0, 0.0], **arguments}))
    return [hit.content.text for hit in hits]


def execute(path, script: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()


# It stays ------------------------------------------------------------------------------------


def test_everything_is_there_after_a_restart(path):
    def everything(store):
        return (
            [(m.to_dict() | {"embedding": None}) for m in run(store.get_memories(table_name="documents"))],
            [
                m.embedding.tolist()
                for m in run(store.search_memories(table_name="documents", embedding=[1.0, 0.0]))
            ],
            run(store.get_entity_by_id("u1")),
            run(store.embedder_mark("documents")),
            run(store.stats()),
        )

    store = SqliteStore(path)
    put(store, "a", embedding=[1.0, 0.1], mark=MARK, metadata={"k": {"deep": [1.5, None, "ü"]}}, room_id="r")
    put(store, "b", embedding=[0.3, 1.0], created_at=7, unique=True)
    put(store, "blind")
    run(store.create_entity(Entity("u1", names=["Ada"], metadata={"x": (1, 2)})))
    before = everything(store)
    run(store.close())
    again = SqliteStore(str(path))
    assert everything(again) == before
    run(again.close())


def test_a_path_may_start_at_home_and_shows_in_the_repr(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    store = SqliteStore("~/what? #1%.db")
    put(store, "a")
    assert repr(store) == f"SqliteStore({str(tmp_path / 'what? #1%.db')!r})"
    assert (tmp_path / "what? #1%.db").is_file()
    run(store.close())


def test_closing_finishes_what_is_being_written(path):
    async def write_and_close():
        store = SqliteStore(path)
        writes = [asyncio.create_task(store.create_memory(Memory(str(n)), "m")) for n in range(30)]
        await asyncio.sleep(0)
        await store.close()
        return await asyncio.gather(*writes)

    ids = run(write_and_close())
    again = SqliteStore(path)
    assert {m.id for m in run(again.get_memories(table_name="m"))} == set(ids)
    run(again.close())


# Several at once -----------------------------------------------------------------------------


def test_what_another_kernel_does_is_seen_by_the_next_read_and_search(opened):
    one, other = opened(), opened()
    put(one, "a", id="a", embedding=[1.0, 0.0])
    assert found(one) == found(other) == ["a"]
    put(other, "b", id="b", embedding=[1.0, 0.1])
    assert found(one) == found(one, query="nothing") == ["a", "b"]
    assert found(one, query="b", match_threshold=0.5)
    run(other.delete_memory("a"))
    assert found(one) == found(one, query="a") == ["b"]
    assert run(one.get_memory_by_id("a")) is None
    run(other.create_memories([Memory(str(n), embedding=[1.0, n + 1.0]) for n in range(3)], "documents"))
    assert found(one) == ["b", "0", "1", "2"]
    run(other.delete_memories(table_name="documents"))
    assert found(one) == []
    put(other, "wide", embedding=[1.0, 0.0, 0.0])
    assert found(one, embedding=[1.0, 0.0, 0.0]) == ["wide"]
    with pytest.raises(DefinitionError, match="embedding has 2 numbers"):
        put(one, "narrow", embedding=[1.0, 0.0])


def test_another_kernel_s_writes_are_taken_in_without_reading_all_anew(opened):
    one, other = opened(), opened()
    put(one, "a", id="a", embedding=[1.0, 0.0])
    found(one)
    table = one._index._tables["documents"]
    put(other, "b", embedding=[1.0, 0.1])
    run(other.delete_memory("a"))
    assert found(one) == ["b"]
    assert one._index._tables["documents"] is table
    assert len(table) == 1


def test_vectors_another_kernel_replaced_are_read_anew(opened):
    one, other = opened(), opened()
    put(one, "a", id="a", embedding=[1.0, 0.0], mark=MARK)
    put(one, "b", id="b", embedding=[0.0, 1.0])
    assert found(one) == ["a", "b"]
    run(other.replace_embeddings("documents", {"a": [0.0, 0.0, 1.0], "b": [1.0, 0.0, 0.0]}, None))
    assert found(one, embedding=[1.0, 0.0, 0.0]) == ["b", "a"]


def test_a_twin_another_kernel_wrote_is_a_twin(opened):
    one, other = opened(), opened()
    for store, room in ((one, "r"), (other, "r"), (one, "s")):
        run(store.create_memory(Memory("a", room_id=room, embedding=[1.0, 0.0]), "documents", unique=True))
    unique = [m.unique for m in run(one.get_memories(table_name="documents"))]
    assert unique == [True, False, True]


def test_more_deletions_than_are_remembered_are_noticed(opened, monkeypatch):
    monkeypatch.setattr(sqlite_write, "_REMEMBERED_DELETIONS", 5)
    one, other = opened(), opened()
    ids = [put(one, str(n), embedding=[1.0, n]) for n in range(20)]
    assert len(found(one)) == 20
    for memory_id in ids[:18]:
        run(other.delete_memory(memory_id))
    assert found(one) == ["18", "19"]


def test_a_row_deleted_by_hand_is_not_found(opened, path):
    store = opened()
    put(store, "a", embedding=[1.0, 0.0])
    put(store, "b", embedding=[1.0, 0.1])
    assert found(store) == ["a", "b"]
    execute(path, "DELETE FROM memories WHERE content LIKE '%\"a\"%'")
    assert found(store) == ["b"]


def test_a_write_that_fails_leaves_no_vector_behind(opened):
    store = opened()
    put(store, "a", id="a", embedding=[1.0, 0.0])
    assert found(store) == ["a"]
    with pytest.raises(DefinitionError):
        run(
            store.create_memories(
                [Memory("b", embedding=[1.0, 0.0]), Memory("c", id="a")], "documents", unique=True
            )
        )
    put(store, "d", embedding=[0.0, 1.0])
    assert found(store) == ["a", "d"]


def test_the_event_loop_runs_on_while_a_write_waits_for_another_process(opened, path):
    store = opened()
    put(store, "a")
    blocker = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    blocker.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, lambda: blocker.execute("COMMIT")).start()

    async def write_and_read():
        write = asyncio.create_task(store.create_memory(Memory("b"), "documents"))
        reads, longest, last = 0, 0.0, time.perf_counter()
        while not write.done():
            reads += len(await store.get_memories(table_name="documents")) == 1
            longest, last = max(longest, time.perf_counter() - last), time.perf_counter()
            await asyncio.sleep(0.01)
        await write
        return reads

    assert run(write_and_read()) > 2
    assert len(run(store.get_memories(table_name="documents"))) == 2
    blocker.close()


def test_a_caller_that_leaves_while_its_write_waits_harms_nobody(opened, path):
    store = opened()
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")

    async def leave():
        begun = asyncio.create_task(store.create_memory(Memory("begun", id="begun"), "documents"))
        queued = asyncio.create_task(store.create_memory(Memory("queued", id="queued"), "documents"))
        await asyncio.sleep(0.05)
        for task in (begun, queued):
            task.cancel()
        await asyncio.wait([begun, queued], timeout=5)
        assert begun.cancelled()
        assert queued.cancelled()
        blocker.execute("COMMIT")
        return await store.create_memory(Memory("after", id="after"), "documents")

    assert run(leave()) == "after"
    # What had begun is done to its end; what had not is dropped.
    assert [m.id for m in run(store.get_memories(table_name="documents"))] == ["after", "begun"]
    blocker.close()


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
