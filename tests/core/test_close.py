"""Closing a runtime: from inside what it runs, and from another thread."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from agentctx_nb import AgentRuntime


def closing(*, register):
    """A runtime whose provider CLOSES closes it, and the log of what ran."""
    runtime, log = AgentRuntime(), []

    @runtime.provider("CLOSES")
    async def closes(runtime):
        await runtime.close()
        log.append("closed")
        return "closed it"

    register(runtime, log)
    return runtime, log


def test_a_provider_that_closes_its_runtime_does_not_cancel_its_own_composition():
    def register(runtime, log):
        @runtime.provider("SLOW")
        async def slow():
            await asyncio.sleep(0.02)
            return "slow"

    runtime, log = closing(register=register)
    assert asyncio.run(runtime.compose_state("hi")).text == "closed it\nslow"
    assert log == ["closed"]


def test_nor_the_one_around_it():
    def register(runtime, log):
        @runtime.provider("OUTER", dynamic=True)
        async def outer(runtime):
            return (await runtime.compose_state("inner", ["CLOSES"], True)).text

    runtime, log = closing(register=register)
    assert asyncio.run(runtime.compose_state("hi", ["OUTER"], True)).text == "closed it"
    assert log == ["closed"]


def test_nor_does_one_in_a_thread():
    runtime = AgentRuntime()

    @runtime.provider("CLOSES")
    def closes(runtime):
        asyncio.run(runtime.close())
        return "closed it"

    assert asyncio.run(runtime.compose_state("hi")).text == "closed it"


def test_it_still_cancels_the_compositions_beside_it():
    async def main():
        runtime = AgentRuntime()
        started = asyncio.Event()

        @runtime.provider("SLEEPS", dynamic=True)
        async def sleeps():
            started.set()
            await asyncio.sleep(60)

        runtime.provider("CLOSES", dynamic=True)(close_it)
        beside = asyncio.create_task(runtime.compose_state("hi", ["SLEEPS"], True))
        await started.wait()
        state = await runtime.compose_state("hi", ["CLOSES"], True)
        assert beside.cancelled()
        return state.text

    assert asyncio.run(main()) == "done"


async def close_it(runtime):
    await runtime.close()
    return "done"


def test_a_task_a_provider_left_behind_closes_the_next_composition_of_its_caller_too():
    async def main():
        runtime, left, started = AgentRuntime(), [], asyncio.Event()

        async def close_later():
            await started.wait()
            await runtime.close()

        @runtime.provider("LEAVES", dynamic=True)
        async def leaves():
            left.append(asyncio.create_task(close_later()))

        @runtime.provider("SLEEPS", dynamic=True)
        async def sleeps():
            started.set()
            await asyncio.sleep(60)

        async def both():
            await runtime.compose_state("hi", ["LEAVES"], True)
            await runtime.compose_state("hi", ["SLEEPS"], True)

        task = asyncio.create_task(both())
        await asyncio.wait([task], timeout=20)
        assert task.cancelled()
        await left[0]

    asyncio.run(main())


def test_another_thread_closes_at_once_what_waits_on_its_own_loop():
    runtime, log = AgentRuntime(), []
    started, ended = threading.Event(), threading.Event()

    @runtime.provider("SLEEPS")
    async def sleeps():
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            log.append("cleaned")

    def compose():
        try:
            asyncio.run(runtime.compose_state("hi"))
        except asyncio.CancelledError:
            log.append("cancelled")
        ended.set()

    thread = threading.Thread(target=compose, daemon=True)
    thread.start()
    assert started.wait(20)
    began = time.perf_counter()
    asyncio.run(runtime.close())
    assert time.perf_counter() - began < 3
    assert log[:1] == ["cleaned"]
    assert ended.wait(5)
    assert log == ["cleaned", "cancelled"]


def test_a_loop_that_no_longer_runs_is_not_waited_for():
    runtime = AgentRuntime()

    @runtime.provider("SLEEPS")
    async def sleeps():
        await asyncio.sleep(60)

    loop = asyncio.new_event_loop()
    task = loop.create_task(runtime.compose_state("hi"))
    loop.run_until_complete(asyncio.sleep(0.02))
    began = time.perf_counter()
    asyncio.run(runtime.close())
    assert time.perf_counter() - began < 3
    loop.run_until_complete(asyncio.wait([task]))
    assert task.cancelled()
    loop.close()


# What is known to be around ---------------------------------------------------------------


def in_a_hook(runtime, close):
    async def hook(decisions, message):
        await asyncio.create_task(close())

    runtime.select = hook
    return runtime.compose_state("hi", [], True)


def in_an_action_of_a_provider(runtime, close):
    runtime.register_action({"name": "ACT", "handler": close})

    @runtime.provider("ACTS", dynamic=True)
    async def acts(runtime):
        return (await runtime.run_action("ACT", "hi", include_list=[], only_include=True)).text

    return runtime.compose_state("hi", ["ACTS"], True)


def in_a_provider_of_an_action(runtime, close):
    @runtime.provider("CLOSES", dynamic=True)
    async def closes():
        await close()

    async def act():
        return (await runtime.compose_state("hi", ["CLOSES"], True)).text

    runtime.register_action({"name": "ACT", "handler": act})
    return runtime.run_action("ACT", "hi", include_list=[], only_include=True)


def in_a_task_of_one_known_to_end_at_once(runtime, close):
    first = []

    @runtime.provider("QUICK", dynamic=True)
    async def quick():
        if first:
            await asyncio.create_task(close())
        first.append(1)

    async def twice():
        await runtime.compose_state("hi", ["QUICK"], True)
        return await runtime.compose_state("hi", ["QUICK"], True)

    return twice()


@pytest.mark.parametrize(
    "inside",
    [
        in_a_hook,
        in_an_action_of_a_provider,
        in_a_provider_of_an_action,
        in_a_task_of_one_known_to_end_at_once,
    ],
)
def test_all_that_is_around_the_one_that_closes_goes_on(inside):
    async def main():
        runtime, closed = AgentRuntime(), []

        async def close():
            await runtime.close()
            closed.append(True)

        ended = await asyncio.wait_for(inside(runtime, close), 20)
        return closed, ended

    closed, ended = asyncio.run(main())
    assert closed == [True]
    assert not getattr(ended, "errors", None)
    assert getattr(ended, "success", True)
