"""Which provider is being run by the task we are in, and that none of them composes itself."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import CompositionRecursionError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Collection

    from agentctx_nb.execution import Run

__all__ = ["Driver", "composing", "refuse_recursion"]


class Driver:
    """One task serving the providers of a run.

    ``at`` is the index of the provider it is awaiting, -1 for none; ``exhausted`` says that it found
    no more to take; ``abandoned`` that nobody waits for it any longer.
    """

    __slots__ = ("abandoned", "at", "exhausted", "run", "task")

    def __init__(self, run: Run) -> None:
        self.run = run
        self.at = -1
        self.abandoned = self.exhausted = False
        self.task: asyncio.Task[None]


# Set once in the context of each driver, so that it reaches the tasks and threads a provider starts.
composing: ContextVar[Driver | None] = ContextVar("agentctx_nb_composing", default=None)


def refuse_recursion(runtime: Any, names: Collection[str]) -> None:
    """Raise `CompositionRecursionError` when a provider that composes now is one of ``names``."""
    driver = composing.get()
    inside: list[str] = []
    while driver is not None:
        run = driver.run
        if run.runtime is runtime and driver.at >= 0:
            name = run.plan.names[driver.at]
            inside.append(name)
            if name in names:
                raise CompositionRecursionError((*reversed(inside), name))
        driver = run.parent
