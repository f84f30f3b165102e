"""How long a provider holds the event loop."""

from __future__ import annotations

import types
from functools import partial
from time import perf_counter_ns as now_ns
from typing import TYPE_CHECKING, Any

from agentctx_nb.running.driver import Driver, Served, composing

if TYPE_CHECKING:
    from collections.abc import Generator

    from agentctx_nb.execution import Run
    from agentctx_nb.provider import Call

__all__ = ["stop_watched"]


def stop_watched(run: Run, i: int, call: Call) -> Call:
    """Tell the run how long the provider holds the loop, and its plan whether it is quick."""
    return partial(_watched, run, i, call)


async def _awaited(work: Any) -> Any:
    return await work


@types.coroutine
def _watched(
    run: Run, i: int, call: Call, runtime: Any, message: Any, state: Any
) -> Generator[Any, Any, Any]:
    """Drive what ``call`` returns as ``await`` would, in the same task, and time its steps.

    One generator, where a wrapper with a callback would read better: this runs for every provider that waits.
    """
    before = composing.get()
    if isinstance(before, Driver) and before.began_ns != run.starts_ns[i]:  # of its first it is known anyway
        composing.set(Served(before, i))
    held, suspended = 0, False
    start = now_ns()
    try:
        work: Any = call(runtime, message, state)
        if not isinstance(work, types.CoroutineType):
            work = _awaited(work)
        send, given = work.send, None
        try:
            awaited = send(None)
            while True:
                held += now_ns() - start
                suspended, error = True, None
                try:
                    given = yield awaited
                except GeneratorExit:
                    work.close()
                    raise
                except BaseException as exc:  # noqa: BLE001  whatever is thrown in goes on to the coroutine
                    error = exc
                start = now_ns()
                awaited = send(given) if error is None else work.throw(error)
        except StopIteration as stop:
            return stop.value
    finally:
        error = None  # it holds on to this frame
        run.held_ns[i] = held + now_ns() - start
        if run.last_step_ns is not None:
            run.last_step_ns[i] = start
        if not suspended:  # else its driver sees that the context is another, if it is, and stops
            composing.set(before)
            if i not in run.plan.never_quick:
                run.plan.quick.add(i)
