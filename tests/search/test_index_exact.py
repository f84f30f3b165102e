"""Answers against float64 over generated stores: appends, deletes, duplicates, zeros, every count and threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentctx_nb.search.index import VectorIndex
from agentctx_nb.search.products import Sizes

ROUNDING = 3e-6
COUNTS = (1, 3, 10, None)
THRESHOLDS = (None, -0.5, 0.0, 0.3, 0.75, 0.99, 1.0)

small_sizes = st.builds(
    Sizes,
    block=st.sampled_from([16, 32, 64]),
    group=st.sampled_from([4, 16]),
    plain=st.sampled_from([32, 128]),
    product=st.sampled_from([100, 2000, 400_000]),
    first=st.sampled_from([1, 4, 48]),
    second=st.sampled_from([1, 5, 30]),
    third=st.sampled_from([1, 8]),
    step=st.sampled_from([1, 4]),
    rotated=st.sampled_from([8, 512]),
    sample=st.sampled_from([32, 256]),
    per_search=st.sampled_from([1, 4]),
    waiting=st.sampled_from([1, 5]),
    shared=st.sampled_from([32, 10**6]),
    gathered=st.sampled_from([0.01, 5.0, 200.0]),
    few=st.sampled_from([0.0, 0.1, 1.0]),
    few_pairs=st.sampled_from([0.0, 0.08, 1.0]),
)
dims = st.one_of(st.integers(1, 24), st.sampled_from([33, 64, 100, 128, 256, 384]))


class Store:
    """An index beside the same rows in float64, written to alike."""

    def __init__(self, dim, sizes):
        self.index = VectorIndex(dim, sizes=sizes)
        self.exact = np.empty((0, dim))
        self.alive = np.empty(0, bool)

    def append(self, rows, *, one_by_one):
        if one_by_one:
            for row in rows:
                self.index.append(row)
        else:
            self.index.append_many(rows)
        exact = rows.astype(np.float64)
        largest = np.abs(exact).max(axis=1, keepdims=True)
        exact /= np.where(largest > 0, largest, 1)
        length = np.linalg.norm(exact, axis=1, keepdims=True)
        self.exact = np.concatenate([self.exact, exact / np.where(length > 0, length, 1)])
        self.alive = np.concatenate([self.alive, length[:, 0] > 0])

    def delete(self, rows):
        for row in rows:
            self.index.delete(int(row))
        self.alive[rows] = False

    def check(self, answer, query, count, threshold, allowed=None):
        """Compare an answer with the full scan; scores may be off, and near the threshold rows missing, by rounding."""
        rows, scores = answer
        ok = self.alive if allowed is None else self.alive & allowed
        all_scores = np.clip(self.exact @ (query / np.linalg.norm(query)), -1, 1)
        best = np.sort(all_scores[ok])[::-1]
        surely, perhaps = len(best), len(best)
        if threshold is not None:
            surely, perhaps = (int((best >= threshold + change).sum()) for change in (ROUNDING, -ROUNDING))
        if count is not None:
            surely, perhaps, best = min(surely, count), min(perhaps, count), best[:count]
        assert surely <= len(rows) <= perhaps
        assert len(set(rows.tolist())) == len(rows)
        assert ok[rows].all()
        np.testing.assert_allclose(scores, best[: len(scores)], atol=ROUNDING, rtol=0)
        np.testing.assert_allclose(scores, all_scores[rows], atol=ROUNDING, rtol=0)
        assert (np.diff(scores) <= 0).all()
        assert (np.diff(rows)[np.diff(scores) == 0] > 0).all()
        if threshold is not None:
            assert (scores >= np.float32(threshold)).all()


def generated(random, count, dim):
    """Return rows of some rank, with duplicates, zeros and tiny vectors among them."""
    rank = int(random.integers(1, dim + 1))
    spread = random.standard_normal((rank, dim)) * np.arange(1, rank + 1)[:, None] ** -random.uniform(0, 1.5)
    rows = random.standard_normal((count, rank)) @ spread
    rows += random.uniform(0, 0.3) * random.standard_normal((count, dim))
    rows = rows.astype(np.float32)
    rows[random.integers(0, count, count // 8)] = rows[0]
    rows[random.integers(0, count, count // 30)] = 0
    rows[random.integers(0, count, count // 30)] *= np.float32(1e-25)
    rows[random.integers(0, count, count // 30)] *= np.float32(1e25)
    return rows


@pytest.fixture(autouse=True, scope="module")
def free_core():
    """Let the second thread help whatever else this machine does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agentctx_nb.search.pruning.core_is_free", lambda: True)
        yield


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32), dim=dims, count=st.integers(1, 700), sizes=small_sizes)
def test_every_answer_is_that_of_a_full_scan(seed, dim, count, sizes):
    random = np.random.default_rng(seed)
    store = Store(dim, sizes)
    rows = generated(random, count, dim)
    for part in np.array_split(rows, int(random.integers(1, 5))):
        store.append(part, one_by_one=bool(random.integers(2)))
        store.delete(random.integers(0, len(store.exact), len(part) // 7))
        near = (
            store.exact[random.integers(0, len(store.exact), 2)]
            + 0.2 * random.standard_normal((2, dim)) / dim**0.5
        )
        queries = np.concatenate([near, store.exact[:1] + 1e-9, random.standard_normal((1, dim))])
        allowed = random.random(len(store.exact)) < random.choice([0.02, 0.5])
        for wanted in COUNTS:
            threshold = THRESHOLDS[int(random.integers(len(THRESHOLDS)))]
            for query in queries:
                store.check(
                    store.index.search(query, count=wanted, threshold=threshold), query, wanted, threshold
                )
            answer = store.index.search(queries[0], count=wanted, threshold=threshold, allowed=allowed)
            store.check(answer, queries[0], wanted, threshold, allowed)
            for query, answer in zip(
                queries, store.index.search_many(queries, count=wanted, threshold=threshold), strict=True
            ):
                store.check(answer, query, wanted, threshold)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), dim=dims, sizes=small_sizes)
