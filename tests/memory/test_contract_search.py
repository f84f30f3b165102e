"""What every store finds by its vectors, and how it tells embedders apart."""

from __future__ import annotations

import math

import numpy as np
import pytest

from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.memory import EmbedderMark
from agentctx_nb.model import Memory
from tests.memory.contract_search import at, put, run, search, texts

SMALL = EmbedderMark("small", 2, "f1")
OTHER = EmbedderMark("other", 2, "f1")
WIDE = EmbedderMark("wide", 3, "f1")


# What is found, in which order ---------------------------------------------------------------


def test_best_first_each_with_its_cosine(store):
    put(store, Memory("120", embedding=at(120)), Memory("0", embedding=at(0)), Memory("60", embedding=at(60)))
    assert texts(store) == ["0", "60", "120"]
    assert [m.similarity for m in search(store)] == pytest.approx([1.0, 0.5, -0.5], abs=1e-6)


@pytest.mark.parametrize(
    ("threshold", "found"),
    [
        (None, ["0", "30", "60", "120"]),
        (0, ["0", "30", "60", "120"]),
        (0.0, ["0", "30", "60", "120"]),
        (0.75, ["0", "30"]),
        (0.49, ["0", "30", "60"]),
        (1, ["0"]),
        (1.5, []),
        (-0.49, ["0", "30", "60"]),
        (-0.51, ["0", "30", "60", "120"]),
        (np.float32(0.75), ["0", "30"]),
    ],
)
def test_a_hit_is_at_least_as_similar_as_the_threshold_and_0_is_none(store, threshold, found):
    put(store, *(Memory(str(angle), embedding=at(angle)) for angle in (120, 60, 0, 30)))
    assert texts(store, match_threshold=threshold) == found


@pytest.mark.parametrize(
    ("count", "found"), [(0, []), (1, ["a"]), (2, ["a", "b"]), (9, ["a", "b", "c"]), (None, ["a", "b", "c"])]
)
def test_ties_come_in_the_order_of_writing(store, count, found):
    for name in "abc":
        put(store, Memory(name, room_id=name, created_at=-ord(name), embedding=[0.5, 0.0]))
    assert texts(store, count=count) == found


def test_a_similarity_is_at_most_1(store):
    vectors = np.random.default_rng(1).normal(size=(50, 7)) * 1000
    put(store, *(Memory(str(n), embedding=vector) for n, vector in enumerate(vectors)))
    for n, vector in enumerate(vectors):
        (hit,) = run(store.search_memories(table_name="documents", embedding=vector, count=1))
        assert hit.content.text == str(n)
        assert 0.999999 < hit.similarity <= 1.0
        assert type(hit.similarity) is float


def test_length_does_not_count(store):
    put(store, Memory("long", embedding=[1e30, 1e30]), Memory("short", embedding=[1e-30, 0.0]))
    assert texts(store, embedding=[1e-35, 0.0]) == texts(store, embedding=[1e35, 0.0]) == ["short", "long"]
    assert [m.similarity for m in search(store)] == pytest.approx([1.0, math.sqrt(0.5)], abs=1e-6)


def test_rows_without_a_vector_or_of_zeros_are_stored_and_never_found(store):
    put(store, Memory("blind"), Memory("zero", embedding=[0.0, 0.0]), Memory("back", embedding=[-1.0, 0.0]))
    assert texts(store) == ["back"]
    assert texts(store, match_threshold=-1) == ["back"]
    assert texts(store, embedding=[0.0, 0.0]) == []
    assert texts(store, query="zero") == ["back"]
    assert len(run(store.get_memories(table_name="documents"))) == 3


def test_an_empty_or_unknown_table_holds_nothing_to_find(store):
    assert texts(store) == texts(store, table_name="nothing", embedding=[1.0, 2.0, 3.0]) == []
    put(store, Memory("blind"))
    assert texts(store) == texts(store, query="blind") == []


def test_every_condition_narrows_a_search(store):
    put(
        store,
        Memory(
            "1", room_id="r1", entity_id="e1", agent_id="a1", world_id="w1", created_at=1, embedding=at(1)
        ),
        Memory(
            "2", room_id="r2", entity_id="e1", agent_id="a2", world_id="w2", created_at=2, embedding=at(2)
        ),
        Memory(
            "3", room_id="r1", entity_id="e2", agent_id="a1", world_id="w2", created_at=3, embedding=at(3)
        ),
        Memory("4", created_at=4.5, embedding=at(4)),
    )
    put(store, Memory("elsewhere", room_id="r1", embedding=at(0)), table="facts")
    assert texts(store) == ["1", "2", "3", "4"]
    assert texts(store, room_id="r1") == ["1", "3"]
    assert texts(store, room_id="r1", count=1) == ["1"]
    assert texts(store, entity_id="e1") == ["1", "2"]
    assert texts(store, agent_id="a1", world_id="w2") == ["3"]
    assert texts(store, start=2, end=3) == ["2", "3"]
    assert texts(store, start=3.5) == ["4"]
    assert (
        texts(store, room_id="r2", end=1) == texts(store, room_id="r9") == texts(store, entity_id="e9") == []
    )
    assert texts(store, query="4", room_id="r1", start=3) == ["3"]


