"""Deadlines of providers known as quick, which are awaited bare: they hold when such a one is not so quick after all."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from agentctx_nb import Provider
from tests.core.bounded import FAR, hangs, holds, outcomes, quick, run, runtime_of


async def sleeps():
    await asyncio.sleep(0.01)
    return "slept"


class Changing:
    """A provider that does at first as one thing, and later as another."""

    def __init__(self, first, later):
        self.does, self.later = first, later

    def changes(self):
        self.does = self.later

    async def __call__(self):
        return await self.does()


@pytest.mark.parametrize("waits", [False, True])
def test_one_that_was_quick_for_long_is_ended_at_its_deadline_all_the_same(waits):
    get = Changing(quick, hangs)
    runtime = runtime_of(A=quick, CHANGES=(get, 0.05), B=quick, **({"WAITS": sleeps} if waits else {}))
    runtime.register_provider(
        Provider("AFTER", lambda runtime, message, state: str(state.errors), after=["CHANGES"])
    )
    before = [run(runtime) for _ in range(3)]
    assert [state.errors for state in before] == [{}] * 3
    get.changes()
    started = time.monotonic()
    state = run(runtime)
    assert time.monotonic() - started < FAR / 2
    assert outcomes(state) == {**outcomes(before[0]), "CHANGES": "timed_out"}
    assert str(state.errors["CHANGES"]) == "provider CHANGES was cancelled after its deadline of 0.05 s"
    assert "deadline of 0.05 s" in state.data.providers.AFTER.text  # what waits for it sees it failed


def test_one_that_was_quick_for_long_and_holds_the_loop_is_late():
    get = Changing(quick, holds)
    runtime = runtime_of(CHANGES=(get, 0.02), B=quick)
    for _ in range(3):
        assert run(runtime).errors == {}
    get.changes()
    state = run(runtime)
    assert outcomes(state) == {"CHANGES": "timed_out", "B": "ok"}
    assert state.errors["CHANGES"].held >= 0.05
    get.does = quick
    assert run(runtime).errors == {}


def test_one_that_was_quick_for_long_and_waits_within_its_deadline_is_fine():
    get = Changing(quick, sleeps)
    runtime = runtime_of(CHANGES=(get, FAR), OTHER=(quick, 0.001))
    for _ in range(3):
        run(runtime)
    get.changes()
    state = run(runtime, timeout=FAR)
    assert (state.text, state.errors) == ("slept\nquick", {})


def test_it_is_kept_in_every_thread_that_composes_at_once():
    met = threading.Barrier(2)

    async def meets_and_hangs():
        met.wait(10)
        await asyncio.sleep(FAR)

    get = Changing(quick, meets_and_hangs)
    runtime = runtime_of(A=quick, CHANGES=(get, 0.05))
    for _ in range(3):
        run(runtime)
    get.changes()
    states = []
    threads = [threading.Thread(target=lambda: states.append(run(runtime))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [str(state.errors["CHANGES"]) for state in states] == [
        "provider CHANGES was cancelled after its deadline of 0.05 s"
    ] * 2
