"""Which vectors every store refuses, and how it tells embedders apart."""

from __future__ import annotations

import pytest

from agentctx_nb.errors import DefinitionError
from agentctx_nb.memory import EmbedderMark, MissingVectorsError
from agentctx_nb.model import Memory
from tests.memory.contract_search import at, put, run, search, texts

SMALL = EmbedderMark("small", 2, "f1")
OTHER = EmbedderMark("other", 2, "f1")
WIDE = EmbedderMark("wide", 3, "f1")


# Wrong vectors -------------------------------------------------------------------------------

WRONG = [
    ([1.0, float("nan")], "holds nan at place 1"),
    ([float("inf"), 1.0], "holds inf at place 0"),
    ([1e39, 1.0], "holds 1e\\+39, more than fits in float32"),
    ([], "holds no numbers"),
    ([[1.0, 2.0]], r"is one row of numbers, not an array of shape \(1, 2\)"),
    ([[1.0], [1.0, 2.0]], "is a row of numbers"),
    (1.5, "is one row of numbers, not 1.5"),
    ("1, 2", "is a row of numbers, not '1, 2'"),
    (["1", "2"], "is a row of numbers"),
    ([1.0, None], "is a row of numbers"),
    ([1j, 2.0], "is a row of numbers"),
]


@pytest.mark.parametrize(("vector", "words"), WRONG)
def test_a_wrong_vector_is_a_clear_error_and_nothing_is_stored(store, vector, words):
    for table in ("documents", "empty"):
        if table == "documents":
            put(store, Memory("a", embedding=[1.0, 0.0]))
        before = run(store.stats())
        with pytest.raises(DefinitionError, match=f"embedding {words}"):
            put(store, Memory("b", embedding=vector), table=table)
        with pytest.raises(DefinitionError, match=f"embedding {words}"):
            search(store, embedding=vector, table_name=table)
        assert run(store.stats()) == before


def test_a_search_needs_a_vector(store):
    with pytest.raises(DefinitionError, match=r"needs embedding=, such as await runtime\.embed"):
        search(store, embedding=None, query="words alone")


@pytest.mark.parametrize("threshold", ["0.75", "auto", True, [0.5], float("nan"), float("inf"), 10**400])
def test_a_threshold_is_a_number(store, threshold):
    with pytest.raises(DefinitionError, match=r"match_threshold is a cosine such as 0\.75 or None, not"):
        search(store, match_threshold=threshold)


def test_the_first_vector_fixes_how_many_numbers_the_others_have(store):
    put(store, Memory("zero", id="z", embedding=[0.0, 0.0]))
    words = "embedding has 3 numbers, and table 'documents' holds vectors of 2"
    with pytest.raises(DefinitionError, match=words):
        put(store, Memory("b", embedding=[1.0, 2.0, 3.0]))
    with pytest.raises(DefinitionError, match=words):
        search(store, embedding=[1.0, 2.0, 3.0])
    assert run(store.stats()).memories == {"documents": 1}
    put(store, Memory("other table", embedding=[1.0, 2.0, 3.0]), table="facts")
    run(store.delete_memory("z"))
    put(store, Memory("b", embedding=[1.0, 2.0, 3.0]))
    assert texts(store, embedding=[1.0, 2.0, 3.0]) == ["b"]


def test_vectors_of_two_lengths_at_once_are_refused(store):
    with pytest.raises(
        DefinitionError, match="embedding has 1 number, and table 'documents' holds vectors of 2"
    ):
        put(store, Memory("a", embedding=[1.0, 0.0]), Memory("b", embedding=[1.0]))
    assert run(store.stats()).memories == {}
    put(store, Memory("c", embedding=[1.0]))


# Embedders -----------------------------------------------------------------------------------


def test_a_table_knows_its_embedder_from_the_first_vector_on(store):
    put(store, Memory("blind"), mark=SMALL)
    assert run(store.embedder_mark("documents")) is None
    put(store, Memory("a", id="a", embedding=at(0)), mark=SMALL)
    assert run(store.embedder_mark("documents")) == SMALL
    put(store, Memory("mine", id="b", embedding=at(1)))
    assert run(store.embedder_mark("documents")) == SMALL
    assert run(store.embedder_mark("nothing")) is None
    run(store.delete_memory("a"))
    assert run(store.embedder_mark("documents")) == SMALL
    run(store.delete_memory("b"))
    assert run(store.embedder_mark("documents")) is None
    put(store, Memory("c", embedding=[1.0, 2.0, 3.0]), mark=WIDE)
    assert run(store.embedder_mark("documents")) == WIDE


def test_vectors_nobody_signed_are_taken_over_by_an_embedder_of_their_length(store):
    put(store, Memory("a", embedding=at(0)))
    assert run(store.embedder_mark("documents")) is None
    with pytest.raises(
        DefinitionError, match="embedding has 3 numbers, and table 'documents' holds vectors of 2"
    ):
        put(store, Memory("b", embedding=[1.0, 2.0, 3.0]), mark=WIDE)
    put(store, Memory("b", embedding=at(1)), mark=SMALL)
    assert run(store.embedder_mark("documents")) == SMALL


