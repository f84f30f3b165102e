"""A field that was assigned what its class would not have taken is told in one sentence wherever it is used."""

from __future__ import annotations

import asyncio

import pytest

from agentctx_nb import AgentRuntime, Content, DefinitionTypeError, Entity, Memory
from agentctx_nb.model import as_entity, as_message


def edited(thing, name, value):
    setattr(thing, name, value)
    return thing


async def state_of(message):
    async with AgentRuntime() as runtime:
        return await runtime.compose_state(message)


async def stored(message):
    async with AgentRuntime() as runtime:
        return await runtime.create_memory(message)


USES = {
    "a message": as_message,
    "composing": lambda memory: asyncio.run(state_of(memory)),
    "storing": lambda memory: asyncio.run(stored(memory)),
    "a dict": Memory.to_dict,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "content",
            "s",
            "the content of a Memory is a Content, not 's'; assign Content(text), or the text to ",
        ),
        ("content", None, "the content of a Memory is a Content, not None"),
        ("content", {"text": "s"}, "the content of a Memory is a Content, not {'text': 's'}"),
        ("content", edited(Content(), "text", 5), "the text of a message must be a string, not 5"),
        ("metadata", None, "the metadata of a Memory is a dict, not None"),
        ("metadata", [("a", 1)], "the metadata of a Memory is a dict, not [('a', 1)]"),
    ],
)
def test_a_memory_edited_into_something_else_is_told_where_it_is_used(use, name, value, said):
    memory = edited(Memory("a"), name, value)
    with pytest.raises(DefinitionTypeError) as caught:
        USES[use](memory)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_edits_a_class_would_have_taken_are_taken():
    memory = Memory("a")
    memory.content.text = None
    memory.content = Content("b", user="ada")
    memory.metadata = {"a": 1}
    assert as_message(memory).to_dict() == {"content": {"text": "b", "user": "ada"}, "metadata": {"a": 1}}
    assert as_message(edited(Memory("a"), "content", edited(Content(), "text", None))).content.text is None


@pytest.mark.parametrize("names", [None, 5, b"Ada", {"Ada": 1}, object()])
def test_names_that_are_no_list_are_a_type_error(names):
    with pytest.raises(DefinitionTypeError, match="the names of an entity must be a list of strings, not "):
        Entity(names=names)
    with pytest.raises(DefinitionTypeError, match="the names of an entity must be a list of strings, not "):
        Entity.from_dict({"id": "u1", "names": names})
    with pytest.raises(DefinitionTypeError, match="the names of an entity must be a list of strings, not "):
        as_entity(edited(Entity("u1"), "names", names))


@pytest.mark.parametrize(
    "names", ["Ada", ["Ada"], ("Ada",), iter(["Ada"]), {"Ada"}, dict.fromkeys(["Ada"]).keys()]
)
def test_names_are_whatever_lists_strings(names):
    assert Entity(names=names).names == ["Ada"]


@pytest.mark.parametrize("metadata", [None, 5, [1]])
def test_metadata_of_an_entity_is_a_dict(metadata):
    with pytest.raises(DefinitionTypeError, match="the metadata of an Entity is a dict, not "):
        Entity(metadata=metadata)
    with pytest.raises(DefinitionTypeError, match="the metadata of an Entity is a dict, not "):
        as_entity(edited(Entity("u1"), "metadata", metadata))
