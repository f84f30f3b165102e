"""A runtime that composes for days keeps nothing of it."""

from __future__ import annotations

import asyncio
import gc

from agentctx_nb import AgentRuntime


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
