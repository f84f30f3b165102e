"""What every store does alike when new rows take the place of old ones in one write."""

from __future__ import annotations

import asyncio

import pytest

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.memory import EmbedderMark, StoreStats
from agentctx_nb.model import Memory
from tests.memory.contract import put, put_all, run, texts


def replace(store, *memories, old=(), table="messages", **options):
    return run(store.create_memories(memories, table, replacing=old, **options))


def hits(store, vector, table="messages"):
    found = run(store.search_memories(table_name=table, embedding=vector))
    return [memory.content.text for memory in found]


def test_new_rows_take_the_place_of_old_ones(store):
    put_all(store, *[Memory(name, id=name, embedding=[1.0, n]) for n, name in enumerate("abc")])
    assert hits(store, [1.0, 0.0]) == ["a", "b", "c"]
    assert replace(store, Memory("new", id="n", embedding=[1.0, 0.5]), old=["a", "c"]) == ["n"]
    assert texts(store) == ["new", "b"]
    assert hits(store, [1.0, 0.0]) == ["new", "b"]
    assert run(store.get_memory_by_id("a")) is None


def test_old_rows_go_without_new_ones_and_unknown_ids_are_passed_over(store):
    put_all(store, Memory("a", id="a"), Memory("b", id="b"))
    put(store, Memory("c", id="c"), table="facts")
    assert replace(store, old=iter(["a", "a", "nobody", "c"])) == []
    assert run(store.stats()) == StoreStats(memories={"messages": 1})


def test_a_row_may_be_replaced_by_one_of_its_own_id(store):
    put_all(store, Memory("old", id="a", embedding=[1.0, 0.0]), Memory("other", id="b"))
    assert replace(store, Memory("new", id="a", embedding=[0.0, 1.0]), old=["a"]) == ["a"]
    assert texts(store) == ["new", "other"]
    assert hits(store, [0.0, 1.0]) == ["new"]


@pytest.mark.parametrize(
    "wrong",
    [
        Memory("x", id="b"),
        Memory("x", embedding=[1.0, 2.0, 3.0]),
        Memory("x", metadata={"f": print}),
        "x",
    ],
)
@pytest.mark.parametrize("unique", [False, True])
def test_where_a_new_row_is_refused_the_old_ones_stay(store, wrong, unique):
    rows = [Memory(name, id=name, embedding=[1.0, n]) for n, name in enumerate("abc")]
    put_all(store, *rows)
    assert hits(store, [1.0, 0.0]) == ["a", "b", "c"]
    with pytest.raises(DefinitionError):
        replace(store, Memory("good", embedding=[1.0, 5.0]), wrong, old=["a"], unique=unique)
    assert texts(store) == ["c", "b", "a"]
    assert run(store.delete_memory("c"))  # as many are gone now as would have been
    assert hits(store, [1.0, 0.0]) == ["a", "b"]


def test_a_table_whose_vectors_are_all_replaced_is_free_for_another_embedder(store):
    one, other = EmbedderMark("one", 2, "1"), EmbedderMark("other", 3, "1")
    replace(store, Memory("a", id="a", embedding=[1.0, 0.0]), Memory("b", id="b"), mark=one)
    replace(store, Memory("c", id="c", embedding=[1.0, 0.0, 0.0]), old=["a"], mark=other)
    assert run(store.embedder_mark("messages")) == other
    assert hits(store, [1.0, 0.0, 0.0]) == ["c"]
    with pytest.raises(DefinitionError, match="holds vectors of embedder 'other'"):
        replace(store, Memory("d", embedding=[1.0, 0.0]), old=["b"], mark=one)
    assert texts(store) == ["c", "b"]


@pytest.mark.parametrize("searched", [False, True])
def test_what_is_replaced_is_nobody_s_twin(store, searched):
    put(store, Memory("a", id="a", embedding=[1.0, 0.0]), Memory("b", id="b", embedding=[0.0, 1.0]))
    if searched:
        hits(store, [1.0, 0.0])
    new = [Memory("a2", embedding=[1.0, 0.01]), Memory("b2", embedding=[0.01, 1.0])]
    replace(store, *new, old=["a"], unique=True)
    assert texts(store, unique=True) == ["a2"]
    assert hits(store, [1.0, 0.0]) == ["a2", "b2", "b"]


@pytest.mark.parametrize("old", ["abc", 7, None, {"a": 1}])
def test_what_is_replaced_is_a_list_of_ids(store, old):
    with pytest.raises(DefinitionTypeError, match="replacing is a list of ids, not"):
        replace(store, Memory("a"), old=old)
    with pytest.raises(DefinitionTypeError, match="replacing is a list of ids, and 7 is none"):
        replace(store, Memory("a"), old=["a", 7])
    with pytest.raises(DefinitionError, match="half of a character"):
        replace(store, Memory("a"), old=["\ud800"])
    assert texts(store) == []


def test_a_reader_sees_the_old_rows_or_the_new_ones(store):
    def version(number):
        return [Memory(str(number), id=f"{number}-{part}", embedding=[1.0, part]) for part in range(5)]

    async def write():
        for number in range(1, 40):
            old = [memory.id for memory in version(number - 1)]
            await store.create_memories(version(number), "messages", replacing=old)
            await asyncio.sleep(0)

    async def look():
        writing = asyncio.ensure_future(write())
        seen = set()
        while not writing.done():
            rows = await store.get_memories(table_name="messages")
            found = await store.search_memories(table_name="messages", embedding=[1.0, 0.0])
            for read in (rows, found):
                said = [memory.content.text for memory in read]
                assert len(said) == 5
                assert len(set(said)) == 1
                seen.update(said)
            await asyncio.sleep(0)
        await writing
        return seen

    put_all(store, *version(0))
    assert len(run(look())) > 1


def test_a_thousand_rows_are_replaced_at_once(store):
    rows = [Memory(str(n), id=str(n), embedding=[1.0, n % 7]) for n in range(1300)]
    put_all(store, *rows)
    assert replace(store, Memory("one", id="one"), old=[row.id for row in rows]) == ["one"]
    assert texts(store) == ["one"]
    assert hits(store, [1.0, 0.0]) == []
