"""Every answer of the vector index is that of a float64 scan, whatever was appended and deleted before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentctx_nb.errors import DefinitionError
from agentctx_nb.search.index import VectorIndex
from agentctx_nb.search.products import Sizes

CLOSE = 3e-6


def scan(vectors, gone, query, allowed=None):
    """Return the float64 cosine of each row, -inf where it cannot match."""
    rows = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(rows, axis=1)
    query = np.asarray(query, np.float64)
    scores = rows @ query / np.where(lengths > 0, lengths, 1) / (np.linalg.norm(query) or 1)
    out = (lengths == 0) | (np.linalg.norm(query) == 0)
    out[list(gone)] = True
    if allowed is not None:
        out |= ~allowed
    scores[out] = -np.inf
    return scores


def check(answer, scores, *, count, threshold):
    rows, found = answer
    matching = np.flatnonzero(scores > -np.inf)
    sure = matching[scores[matching] >= (threshold if threshold is not None else -2) + CLOSE]
    least = -np.inf if threshold is None else threshold - CLOSE
    assert np.all(scores[rows] >= least)
    np.testing.assert_allclose(found, np.minimum(scores[rows], 1.0), atol=CLOSE)
    assert np.all(np.diff(scores[rows]) <= CLOSE)
    assert len(set(rows.tolist())) == len(rows)
    if count is None:
        assert set(sure.tolist()) <= set(rows.tolist())
    else:
        assert len(rows) >= min(count, len(sure))
        assert len(rows) <= count
        if len(rows) == count and count:
            left = np.setdiff1d(sure, rows)
            assert np.all(scores[left] <= scores[rows].min() + CLOSE)
    assert found.dtype == np.float32
    assert np.all(found <= 1.0)


@st.composite
def stores(draw):
    dim = draw(st.sampled_from([1, 2, 3, 8, 33, 64]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["even", "spectrum", "clusters"]))
    count = draw(st.integers(0, 260))
    vectors = rng.normal(size=(count, dim))
    if kind == "spectrum":
        vectors *= 0.7 ** np.arange(dim)
    if kind == "clusters" and count:
        vectors = vectors[rng.integers(0, min(count, 5), count)] + 0.2 * rng.normal(size=(count, dim))
    vectors = vectors.astype(np.float32)
    for row in range(count):
        fate = rng.random()
        if fate < 0.05:
            vectors[row] = 0
        elif fate < 0.1:
            vectors[row] *= 1e-18
        elif fate < 0.2 and row:
            vectors[row] = vectors[rng.integers(0, row)]
    return dim, vectors, rng


SMALL = Sizes(
    block=16, group=4, plain=32, product=64, first=2, second=2, third=2, step=1, sample=32, shared=64
)


@settings(max_examples=150, deadline=None)
@given(store=stores(), data=st.data())
def test_answers_are_those_of_a_float64_scan(store, data):
    dim, vectors, rng = store
    index = VectorIndex(dim, sizes=SMALL)
    gone: set[int] = set()
    done = 0
    while done < len(vectors) or not len(vectors):
        some = int(rng.integers(1, 60))
        if rng.random() < 0.5:
            assert list(index.append_many(vectors[done : done + some])) == list(
                range(done, min(done + some, len(vectors)))
            )
        else:
            for vector in vectors[done : done + some]:
                index.append(vector)
        done = min(done + some, len(vectors))
        for row in rng.integers(0, max(done, 1), int(rng.integers(0, 6))).tolist():
            if row < done and row not in gone:
                index.delete(row)
                gone.add(row)
        assert len(index) == done - len(gone)
        query = vectors[rng.integers(0, done)] if done and rng.random() < 0.5 else rng.normal(size=dim)
        count = data.draw(st.sampled_from([None, 0, 1, 3, 10]))
        threshold = data.draw(st.sampled_from([None, -0.2, 0.3, 0.75, 0.99]))
        allowed = rng.random(done) < 0.5 if data.draw(st.booleans()) else None
        scores = scan(vectors[:done], gone, query, allowed)
        answer = index.search(query, count=count, threshold=threshold, allowed=allowed)
        check(answer, scores, count=count, threshold=threshold)
        if allowed is None:
            queries = np.vstack([query, rng.normal(size=(3, dim))])
            for one, many in zip(
                queries, index.search_many(queries, count=3, threshold=threshold), strict=True
            ):
                check(many, scan(vectors[:done], gone, one), count=3, threshold=threshold)
        if not len(vectors):
            break


def test_equal_rows_come_in_the_order_they_were_appended():
    index = VectorIndex(4, sizes=SMALL)
    index.append_many(np.tile([1.0, 2.0, 0.0, 0.0], (100, 1)))
    rows, scores = index.search([1.0, 2.0, 0.0, 0.0], count=7)
    assert rows.tolist() == list(range(7))
    assert np.all(scores <= 1.0)


def test_a_zero_vector_is_kept_and_never_matches():
    index = VectorIndex(2)
    index.append([0.0, 0.0])
    assert len(index) == 1
    assert index.vector(0).tolist() == [0.0, 0.0]
    assert index.search([1.0, 0.0])[0].tolist() == []
    assert index.search([1.0, 0.0], threshold=-1.0)[0].tolist() == []


@pytest.mark.parametrize(
    ("vector", "said"),
    [
        ([1.0], "3|must hold numbers"),
        ([1.0, 2.0, float("nan")], "NaN|finite"),
        ([1.0, 2.0, float("inf")], "inf|finite"),
        ("abc", "number"),
    ],
)
def test_a_wrong_vector_is_refused_and_nothing_is_kept(vector, said):
    index = VectorIndex(3)
    for put in (index.append, lambda given: index.append_many([[1.0, 2.0, 3.0], given]), index.search):
        with pytest.raises(DefinitionError, match=said):
            put(vector)
    assert len(index) == 0


def test_a_row_reads_back_as_a_unit_vector_of_its_own():
    index = VectorIndex(2)
    given = np.array([3.0, 4.0], np.float32)
    index.append(given)
    given[:] = 0
    read = index.vector(0)
    np.testing.assert_allclose(read, [0.6, 0.8], atol=1e-7)
    read[:] = 0
    assert index.search([3.0, 4.0])[1].round(6).tolist() == [1.0]


def test_approximate_search_finds_nearly_all_of_the_best():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(200, 64))
    vectors = (centres[rng.integers(0, 200, 20_000)] + 0.5 * rng.normal(size=(20_000, 64))).astype(np.float32)
    index = VectorIndex(64)
    index.append_many(vectors)
    found, wanted = 0, 0
    for query in rng.normal(size=(20, 64)) * 0.3 + centres[:20]:
        exact = set(index.search(query, count=10)[0].tolist())
        found += len(exact & set(index.search(query, count=10, approximate=True)[0].tolist()))
        wanted += len(exact)
    assert found / wanted >= 0.98