def test_equal_rows_have_equal_scores_wherever_they_are_kept(seed, dim, sizes):
    random = np.random.default_rng(seed)
    index = VectorIndex(dim, sizes=sizes)
    same = random.standard_normal(dim).astype(np.float32)
    expected = []
    for _ in range(300):
        if random.random() < 0.1:
            expected.append(index.append(same))
        else:
            index.append(random.standard_normal(dim).astype(np.float32))
    query = same + 0.1 * random.standard_normal(dim).astype(np.float32)
    for _ in range(4):
        rows, scores = index.search(query)
        place = {row: at for at, row in enumerate(rows.tolist())}
        assert len({float(scores[place[row]]) for row in expected}) <= 1
        among = [row for row in rows.tolist() if row in set(expected)]
        assert among == expected


def _chain(count, apart, dim=2, before=()):
    """Return rows each ``apart`` from the next, as an arc in a plane of ``dim`` dimensions."""
    plane = np.linalg.qr(np.random.default_rng(dim).standard_normal((dim, 2)))[0]
    angles = np.arange(count) * apart
    return (np.stack([np.cos(angles), np.sin(angles)], axis=1) @ plane.T).astype(np.float32)


@pytest.mark.parametrize("apart", [3e-7, 9e-7, 3e-6])
@pytest.mark.parametrize(("dim", "others"), [(2, 0), (40, 0), (40, 9000)])
def test_rows_that_each_resemble_the_next_keep_scores_of_their_own(dim, others, apart):
    chain = _chain(3000, apart, dim)
    more = np.random.default_rng(1).standard_normal((others, dim)).astype(np.float32)
    store = Store(dim, Sizes())
    store.append(np.concatenate([chain, more]), one_by_one=False)
    query = chain[1500].astype(np.float64) + np.roll(chain[0], 1)
    scores = store.exact @ (query / np.linalg.norm(query))
    for count, threshold in ((1, None), (10, None), (None, float(scores[700]) + 4e-7), (None, None)):
        store.check(store.index.search(query, count=count, threshold=threshold), query, count, threshold)
        store.check(
            store.index.search_many([query], count=count, threshold=threshold)[0], query, count, threshold
        )


