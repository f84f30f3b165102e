"""Memory, Content and Entity: what comes in as text, dict or object, and what protects it."""

from __future__ import annotations

import asyncio
import copy
import pickle

import numpy as np
import pytest

from agentctx_nb import AgentRuntime, Content, Entity, Memory
from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.model import as_entity, as_message, seal

MEMORY = {
    "entityId": "u1",
    "roomId": "lobby",
    "id": "m1",
    "agentId": "a1",
    "worldId": "w1",
    "createdAt": 1_700_000_000_000,
    "embedding": [0.1, 0.2],
    "similarity": 0.5,
    "metadata": {"k": "v"},
    "unique": True,
}


def test_a_memory_has_every_field_of_the_contract():
    memory = Memory("hi")
    assert memory.content.text == "hi"
    for name in (
        "entity_id",
        "room_id",
        "id",
        "agent_id",
        "world_id",
        "created_at",
        "embedding",
        "similarity",
    ):
        assert getattr(memory, name) is None
    assert memory.metadata == {}
    assert memory.unique is None


def test_a_dict_in_camel_case_and_one_in_snake_case_give_the_same_memory():
    camel = Memory.from_dict({"content": {"text": "hi", "user": "ada"}, **MEMORY})
    snake = Memory.from_dict(camel.to_dict())
    assert camel == snake
    assert (camel.entity_id, camel.room_id, camel.created_at) == ("u1", "lobby", 1_700_000_000_000)
    assert camel.content.user == "ada"


def test_a_memory_without_anything_is_an_empty_one():
    assert as_message({}) == Memory() == Memory("")


def test_a_text_beside_a_content_is_an_error():
    with pytest.raises(DefinitionError, match="a memory has no field 'text'"):
        as_message({"text": "a", "content": {"text": "b"}})


def test_as_a_dict_there_is_only_what_was_set():
    assert Memory("hi", room_id="lobby").to_dict() == {"content": {"text": "hi"}, "room_id": "lobby"}
    assert Memory("hi", similarity=0.0, unique=False, created_at=0).to_dict() == {
        "content": {"text": "hi"},
        "similarity": 0.0,
        "unique": False,
        "created_at": 0,
    }
    vector = np.array([0.5, 0.25])
    assert Memory("hi", embedding=vector, metadata={"k": 1}).to_dict()["embedding"] is vector
    assert Entity(id="u1").to_dict() == {"id": "u1"}
    assert Entity(id="u1", names=["Ada"], metadata={"k": 1}).to_dict() == {
        "id": "u1",
        "names": ["Ada"],
        "metadata": {"k": 1},
    }


def test_a_bare_text_in_a_dict_is_the_content():
    assert as_message({"text": "hi", "roomId": "lobby"}) == Memory("hi", room_id="lobby")


@pytest.mark.parametrize(
    "message",
    ["hi", {"text": "hi"}, {"content": "hi"}, {"content": {"text": "hi"}}, Content("hi"), Memory("hi")],
    ids=["string", "dict of text", "dict of content", "nested", "Content", "Memory"],
)
def test_a_message_may_be_a_string_a_dict_or_an_object(runtime, message):
    runtime.register_provider({"name": "ECHO", "get": lambda runtime, message: message.content.text})
    assert runtime.compose(message).text == "hi"


@pytest.mark.parametrize("message", [None, 3, b"hi", ["hi"], object()])
def test_what_is_no_message_is_a_type_error_that_says_what_is(runtime, message):
    with pytest.raises(TypeError, match="a message is a Memory, a string or a dict, not"):
        runtime.compose(message)


def test_a_misspelled_field_of_a_message_is_told_the_nearest(runtime):
    with pytest.raises(DefinitionError, match=r"'romId'; did you mean 'room_id'\?"):
        runtime.compose({"text": "hi", "romId": "lobby"})


@pytest.mark.parametrize("text", [5, ["hi"], b"hi"])
def test_a_text_that_is_no_string_is_a_type_error(text):
    with pytest.raises(DefinitionTypeError, match="text of a message must be a string"):
        as_message({"content": {"text": text}})


def test_content_keeps_any_attribute_and_reads_none_where_nobody_gave_one():
    content = Content("hi", user="ada", attachments=[1], inReplyTo="m0")
    assert (content.user, content.attachments, content.inReplyTo) == ("ada", [1], "m0")
    assert content.source is None
    assert content.get("source", "web") == "web"
    content.source = "telegram"
    assert content.to_dict() == {
        "text": "hi", "user": "ada", "attachments": [1], "inReplyTo": "m0", "source": "telegram",
    }  # fmt: skip


@pytest.mark.parametrize("key", ["self", "name", "class", "text_more", "more"])
def test_content_takes_an_attribute_of_any_name(key):
    assert getattr(as_message({"content": {"text": "hi", key: 1}}).content, key) == 1


def test_contents_are_equal_by_what_they_hold():
    assert Content("hi", user="ada") == Content("hi", user="ada")
    assert Content("hi", user="ada") != Content("hi")
    assert Content("hi") != "hi"