def test_rooms_of_any_size_are_searched_alone_and_together(store):
    rng = np.random.default_rng(3)
    sizes = {"big": 700, "middle": 300, "small": 20, None: 280}
    rooms = rng.permutation(np.repeat(np.arange(4), list(sizes.values())))
    vectors = rng.normal(size=(len(rooms), 5)).astype(np.float32)
    names = [*sizes]
    rows = [
        Memory(str(n), id=str(n), room_id=names[room], embedding=vectors[n]) for n, room in enumerate(rooms)
    ]
    put(store, *rows[:1000])
    for row in rows[1000:]:
        run(store.create_memory(row, "documents"))
    gone = rng.choice(len(rows), 200, replace=False)
    for n in gone:
        run(store.delete_memory(str(n)))
    query = rng.normal(size=5)
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    cosines[gone] = -9
    for room, name in enumerate(names[:3]):
        ranked = [n for n in np.argsort(-cosines) if rooms[n] == room and cosines[n] >= 0.3]
        assert texts(store, embedding=query, room_id=name, match_threshold=0.3) == [str(n) for n in ranked]
        assert texts(store, embedding=query, room_id=name, count=5) == [str(n) for n in ranked[:5]]
    ranked = np.argsort(-cosines)[:1100]
    assert texts(store, embedding=query) == [str(n) for n in ranked]
    assert texts(store, embedding=query, count=7) == [str(n) for n in ranked[:7]]


def test_a_deleted_row_is_not_found_and_one_written_again_is(store):
    put(store, Memory("a", id="m", embedding=at(0)), Memory("b", embedding=at(10)))
    assert texts(store) == ["a", "b"]
    run(store.delete_memory("m"))
    assert texts(store) == texts(store, query="a") == ["b"]
    put(store, Memory("c", id="m", embedding=at(5)))
    assert texts(store) == ["c", "b"]
    assert sorted(texts(store, query="b")) == ["b", "c"]


def test_approximate_finds_what_is_there(store):
    put(store, *(Memory(str(angle), embedding=at(angle)) for angle in (40, 0, 20)))
    assert texts(store, approximate=True, count=2) == ["0", "20"]


# Words ---------------------------------------------------------------------------------------


def test_the_words_of_the_query_decide_among_similar_vectors(store):
    put(
        store,
        Memory("Bake bread at 220 degrees.", embedding=at(29)),
        Memory("Reset the password in the settings.", embedding=at(30)),
        Memory("Rain is forecast.", embedding=at(31)),
        Memory("Reset the router.", embedding=at(80)),
    )
    assert texts(store)[0].startswith("Bake")
    found = search(store, query="How do I reset my password?", match_threshold=0.5)
    assert [m.content.text.split()[0] for m in found] == ["Reset", "Bake", "Rain"]
    assert [m.similarity for m in found] == pytest.approx(
        [math.cos(math.radians(angle)) for angle in (30, 29, 31)], abs=1e-6
    )
    assert len(search(store, query="password", count=1)) == 1
    assert search(store, query="password", count=1)[0].content.text.startswith("Reset the password")


def test_words_written_later_count_too(store):
    put(store, Memory("one", embedding=at(0)))
    assert texts(store, query="zebra") == ["one"]
    put(store, Memory("two", embedding=at(0)), Memory("a zebra", id="z", embedding=at(0)))
    assert texts(store, query="zebra")[0] == "a zebra"
    run(store.delete_memory("z"))
    put(store, Memory("two zebras", embedding=at(0)))
    assert texts(store, query="zebra")[0] == "two zebras"


def test_a_query_that_shares_no_word_leaves_the_order_of_the_vectors(store):
    put(store, *(Memory(f"text {angle}", embedding=at(angle)) for angle in (40, 0, 20)))
    for query in ("zebra", "", "the of and"):
        assert texts(store, query=query) == ["text 0", "text 20", "text 40"]


def test_the_mixed_order_is_the_mean_of_both_z_scores_over_all_candidates(store):
    from agentctx_nb.search.bm25 import Bm25, mixed

    rng = np.random.default_rng(7)
    words = ["rain", "sun", "wind", "snow", "fog"]
    said = [" ".join(rng.choice(words, 4)) for _ in range(40)]
    vectors = rng.normal(size=(40, 6)).astype(np.float32)
    put(store, *(Memory(text, id=str(n), embedding=vectors[n]) for n, text in enumerate(said)))
    query = rng.normal(size=6).astype(np.float32)
    index = Bm25()
    for n, text in enumerate(said):
        index.add(n, text)
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
    scores = mixed(cosines, index.scores("snow and fog", np.arange(40)))
    ranked = [n for n in np.lexsort((np.arange(40), -scores)) if cosines[n] >= 0.2]
    found = search(store, embedding=query, query="snow and fog", match_threshold=0.2)
    assert [m.id for m in found] == [str(n) for n in ranked]


@pytest.mark.parametrize("query", [7, ["a"], b"a"])
def test_a_query_is_a_text(store, query):
    with pytest.raises(DefinitionTypeError, match="query is the text that was asked"):
        search(store, query=query)
