"""The stop-watch awaits whatever can be awaited."""

from __future__ import annotations

import asyncio
import inspect

from agentctx_nb import AgentRuntime, Provider
from agentctx_nb.running.stopwatch import timed
from tests.core.bounded import quick


class Answer:
    """Something that can be awaited and is no coroutine."""

    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return "answered"


async def answers():
    return "answered"


def test_a_get_marked_as_a_coroutine_function_may_return_anything_that_can_be_awaited():
    def answer():
        return Answer()

    mark = getattr(inspect, "markcoroutinefunction", lambda get: get)  # before 3.12 nothing can be marked
    runtime = AgentRuntime()
    runtime.register_provider(Provider("MARKED", mark(answer)))
    runtime.register_provider(Provider("QUICK", quick))
    for _ in range(2):
        state = runtime.compose("hello")
        assert not state.errors
        assert state.text == "answered\nquick"


def test_the_stop_watch_drives_a_future_as_it_drives_a_coroutine():
    told = []

    async def main():
        return await timed(asyncio.ensure_future(answers()), lambda *given: told.append(given))

    assert asyncio.run(main()) == "answered"
    ((held_ns, suspended),) = told
    assert suspended
    assert held_ns > 0
