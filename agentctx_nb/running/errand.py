"""What a worker thread starts on its caller's event loop ends with that caller."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from threading import get_ident
from typing import Any

__all__ = ["Errand", "current_errand", "end_with_its_thread"]


class Errand:
    """What a worker thread does for one caller, and the tasks it has started on the caller's loop."""

    __slots__ = ("loop", "over", "tasks", "thread")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.over = False
        self.thread = 0  # the number of the thread, once it is at work
        self.tasks: set[asyncio.Task[Any]] = set()

    async def abandon(self) -> None:
        """Cancel what the thread has started and wait for its clean-up."""
        self.over = True
        tasks = {task for task in self.tasks if not task.done()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


current_errand: ContextVar[Errand | None] = ContextVar("agentctx_nbcurrent_errand", default=None)


def end_with_its_thread() -> None:
    """Tie the current task to the caller of the worker thread that started it, if one did.

    It is cancelled with that caller, and at once where the caller has gone already.
    """
    errand = current_errand.get()
    if errand is None:
        return
    at_home = errand.loop is asyncio.get_running_loop()
    if errand.over and (at_home or errand.thread == get_ident()):
        raise asyncio.CancelledError("nobody waits any longer for the def function that composes")
    if not at_home:
        return
    current_errand.set(None)  # what this task starts in its turn ends with it
    task = asyncio.current_task()
    assert task is not None
    errand.tasks.add(task)
    task.add_done_callback(errand.tasks.discard)
