"""A runtime that composes for days keeps nothing of it."""

from __future__ import annotations

import asyncio
import gc
import time
import weakref

import pytest

from agentctx_nb import AgentRuntime, Provider
from tests.core.letting_go import Big, composed_by_a_caller, no_collecting


def tracked_objects():
    gc.collect()
    return len(gc.get_objects())


async def growth(count, **options):
    runtime = AgentRuntime()

    @runtime.provider("PLAIN")
    async def plain(runtime, message, state):
        return {"text": message.content.text, "values": {"said": message.content.text}, "data": {"rows": [1]}}

    @runtime.provider("WAITING")
    async def waiting(runtime, message, state):
        await asyncio.sleep(0)
        return "waited"

    @runtime.provider("FAILING", dynamic=True, relevance_keywords=["break"])
    async def failing(runtime, message, state):
        raise RuntimeError("broken")

    for number in range(200):
        await runtime.compose_state(f"warm up {number}", **options)
    before = tracked_objects()
    for number in range(count):
        await runtime.compose_state(f"message {number}", **options)
    return tracked_objects() - before


def test_ten_thousand_compositions_leave_the_number_of_tracked_objects_flat():
    assert asyncio.run(growth(10_000)) < 100


def test_failing_providers_leave_nothing_behind(caplog):
    caplog.set_level("CRITICAL")
    assert asyncio.run(growth(1_000, include_list=["FAILING"])) < 100


@pytest.fixture
def no_collector():
    """Only counting references frees anything."""
    with no_collecting():
        yield


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.usefixtures("no_collector")
def test_what_stood_in_a_provider_that_failed_goes_with_its_state(waits, caplog):
    made = []

    async def get():
        made.append(weakref.ref(big := Big()))
        if waits:
            await asyncio.sleep(0)
        raise RuntimeError(f"{big} is broken")

    async def main():
        runtime = AgentRuntime()
        runtime.register_provider(Provider("FAILING", get))
        runtime.register_provider(Provider("OK", lambda: "fine"))
        for _ in range(3):
            state = await runtime.compose_state("hello")
            assert made[-1]() is not None  # as long as there is the state: its traceback tells of it
            assert (state.text, [*state.errors]) == ("fine", ["FAILING"])
            del state

    caplog.set_level("CRITICAL")
    asyncio.run(main())
    for _ in range(100):  # the thread that served OK may still be on its last line
        if not any(big() for big in made):
            break
        time.sleep(0.01)
    assert [big() for big in made] == [None] * 3


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.usefixtures("no_collector")
def test_a_state_holds_on_to_nothing_of_who_composed_it(fails, caplog):
    runtime, made = AgentRuntime(), []

    @runtime.provider("A")
    async def get():
        if fails:
            raise RuntimeError("broken")
        return "a"

    async def main():
        return await asyncio.create_task(composed_by_a_caller(runtime, made))

    caplog.set_level("CRITICAL")
    state = asyncio.run(main())
    assert [*state.errors] == ["A"] * fails
    assert [big() for big in made] == [None] * 2


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.usefixtures("no_collector")
def test_code_left_behind_that_composes_again_and_again_holds_on_to_the_last_run_only(waits):
    made, tasks, ended, alive = [], set(), [], []

    async def get(runtime):
        if waits:
            await asyncio.sleep(0)
        made.append(weakref.ref(big := Big()))
        if len(made) < 50:
            task = asyncio.create_task(again(runtime))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        else:
            alive.append(sum(big() is not None for big in made))
        return {"data": {"big": big}}

    async def again(runtime):
        await asyncio.sleep(0)
        ended.append((await runtime.compose_state("again")).errors)

    async def main():
        runtime = AgentRuntime()
        runtime.register_provider(Provider("AGAIN", get))
        await runtime.compose_state("hello")
        while tasks:
            await asyncio.wait(tasks)
            await asyncio.sleep(0)

    asyncio.run(main())
    assert ended == [{}] * 49
    assert alive[0] <= 3  # this one, the one that left it behind, and that one's state


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.usefixtures("no_collector")
def test_a_run_that_has_ended_leaves_no_cycle_behind(count):
    async def get():
        made.append(weakref.ref(big := Big()))
        return {"text": "x", "data": {"big": big}}

    async def main():
        runtime = AgentRuntime()
        for number in range(count):
            runtime.register_provider(Provider(f"A{number}", get))
        for _ in range(3):
            await runtime.compose_state("hello")

    made = []
    asyncio.run(main())
    assert [big() for big in made] == [None] * count * 3
