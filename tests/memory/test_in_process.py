from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime

import numpy as np
import pytest

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.memory import InProcessStore, Store, StoreClosedError, StoreStats
from agentctx_nb.memory.arguments import GET_MEMORIES, read_arguments
from agentctx_nb.model import Content, Entity, Memory, seal

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOON_MS = 1767268800000


def run(coroutine):
    return asyncio.run(coroutine)


@pytest.fixture
def store() -> InProcessStore:
    ids = iter(f"id-{n}" for n in range(1000))
    return InProcessStore(clock=lambda: NOON, new_id=lambda: next(ids))


def put(store, *memories: Memory, table: str = "messages", unique: bool = False) -> list[str]:
    async def write():
        return [await store.create_memory(memory, table, unique=unique) for memory in memories]

    return run(write())


def texts(store, **arguments) -> list[str]:
    return [m.content.text for m in run(store.get_memories(**{"table_name": "messages", **arguments}))]


def test_it_is_a_store():
    assert isinstance(InProcessStore(), Store)


def test_newest_first_and_ties_by_the_later_write(store):
    put(
        store,
        Memory("b1", created_at=20),
        Memory("c", created_at=30),
        Memory("a", created_at=10),
        Memory("b2", created_at=20),
    )
    assert texts(store) == ["c", "b2", "b1", "a"]


@pytest.mark.parametrize(("count", "shown"), [(0, []), (1, ["c"]), (2, ["c", "b"]), (9, ["c", "b", "a"])])
def test_count_limits_to_the_newest(store, count, shown):
    put(store, Memory("a"), Memory("b"), Memory("c"))
    assert texts(store, count=count) == shown
    assert texts(store, count=None) == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("count", "error", "words"),
    [
        (-1, DefinitionError, "count cannot be negative, as -1 is"),
        (True, DefinitionTypeError, "count is a whole number"),
        (2.0, DefinitionTypeError, "count is a whole number"),
        ("2", DefinitionTypeError, "count is a whole number"),
    ],
)
def test_a_wrong_count_is_an_error_that_says_so(store, count, error, words):
    with pytest.raises(error, match=words):
        texts(store, count=count)


def test_rows_are_told_apart_by_table_room_entity_agent_and_world(store):
    put(store, Memory("1", room_id="r1", entity_id="e1", agent_id="a1", world_id="w1"))
    put(store, Memory("2", room_id="r2", entity_id="e1", agent_id="a2", world_id="w2"))
    put(store, Memory("3", room_id="r1", entity_id="e2", agent_id="a1", world_id="w2"))
    put(store, Memory("fact", room_id="r1"), table="facts")
    assert texts(store, room_id="r1") == ["3", "1"]
    assert texts(store, entity_id="e1") == ["2", "1"]
    assert texts(store, agent_id="a1", world_id="w2") == ["3"]
    assert texts(store, room_id="r1", entity_id="e1", count=1) == ["1"]
    assert texts(store, room_id="nowhere") == []
    assert texts(store, table_name="facts") == ["fact"]
    assert texts(store, table_name="nothing") == []


def test_start_and_end_are_both_included(store):
    put(store, *(Memory(str(n), created_at=n) for n in (1, 2, 2, 3, 4)))
    assert texts(store, start=2, end=3) == ["3", "2", "2"]
    assert texts(store, start=4) == ["4"]
    assert texts(store, end=1.5) == ["1"]
    assert texts(store, start=3, end=2) == []


def test_a_missing_id_and_time_are_filled_in_and_kept_when_given(store):
    assert put(store, Memory("a"), Memory("b", id="mine", created_at=5)) == ["id-0", "mine"]
    newest, oldest = run(store.get_memories(table_name="messages"))
    assert (newest.id, newest.created_at) == ("id-0", NOON_MS)
    assert (oldest.id, oldest.created_at) == ("mine", 5)


def test_ids_made_without_being_told_how_are_all_different():
    store = InProcessStore()
    assert len(set(put(store, *(Memory(str(n)) for n in range(50))))) == 50


def test_what_is_written_is_a_copy(store):
    given = Memory(
        {"text": "a", "tags": ["x"]}, metadata={"deep": {"list": [1]}}, embedding=np.array([1.0, 0.0])
    )
    put(store, given)
    given.content.text = "edited"
    given.content.tags.append("y")
    given.metadata["deep"]["list"].append(2)
    given.embedding[0] = 9
    (kept,) = run(store.get_memories(table_name="messages"))
    assert kept.content == Content("a", tags=["x"])
    assert kept.metadata == {"deep": {"list": [1]}}
    assert list(kept.embedding) == [1.0, 0.0]
    assert given.id is None


def test_what_is_read_is_the_caller_s_own_copy(store):
    put(store, Memory({"text": "a", "tags": ["x"]}, metadata={"deep": {"list": [1]}}, embedding=[1.0]))
    (first,) = run(store.get_memories(table_name="messages"))
    first.content.text = "edited"
    first.content.tags.append("y")
    first.metadata["deep"]["list"].append(2)
    first.embedding.append(2.0)
    (second,) = run(store.get_memories(table_name="messages"))
    assert second.content == Content("a", tags=["x"])
    assert second.metadata == {"deep": {"list": [1]}}
    assert second.embedding == [1.0]


def test_a_sealed_message_is_stored_as_one_that_can_be_edited(store):
    put(store, seal(Memory({"text": "a", "tags": ["x"]}, metadata={"k": [1]})))
    (kept,) = run(store.get_memories(table_name="messages"))
    kept.content.text = "b"
    kept.content.tags.append("y")
    kept.metadata["k"].append(2)
    assert type(kept) is Memory
    assert type(kept.content) is Content


