"""Deleted rows are not found, whatever a search was doing when they were deleted."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest

from agentctx_nb.errors import DefinitionError
from agentctx_nb.search import pruning
from agentctx_nb.search.best import Best
from agentctx_nb.search.index import VectorIndex
from tests.search.indexes import SMALL, filled, ranked, rows_of


def test_deleted_rows_are_not_found_encoded_or_not():
    index, exact = filled(200, settled=False)
    keep = np.ones(200, bool)
    for turn, row in enumerate(range(0, 200, 7)):
        index.delete(row)
        keep[row] = False
        query = exact[row]
        assert index.search(query, count=5)[0].tolist() == ranked(exact, query, keep=keep)[:5]
        assert len(index) == 199 - turn
    assert index.search(exact[0])[0].tolist() == ranked(exact, exact[0], keep=keep)
    index.delete(0)
    assert len(index) == keep.sum()
    with pytest.raises(DefinitionError, match="row 0 has been deleted"):
        index.vector(0)


def _delete_once_at(monkeypatch, where, name, delete):
    """Let ``delete`` run once, when ``name`` of ``where`` has been called; return a list that is empty from then on."""
    real = getattr(where, name)
    pending = [delete]

    def called(*args, **named):
        found = real(*args, **named)
        if pending:
            pending.pop()()
        return found

    monkeypatch.setattr(where, name, called)
    return pending


@pytest.mark.parametrize(
    ("count", "name"),
    [
        *itertools.product([1, 3, None], ["where_set", "products_at", "add_where_reached"]),
        *itertools.product([3], ["_aim", "scores_at"]),
    ],
)
def test_a_delete_in_the_middle_of_a_search_takes_only_its_own_row(monkeypatch, name, count):
    rows = rows_of(514, 16)  # two of them stay as they are, fewer than are asked for
    rows[[130, 300]] = rows[77] + np.float32([[0.01], [0.02]]) * rows[[130, 300]]
    index = VectorIndex(16, sizes=SMALL)
    index.append_many(rows)
    for _ in range(16):
        index.search(rows[0], threshold=0.9)
    assert len(index._pruned) == 16
    exact = rows / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    threshold = 0.6 if count is None else None
    order = index.search(exact[77], threshold=threshold)[0].tolist()
    assert order[0] == 77
    pending = _delete_once_at(monkeypatch, pruning, name, lambda: index.delete(77))
    rows, scores = index.search(exact[77], count=count, threshold=threshold)
    assert pending == []
    assert rows.tolist() in (order[:count], order[1:][:count])
    assert scores.tolist() == pytest.approx(exact[rows] @ exact[77], abs=3e-6)
    assert index.search(exact[77], count=1)[0].tolist() == [order[1]]


@pytest.mark.parametrize("many", [False, True])
def test_a_row_deleted_while_answers_are_put_in_order_is_not_among_them(monkeypatch, many):
    index = VectorIndex(16, sizes=SMALL)
    rows = rows_of(300, 16)
    rows[100:103] = rows[55]
    index.append_many(rows)
    for _ in range(9):
        index.search(rows[0], count=1)
    pending = _delete_once_at(monkeypatch, Best, "_near", lambda: index.delete(101))
    found, scores = index.search_many(rows[55:56], count=4)[0] if many else index.search(rows[55], count=4)
    assert pending == []
    assert found.tolist()[:3] == [55, 100, 102]
    assert scores[:3].tolist() == [1, 1, 1]


def test_deletes_that_never_cease_wait_for_a_search(monkeypatch):
    index, exact = filled()
    deleting = []

    def delete(row):
        thread = threading.Thread(target=index.delete, args=(row,))
        thread.start()
        thread.join(0.05)  # the last try of a search holds it up
        deleting.append(thread)

    tries = []
    real = pruning.search_pruned

    def search_pruned(*args, **named):
        tries.append(len(tries))
        delete(tries[-1])
        return real(*args, **named)

    monkeypatch.setattr("agentctx_nb.search.index.search_pruned", search_pruned)
    rows, _ = index.search(exact[77], count=3)
    assert rows.tolist() == ranked(exact, exact[77], keep=np.arange(500) > 2)[:3]
    assert tries == [0, 1, 2, 3]
    for thread in deleting:
        thread.join()
    assert len(index) == 496


def test_searches_beside_a_writer_see_all_that_was_appended_before_them():
    dim = 12
    rows = rows_of(1500, dim)
    index = VectorIndex(dim, sizes=SMALL)
    index.append_many(rows[:100])
    appended = [99]
    failures = []

    def write():
        for number in range(100, 1500):
            index.append(rows[number])
            appended[0] = number
            if number % 3 == 0:
                index.delete(number - 90)

    def read(seed):
        random = np.random.default_rng(seed)
        while appended[0] < 1499:
            last = appended[0]
            row = int(random.integers(max(0, last - 40), last + 1)) // 3 * 3 - 2  # never one that is deleted
            found, scores = index.search(rows[row], count=2)
            if found[0] != row or abs(scores[0] - 1) > 1e-5:
                failures.append((row, found, scores))

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(3)] + [
        threading.Thread(target=write)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(index) == 1500 - len([number for number in range(100, 1500) if number % 3 == 0])