@pytest.mark.parametrize(
    ("mark", "vector", "words"),
    [
        (
            OTHER,
            [1.0, 0.0],
            r"holds vectors of embedder 'small' \(2 numbers\), not of embedder 'other' \(2 numbers\)",
        ),
        (
            WIDE,
            [1.0, 0.0, 0.0],
            r"holds vectors of embedder 'small' \(2 numbers\), not of embedder 'wide' \(3 numbers\)",
        ),
        (
            EmbedderMark("small", 2, "f2"),
            [1.0, 0.0],
            r"embedder 'small' \(2 numbers\), not of another version of it",
        ),
    ],
)
def test_another_embedder_is_refused_by_name_with_the_way_out(store, mark, vector, words):
    put(store, Memory("a", embedding=at(0)), mark=SMALL)
    for attempt in (
        lambda: put(store, Memory("b", embedding=vector), mark=mark),
        lambda: search(store, embedding=vector, mark=mark),
    ):
        with pytest.raises(DefinitionError, match=words) as caught:
            attempt()
        assert 'await runtime.reembed("documents")' in str(caught.value)
    assert run(store.stats()).memories == {"documents": 1}
    assert texts(store, mark=SMALL) == ["a"]


def test_a_vector_of_another_length_than_its_embedder_s_is_refused(store):
    with pytest.raises(DefinitionError, match="embedding has 2 numbers, and embedder 'wide' makes 3"):
        put(store, Memory("a", embedding=at(0)), mark=WIDE)
    put(store, Memory("a", embedding=at(0)), mark=SMALL)
    with pytest.raises(
        DefinitionError, match="vectors of 2, made by embedder 'small'; if the embedder was changed"
    ):
        put(store, Memory("b", embedding=[1.0, 0.0, 0.0]))


def test_new_vectors_replace_all_old_ones_at_once(store):
    put(store, *(Memory(name, id=name, room_id=name, embedding=at(0)) for name in "abc"), mark=SMALL)
    put(store, Memory("blind", id="blind"))
    assert texts(store) == ["a", "b", "c"]
    vectors = {"c": [0.0, 0.0, 3.0], "a": [1.0, 0.0, 1.0], "b": [1.0, 0.0, 1.0], "gone": [1.0, 1.0, 1.0]}
    run(store.replace_embeddings("documents", vectors, WIDE))
    assert run(store.embedder_mark("documents")) == WIDE
    assert texts(store, embedding=[0.0, 0.0, 1.0]) == ["c", "a", "b"]
    assert run(store.get_memory_by_id("c")).embedding.tolist() == [0.0, 0.0, 3.0]
    with pytest.raises(DefinitionError, match="embedding has 2 numbers"):
        search(store)
    run(store.replace_embeddings("documents", {**vectors, "blind": [0.0, 0.0, 1.0]}, WIDE))
    assert texts(store, embedding=[0.0, 0.0, 1.0]) == ["c", "blind", "a", "b"]
    put(store, Memory("new", embedding=[0.0, 1.0, 9.0]), mark=WIDE)
    assert texts(store, embedding=[0.0, 1.0, 9.0], count=1) == ["new"]
    assert texts(store, embedding=[0.0, 0.0, 1.0], room_id="c") == ["c"]


def test_new_vectors_that_leave_a_row_out_change_nothing(store):
    put(store, *(Memory(name, id=name, embedding=at(0)) for name in "abc"), mark=SMALL)
    with pytest.raises(
        MissingVectorsError, match="2 of the rows with a vector in table 'documents'"
    ) as caught:
        run(store.replace_embeddings("documents", {"b": [1.0, 0.0, 0.0]}, WIDE))
    assert sorted(caught.value.missing) == ["a", "c"]
    assert run(store.embedder_mark("documents")) == SMALL
    assert texts(store) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("vectors", "mark", "words"),
    [
        ({"a": [1.0, 2.0]}, WIDE, "embedding has 2 numbers, and embedder 'wide' makes 3"),
        (
            {"a": [1.0, 2.0], "b": [1.0]},
            None,
            "embedding has 1 number, and table 'documents' holds vectors of 2",
        ),
        ({"a": [float("nan"), 2.0]}, None, "the vector of 'a' holds nan"),
        ([[1.0]], None, "vectors is a dict of id to vector"),
    ],
)
def test_wrong_new_vectors_change_nothing(store, vectors, mark, words):
    put(store, Memory("a", id="a", embedding=at(0)), mark=SMALL)
    with pytest.raises(DefinitionError, match=words):
        run(store.replace_embeddings("documents", vectors, mark))
    assert texts(store, mark=SMALL) == ["a"]


def test_a_table_without_rows_takes_no_new_vectors(store):
    run(store.replace_embeddings("documents", {"a": [1.0]}, None))
    assert run(store.embedder_mark("documents")) is None
    put(store, Memory("b", embedding=at(0)))
