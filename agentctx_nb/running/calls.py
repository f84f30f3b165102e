"""How one provider of a run is awaited: bare, under the stop-watch, or with all that it asks for."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from time import perf_counter_ns as now_ns
from typing import TYPE_CHECKING, Any

from agentctx_nb.provider import read_result
from agentctx_nb.running.driver import Driver, Served, composing
from agentctx_nb.running.flights import flight_key
from agentctx_nb.running.stopwatch import stop_watched

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agentctx_nb.execution import Run
    from agentctx_nb.provider import Call, Part

__all__ = ["prepared", "stop_watched", "suspended"]


def prepared(run: Run, i: int) -> Call:
    """Return the call for the provider at ``i``, with what its plan says about it."""
    call, quick = run.plan.calls[i], i in run.plan.quick
    if not quick:
        call = stop_watched(run, i, call)
    elif run.bare is not None:
        run.bare.add(i)
    if i in run.plan.needs:
        call = _informed(run, i, call)
    return partial(_in_limits, run, i, call) if i in run.plan.special and not quick else call


def suspended(run: Run, i: int) -> None:
    """Note that the provider at ``i`` waits: one awaited bare is not quick after all, and its deadline needs a timer."""
    if i < 0 or (run.bare is not None and i not in run.bare):
        return
    run.plan.quick.discard(i)
    run.held_ns[i] = None
    limit_ns = run.plan.limits.get(i)
    if limit_ns is not None:
        run.alarm.set("late", i, seconds=(run.starts_ns[i] + limit_ns - now_ns()) / 1e9)


def _informed(run: Run, i: int, call: Call) -> Call:
    def informed(runtime: Any, message: Any, _: Any) -> Awaitable[Any]:
        return call(runtime, message, run.state_for(run, run.plan.needs[i]))

    return informed


# No function within another from here on: an error holds on to the frame of each, the frame to its function, and
# that to what it takes from around it, however that frame is cleared.
async def _in_limits(run: Run, i: int, call: Call, runtime: Any, message: Any, state: Any) -> Any:
    provider = run.plan.entries[i].provider
    before, served = composing.get(), None
    if isinstance(before, Driver):
        served = Served(before, i)
        composing.set(served)  # for the task of a shared run
    if provider.timeout:
        run.alarm.set("late", i, seconds=provider.timeout)
    try:
        if provider.ttl:
            return await _shared(run, i, partial(_fly, served, call, runtime, message, state))
        return await call(runtime, message, state)
    finally:
        composing.set(before)


async def _fly(served: Served | None, call: Call, runtime: Any, message: Any, state: Any) -> Any:
    try:
        return await call(runtime, message, state)
    finally:
        if served is not None:
            served.over = True


async def _shared(run: Run, i: int, call: Callable[[], Awaitable[Any]]) -> Part:
    entry = run.plan.entries[i]
    flights = run.runtime.flights
    needs = run.plan.needs.get(i, ())
    outcomes = [(run.plan.entries[need], run.errors.get(need, run.results[need])) for need in needs]
    key = flight_key(entry, run.message, outcomes)
    if key is None:
        return read_result(await call())
    if run.skip_cache:
        began = time.monotonic()
        part = read_result(await call())
        task = asyncio.current_task()
        if task is None or not task.cancelling():  # by itself, or past a deadline: both are failures
            flights.keep(key, part, entry, began=began)
        return part
    if entry.name not in run.fresh and (part := flights.kept(key)) is not None:
        run.cached.add(i)
        return part  # type: ignore[no-any-return]  # the runtime is any object here
    run.held_ns[i] = 0  # whoever starts the run tells more; the others only wait
    return await flights.join(key, entry, call, waiter=run)  # type: ignore[no-any-return]
