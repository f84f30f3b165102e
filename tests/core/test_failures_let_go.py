"""A failure keeps what stood in the provider as long as its state, and nothing of who composed it; no circle keeps more."""

from __future__ import annotations

import asyncio
import time
import weakref

import pytest

from agentctx_nb import AgentRuntime
from tests.core.letting_go import Big, composed_by_a_caller, no_collecting

made = []


def big():
    thing = Big()
    made.append(weakref.ref(thing))
    return thing


async def at_once():
    raise ValueError(big(), held := big(), held)


async def later():
    held = big()
    await asyncio.sleep(0)
    raise ValueError(held)


def in_thread():
    held = big()
    raise ValueError(held)


async def slow():
    held = big()
    await asyncio.sleep(5)
    return str(held)


def slow_in_thread():
    held = big()
    time.sleep(0.02)
    return str(held)


async def stops():
    held = big()
    raise StopIteration(held)


async def stops_later():
    held = big()
    await asyncio.sleep(0)
    raise StopIteration(held)


async def cancels_itself():
    held = big()
    raise asyncio.CancelledError(held)


async def cancels_its_task():
    held = big()
    asyncio.current_task().cancel()
    await asyncio.sleep(5)
    return str(held)


async def times_out_by_itself():
    held = big()
    async with asyncio.timeout(0.001):
        await asyncio.sleep(5)
    return str(held)


async def caused():
    held = big()
    try:
        raise KeyError(held)
    except KeyError as exc:
        raise ValueError(big()) from exc


async def composes(runtime):
    held = big()
    inner = AgentRuntime()
    inner.logger = runtime.logger
    inner.register_provider({"name": "INNER", "get": later})
    state = await inner.compose_state("inner")
    raise ValueError(held) from state.errors["INNER"]


async def no_result():
    held = big()
    return held


KINDS = [
    at_once, later, in_thread, stops, stops_later, cancels_itself, cancels_its_task, times_out_by_itself,
    caused, composes, no_result,
]  # fmt: skip
# Timers of asyncio stand in their tracebacks, and hold a context.
WITH_TIMERS = [cancels_its_task, times_out_by_itself]
OPTIONS = [{}, {"timeout": 5}, {"ttl": 5}, {"timeout": 5, "ttl": 5}]
CASES = [(get, options) for get in KINDS for options in OPTIONS]
CASES += [(get, {"timeout": 0.005, **more}) for get in (slow, slow_in_thread) for more in ({}, {"ttl": 5})]


@pytest.fixture(autouse=True)
def no_collector(caplog):
    """Only counting references frees anything."""
    caplog.set_level("CRITICAL")
    made.clear()
    with no_collecting():
        yield


async def freed(of):
    """Wait until all is gone, which a thread may still have to let go of; return what is not."""
    for _ in range(100):
        if not (left := sum(one() is not None for one in of)):
            return 0
        await asyncio.sleep(0.01)
    return left


@pytest.mark.parametrize(
    ("get", "options"), CASES, ids=lambda given: given.__name__ if callable(given) else "-".join(given) or "-"
)
def test_it_keeps_nothing_of_its_caller_and_goes_with_its_state(get, options):
    async def main():
        runtime, mine = AgentRuntime(), []
        runtime.register_provider({"name": "FAILING", "get": get, **options})
        runtime.register_provider({"name": "OK", "get": lambda: "fine"})
        state = await asyncio.create_task(composed_by_a_caller(runtime, mine))
        assert (state.text, [*state.errors]) == ("fine", ["FAILING"])
        if get not in WITH_TIMERS:
            assert await freed(mine) == 0
        del state
        return await freed([*mine, *made])

    assert asyncio.run(main()) == 0
    assert made


@pytest.mark.parametrize("get", [at_once, later, in_thread, stops, caused], ids=lambda get: get.__name__)
def test_so_does_an_action(get):
    async def main():
        runtime = AgentRuntime()
        runtime.register_action({"name": "ACT", "handler": get})
        result = await runtime.run_action("ACT", "hello")
        assert not result.success
        del result
        return await freed(made)

    assert asyncio.run(main()) == 0
    assert made


@pytest.mark.parametrize("options", OPTIONS[:3], ids="-".join)
@pytest.mark.parametrize("get", [at_once, later, in_thread], ids=lambda get: get.__name__)
def test_the_traceback_still_tells_what_stood_there(get, options):
    async def main():
        runtime = AgentRuntime()
        runtime.register_provider({"name": "FAILING", "get": get, **options})
        return await runtime.compose_state("hello")

    trace = asyncio.run(main()).errors["FAILING"].__traceback__
    assert trace.tb_frame.f_code.co_name == get.__name__
    assert isinstance(trace.tb_frame.f_locals["held"], Big)
