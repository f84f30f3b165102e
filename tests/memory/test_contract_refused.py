"""What every store refuses alike: what could not be read back from a file as it was."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.memory import StoreStats
from agentctx_nb.model import Content, Entity, Memory
from tests.memory.contract import put, put_all, run

circle: dict = {}
circle["again"] = circle
WRITE = [put, put_all]


def assigned(thing, **fields):
    """Return ``thing`` after an edit its class was not asked about."""
    for name, value in fields.items():
        setattr(thing, name, value)
    return thing


def told(text):
    content = Content("a")
    content.text = text
    return Memory(content)


@pytest.mark.parametrize("write", WRITE)
@pytest.mark.parametrize(
    ("memory", "words"),
    [
        (Memory("a", unique="yes"), "unique is True, False or None, not 'yes'"),
        (Memory("a", unique=1), "unique is True, False or None, not 1"),
        (Memory("a", metadata={"f": print}), r"metadata\['f'\] is of type builtin"),
        (Memory("a", metadata={"rows": [1, object()]}), r"metadata\['rows'\]\[1\] is of type object"),
        (Memory("a", metadata={object: 1}), "a key of metadata is of type type"),
        (
            Memory({"text": "a", "frame": pd.DataFrame({"x": [1]})}),
            r"content\['frame'\] is of type DataFrame",
        ),
        (Memory("a", metadata=circle), "holds itself; a store cannot keep that"),
        (Memory("a", metadata={"n": 10**5000}), "metadata cannot be stored"),
        (Memory("a", metadata={"n": -(10**5000)}), "metadata cannot be stored"),
        (told(5), "the text of a message must be a string, not 5"),
        (assigned(Memory("a"), content="s"), "the content of a Memory is a Content, not 's'"),
        (assigned(Memory("a"), content=None), "the content of a Memory is a Content, not None"),
        (assigned(Memory("a"), metadata=[1]), r"the metadata of a Memory is a dict, not \[1\]"),
        (assigned(Memory("a"), metadata=None), "the metadata of a Memory is a dict, not None"),
    ],
)
def test_a_memory_no_file_could_keep_is_refused_and_nothing_stored(store, write, memory, words):
    with pytest.raises(DefinitionError, match=words):
        write(store, memory)
    assert run(store.stats()) == StoreStats()


def test_one_that_cannot_be_kept_keeps_the_others_out(store):
    with pytest.raises(DefinitionTypeError, match="a store cannot keep"):
        put_all(store, Memory("a"), Memory("b", metadata={"f": print}))
    assert run(store.stats()) == StoreStats()


@pytest.mark.parametrize(
    ("entity", "words"),
    [
        (Entity("u1", metadata={"f": print}), r"metadata\['f'\] is of type builtin"),
        (assigned(Entity("u1"), metadata=None), "the metadata of an Entity is a dict, not None"),
        (assigned(Entity("u1"), names=None), "the names of an entity must be a list of strings, not None"),
        (assigned(Entity("u1"), names="Ada"), "the names of an entity must be a list of strings, not 'Ada'"),
        (assigned(Entity("u1"), names=["Ada", 7]), "the names of an entity must be strings, and 7 is none"),
    ],
)
def test_an_entity_no_file_could_keep_is_refused(store, entity, words):
    with pytest.raises(DefinitionError, match=words):
        run(store.create_entity(entity))
    run(store.create_entity(Entity("u1")))
    with pytest.raises(DefinitionError, match=words):
        run(store.update_entity(entity))
    assert run(store.get_entity_by_id("u1")) == Entity("u1", created_at=1767268800000)


def test_what_a_file_keeps_every_store_keeps(store):
    held = {"when": date(2026, 1, 1), "tags": ("a", {1, 2}), "n": np.float64(0.5), 3: b"x", "big": 2**70}
    memory = Memory(Content("half \ud800", row=held), id="m1", metadata=held, unique=True)
    entity = Entity("u1", ["Ada", "half \ud800"], metadata=held)
    put(store, memory)
    run(store.create_entity(entity))
    found = run(store.get_memory_by_id("m1"))
    assert replace(found, created_at=None) == memory
    assert replace(run(store.get_entity_by_id("u1")), created_at=None) == entity
