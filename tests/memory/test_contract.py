"""What every store does alike: writing, reading, deleting, entities. Search is in test_contract_search.py."""

from __future__ import annotations

import asyncio
import threading
import uuid
from datetime import UTC, datetime

import numpy as np
import pytest

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.memory import Store, StoreClosedError, StoreStats
from agentctx_nb.model import Content, Entity, Memory, seal

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOON_MS = 1767268800000


def run(coroutine):
    return asyncio.run(coroutine)


def put(store, *memories: Memory, table: str = "messages", unique: bool = False) -> list[str]:
    async def write():
        return [await store.create_memory(memory, table, unique=unique) for memory in memories]

    return run(write())


def put_all(store, *memories: Memory, table: str = "messages", unique: bool = False) -> list[str]:
    return run(store.create_memories(memories, table, unique=unique))


def texts(store, **arguments) -> list[str]:
    return [m.content.text for m in run(store.get_memories(**{"table_name": "messages", **arguments}))]


def test_it_is_a_store(store):
    assert isinstance(store, Store)


# Order, counts, conditions -------------------------------------------------------------------


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
    assert texts(store, count=None) == texts(store, count=10**30) == ["c", "b", "a"]


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
    with pytest.raises(error, match=words):
        run(store.search_memories(table_name="messages", embedding=[1.0], count=count))


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


@pytest.mark.parametrize(
    ("table", "words"), [(None, "table_name is a string"), (3, "is a string"), (" ", "table_name is empty")]
)
def test_a_table_needs_a_name(store, table, words):
    with pytest.raises(DefinitionError, match=words):
        put(store, Memory("a"), table=table)
    with pytest.raises(DefinitionError, match=words):
        texts(store, table_name=table)
    with pytest.raises(DefinitionError, match=words):
        run(store.search_memories(table_name=table, embedding=[1.0]))
    with pytest.raises(DefinitionError, match=words):
        run(store.delete_memories(table_name=table))


@pytest.mark.parametrize("moment", ["now", True, NOON, float("nan"), float("inf"), 1e18, 10**30])
def test_a_time_that_is_no_number_of_milliseconds_is_refused(store, moment):
    with pytest.raises(DefinitionError, match="created_at is milliseconds"):
        put(store, Memory("a", created_at=moment))
    with pytest.raises(DefinitionError, match="start is milliseconds"):
        texts(store, start=moment)
    with pytest.raises(DefinitionError, match="created_at is milliseconds"):
        run(store.create_entity(Entity("u1", created_at=moment)))
    assert texts(store) == []


@pytest.mark.parametrize("field", ["id", "room_id", "entity_id", "agent_id", "world_id"])
@pytest.mark.parametrize("name", [7, uuid.UUID(int=1), b"x", "half \ud800"])
def test_a_name_that_is_no_string_is_refused(store, field, name):
    with pytest.raises(DefinitionError, match=field):
        put(store, Memory("a", **{field: name}))
    assert run(store.stats()) == StoreStats()


@pytest.mark.parametrize("name", ["", "a'b\"; --", "ünï 日本 😀", "nul \0 in it", "%_*?", "x" * 5000])
def test_any_string_names_a_table_a_room_or_a_row(store, name):
    table = name or "messages"
    put(store, Memory("a", id=name, room_id=name, entity_id=name, embedding=[1.0]), table=table)
    put(store, Memory("b", room_id="other", entity_id="other", embedding=[1.0]), table=table)
    assert texts(store, table_name=table, room_id=name, entity_id=name) == ["a"]
    (hit,) = run(store.search_memories(table_name=table, embedding=[1.0], room_id=name))
    assert hit.id == name
    assert run(store.get_memory_by_id(name)).content.text == "a"
    assert run(store.stats()).memories == {table: 2}
    assert run(store.delete_memories(table_name=table, room_id=name)) == 1


# Ids and copies ------------------------------------------------------------------------------


def test_a_missing_id_and_time_are_filled_in_and_kept_when_given(store):
    assert put(store, Memory("a"), Memory("b", id="mine", created_at=5)) == ["id-0", "mine"]
    newest, oldest = run(store.get_memories(table_name="messages"))
    assert (newest.id, newest.created_at) == ("id-0", NOON_MS)
    assert (oldest.id, oldest.created_at) == ("mine", 5)


