"""What every store does alike: many writes at once, twins, deleting, entities, closing."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime

import pytest

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.memory import StoreClosedError, StoreStats
from agentctx_nb.model import Entity, Memory
from tests.memory.contract import put, put_all, run, texts

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOON_MS = 1767268800000


# Many at once --------------------------------------------------------------------------------


def test_many_are_stored_in_their_order(store):
    given = [Memory(str(n), created_at=n % 2, embedding=[1.0, n]) for n in range(4)]
    assert put_all(store, *given, Memory("x", id="mine", created_at=9)) == [
        "id-0",
        "id-1",
        "id-2",
        "id-3",
        "mine",
    ]
    assert texts(store) == ["x", "3", "1", "2", "0"]
    assert put_all(store) == []
    assert run(store.create_memories(iter([Memory("y", created_at=10)]), "messages")) == ["id-4"]
    assert texts(store, count=1) == ["y"]


@pytest.mark.parametrize(
    "wrong",
    [
        Memory("b", id="there"),
        Memory("b", id="new"),
        Memory("b", embedding=[1.0, 2.0, 3.0]),
        Memory("b", embedding=[float("nan"), 1.0]),
        Memory("b", created_at="now"),
        "b",
    ],
)
def test_many_with_a_wrong_one_among_them_store_nothing(store, wrong):
    put(store, Memory("a", id="there"))
    good = [Memory("1", embedding=[1.0, 2.0]), Memory("2", id="new")]
    with pytest.raises(DefinitionError):
        put_all(store, *good, wrong)
    assert texts(store) == ["a"]
    assert put_all(store, *good)[1] == "new"
    put(store, Memory("later", embedding=[3.0, 4.0]))
    assert len(texts(store)) == 4


@pytest.mark.parametrize("given", [Memory("a"), "abc", {"text": "a"}, 7])
def test_many_is_a_list(store, given):
    with pytest.raises(DefinitionTypeError, match="create_memories takes a list of memories"):
        run(store.create_memories(given, "messages"))


# Unique --------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [put, put_all])
def test_unique_marks_what_has_no_near_twin_in_the_same_table_and_room(store, write):
    put(store, Memory("other table", room_id="r", embedding=[1.0, 0.0]), table="facts")
    write(
        store,
        Memory("a", room_id="r", embedding=[1.0, 0.0]),
        Memory("near", room_id="r", embedding=[1.0, 0.1]),
        Memory("far", room_id="r", embedding=[0.0, 1.0]),
        Memory("other room", room_id="r2", embedding=[1.0, 0.0]),
        Memory("no room", embedding=[1.0, 0.0]),
        Memory("no vector", room_id="r"),
        Memory("no direction", room_id="r", embedding=[0.0, 0.0]),
        unique=True,
    )
    put(store, Memory("not asked", room_id="r"))
    assert texts(store, unique=True, room_id="r") == ["no direction", "no vector", "far", "a"]
    assert texts(store, unique=True, room_id="r2") == ["other room"]
    assert len(texts(store)) == 8
    hits = run(store.search_memories(table_name="messages", embedding=[1.0, 0.0], unique=True))
    assert [m.content.text for m in hits] == ["a", "other room", "no room", "far"]
    assert {
        m.content.text: m.unique for m in run(store.get_memories(table_name="messages", room_id="r"))
    } == {
        "a": True,
        "near": False,
        "far": True,
        "no vector": True,
        "no direction": True,
        "not asked": None,
    }


@pytest.mark.parametrize(("similar", "unique"), [(0.951, False), (0.949, True)])
def test_a_near_twin_is_at_least_nineteen_twentieths_similar(store, similar, unique):
    put(store, Memory("a", embedding=[1.0, 0.0]), unique=True)
    put(store, Memory("b", embedding=[similar, (1 - similar**2) ** 0.5]), unique=True)
    assert (texts(store, unique=True) == ["b", "a"]) is unique


def test_the_twin_of_a_deleted_row_is_unique(store):
    put(store, Memory("a", id="m", embedding=[1.0, 0.0]), unique=True)
    run(store.delete_memory("m"))
    put(store, Memory("b", embedding=[1.0, 0.0]), unique=True)
    assert texts(store, unique=True) == ["b"]


# Deleting ------------------------------------------------------------------------------------


def test_a_deleted_row_is_gone_and_its_id_free(store):
    put(store, Memory("a", id="m1", room_id="r"), Memory("b", id="m2", room_id="r"))
    assert run(store.delete_memory("m1")) is True
    assert run(store.delete_memory("m1")) is False
    assert texts(store) == texts(store, room_id="r") == ["b"]
    assert run(store.get_memory_by_id("m1")) is None
    put(store, Memory("c", id="m1", room_id="r"))
    assert texts(store) == ["c", "b"]


def test_a_room_or_a_whole_table_is_deleted(store):
    for room in ("r1", "r2", None):
        put(store, *(Memory(f"{room}", room_id=room, embedding=[1.0, n]) for n in range(3)))
    put(store, Memory("fact", room_id="r1", embedding=[1.0]), table="facts")
    assert run(store.delete_memories(table_name="messages", room_id="r1")) == 3
    assert run(store.delete_memories(table_name="messages", room_id="r1")) == 0
    assert texts(store) == ["None"] * 3 + ["r2"] * 3
    assert len(run(store.search_memories(table_name="messages", embedding=[1.0, 0.0]))) == 6
    assert run(store.delete_memories(table_name="messages")) == 6
    assert run(store.delete_memories(table_name="messages")) == 0
    assert texts(store) == run(store.search_memories(table_name="messages", embedding=[1.0, 0.0])) == []
    assert run(store.stats()).memories == {"facts": 1}


# Entities and the rest -----------------------------------------------------------------------


def test_only_memories_and_entities_are_kept(store):
    with pytest.raises(DefinitionTypeError, match="keeps a Memory, not str"):
        put(store, "a")
    with pytest.raises(DefinitionTypeError, match="keeps an Entity, not dict"):
        run(store.create_entity({"id": "u1"}))


def test_an_entity_is_kept_and_read_as_a_copy(store):
    given = Entity("u1", names=["Ada"], metadata={"preferences": {"language": "en"}}, agent_id="a")
    assert run(store.create_entity(given)) == "u1"
    given.names.append("x")
    read = run(store.get_entity_by_id("u1"))
    assert read == Entity(
        "u1", names=["Ada"], metadata={"preferences": {"language": "en"}}, created_at=NOON_MS, agent_id="a"
    )
    read.metadata["preferences"]["language"] = "de"
    assert run(store.get_entity_by_id("u1")).metadata == {"preferences": {"language": "en"}}


def test_an_entity_without_an_id_gets_one(store):
    assert run(store.create_entity(Entity(names=["Ada"]))) == "id-0"
    assert run(store.get_entity_by_id("id-0")).names == ["Ada"]


@pytest.mark.parametrize("entity_id", [None, "nobody"])
def test_nobody_is_none(store, entity_id):
    assert run(store.get_entity_by_id(entity_id)) is None


def test_the_same_entity_again_is_fine_and_another_is_refused(store):
    run(store.create_entity(Entity("u1", names=["Ada"])))
    assert run(store.create_entity(Entity("u1", names=["Ada"]))) == "u1"
    with pytest.raises(DefinitionError, match="another entity is stored as 'u1'; change it with update"):
        run(store.create_entity(Entity("u1", names=["Bob"])))
    assert run(store.get_entity_by_id("u1")).names == ["Ada"]


def test_an_update_replaces_all_but_the_time_of_joining(store):
    run(store.create_entity(Entity("u1", names=["Ada"], metadata={"k": 1}, created_at=7)))
    run(store.update_entity(Entity("u1", names=["Ada L."])))
    assert run(store.get_entity_by_id("u1")) == Entity("u1", names=["Ada L."], created_at=7)


@pytest.mark.parametrize("entity_id", [None, "nobody"])
def test_an_update_of_nobody_says_so(store, entity_id):
    with pytest.raises(DefinitionError, match="no entity is stored as"):
        run(store.update_entity(Entity(entity_id)))


def test_stats_count_entities_and_the_rows_of_each_table(store):
    assert run(store.stats()) == StoreStats()
    put(store, Memory("a"), Memory("b", id="m"))
    put(store, Memory("f", id="f"), table="facts")
    run(store.delete_memory("f"))
    run(store.create_entity(Entity("u1")))
    assert run(store.stats()) == StoreStats(entities=1, memories={"messages": 2})


def test_a_closed_store_says_so_and_closes_twice(store):
    run(store.close())
    run(store.close())
    for call in (
        store.get_memories(table_name="messages"),
        store.search_memories(table_name="messages", embedding=[1.0]),
        store.get_memory_by_id("m"),
        store.create_memory(Memory("a"), "messages"),
        store.create_memories([], "messages"),
        store.delete_memory("m"),
        store.delete_memories(table_name="messages"),
        store.embedder_mark("messages"),
        store.replace_embeddings("messages", {}, None),
        store.create_entity(Entity("u1")),
        store.update_entity(Entity("u1")),
        store.get_entity_by_id("u1"),
        store.stats(),
    ):
        with pytest.raises(StoreClosedError, match="the store is closed"):
            run(call)


def test_writes_from_several_threads_are_all_there(store):
    def write(name: str) -> None:
        put(
            store,
            *(Memory(f"{name}{n}", id=f"{name}{n}", created_at=n, embedding=[n, 1.0]) for n in range(50)),
        )

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = run(store.get_memories(table_name="messages"))
    assert len(found) == len(run(store.search_memories(table_name="messages", embedding=[1.0, 1.0]))) == 200
    assert [m.created_at for m in found] == sorted((m.created_at for m in found), reverse=True)


def test_a_write_whose_caller_leaves_is_there_or_not_and_harms_no_other(store):
    async def leave_some():
        async def write(n):
            return await store.create_memory(Memory(str(n), id=f"m{n}"), "messages")

        tasks = [asyncio.create_task(write(n)) for n in range(40)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        return [answer for answer in answers if isinstance(answer, str)]

    acknowledged = run(leave_some())
    assert len(acknowledged) >= 20
    assert set(acknowledged) <= {m.id for m in run(store.get_memories(table_name="messages"))}
    assert put(store, Memory("after")) == ["id-0"]
