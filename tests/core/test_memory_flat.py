"""A runtime that composes for days keeps nothing of it."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest

from agentctx_nb import AgentRuntime, Provider


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


@pytest.mark.parametrize("count", [1, 3])
def test_a_run_that_has_ended_leaves_no_cycle_behind(count):
    class Big:
        """Something nobody wants to keep."""

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
    gc.collect()
    gc.disable()
    try:
        asyncio.run(main())
        assert [big() for big in made] == [None] * count * 3
    finally:
        gc.enable()
