from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentctx_nb.search.bm25 import Bm25, mixed, terms
from agentctx_nb.search.tokenizer import stem, words


def reference(texts, query, *, k1=1.5, b=0.75):
    """BM25 of every text as the formula has it, one text and one word at a time, in float64."""
    documents = {row: terms(text) for row, text in texts.items()}
    usual = sum(max(len(found), 1) for found in documents.values()) / max(len(documents), 1)
    scores = {}
    for row, found in documents.items():
        score = 0.0
        for term in terms(query):
            holding = sum(term in other for other in documents.values())
            rare = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            often = found.count(term)
            score += rare * often / (often + k1 * (1 - b + b * max(len(found), 1) / usual))
        scores[row] = score
    return scores


VOCABULARY = [
    "cache",
    "caches",
    "query",
    "index",
    "reset",
    "password",
    "bread",
    "oven",
    "kernel",
    "lock",
    "the",
    "of",
]


def a_text(draw, longest=12):
    return " ".join(draw.choices(VOCABULARY, k=draw.randint(0, longest)))


@given(st.integers(0, 10_000))
def test_scores_are_those_of_the_formula_after_any_adds_and_removes(seed):
    draw = random.Random(seed)
    index, texts = Bm25(), {}
    for row in range(draw.randint(0, 40)):
        texts[row] = a_text(draw)
        index.add(row, texts[row])
        if texts and draw.random() < 0.4:
            gone = draw.choice(list(texts))
            del texts[gone]
            index.remove(gone)
    query = a_text(draw, 5)
    expected = reference(texts, query)
    rows = np.arange(40)
    found = index.scores(query, rows)
    assert found.dtype == np.float32
    assert found.tolist() == pytest.approx([expected.get(row, 0.0) for row in rows], abs=1e-5)
    assert len(index) == len(texts)


def test_scores_are_given_in_the_order_of_the_rows_asked_for():
    index = Bm25()
    index.add(0, "bread")
    index.add(5, "bread and flour")
    index.add(2, "oven")
    scores = index.scores("flour bread", np.array([2, 5, 0, 99]))
    assert scores[0] == scores[3] == 0
    assert scores[1] > scores[2] > 0


def test_an_empty_index_and_an_empty_query_score_nothing():
    index = Bm25()
    assert index.scores("bread", np.arange(3)).tolist() == [0, 0, 0]
    index.add(0, "")
    index.add(1, "the of and")
    assert index.scores("bread", np.arange(2)).tolist() == [0, 0]
    assert index.scores("the of and", np.arange(2)).tolist() == [0, 0]
    assert index.scores("", np.array([], np.int64)).tolist() == []


def test_a_row_can_be_used_once():
    index = Bm25()
    index.add(0, "bread")
    with pytest.raises(ValueError, match="row 0 has been used"):
        index.add(0, "flour")
    index.remove(0)
    with pytest.raises(ValueError, match="row 0 has been used"):
        index.add(0, "flour")


def test_removing_what_is_not_there_changes_nothing():
    index = Bm25()
    index.add(0, "bread")
    for row in (-1, 3, 5000):
        index.remove(row)
    index.remove(0)
    index.remove(0)
    assert len(index) == 0


def test_memory_does_not_grow_when_texts_come_and_go():
    draw = random.Random(1)
    index = Bm25()
    for row in range(6000):
        index.add(row, " ".join(f"word{draw.randrange(400)}" for _ in range(20)) + f" only{row}")
        if row >= 200:
            index.remove(row - 200)
    kept = sum(len(postings.rows) for postings in index._postings.values())
    assert kept < 1.5 * 200 * 21
    assert len(index._postings) < 400 + 1.5 * 200


def test_very_long_words_and_texts_are_cut():
    index = Bm25()
    index.add(0, "x" * 1_000_000 + " tail")
    index.add(1, "bread " * 200_000)
    assert index.scores("tail", np.array([0]))[0] > 0
    assert max(len(term) for term in index._postings) <= 40
    assert 0 < index.scores("bread", np.array([1]))[0] < 10


def test_words_are_read_without_case_accents_and_underscores():
    assert words("Café_NAÏVE ＦＵＬＬ") == ["cafe", "naive", "full"]
    assert words("東京 tower") == ["東", "京", "tower"]
    assert words("") == []


def test_forms_of_one_word_share_their_stem():
    assert len({stem(word) for word in ("index", "indexed", "indexing", "indexes")}) == 1
    assert len({stem(word) for word in ("stop", "stops", "stopped", "stopping")}) == 1
    assert stem("bus") == "bus"


def test_the_mix_weighs_both_z_scores():
    cosines, scores = np.array([0.1, 0.4, 0.7]), np.array([5.0, 0.0, 1.0])
    z = lambda values: (values - values.mean()) / values.std()
    assert mixed(cosines, scores).tolist() == pytest.approx(
        (0.6 * z(cosines) + 0.4 * z(scores)).tolist(), abs=1e-6
    )


def test_a_score_that_tells_none_apart_has_no_say_in_the_mix():
    cosines = np.array([0.1, 0.4, 0.2], np.float32)
    assert mixed(cosines, np.zeros(3)).argmax() == 1
    assert mixed(np.full(3, 0.5), np.array([0.0, 0.0, 2.0])).argmax() == 2
    assert mixed(np.zeros(1), np.zeros(1)).tolist() == [0.0]
    assert mixed(np.zeros(0), np.zeros(0)).tolist() == []