def test_a_row_is_found_by_its_id(store):
    put(store, Memory({"text": "a", "source": "x"}, id="m1", room_id="r", metadata={"k": [1]}, unique=True))
    found = run(store.get_memory_by_id("m1"))
    assert found == Memory(
        {"text": "a", "source": "x"},
        id="m1",
        room_id="r",
        metadata={"k": [1]},
        unique=True,
        created_at=NOON_MS,
    )
    assert run(store.get_memory_by_id("m2")) is None
    assert run(store.get_memory_by_id(None)) is None


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
    put(store, Memory({"text": "a", "tags": ["x"]}, metadata={"deep": {"list": [1]}}, embedding=[1.0, 0.5]))

    def reads():
        yield run(store.get_memories(table_name="messages"))[0]
        yield run(store.search_memories(table_name="messages", embedding=[1.0, 0.5]))[0]
        yield run(store.get_memory_by_id("id-0"))

    for first in reads():
        first.content.text = "edited"
        first.content.tags.append("y")
        first.metadata["deep"]["list"].append(2)
        first.embedding[:] = 7
    for second in reads():
        assert second.content == Content("a", tags=["x"])
        assert second.metadata == {"deep": {"list": [1]}}
        assert second.embedding.tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    "given", [[0.1, 2], (0.1, 2), np.array([0.1, 2]), np.array([0.1, 2], ">f4"), np.array([0.1, 2], "f2")]
)
def test_an_embedding_reads_back_as_float32(store, given):
    put(store, Memory("a", embedding=given))
    (kept,) = run(store.get_memories(table_name="messages"))
    assert kept.embedding.dtype == np.float32
    assert kept.embedding.tolist() == np.asarray(given, np.float32).tolist()


def test_a_similarity_is_not_kept(store):
    put(store, Memory("a", embedding=[1.0], similarity=0.5))
    (hit,) = run(store.search_memories(table_name="messages", embedding=[1.0]))
    put(store, hit)
    assert hit.similarity == 1.0
    assert [m.similarity for m in run(store.get_memories(table_name="messages"))] == [None]


def test_a_sealed_message_is_stored_as_one_that_can_be_edited(store):
    put(store, seal(Memory({"text": "a", "tags": ["x"]}, metadata={"k": [1]}, embedding=[1.0])))
    (kept,) = run(store.get_memories(table_name="messages"))
    kept.content.text = "b"
    kept.content.tags.append("y")
    kept.metadata["k"].append(2)
    kept.embedding[0] = 2
    assert type(kept) is Memory
    assert type(kept.content) is Content


def test_a_message_without_text_and_half_a_character_are_kept(store):
    put(store, Memory(Content(None)), Memory("cut \ud83d"))
    assert texts(store) == ["cut \ud83d", None]


def test_another_memory_of_the_same_id_is_refused_and_nothing_is_changed(store):
    put(store, Memory("a", id="m1", embedding=[1.0, 0.0]))
    others = (
        (Memory("b", id="m1", embedding=[1.0, 0.0]), "messages"),
        (Memory("a", id="m1", embedding=[1.0, 0.0]), "facts"),
        (Memory("a", id="m1", embedding=[1.0, 0.1]), "messages"),
        (Memory("a", id="m1"), "messages"),
    )
    for other, table in others:
        with pytest.raises(DefinitionError, match="another memory is stored as 'm1', in table 'messages'"):
            put(store, other, table=table)
    assert texts(store) == ["a"]


def test_the_same_memory_again_is_the_row_that_is_there(store):
    memory = Memory({"text": "a"}, id="m1", room_id="r", embedding=np.array([1.0, 0.1]), metadata={"k": 1})
    assert put(store, memory, memory) == ["m1", "m1"]
    (kept,) = run(store.get_memories(table_name="messages"))
    assert put(store, kept) == ["m1"]
    assert put_all(store, memory, kept) == ["m1", "m1"]
    assert texts(store) == ["a"]


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
