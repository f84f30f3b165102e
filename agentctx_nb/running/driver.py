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

    ``at`` is the index of the provider it is awaiting, -1 for none; ``began_ns`` is when the first of them
    started; ``exhausted`` says that it found no more to take; ``waited`` that one of its providers suspended;
    ``abandoned`` that nobody waits for it any longer; ``around`` is what its run is composed by, here as well
    since a run that has ended no longer tells.
    """

    __slots__ = ("abandoned", "around", "at", "began_ns", "exhausted", "run", "task", "waited")

    def __init__(self, run: Run) -> None:
        self.run = run
        self.around = run.around
        self.at = -1
        self.abandoned = self.exhausted = self.waited = False
        self.began_ns: int
        self.task: asyncio.Task[None]

    @property
    def running(self) -> bool:
        """Whether its task is being stepped now, be it further up the stack."""
        task = getattr(self, "task", None)  # gone once it has ended, which a thread may hear of too late
        coroutine: Any = task and task.get_coro()
        return bool(coroutine and coroutine.cr_running)


class Served:
    """One provider, by its place, that a driver serves; ``over`` where it has ended before the driver heard of it."""

    __slots__ = ("at", "driver", "over")

    def __init__(self, driver: Driver, at: int) -> None:
        self.driver = driver
        self.at = at
        self.over = False

    @property
    def run(self) -> Run:
        """The run it belongs to."""
        return self.driver.run

    @property
    def around(self) -> Driver | Served | None:
        """What composes that run."""
        return self.driver.around


# Set in the context of each driver, so that it reaches the tasks and threads a provider starts; while it
# serves a provider that may suspend, to that one.
composing: ContextVar[Driver | Served | None] = ContextVar("agentctx_nb_composing", default=None)


def served_by(current: Driver | Served) -> Served | None:
    """Return the provider that code with this ``composing`` belongs to, or has been started by."""
    if isinstance(current, Served):
        return current
    if current.at < 0:
        return None
    if not current.running:
        # Either one that was known as quick suspends now, or one that has ended left this code behind, and
        # the driver is serving another. Where there was none before, it is the first; next time it is told which.
        run = current.run
        run.plan.quick.discard(current.at)
        if run.starts_ns[current.at] != current.began_ns:
            return None
    return Served(current, current.at)


def refuse_recursion(around: Driver | Served, runtime: Any, names: Collection[str]) -> Driver | Served | None:
    """Return which provider composes now, where that is known of ``around``, which ``composing`` holds.

    Of a run that has ended it is what was around that one: what code left behind composes, again and again,
    shall not hold on to all that came before.

    Raises
    ------
    CompositionRecursionError
        It, or one whose provider composed it, is one of ``names``; a provider of a runtime's twin counts as
        that runtime's own.
    """
    composer: Driver | Served | None = served_by(around) or around
    inside: list[str] = []
    ours, outer = _original(runtime), composer
    while outer is not None:
        run = outer.run
        served = isinstance(outer, Served) and outer.driver.at == outer.at and not outer.over
        if served and _original(run.runtime) is ours:
            name = run.plan.names[outer.at]
            inside.append(name)
            if name in names:
                raise CompositionRecursionError((*reversed(inside), name))
        outer = outer.around
    while composer is not None and composer.run.ended:
        composer = composer.around
    return composer


def _original(runtime: Any) -> Any:
    return getattr(runtime, "twin_of", None) or runtime