def test_messages_can_be_copied_and_pickled():
    message = Memory(Content("hi", tags=["a"]), room_id="lobby", metadata={"k": [1]})
    assert pickle.loads(pickle.dumps(message)) == message
    deep = copy.deepcopy(message)
    deep.content.tags.append("b")
    deep.metadata["k"].append(2)
    assert message == Memory(Content("hi", tags=["a"]), room_id="lobby", metadata={"k": [1]})


def test_a_repr_shows_what_was_given_and_no_address():
    assert repr(Content("hi", user="ada")) == "Content(text='hi', user='ada')"
    assert "Content(text='hi')" in repr(Memory("hi"))


@pytest.mark.parametrize("metadata", [5, "text", [1]])
def test_metadata_that_is_no_dict_is_a_type_error(metadata):
    with pytest.raises(DefinitionTypeError, match="metadata"):
        Memory("hi", metadata=metadata)
    with pytest.raises(DefinitionTypeError, match="metadata"):
        Entity(id="u1", metadata=metadata)


def test_an_entity_reads_both_spellings_and_has_every_field():
    entity = as_entity(
        {"id": "u1", "names": ["Ada", "A."], "createdAt": 5, "agentId": "a1", "metadata": {"k": 1}}
    )
    assert entity == Entity(id="u1", names=["Ada", "A."], created_at=5, agent_id="a1", metadata={"k": 1})
    assert as_entity(entity) is entity


def test_one_name_of_an_entity_may_be_a_bare_string():
    assert Entity(id="u1", names="Ada").names == ["Ada"]


@pytest.mark.parametrize("given", [None, "u1", 3])
def test_what_is_no_entity_is_a_type_error(given):
    with pytest.raises(TypeError, match="an entity is an Entity or a dict"):
        as_entity(given)


def test_a_misspelled_field_of_an_entity_is_told_the_nearest():
    with pytest.raises(DefinitionError, match="did you mean 'names'"):
        as_entity({"id": "u1", "name": "Ada"})


def test_names_of_an_entity_that_are_no_strings_are_a_type_error():
    with pytest.raises(DefinitionTypeError, match="names of an entity"):
        Entity(id="u1", names=[1])


ATTEMPTS = {
    "text": lambda m: setattr(m.content, "text", "EDITED"),
    "new attribute": lambda m: setattr(m.content, "mood", "EDITED"),
    "delete attribute": lambda m: delattr(m.content, "user"),
    "content": lambda m: setattr(m, "content", Content("EDITED")),
    "room": lambda m: setattr(m, "room_id", "EDITED"),
    "list": lambda m: m.content.tags.append("EDITED"),
    "set": lambda m: m.content.marks.add("EDITED"),
    "nested": lambda m: m.content.nested["rows"].append("EDITED"),
    "metadata": lambda m: m.metadata.update(k="EDITED"),
    "embedding": lambda m: m.embedding.__setitem__(0, 99.0),
}


@pytest.mark.parametrize("embedding", [[0.5], np.array([0.5])], ids=["list", "array"])
@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS.keys())
def test_an_edit_of_the_message_fails_in_the_provider_that_tries_and_leaks_nowhere(attempt, embedding):
    runtime = AgentRuntime(count_tokens=len)
    seen = []

    @runtime.provider("EDITOR", position=-1)
    async def editor(runtime, message):
        attempt(message)

    @runtime.provider("READER")
    async def reader(runtime, message):
        await asyncio.sleep(0)
        seen.append(repr(message) + repr(message.content.to_dict()))
        return "read"

    content = Content("hi", user="ada", tags=["a"], marks={"m"}, nested={"rows": [1]})
    message = Memory(content, room_id="lobby", metadata={"k": "v"}, embedding=embedding)
    before = repr(message)
    state = runtime.compose(message)
    assert state.report["EDITOR"].outcome == "failed"
    assert state.text == "read"
    assert "EDITED" not in seen[0]
    assert "99" not in seen[0]
    assert repr(message) == before


def test_a_sealed_message_says_it_is_read_only_and_reads_like_the_message():
    message = Memory(Content("hi", user="ada"), room_id="lobby")
    sealed = seal(message)
    with pytest.raises(AttributeError, match="read-only: text cannot be changed; work on a copy"):
        sealed.content.text = "x"
    assert isinstance(sealed, Memory)
    assert repr(sealed) == repr(message)
    assert sealed.content == message.content
    assert sealed.content.source is None


def test_a_provider_may_edit_a_copy_of_the_message(runtime):
    @runtime.provider("COPY")
    async def get(runtime, message):
        mine = Memory.from_dict(
            {**message.to_dict(), "content": {**message.content.to_dict(), "text": "mine"}}
        )
        mine.room_id = "other"
        return mine.content.text

    assert runtime.compose("hi").text == "mine"


def test_the_caller_may_go_on_editing_a_message_without_changing_a_composition_under_way():
    runtime = AgentRuntime(count_tokens=len)

    @runtime.provider("SLOW")
    async def slow(runtime, message):
        await asyncio.sleep(0.01)
        return f"{message.content.text} {message.content.tags}"

    async def main():
        message = Memory(Content("before", tags=["a"]))
        under_way = asyncio.ensure_future(runtime.compose_state(message))
        await asyncio.sleep(0)
        message.content.text = "after"
        message.content.tags.append("b")
        return await under_way

    assert asyncio.run(main()).text == "before ['a']"