def test_equal_rows_stand_together_though_others_have_their_score():
    random = np.random.default_rng(0)
    pair = np.array([[0.6, 0.8, 0], [0.6, 0, 0.8]], np.float32)
    rows = pair[random.integers(0, 2, 400)]
    index = VectorIndex(
        3, sizes=Sizes(block=16, group=4, plain=32, first=1, second=1, sample=32, per_search=40)
    )
    index.append_many(rows)
    turn = np.float32([1, 1e-8, -1e-8])  # between the scores of the two lies less than float32 tells
    for _ in range(3):
        found, scores = index.search(turn)
        for kind in pair:
            mine = (rows[found] == kind).all(axis=1)
            assert len(set(scores[mine].tolist())) == 1
            assert (np.diff(found[mine]) > 0).all()


@pytest.mark.parametrize("dim", [64, 256])
def test_the_usual_sizes_give_the_answers_of_a_full_scan(dim):
    random = np.random.default_rng(dim)
    rows = generated(random, 13_000, dim)
    store = Store(dim, Sizes())
    store.append(rows, one_by_one=False)
    store.delete(random.integers(0, len(rows), 500))
    queries = (
        store.exact[random.integers(0, len(rows), 8)] + 0.3 * random.standard_normal((8, dim)) / dim**0.5
    )
    for count, threshold in ((3, 0.75), (10, None), (None, 0.6), (1, 0.99)):
        for query, answer in zip(
            queries, store.index.search_many(queries, count=count, threshold=threshold), strict=True
        ):
            store.check(answer, query, count, threshold)
            store.check(store.index.search(query, count=count, threshold=threshold), query, count, threshold)


def _awkward(count=600, dim=40):
    random = np.random.default_rng(0)
    rows = random.standard_normal((count, dim)).astype(np.float32)
    apart = np.where(np.arange(count)[:, None] % 2, rows[:1], -rows[:1])
    return {
        "nearly equal": rows[:1] + np.float32(1e-6) * rows,
        "antipodal": apart + np.float32(1e-3) * rows,
        "one direction each": np.eye(dim, dtype=np.float32)[random.integers(0, dim, count)],
        "mostly zero": np.where(random.random(count)[:, None] < 0.7, 0, rows).astype(np.float32),
        "three dimensions": (rows[:, :3] @ random.standard_normal((3, dim))).astype(np.float32),
        "nothing at first": np.concatenate([np.zeros((count, 30)), rows[:, :10]], axis=1).astype(np.float32),
    }


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", _awkward())
@pytest.mark.parametrize("few", [0.0, 1.0])
def test_awkward_rows_are_found_as_others_are_and_without_a_warning(kind, few):
    rows = _awkward()[kind]
    sizes = Sizes(block=64, group=16, plain=64, first=8, second=6, third=8, step=4, per_search=4, few=few)
    store = Store(rows.shape[1], sizes)
    store.append(rows, one_by_one=False)
    store.delete(np.arange(100))  # a whole block of them, and a part of the next
    allowed = np.arange(len(rows)) % 3 > 0
    queries = [rows[-1] if rows[-1].any() else rows.sum(axis=0), -rows[300:].sum(axis=0), np.eye(40)[39]]
    for query in queries:
        for count in COUNTS:
            for threshold in THRESHOLDS:
                store.check(
                    store.index.search(query, count=count, threshold=threshold), query, count, threshold
                )
                answer = store.index.search(query, count=count, threshold=threshold, allowed=allowed)
                store.check(answer, query, count, threshold, allowed)
