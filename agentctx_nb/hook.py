"""The host's last word on who runs: asking the ``select`` hook, whatever it does."""

from __future__ import annotations

import asyncio
import inspect
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.interrupt import is_for_all
from agentctx_nb.names import shown
from agentctx_nb.running.clean_up import give_up, kept
from agentctx_nb.selection import names_of

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from agentctx_nb.model import Memory
    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.selection import Decision

__all__ = ["ask_hook"]


class _Asking:
    """A hook at work; tasks it leaves behind carry this on, so it says itself when it is over."""

    __slots__ = ("around", "over", "runtime")

    def __init__(self, runtime: AgentRuntime, around: _Asking | None) -> None:
        self.runtime = runtime
        self.around = around
        self.over = False


_asking: ContextVar[_Asking | None] = ContextVar("agentctx_nb_asking", default=None)


async def ask_hook(
    runtime: AgentRuntime, decisions: tuple[Decision, ...], message: Memory, *, seconds: float | None
) -> frozenset[str] | None:
    """Return the names the hook wants; None, with a warning, where it fails or gives no names.

    An async hook has ``seconds``, all of them if None; a plain one holds the event loop and cannot be
    stopped.

    Raises
    ------
    DefinitionError
        The hook itself composes this runtime, which would ask it again.
    """
    around = _asking.get()
    _refuse_recursion(runtime, around)
    asking = _Asking(runtime, around)
    _asking.set(asking)
    try:
        assert runtime.select is not None
        try:
            answer = runtime.select(decisions, message)
        except asyncio.CancelledError as exc:  # nobody cancelled us: we have not waited for anything yet
            _warn(runtime, exc)
            return None
        if inspect.isawaitable(answer):
            answer, error = await _awaited(runtime, answer, seconds)
            if isinstance(error, asyncio.CancelledError):
                _warn(runtime, error)
                return None
            if error is not None:
                raise error
        if isinstance(answer, str):
            raise DefinitionTypeError(f"the select hook returns a list of names, not {shown(answer)}")
        return names_of(answer, of="what the select hook returned")
    except BaseException as exc:
        if isinstance(exc, asyncio.CancelledError) or is_for_all(exc):
            raise
        _warn(runtime, exc)  # a broken hook must not cost the composition
        return None
    finally:
        asking.over = True
        _asking.set(around)


def _warn(runtime: AgentRuntime, error: BaseException) -> None:
    runtime.logger.warning(error, "the select hook failed; the selection stays as it was")


def _refuse_recursion(runtime: AgentRuntime, asking: _Asking | None) -> None:
    while asking is not None:
        if asking.runtime is runtime and not asking.over:
            raise DefinitionError(
                "the select hook composes its own runtime, which would ask the hook again; "
                "compose another runtime inside a hook"
            )
        asking = asking.around


async def _awaited(
    runtime: AgentRuntime, answer: Awaitable[Any], seconds: float | None
) -> tuple[Any, BaseException | None]:
    """Return what the hook answered or raised; in a task of its own, so that it can be given up."""
    task = asyncio.ensure_future(kept(answer))
    try:
        await asyncio.wait([task], timeout=seconds)
        if task.done():
            return task.result()
        return None, TimeoutError("the time of the whole composition is over")
    finally:
        await give_up(task, runtime)
