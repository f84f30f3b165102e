"""What a provider is handed refuses edits; any copy of it, however it is made, is an ordinary one."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import pickle
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from agentctx_nb import AgentRuntime, Content, Entity, Memory, Provider
from agentctx_nb.freeze import freeze
from agentctx_nb.model import seal

COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}
WITH_REPLACE = {**COPIES, "replace": dataclasses.replace}


def message():
    content = Content("hi", tags=["a", {"deep": [1]}])
    return Memory(content, room_id="lobby", metadata={"k": [1]}, embedding=[1.0])


@pytest.mark.parametrize("make", WITH_REPLACE.values(), ids=WITH_REPLACE)
def test_a_copy_of_the_message_can_be_edited_all_the_way_down(make):
    sealed = seal(message())
    copied = make(sealed)
    assert type(copied) is Memory
    assert type(copied.content) is Content
    assert copied == message()
    copied.room_id = copied.content.text = "edited"
    copied.content.tags[1]["deep"].append(2)
    copied.content.__dict__["new"] = 1
    copied.metadata["k"].append(2)
    copied.embedding.append(2.0)
    assert sealed == message()


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("part", [lambda m: m.content, lambda m: m.metadata, lambda m: m.content.tags])
def test_a_copy_of_a_part_of_the_message_can_be_edited(make, part):
    sealed = seal(message())
    copied = make(part(sealed))
    assert copied == part(message())
    if isinstance(copied, Content):
        copied.tags.append("b")
    elif isinstance(copied, dict):
        copied["k"].append(2)
    else:
        copied[1]["deep"].append(2)
    assert sealed == message()


@pytest.mark.parametrize("make", WITH_REPLACE.values(), ids=WITH_REPLACE)
def test_a_copy_of_an_entity_in_the_state_can_be_edited(make):
    entity = Entity(id="u1", names=["Ada"], metadata={"preferences": {"x": [1]}})
    frozen = freeze({"who": [entity]})["who"][0]
    with pytest.raises(TypeError, match="read-only"):
        frozen.names.append("Bob")
    with pytest.raises(AttributeError, match="read-only"):
        frozen.id = "u2"
    copied = make(frozen)
    assert copied == frozen == entity
    assert type(copied) is Entity
    copied.metadata["preferences"]["x"].append(2)
    assert frozen == entity


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_copies_of_what_the_state_holds_can_be_edited(make):
    made = []

    async def waits(_runtime, _message, state):
        made.extend((make(state.values), make(state.data.providers["D"]["data"])))

    runtime = AgentRuntime()
    runtime.register_provider(
        Provider("D", lambda: {"values": {"rows": [1]}, "data": {"rows": deque([[1]], 3)}})
    )
    runtime.register_provider(Provider("WAITS", waits, after=["D"]))
    assert not runtime.compose("hi").errors
    values, data = made
    values["rows"].append(2)
    data["rows"].append(2)
    assert type(data["rows"]) is deque
    assert data["rows"].maxlen == 3


def test_a_copied_state_can_be_edited():
    made = []

    async def waits(_runtime, _message, state):
        made.extend((copy.copy(state), copy.deepcopy(state)))

    runtime = AgentRuntime()
    runtime.register_provider(Provider("D", lambda: {"text": "d", "values": {"a": [1]}}))
    runtime.register_provider(Provider("WAITS", waits, after=["D"]))
    assert not runtime.compose("hi").errors
    for state in made:
        state.values["b"] = 1
        state.text = "mine"
    made[1].values["a"].append(2)


@pytest.mark.parametrize("room", [None, "lobby"])
def test_a_provider_stores_the_message_it_gets(room):
    async def remembers(runtime, message):
        await runtime.create_memory(message, "seen")

    async def main():
        runtime = AgentRuntime()
        runtime.register_provider(Provider("REMEMBERS", remembers))
        given = Memory(Content("hi", tags=["a"]), room_id=room, metadata={"k": [1]})
        state = await runtime.compose_state(given)
        assert not state.errors
        (row,) = await runtime.get_memories(table_name="seen")
        row.content.tags.append("b")
        row.metadata["k"].append(2)
        return row.content.text

    assert asyncio.run(main()) == "hi"


def test_a_message_made_of_parts_of_the_sealed_one_can_be_edited():
    sealed = seal(message())
    made = Memory(sealed.content, metadata=sealed.metadata)
    made.content.text = "edited"
    made.metadata["k"].append(2)
    sealed.to_dict()["metadata"]["k"].append(2)
    sealed.content.to_dict()["tags"].append("b")
    assert sealed == message()


# Edits that must reach nobody ----------------------------------------------------------------


class Rows(list):
    pass


class Pair(NamedTuple):
    left: list
    right: int


@dataclass
class Point:
    where: list


LEAKS = {
    "list subclass": (lambda: Rows([1]), lambda held: held.append(2)),
    "deque": (lambda: deque([1]), lambda held: held.append(2)),
    "in a deque": (lambda: deque([[1]]), lambda held: held[0].append(2)),
    "bytearray": (lambda: bytearray(b"a"), lambda held: held.extend(b"b")),
    "namedtuple": (lambda: Pair([1], 2), lambda held: held.left.append(2)),
    "memory": (lambda: Memory("a"), lambda held: setattr(held.content, "text", "edited")),
    "its metadata": (lambda: Memory("a", metadata={"k": [1]}), lambda held: held.metadata["k"].append(2)),
    "entity": (lambda: Entity(names=["a"]), lambda held: held.names.append("b")),
}


@pytest.mark.parametrize(("make", "edit"), LEAKS.values(), ids=LEAKS)
def test_an_edit_of_what_a_message_holds_reaches_no_other_provider(make, edit):
    seen = []

    async def edits(_runtime, message):
        edit(message.content.held)

    async def reads(_runtime, message):
        seen.append(repr(message.content.held))

    runtime = AgentRuntime()
    runtime.register_provider(Provider("EDITS", edits))
    runtime.register_provider(Provider("READS", reads))
    given = Memory(Content("hi", held=make()))
    assert list(runtime.compose(given).errors) == ["EDITS"]
    assert given.content.held == make()
    runtime.unregister_provider("EDITS")
    runtime.compose(given)
    assert seen[0] == seen[1]


def test_the_attributes_of_a_content_refuse_edits_by_any_way_in():
    sealed = seal(message())
    for edit in (
        lambda: sealed.content.__dict__.__setitem__("text", "edited"),
        lambda: vars(sealed.content).update(text="edited"),
        lambda: setattr(sealed.content, "text", "edited"),
    ):
        with pytest.raises((TypeError, AttributeError), match="read-only"):
            edit()
    assert sealed.content.text == "hi"


KEPT = {**LEAKS, "dataclass": (lambda: Point([1]), lambda held: held.where.append(2))}


@pytest.mark.parametrize(("make", "edit"), KEPT.values(), ids=KEPT)
@pytest.mark.parametrize("again", ["ttl", "previous"])
def test_an_edit_in_a_state_shows_up_in_no_later_one(make, edit, again):
    runtime = AgentRuntime()
    runtime.register_provider(
        Provider("A", lambda: {"data": {"held": make()}}, ttl=60 if again == "ttl" else None)
    )
    first = runtime.compose("hi")
    second = runtime.compose("hi") if again == "ttl" else runtime.compose("hi", previous=first, refresh=[])
    assert second.report["A"].outcome == "cached"
    edit(first.data.providers["A"]["data"]["held"])
    assert second.data.providers["A"]["data"]["held"] == make()
    edit(second.data.providers["A"]["data"]["held"])
    if again == "ttl":
        assert runtime.compose("hi").data.providers["A"]["data"]["held"] == make()
