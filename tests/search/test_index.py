"""What an index does: numbering, copies, masks, errors; small blocks, so that every path is walked."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from agentctx_nb.errors import DefinitionError
from agentctx_nb.search.index import VectorIndex
from tests.search.indexes import SMALL, filled, ranked, rows_of


def test_rows_are_numbered_as_they_come_and_numbers_are_not_used_again():
    index = VectorIndex(3, sizes=SMALL)
    assert index.append(np.ones(3, np.float32)) == 0
    assert index.append_many(np.eye(3)) == range(1, 4)
    index.delete(3)
    assert index.append([1, 2, 3]) == 4
    assert len(index) == 4


def test_a_row_is_a_copy_of_unit_length():
    index = VectorIndex(2)
    vector = np.array([3, 4], np.float32)
    index.append(vector)
    vector[:] = 0
    assert index.vector(0).tolist() == pytest.approx([0.6, 0.8])
    index.vector(0)[:] = 0
    assert index.vector(0).tolist() == pytest.approx([0.6, 0.8])


def test_encoded_rows_come_back_as_they_were():
    index, exact = filled()
    for row in (0, 31, 32, 250, 499):
        assert np.abs(index.vector(row) - exact[row]).max() < 1e-6


def test_what_is_appended_is_found_at_once_whatever_is_encoded_by_then():
    index = VectorIndex(8, sizes=SMALL)
    for row, vector in enumerate(rows_of(300, 8)):
        index.append(vector)
        rows, scores = index.search(vector, count=1)
        assert rows.tolist() == [row]
        assert scores[0] == pytest.approx(1, abs=1e-6)


def test_lists_and_other_numbers_are_taken_too():
    index = VectorIndex(2)
    for vector in (
        [3, 4],
        np.array([3.0, 4.0]),
        np.array([3, 4], np.float16),
        (3, 4),
        np.array([3, 0, 4])[::2],
    ):
        index.append(vector)
    rows, scores = index.search([6, 8], threshold=0.999)
    assert rows.tolist() == [0, 1, 2, 3, 4]
    assert scores.tolist() == pytest.approx([1] * 5)


def test_the_best_come_first_and_equal_ones_by_row():
    index, exact = filled()
    query = exact[3] + exact[77]
    assert index.search(query, count=10)[0].tolist() == ranked(exact, query)[:10]
    index = VectorIndex(16, sizes=SMALL)
    same = rows_of(1, 16)[0]
    for start in range(0, 200, 10):
        index.append_many(rows_of(9, 16, seed=start + 1))
        index.append(same * (start + 1))
    expected = [row for row in range(200) if row % 10 == 9]
    for count in (3, 20):
        for _ in range(8):  # some are encoded and some are not, and more each time
            rows, scores = index.search(same, count=count)
            assert rows.tolist() == expected[:count]
            assert set(scores.tolist()) == {scores[0]}


def test_all_rows_come_back_without_count_and_threshold():
    index, exact = filled(100)
    rows, scores = index.search(exact[5])
    assert rows.tolist() == ranked(exact, exact[5])
    assert scores.dtype == np.float32
    assert rows.dtype == np.int64
    assert scores.max() <= 1


def test_a_count_of_zero_and_an_empty_index_give_nothing():
    index = VectorIndex(4)
    assert index.search(np.ones(4))[0].tolist() == []
    assert [rows.tolist() for rows, _ in index.search_many(np.ones((2, 4)), count=3)] == [[], []]
    index.append(np.ones(4))
    assert index.search(np.ones(4), count=0)[0].tolist() == []
    assert index.search_many(np.ones((1, 4)), count=0)[0][0].tolist() == []
    assert index.search_many(np.empty((0, 4))) == []
    assert index.append_many([]) == range(1, 1)


def test_zero_vectors_are_kept_and_never_found():
    index = VectorIndex(2, sizes=SMALL)
    for number in range(200):
        index.append([0, 0] if number % 2 else [1, number])
    for _ in range(6):
        assert index.search([1, 1], threshold=-1)[0].tolist()[-1] == 0
        assert len(index.search([-1, -1])[0]) == 100
    assert len(index) == 200
    assert index.vector(1).tolist() == [0, 0]
    assert index.search([0, 0])[0].tolist() == []
    assert index.search_many([[0, 0], [1, 0]], count=1)[1][0].tolist() == [0]


def test_what_must_not_be_found_stays_unfound_while_rows_come():
    index = VectorIndex(2)
    index.append_many([[1, 0], [0, 0], [1, 1]])
    index.delete(0)
    assert index.search([1, 0])[0].tolist() == [2]
    index.append_many(np.tile([0, 1], (200, 1)))
    assert sorted(index.search([1, 0])[0].tolist()) == list(range(2, 203))


def test_very_short_and_very_long_vectors_keep_their_direction():
    index = VectorIndex(2)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        for vector in ([3e-300, 4e-300], [3e300, 4e300], np.array([3e-30, 4e-30], np.float32)):
            index.append(vector)
        index.append_many(np.array([[3e30, 4e30], [3e-42, 4e-42]], np.float32))
        rows, scores = index.search([3e200, 4e200], threshold=0.99)
    assert rows.tolist() == [0, 1, 2, 3, 4]
    assert scores == pytest.approx([1] * 5, abs=1e-3)


def test_only_allowed_rows_are_found():
    index, exact = filled()
    random = np.random.default_rng(1)
    for share in (0.0, 0.01, 0.5, 1.0):
        allowed = random.random(500) < share
        for approximate in (False, True):
            rows, _ = index.search(exact[9], count=4, allowed=allowed, approximate=approximate)
            assert rows.tolist() == ranked(exact, exact[9], keep=allowed)[:4]


def test_rows_past_the_end_of_the_mask_are_not_allowed():
    index, exact = filled(100)
    allowed = np.ones(40, bool)
    assert sorted(index.search(exact[0], allowed=allowed)[0].tolist()) == list(range(40))


def test_pruning_is_given_up_where_it_does_not_help_and_tried_again():
    random = np.random.default_rng(0)
    rows = random.standard_normal((320, 24)).astype(np.float32)
    index = VectorIndex(24, sizes=SMALL)
    index.append_many(rows)
    exact = rows / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    seen = set()
    for _ in range(80):
        assert index.search(rows[5], count=300)[0].tolist() == ranked(exact, rows[5])[:300]
        seen.add(index._losses.get(None, 0))
    assert seen == set(range(1, 36))  # three tries, a pause of 32 searches, then one more try at a time


def test_blocks_share_a_shelf_until_it_is_full():
    index, exact = filled(32 * 15)
    shelves = [block.shelf for block in index._pruned]
    assert [shelves.index(shelf) for shelf in shelves] == [0] * 4 + [4] * 8 + [12] * 2
    assert [block.place for block in index._pruned] == [0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1]
    for row in range(0, 32 * 15, 32):
        assert index.search(exact[row], threshold=0.9)[0][0] == row


def test_no_call_encodes_more_than_its_share():
    index = VectorIndex(8, sizes=SMALL)
    for vector in rows_of(32 * 4 - 1, 8):
        index.append(vector)
    waiting = []
    for _ in range(6):
        waiting.append(len(index._waiting))
        index.search(np.ones(8), count=1)
    assert waiting == [3, 3, 2, 1, 0, 0]  # the first search fits the directions and encodes nothing
    for vector in rows_of(32 * 6, 8, seed=1):
        index.append(vector)
    assert len(index._waiting) == SMALL.waiting


def test_a_threshold_of_1_finds_the_row_itself_one_at_a_time_and_many_at_once():
    index, exact = filled(300, 24)
    queries = np.float32(3) * exact.astype(np.float32)
    for row, (many, _) in enumerate(index.search_many(queries, threshold=1.0)):
        assert index.search(queries[row], threshold=1.0)[0].tolist() == many.tolist() == [row]


@pytest.mark.filterwarnings("error")
def test_thresholds_beyond_all_cosines_are_numbers_as_others():
    index, exact = filled(100)
    for high in (1.5, 1e300, 10**400, float("inf"), np.float64(1e300)):
        assert index.search(exact[0], threshold=high)[0].tolist() == []
        assert index.search_many(exact[:1], threshold=high)[0][0].tolist() == []
    for low in (-1.5, -1e300, -(10**400), -float("inf")):
        assert index.search(exact[0], threshold=low)[0].tolist() == ranked(exact, exact[0])
        assert index.search_many(exact[:1], threshold=low)[0][0].tolist() == ranked(exact, exact[0])


@pytest.mark.filterwarnings("error")
def test_a_query_too_long_for_float32_to_square_is_one_as_others():
    index, exact = filled(100)
    query = (exact[4] * 1e30).astype(np.float32)
    assert index.search(query, count=3)[0].tolist() == ranked(exact, exact[4])[:3]


@pytest.mark.parametrize("wrong", [[1.0], [1.0, 2.0, 3.0], np.ones((2, 2)), 5])
def test_a_wrong_dimension_is_refused_with_both_numbers(wrong):
    index = VectorIndex(2)
    for call in (index.append, index.search):
        with pytest.raises(DefinitionError, match="a vector of 2 numbers is expected, not"):
            call(wrong)
    for call in (index.append_many, index.search_many):
        with pytest.raises(DefinitionError, match="rows of 2 numbers are expected"):
            call(np.ones((3, 4)))
    assert len(index) == 0


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_not_finite_is_refused_and_nothing_is_kept(wrong, dtype):
    index = VectorIndex(3)
    vector = np.array([1, wrong, 2], dtype)
    for call in (index.append, index.search):
        with pytest.raises(DefinitionError, match="3 finite numbers: number 1 of row 0 is"):
            call(vector)
    rows = np.ones((5000, 3), dtype)
    rows[4500, 2] = wrong
    for call in (index.append_many, index.search_many):
        with pytest.raises(DefinitionError, match="number 2 of row 4500 is"):
            call(rows)
    assert len(index) == 0


def test_other_mistakes_are_told():
    index = VectorIndex(2)
    index.append([1, 0])
    with pytest.raises(DefinitionError, match="there is no row 1: rows 0 to 0"):
        index.delete(1)
    with pytest.raises(DefinitionError, match="there is no row -1"):
        index.vector(-1)
    with pytest.raises(DefinitionError, match="count must be 0 or more, not -1"):
        index.search([1, 0], count=-1)
    with pytest.raises(DefinitionError, match=r"count must be a whole number, not float"):
        index.search_many([[1, 0]], count=2.0)
    for call in (index.delete, index.vector):
        with pytest.raises(DefinitionError, match=r"a row must be a whole number, not float"):
            call(0.5)
    assert len(index) == 1
    index.search([1, 0], count=np.int64(1), allowed=np.array([True]))
    with pytest.raises(DefinitionError, match="threshold must be a number, not NaN"):
        index.search([1, 0], threshold=float("nan"))
    with pytest.raises(DefinitionError, match=r"threshold must be a number, as 0.75, not str"):
        index.search([1, 0], threshold="0.5")
    assert VectorIndex(2).search([1, 0], allowed=[])[0].tolist() == []
    with warnings.catch_warnings(), pytest.raises(DefinitionError, match=r"number 0 of row 0 is -inf"):
        warnings.simplefilter("error")
        index.append(np.array([-np.inf, np.inf], np.float32))
    with pytest.raises(DefinitionError, match="allowed holds 3 values, but only 1 rows"):
        index.search([1, 0], allowed=np.ones(3, bool))
    with pytest.raises(DefinitionError, match="a truth value for each row"):
        index.search([1, 0], allowed=[0])
    with pytest.raises(DefinitionError, match="must hold numbers"):
        index.append(["a", "b"])
    with pytest.raises(DefinitionError, match="at least 1 dimension"):
        VectorIndex(0)
