"""How long a coroutine holds the event loop."""

from __future__ import annotations

import types
from time import perf_counter_ns as now_ns
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["timed"]


async def _awaited(work: Any) -> Any:
    return await work


@types.coroutine
def timed(work: Any, tell: Callable[[int, bool], None]) -> Generator[Any, Any, Any]:
    """Drive the coroutine ``work`` as ``await`` would, in the same task, and time its steps.

    Anything else that can be awaited will do. At its end ``tell(held_ns, suspended)`` gets the time its steps held the event loop, and whether it
    ever gave the loop back.
    """
    if not isinstance(work, types.CoroutineType):
        work = _awaited(work)
    step, given = work.send, None
    held, suspended = 0, False
    start = now_ns()
    try:
        while True:
            try:
                awaited = step(given)
            except StopIteration as stop:
                return stop.value
            held += now_ns() - start
            suspended = True
            try:
                given = yield awaited
                step = work.send
            except GeneratorExit:
                work.close()
                raise
            except BaseException as exc:  # noqa: BLE001  whatever is thrown in goes on to the coroutine
                given, step = exc, work.throw
            start = now_ns()
    finally:
        tell(held + now_ns() - start, suspended)
