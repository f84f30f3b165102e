"""The compositions and actions of a runtime that are under way, to be cancelled when it closes."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, TypeAlias

__all__ = ["Composition", "UnderWay"]

_Ended: TypeAlias = "asyncio.Future[Any]"

# One call of ``compose_state`` or ``run_action``: the task it is awaited in, and the call around it. A plain
# pair, since one is made in every call.
Composition: TypeAlias = "tuple[asyncio.Task[Any] | None, Composition | None]"

# Providers and actions inherit it, so that one that closes its runtime is known to be inside of these.
_inside: ContextVar[Composition | None] = ContextVar("agentctx_nb_inside", default=None)


class UnderWay:
    """What runs on behalf of one runtime, in any thread."""

    def __init__(self) -> None:
        self._open: dict[int, Composition] = {}  # by identity: to compare them would be to compare all around
        self._left: set[asyncio.Task[Any]] = set()

    def begin(self) -> Composition:
        """Note that the current task composes or acts; give what is returned to `end`."""
        composition = (asyncio.current_task(), _inside.get())
        self._open[id(composition)] = composition
        _inside.set(composition)
        return composition

    def end(self, composition: Composition) -> None:
        """Note that it is over."""
        del self._open[id(composition)]
        _inside.set(composition[1])

    def leave_behind(self, task: asyncio.Task[Any]) -> None:
        """Keep hold of a task that ignored its cancellation, until it ends."""
        self._left.add(task)
        task.add_done_callback(self._left.discard)

    async def cancel(self, *, seconds: float) -> None:
        """Cancel all of it but the calls this is made from inside of; wait for its clean-up."""
        ours = {asyncio.current_task(), None}
        around = _inside.get()
        while around is not None:
            if id(around) in self._open:
                ours.add(around[0])
            around = around[1]
        running = {*(task for task, _ in list(self._open.values())), *list(self._left)} - ours
        ends = [end for task in running if task and not task.done() and (end := _cancel(task)) is not None]
        if ends:
            await asyncio.wait(ends, timeout=seconds)


def _cancel(task: asyncio.Task[Any]) -> _Ended | None:
    """Cancel ``task`` and return what is done when it has ended; None if its loop no longer runs."""
    loop = task.get_loop()
    if loop is asyncio.get_running_loop():
        task.cancel()
        return task
    ended: Future[None] = Future()

    def tell(_: _Ended) -> None:
        with suppress(InvalidStateError):  # nobody waits any longer
            ended.set_result(None)

    def cancel() -> None:
        task.add_done_callback(tell)
        task.cancel()

    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(cancel)  # wakes a loop that waits, which task.cancel does not
        if loop.is_running():
            return asyncio.wrap_future(ended)
    return None
