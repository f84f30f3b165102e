"""The stop-watch awaits whatever can be awaited."""

from __future__ import annotations

import asyncio
import inspect
import sys
import time
from types import SimpleNamespace

import pytest

from agentctx_nb import AgentRuntime, Provider
from agentctx_nb.running.stopwatch import stop_watched
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


@pytest.mark.parametrize("options", [{"ttl": 60}, {"timeout": 5}, {"ttl": 60, "timeout": 5}, {}])
def test_how_long_one_held_the_loop_is_told_in_every_run_alike(options):
    async def get():
        time.sleep(0.02)  # noqa: ASYNC251  it is what is told
        return "answered"

    runtime = AgentRuntime()
    runtime.register_provider(Provider("HOLDS", get, **options))
    runtime.register_provider(Provider("QUICK", quick))
    for number in range(4):  # each message another, so that nothing is kept from the one before
        assert runtime.compose(f"message {number}").report["HOLDS"].blocked_ms >= 20


def test_how_long_one_held_the_loop_is_not_told_where_only_its_first_step_was_timed():
    async def get(runtime, message):
        if message.content.text == "slow":
            await asyncio.sleep(0)
            time.sleep(0.02)  # noqa: ASYNC251  it is what is told
        return "answered"

    runtime = AgentRuntime()
    runtime.register_provider(Provider("CHANGES", get))
    runtime.register_provider(Provider("QUICK", quick))
    seen = [runtime.compose(text).report["CHANGES"].blocked_ms for text in ("quick", "quick", "slow", "slow")]
    assert seen[0] < 20 > seen[1]
    assert seen[2] is None
    assert seen[3] >= 20


def test_the_stop_watch_drives_a_future_as_it_drives_a_coroutine():
    plan = SimpleNamespace(quick=set(), never_quick=set())
    run = SimpleNamespace(held_ns={}, last_step_ns=None, plan=plan)

    async def main():
        return await stop_watched(run, 0, lambda *_: asyncio.ensure_future(answers()))(None, None, None)

    assert asyncio.run(main()) == "answered"
    assert run.held_ns[0] > 0
    assert not run.plan.quick  # it had suspended


@pytest.mark.skipif(sys.version_info < (3, 12), reason="nothing can be marked as a coroutine function before")
def test_a_get_that_returns_a_future_is_timed():
    runtime = AgentRuntime()
    runtime.register_provider(
        Provider("FUTURE", inspect.markcoroutinefunction(lambda: asyncio.ensure_future(answers())))
    )
    for _ in range(2):
        state = runtime.compose("hello")
        assert state.text == "answered"
        assert state.report["FUTURE"].blocked_ms > 0


def test_a_get_that_raises_before_it_gives_anything_to_await_is_timed_and_told():
    def refuses():
        raise ValueError("not today")

    mark = getattr(inspect, "markcoroutinefunction", lambda get: get)
    runtime = AgentRuntime()
    runtime.register_provider(Provider("REFUSES", mark(refuses)))
    for _ in range(2):
        state = runtime.compose("hello")
        assert str(state.errors["REFUSES"]) == "not today"
        assert state.report["REFUSES"].blocked_ms >= 0
