"""What becomes of a shared run of a ``ttl=`` provider that is cancelled, closes its runtime, or runs at once."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import sys
import threading

import pytest

from agentctx_nb import AgentRuntime, Provider
from tests.core.bounded import bounded, until


async def fine():
    await asyncio.sleep(0.001)
    return "fine"


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_one_cancelled_at_any_step_leaves_the_next_to_run_anew(turns):
    async def main():
        runtime = AgentRuntime()
        runtime.register_provider(Provider("FINE", fine, ttl=60))
        first = asyncio.create_task(runtime.compose_state("hello"))
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        states = [await bounded(runtime.compose_state("hello")) for _ in range(2)]
        return [(state.text, state.report["FINE"].outcome) for state in states]

    assert asyncio.run(main()) == [("fine", "ok"), ("fine", "cached")]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="3.11 has no eager task factory")
@pytest.mark.parametrize("waits", [False, True])
def test_a_loop_that_starts_tasks_eagerly_runs_it_all_the_same(waits):
    numbers = itertools.count(1)

    async def get():
        if waits:
            await asyncio.sleep(0.001)
        return str(next(numbers))

    async def main():
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        runtime = AgentRuntime()
        runtime.register_provider(Provider("NUMBER", get, ttl=0.05))
        first, kept = [await runtime.compose_state("hello") for _ in range(2)]
        await asyncio.sleep(0.06)
        anew = await runtime.compose_state("hello")
        return [(state.text, state.report["NUMBER"].outcome) for state in (first, kept, anew)]

    assert asyncio.run(main()) == [("1", "ok"), ("1", "cached"), ("2", "ok")]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="3.11 has no eager task factory")
def test_one_whose_first_step_composes_it_in_a_context_of_its_own_runs_twice():
    tasks, runs = [], itertools.count()

    async def get(runtime):
        if next(runs) == 0:
            work = runtime.compose_state("hello")
            tasks.append(asyncio.get_running_loop().create_task(work, context=contextvars.Context()))
        await asyncio.sleep(0.001)
        return "done"

    async def main():
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        runtime = AgentRuntime()
        runtime.register_provider(Provider("SELF", get, ttl=60))
        states = [await bounded(runtime.compose_state("hello")), await bounded(tasks[0])]
        return [(state.text, dict(state.errors)) for state in states]

    assert asyncio.run(main()) == [("done", {})] * 2


@pytest.mark.parametrize("starter_leaves", [False, True])
def test_closing_the_runtime_from_it_cancels_none_of_those_that_wait_for_it(starter_leaves):
    told = []

    async def closes(runtime):
        await asyncio.sleep(0.05)
        await runtime.close()
        told.append("closed")
        return "closed"

    async def main():
        runtime = AgentRuntime()
        runtime.register_provider(Provider("CLOSES", closes, ttl=60))
        calls = []
        for _ in range(2):
            calls.append(asyncio.create_task(runtime.compose_state("hello")))
            await asyncio.sleep(0.01)
        if starter_leaves:
            calls.pop(0).cancel()
        return [state.text for state in await bounded(asyncio.gather(*calls))]

    assert asyncio.run(main()) == ["closed"] * (2 - starter_leaves)
    assert told == ["closed"]


def test_a_key_that_another_thread_forgets_meanwhile_is_no_error():
    runtime, over = AgentRuntime(), threading.Event()
    provider = Provider("FINE", lambda: "fine", ttl=0.001)
    runtime.register_provider(provider)
    before = sys.getswitchinterval()

    def forgets():
        while not over.is_set():
            runtime.register_provider(provider)

    async def composes():
        return [(await runtime.compose_state("hello")).errors for _ in range(300)]

    sys.setswitchinterval(1e-6)
    other = threading.Thread(target=forgets)
    other.start()
    try:
        assert asyncio.run(composes()) == [{}] * 300
    finally:
        over.set()
        other.join()
        sys.setswitchinterval(before)


def test_a_def_provider_holds_on_to_none_of_the_compositions_it_waited_for():
    runtime, tasks = AgentRuntime(), []

    @runtime.provider("INNER", private=True)
    async def inner():
        return "inner"

    @runtime.provider("BATCH")
    def batch(runtime):
        from agentctx_nb.running.errand import Errand, current_errand

        for number in range(20):
            runtime.compose(f"row {number}", ["INNER"], True)
        errand = current_errand.get()
        assert isinstance(errand, Errand)
        tasks.append(len(errand.tasks))
        return "done"

    async def main():
        return await bounded(runtime.compose_state("hello"))

    assert asyncio.run(main()).text == "done"
    assert tasks[0] <= 1  # the last may be on its way out


@pytest.mark.parametrize("closes", [False, True])
def test_a_thread_given_up_composes_no_more_also_when_its_loop_has_stopped(closes):
    ran, over = [], threading.Event()

    async def inner():
        ran.append("inner")

    def late(runtime):
        over.wait(10)
        try:
            runtime.compose("again", ["INNER"], True)
        except asyncio.CancelledError:
            ran.append("refused")

    async def main(runtime):
        state = await runtime.compose_state("hello", timeout=0.02)
        if closes:
            await runtime.close()
        return state.report["LATE"].outcome

    runtime = AgentRuntime()
    runtime.register_provider(Provider("INNER", inner, private=True))
    runtime.register_provider(Provider("LATE", late))
    assert asyncio.run(main(runtime)) == "timed_out"
    over.set()
    asyncio.run(bounded(until(lambda: ran)))
    assert ran == ["refused"]


def test_a_thread_of_the_program_that_one_given_up_has_started_composes_on():
    composed, over = [], threading.Event()
    runtime = AgentRuntime()

    @runtime.provider("INNER", private=True)
    async def inner():
        return "inner"

    def helps():
        over.wait(10)
        composed.append(asyncio.run(runtime.compose_state("again", ["INNER"], True)).text)

    @runtime.provider("LATE")
    def late():
        threading.Thread(target=contextvars.copy_context().run, args=(helps,)).start()
        over.wait(10)

    assert runtime.compose("hello", timeout=0.02).report["LATE"].outcome == "timed_out"
    over.set()
    asyncio.run(bounded(until(lambda: composed)))
    assert composed == ["inner"]
