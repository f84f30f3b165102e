"""The compositions and actions of a runtime that are under way, to be cancelled when it closes."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from agentctx_nb.running.driver import composing
from agentctx_nb.running.flights import runs_waiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentctx_nb.running.driver import Driver, Served

__all__ = ["UnderWay", "inside"]

_Ended: TypeAlias = "asyncio.Future[Any]"

# The call of an action or a hook, the provider it was called from, and the action or hook around it.
_Inside: TypeAlias = "tuple[object, Driver | Served | None, _Inside | None]"
_inside: ContextVar[_Inside | None] = ContextVar("agentctx_nb_inside", default=None)


class UnderWay:
    """What runs on behalf of one runtime, in any thread."""

    def __init__(self) -> None:
        self._open: dict[object, asyncio.Task[Any] | None] = {}  # by the token of each call
        self._left: set[asyncio.Task[Any]] = set()

    def begin(self) -> object:
        """Note that the current task composes; give the token that is returned to `end`."""
        token = object()
        self._open[token] = asyncio.current_task()
        return token

    def end(self, token: object) -> None:
        """Note that it is over."""
        del self._open[token]

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note for the length of a block that the current task acts, and that what it calls is inside of that."""
        token = self.begin()
        try:
            with inside(token):
                yield
        finally:
            self.end(token)

    def leave_behind(self, task: asyncio.Task[Any]) -> None:
        """Keep hold of a task that ignored its cancellation, until it ends."""
        self._left.add(task)
        task.add_done_callback(self._left.discard)

    async def cancel(self, *, seconds: float) -> None:
        """Cancel all of it but the calls this is made from inside of; wait for its clean-up."""
        ours = {asyncio.current_task(), None, *map(self._open.get, _calls_around())}
        running = {*list(self._open.values()), *list(self._left)} - ours
        ends = [end for task in running if task and not task.done() and (end := _cancel(task)) is not None]
        if ends:
            await asyncio.wait(ends, timeout=seconds)


@contextmanager
def inside(token: object) -> Iterator[None]:
    """Let an action or a hook be known to be inside of this call, should it close the runtime.

    A provider is known by the run it belongs to, which costs nothing.
    """
    around = _inside.get()
    _inside.set((token, composing.get(), around))
    try:
        yield
    finally:
        _inside.set(around)


def _calls_around() -> set[object]:
    """Return the tokens of all calls, of any runtime, that this code is inside of."""
    waiting = runs_waiting()
    tokens: set[object] = {run.token for run in waiting}
    providers = [composing.get(), *[run.around for run in waiting]]
    call = _inside.get()
    while call is not None:
        token, provider, call = call
        tokens.add(token)
        providers.append(provider)
    while providers:
        if (provider := providers.pop()) is not None:
            tokens.add(provider.run.token)
            providers.append(provider.around)
    return tokens


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
