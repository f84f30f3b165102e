"""One action at work: in a task of its own, so that it can be given up, and never inside itself."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from agentctx_nb.errors import ActionCancelledError, ActionRecursionError, AgentCtxError, describe
from agentctx_nb.interrupt import is_for_all, is_interrupt
from agentctx_nb.running.clean_up import give_up, kept

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from agentctx_nb.runtime import AgentRuntime

__all__ = ["at_work", "in_its_own_task"]

T = TypeVar("T")


class _AtWork:
    """An action that runs; tasks and threads it leaves behind carry this on, so it says itself when it is over."""

    __slots__ = ("around", "name", "over", "runtime")

    def __init__(self, runtime: AgentRuntime, name: str, around: _AtWork | None) -> None:
        self.runtime = runtime
        self.name = name
        self.around = around
        self.over = False


_at_work: ContextVar[_AtWork | None] = ContextVar("agentctx_nb_at_work", default=None)


@contextmanager
def at_work(runtime: AgentRuntime, name: str) -> Iterator[None]:
    """Note that the action ``name`` runs, for whatever it starts: tasks, threads, compositions.

    Raises
    ------
    ActionRecursionError
        It is run by itself, be it through other actions.
    """
    around = _at_work.get()
    _refuse_recursion(runtime, name, around)
    working = _AtWork(runtime, name, around)
    _at_work.set(working)
    try:
        yield
    finally:
        working.over = True
        _at_work.set(around)


def _refuse_recursion(runtime: AgentRuntime, name: str, working: _AtWork | None) -> None:
    inside: list[str] = []
    while working is not None:
        if working.runtime is runtime and not working.over:
            inside.append(working.name)
            if working.name == name:
                raise ActionRecursionError((*reversed(inside), name))
        working = working.around


async def in_its_own_task(runtime: AgentRuntime, name: str, work: Coroutine[Any, Any, T]) -> T:
    """Return or raise what ``work`` does; it is cancelled when our own task is, and may not cancel that.

    Raises
    ------
    ActionCancelledError
        The action raised ``CancelledError`` or cancelled its own task, which nobody had asked for.
    """
    task = asyncio.ensure_future(kept(work))
    try:
        await asyncio.wait([task])
    finally:
        await give_up(task, runtime)
    if task.cancelled():  # in its last step
        raise ActionCancelledError(name)
    result, error = task.result()
    if isinstance(error, asyncio.CancelledError) and not is_interrupt(error):
        raise ActionCancelledError(name) from error
    if error is not None and not isinstance(error, Exception) and not is_for_all(error):
        raise AgentCtxError(f"action {name} raised {describe(error)}") from error
    if error is not None:
        raise error
    if task.cancelling():  # and it went on all the same
        raise ActionCancelledError(name)
    return result  # type: ignore[no-any-return]  # there is one where there is no error
