"""An index stays right whatever is interrupted or fails in it: Ctrl-C, no memory, no thread."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.search import best, products, pruning
from agentctx_nb.search import index as index_module
from agentctx_nb.search.index import VectorIndex
from agentctx_nb.search.products import one_thread
from tests.search.indexes import SMALL, filled, ranked, rows_of


def fail_once(monkeypatch, where, name, error):
    """Let ``name`` of ``where`` raise once; return a list that is empty from then on."""
    real, pending = getattr(where, name), [error]

    def called(*args, **named):
        if pending:
            raise pending.pop()
        return real(*args, **named)

    monkeypatch.setattr(where, name, called)
    return pending


def unit(rows):
    return rows / np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_block_whose_making_is_interrupted_is_made_again(monkeypatch, error):
    rows = rows_of(400, 16)
    index = VectorIndex(16, sizes=SMALL)
    for row in rows:
        index.append(row)
    before = len(index._pruned)
    pending = fail_once(monkeypatch, pruning, "PairedRows", error())
    with pytest.raises(error):
        index.search(rows[0], count=1)
    assert pending == []
    for _ in range(12):
        index.search(rows[0], count=1)
    assert len(index._pruned) > before + 3
    exact = unit(rows)
    for row in range(0, 400, 7):
        assert index.search(exact[row], count=5)[0].tolist() == ranked(exact, exact[row])[:5]


@pytest.mark.parametrize("where", ["PrunedBlock", "RowBlock"])
def test_of_rows_whose_append_fails_none_is_there(monkeypatch, where):
    rows = rows_of(600, 16)
    index = VectorIndex(16, sizes=SMALL)
    index.append_many(rows[:100])
    pending = fail_once(monkeypatch, index_module, where, MemoryError())
    with pytest.raises(MemoryError):
        index.append_many(rows[100:])
    assert pending == []
    assert len(index) == 100
    exact = unit(rows)
    assert index.search(exact[7])[0].tolist() == ranked(exact[:100], exact[7])
    again = index.append_many(rows[100:])
    numbers = [*range(100), *again]
    found = [numbers.index(row) for row in index.search(exact[333], count=9)[0].tolist()]
    assert found == ranked(exact, exact[333])[:9]


@pytest.mark.parametrize("trouble", ["no memory", "no thread"])
def test_what_the_second_thread_cannot_do_the_first_does(monkeypatch, trouble):
    monkeypatch.setattr(pruning, "core_is_free", lambda: True)
    index, exact = filled(514)
    index._losses.clear()
    asked = []
    if trouble == "no thread":

        def start(_):
            asked.append(trouble)
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threading.Thread, "start", start)
    else:
        real = pruning._bound

        def bound(blocks, *args):
            if threading.current_thread() is not threading.main_thread():
                asked.append(trouble)
                args[2][:] = np.nan
                raise MemoryError
            real(blocks, *args)

        monkeypatch.setattr(pruning, "_bound", bound)
    for row in (5, 250, 470):
        assert index.search(exact[row], count=3)[0].tolist() == ranked(exact, exact[row])[:3]
    assert asked[0] == trouble


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_forked_while_a_thread_is_at_work_goes_on_alone():
    index, exact = filled(300)
    with index._no_deletes, index._lock, one_thread():
        child = os.fork()
        if not child:  # nothing of pytest's may run in it
            good = False
            with suppress(BaseException):
                number = index.append(exact[0])
                index.delete(5)
                found = index.search(exact[7], count=1)[0].tolist()
                good = number == 300 and found == [7] and products._ONE_THREAD._inside == 0
            os._exit(0 if good else 1)
    for _ in range(100):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child waits for a lock nobody holds")
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_copy_is_refused():
    index, _ = filled(10)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(DefinitionTypeError, match="a VectorIndex is neither copied nor pickled"):
            attempt(index)


def test_a_count_of_more_than_reach_the_threshold_gives_those_that_do(monkeypatch):
    monkeypatch.setattr(pruning, "WORTH_AIMING", 20)
    index, exact = filled(2000, 24)
    scores = exact @ exact[3]
    for count in (30, 100, 1000, 10**30):
        expected = ranked(exact, exact[3])[: min(count, int((scores >= 0.6).sum()))]
        assert index.search(exact[3], count=count, threshold=0.6)[0].tolist() == expected


def test_many_queries_are_searched_some_at_a_time(monkeypatch):
    index, exact = filled(300)
    sizes = []
    real = VectorIndex._search_many
    monkeypatch.setattr(index_module, "QUERIES", 4)
    monkeypatch.setattr(
        VectorIndex,
        "_search_many",
        lambda self, units, bests: sizes.append(len(units)) or real(self, units, bests),
    )
    answers = index.search_many(exact[:10], count=2)
    assert sizes == [4, 4, 2]
    assert [rows.tolist() for rows, _ in answers] == [ranked(exact, exact[n])[:2] for n in range(10)]


def test_thousands_of_equal_rows_stand_in_their_order_where_some_are_counted():
    random = np.random.default_rng(0)
    rows = random.standard_normal((17_000, 8)).astype(np.float32)
    same = np.sort(random.choice(17_000, 6000, replace=False))
    rows[same] = rows[same[0]]
    index = VectorIndex(8)
    index.append_many(rows)
    for query in (rows[same[0]], rows[same[0]] + 0.1 * rows[0]):
        assert index.search(query, count=10)[0].tolist() == same[:10].tolist()


def test_nearly_equal_rows_are_compared_only_so_often(monkeypatch):
    random = np.random.default_rng(0)
    rows = random.standard_normal((1, 24)) + 1e-7 * random.standard_normal((3000, 24))
    looked = []
    real = np.einsum

    def einsum(pattern, first, *others):
        looked.append(len(first))
        return real(pattern, first, *others)

    index = VectorIndex(24)
    index.append_many(rows.astype(np.float32) + np.float32(1e-6) * random.standard_normal((3000, 24)))
    query = rows[0] + random.standard_normal(24)
    monkeypatch.setattr(best.np, "einsum", einsum)
    found, scores = index.search(query, count=10)
    assert sum(looked) < 3000 * (best.MOST_BESIDE + 3)
    monkeypatch.undo()
    exact = np.stack([index.vector(row) for row in found.tolist()]).astype(np.float64)
    np.testing.assert_allclose(scores, exact @ query / np.linalg.norm(query), atol=3e-6)
