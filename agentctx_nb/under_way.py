"""The compositions of a runtime that are under way, to be cancelled when it closes."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, TypeAlias

__all__ = ["UnderWay"]

_Ended: TypeAlias = "asyncio.Future[Any]"


class _Composition:
    """One call of ``compose_state``, and the task it is awaited in."""

    __slots__ = ("around", "task")

    def __init__(self, task: asyncio.Task[Any], around: tuple[_Composition, ...]) -> None:
        self.task = task
        self.around = around


# Providers inherit it, so that one that closes its runtime is known to be inside of these.
_inside: ContextVar[tuple[_Composition, ...]] = ContextVar("agentctx_nb_inside", default=())


class UnderWay:
    """What runs on behalf of one runtime, in any thread."""

    def __init__(self) -> None:
        self._open: set[_Composition] = set()
        self._left: set[asyncio.Task[Any]] = set()

    def begin(self) -> _Composition:
        """Note that the current task composes; give what is returned to `end`."""
        task = asyncio.current_task()
        assert task is not None, "a composition runs in a task of asyncio"
        around = _inside.get()
        composition = _Composition(task, around)
        self._open.add(composition)
        _inside.set((*around, composition))
        return composition

    def end(self, composition: _Composition) -> None:
        """Note that it is over."""
        self._open.discard(composition)
        _inside.set(composition.around)

    def leave_behind(self, task: asyncio.Task[Any]) -> None:
        """Keep hold of a task that ignored its cancellation, until it ends."""
        self._left.add(task)
        task.add_done_callback(self._left.discard)

    async def cancel(self, *, seconds: float) -> None:
        """Cancel all of it but the compositions this is called from inside of; wait for its clean-up."""
        ours = {asyncio.current_task(), *(one.task for one in _inside.get() if one in self._open)}
        running = {*(one.task for one in list(self._open)), *list(self._left)} - ours
        ends = [end for task in running if not task.done() and (end := _cancel(task)) is not None]
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
