"""Approximate search: exact scores, nearly all of the best rows, and none that must not be found."""

from __future__ import annotations

import numpy as np
import pytest

from agentctx_nb.search import signs
from agentctx_nb.search.index import VectorIndex
from tests.search.indexes import SMALL, filled, ranked


def test_approximate_search_gives_exact_scores_of_near_rows():
    index, exact = filled(2000, 64)
    hits = 0
    for row in range(0, 2000, 100):
        rows, scores = index.search(exact[row], count=10, approximate=True)
        assert np.abs(scores - exact[rows] @ exact[row]).max() < 3e-6
        hits += len(set(rows.tolist()) & set(ranked(exact, exact[row])[:10]))
    assert hits >= 0.98 * 200


def _encode_signs(index):
    """Search until all encoded rows have signs."""
    while not index._pruned or index._pruned[-1].codes is None or index._waiting:
        index.search(np.ones(index.dim), count=1, approximate=True)


def test_approximate_search_finds_what_is_left_after_deletes_and_among_zeros():
    index, exact = filled(2000, 64)
    _encode_signs(index)
    order = ranked(exact, exact[0])
    for row in order[:1500]:
        index.delete(row)
    for allowed in (None, np.arange(2000) >= 0):
        rows, _ = index.search(exact[0], count=4, allowed=allowed, approximate=True)
        assert rows.tolist() == order[1500:1504]
    index = VectorIndex(64, sizes=SMALL)
    rows = np.zeros((2000, 64), np.float32)
    rows[[5, 900]] = exact[[5, 900]]
    index.append_many(rows)
    _encode_signs(index)
    assert index.search(exact[5], count=3, approximate=True)[0].tolist() == [5, 900]
    for row in range(2000):
        index.delete(row)
    assert index.search(exact[5], count=3, approximate=True)[0].tolist() == []


@pytest.mark.parametrize("every", [2, 3, 4])
@pytest.mark.parametrize("how", ["deleted", "not allowed"])
def test_as_few_rows_are_weighed_where_every_nth_is_out(monkeypatch, every, how):
    weighed = []
    real = signs._weighed

    def count(blocks, rows, *args):
        weighed.append(len(rows))
        return real(blocks, rows, *args)

    monkeypatch.setattr(signs, "_weighed", count)
    monkeypatch.setattr(signs, "LEAST", 40)
    monkeypatch.setattr(signs, "SAMPLE", 100)
    index, exact = filled(1300, 64)  # of 1,248 encoded rows every 12th would be looked at
    _encode_signs(index)
    keep = np.arange(1300) % every != 0
    allowed = None
    if how == "deleted":
        for row in np.flatnonzero(~keep):
            index.delete(row)
    else:
        allowed = keep
    del weighed[:]
    rows, _ = index.search(exact[5], count=3, approximate=True, allowed=allowed)
    assert rows.tolist() == ranked(exact, exact[5], keep=keep)[:3]
    assert 100 <= weighed[0] <= 400


@pytest.mark.parametrize("threshold", [None, 0.1])
def test_approximate_search_without_a_count_gives_every_answer(threshold):
    index, exact = filled(2000, 64)
    expected = index.search(exact[3], threshold=threshold)[0].tolist()
    assert len(expected) > 100
    assert index.search(exact[3], threshold=threshold, approximate=True)[0].tolist() == expected


def test_approximate_search_weighs_more_rows_where_more_are_asked_for():
    index, exact = filled(4000, 64)
    _encode_signs(index)
    rows, _ = index.search(exact[9], count=1000, approximate=True)
    assert len(set(rows.tolist()) & set(ranked(exact, exact[9])[:1000])) >= 980


def test_approximate_search_works_with_more_signs_than_a_byte_counts():
    index, exact = filled(300, 320)
    rows, _ = index.search(exact[7], count=3, approximate=True)
    assert rows.tolist() == ranked(exact, exact[7])[:3]