def test_another_memory_of_the_same_id_is_refused_and_nothing_is_changed(store):
    put(store, Memory("a", id="m1"))
    for other, table in ((Memory("b", id="m1"), "messages"), (Memory("a", id="m1"), "facts")):
        with pytest.raises(DefinitionError, match="another memory is stored as 'm1', in table 'messages'"):
            put(store, other, table=table)
    assert texts(store) == ["a"]


def test_the_same_memory_again_is_the_row_that_is_there(store):
    memory = Memory({"text": "a"}, id="m1", room_id="r", embedding=np.array([1.0, 0.5]), metadata={"k": 1})
    assert put(store, memory, memory) == ["m1", "m1"]
    (kept,) = run(store.get_memories(table_name="messages"))
    assert put(store, kept) == ["m1"]
    assert texts(store) == ["a"]


def test_a_deleted_row_is_gone_and_its_id_free(store):
    put(store, Memory("a", id="m1", room_id="r"), Memory("b", id="m2", room_id="r"))
    assert run(store.delete_memory("m1")) is True
    assert run(store.delete_memory("m1")) is False
    assert texts(store) == texts(store, room_id="r") == ["b"]
    put(store, Memory("c", id="m1", room_id="r"))
    assert texts(store) == ["c", "b"]


def test_unique_marks_what_has_no_near_twin_in_the_same_table_and_room(store):
    put(store, Memory("a", room_id="r", embedding=[1.0, 0.0]), unique=True)
    put(store, Memory("near", room_id="r", embedding=[1.0, 0.1]), unique=True)
    put(store, Memory("far", room_id="r", embedding=[0.0, 1.0]), unique=True)
    put(store, Memory("other room", room_id="r2", embedding=[1.0, 0.0]), unique=True)
    put(store, Memory("no vector", room_id="r"), unique=True)
    put(store, Memory("not asked", room_id="r"))
    assert texts(store, unique=True, room_id="r") == ["no vector", "far", "a"]
    assert texts(store, unique=True, room_id="r2") == ["other room"]
    assert len(texts(store)) == 6


@pytest.mark.parametrize(
    ("table", "words"), [(None, "table_name is a string"), (3, "is a string"), (" ", "table_name is empty")]
)
def test_a_table_needs_a_name(store, table, words):
    with pytest.raises(DefinitionError, match=words):
        put(store, Memory("a"), table=table)
    with pytest.raises(DefinitionError, match=words):
        texts(store, table_name=table)


@pytest.mark.parametrize("moment", ["now", True, NOON, float("nan"), float("inf")])
def test_a_time_that_is_no_number_of_milliseconds_is_refused(store, moment):
    with pytest.raises(DefinitionError, match="created_at is milliseconds"):
        put(store, Memory("a", created_at=moment))
    with pytest.raises(DefinitionError, match="start is milliseconds"):
        texts(store, start=moment)
    assert texts(store) == []


def test_only_memories_and_entities_are_kept(store):
    with pytest.raises(DefinitionTypeError, match="keeps a Memory, not str"):
        put(store, "a")
    with pytest.raises(DefinitionTypeError, match="keeps an Entity, not dict"):
        run(store.create_entity({"id": "u1"}))


def test_an_entity_is_kept_and_read_as_a_copy(store):
    given = Entity("u1", names=["Ada"], metadata={"preferences": {"language": "en"}})
    assert run(store.create_entity(given)) == "u1"
    given.names.append("x")
    read = run(store.get_entity_by_id("u1"))
    assert read == Entity(
        "u1", names=["Ada"], metadata={"preferences": {"language": "en"}}, created_at=NOON_MS
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
        store.create_memory(Memory("a"), "messages"),
        store.delete_memory("m"),
        store.create_entity(Entity("u1")),
        store.get_entity_by_id("u1"),
        store.stats(),
    ):
        with pytest.raises(StoreClosedError, match="the store is closed"):
            run(call)


def test_writes_from_several_threads_are_all_there(store):
    def write(name: str) -> None:
        put(store, *(Memory(f"{name}{n}", id=f"{name}{n}", created_at=n) for n in range(200)))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = run(store.get_memories(table_name="messages"))
    assert len(found) == 800
    assert [m.created_at for m in found] == sorted((m.created_at for m in found), reverse=True)


def test_arguments_come_as_a_dict_or_keywords_in_either_spelling():
    given = {"tableName": "messages", "roomId": "r"}
    assert read_arguments(given, {"limit": 3}, known=GET_MEMORIES, of="get_memories") == {
        "table_name": "messages",
        "room_id": "r",
        "count": 3,
    }


@pytest.mark.parametrize(
    ("given", "more", "words"),
    [
        (None, {"tablename": "x"}, "get_memories has no argument 'tablename'; did you mean 'table_name'"),
        (None, {"colour": 1}, "it takes table_name, room_id"),
        ({3: 1}, {}, "has no argument 3"),
        ({"limit": 1}, {"count": 2}, "is given count twice, as 'limit' and as 'count'"),
        ("messages", {}, "takes keywords or one dict of them, not str"),
    ],
)
def test_a_wrong_argument_is_a_type_error_naming_the_nearest(given, more, words):
    with pytest.raises(TypeError, match=words):
        read_arguments(given, more, known=GET_MEMORIES, of="get_memories")
