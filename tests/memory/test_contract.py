"""What every store does alike: writing, reading, deleting, entities. Search is in test_contract_search.py."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import numpy as np
import pytest

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.memory import Store, StoreStats
from agentctx_nb.model import Content, Entity, Memory, seal
from tests.memory.contract import put, put_all, run, texts

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOON_MS = 1767268800000


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
