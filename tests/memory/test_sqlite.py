"""What only a file does: it stays, other kernels write to it, and it can be wrong in many ways."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time

import pytest

from agentctx_nb.errors import DefinitionError
from agentctx_nb.memory import sqlite_write
from agentctx_nb.memory.sqlite import SqliteStore
from agentctx_nb.model import Entity, Memory
from tests.memory.sqlite_asking import MARK, execute, found, put, run

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
