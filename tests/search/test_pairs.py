"""Two rows in one number: what is read off a sum is exact, and no bound is below what it bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentctx_nb.search.pairs import APART, LONGEST, PairedRows, Shelf, exact_query, part_pairs, whole_query

kinds = st.sampled_from(["falling", "one direction", "equal", "tiny", "zeros among them"])


def rows_of(kind, random, count, width):
    """Return rows of length 1 at most."""
    rows = random.standard_normal((count, width)) * np.arange(1, width + 1) ** -0.5
    if kind == "one direction":
        rows[:, 0] += 50
    if kind == "equal":
        rows[:] = rows[0]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    if kind == "tiny":
        rows *= 1e-6
    if kind == "zeros among them":
        rows[::3] = 0
    return rows.astype(np.float32)


@settings(max_examples=80, deadline=None)
@given(kind=kinds, seed=st.integers(0, 2**32), width=st.integers(1, 200), half=st.integers(1, 40))
def test_a_product_of_pairs_bounds_that_of_each_row(kind, seed, width, half):
    random = np.random.default_rng(seed)
    rows = rows_of(kind, random, 2 * half, width)
    centre = rows.mean(axis=0)
    paired = PairedRows(rows, centre)
    query = rows_of("falling", random, 1, width)[0] * np.float32(random.choice([1.0, 0.3, 0.0]))
    near = whole_query(query, centre)
    sums = np.empty(2 * half, np.float32)
    part_pairs(paired.pairs @ near.whole, sums)
    wholes = np.rint((rows - centre) * np.float32(paired.scale)).astype(np.int64)
    assert (sums == wholes @ near.whole.astype(np.int64)).all()
    truth = rows.astype(np.float64) @ query.astype(np.float64)
    assert (sums * paired.unit(near) + paired.most(near) >= truth - 1e-6).all()
    assert (sums * paired.unit(near) + paired.most(near) <= truth + 0.2 * (width / 64) ** 0.5 + 0.02).all()


@settings(max_examples=60, deadline=None)
@given(kind=kinds, seed=st.integers(0, 2**32), width=st.integers(1, 200), half=st.integers(1, 40))
def test_rows_are_kept_as_precisely_as_they_came(kind, seed, width, half):
    random = np.random.default_rng(seed)
    rows = rows_of(kind, random, 2 * half, width)
    paired = PairedRows(rows, rows.mean(axis=0))
    columns = random.integers(0, 2 * half, 5)
    np.testing.assert_allclose(paired.at(columns), rows[columns], atol=5e-7, rtol=0)
    query = rows_of("falling", random, 1, width)[0]
    found = np.empty(2 * half, np.float32)
    paired.products(exact_query(query), found)
    np.testing.assert_allclose(found, rows.astype(np.float64) @ query, atol=1.5e-6, rtol=0)


@pytest.mark.parametrize("width", [3, 64])
def test_rows_on_a_shelf_stand_side_by_side(width):
    random = np.random.default_rng(0)
    shelf = Shelf(4, 5, width)
    rows = rows_of("falling", random, 30, width)
    beside = [
        PairedRows(some, rows.mean(axis=0), shelf.pairs[place])
        for place, some in enumerate(np.split(rows, 3))
    ]
    query = whole_query(rows[0], beside[0].centre).whole
    sums = shelf.pairs[:3].reshape(-1, width) @ query
    for number, paired in enumerate(beside):
        assert (sums[5 * number : 5 * number + 5] == paired.pairs @ query).all()
        alone = PairedRows(np.split(rows, 3)[number], rows.mean(axis=0))
        assert (paired.at(np.arange(10)) == alone.at(np.arange(10))).all()


def test_no_sum_on_the_way_leaves_what_float32_counts_exactly():
    assert LONGEST**2 * (APART + 1) < 2**24
    assert APART > 2 * LONGEST**2
    rows = np.full((2, 4), 0.5, np.float32)
    paired = PairedRows(rows, np.zeros(4, np.float32))
    near = whole_query(rows[0], paired.centre)
    assert np.linalg.norm(near.whole) <= LONGEST
    assert np.linalg.norm(paired.pairs[0]) <= LONGEST * (APART + 1)


@pytest.mark.parametrize("level", [0.0, 1e-9])
def test_a_query_of_no_length_is_the_sum_of_its_parts(level):
    query = np.full(3, level, np.float32)
    exact = exact_query(query)
    np.testing.assert_allclose(exact.parts @ exact.wholes, query, atol=1e-7)
