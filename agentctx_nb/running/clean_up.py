"""Waiting for cancelled tasks to put things away."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

__all__ = ["GRACE_SECONDS", "give_up", "kept", "look_at", "wait_for_clean_up"]

GRACE_SECONDS = 1.0  # for the clean-up of a hook or an action that is cancelled

# An anyio scope cancels again on each turn of the loop until it is left; that is no second cancellation.
ANYIO_CANCELS = ("Cancelled via cancel scope ", "Cancelled by cancel scope ")


def look_at(task: asyncio.Task[Any]) -> None:
    """Take what an ended task raised, of which asyncio would complain where nobody does."""
    if not task.cancelled():
        task.exception()


async def wait_for_clean_up(tasks: Sequence[asyncio.Task[Any]], *, seconds: float, expected: int = 0) -> None:
    """Wait until all ``tasks`` have ended, for ``seconds`` at most; raise when cancelled more than ``expected`` times."""
    loop = asyncio.get_running_loop()
    give_up = loop.time() + seconds
    while not all(task.done() for task in tasks) and (left := give_up - loop.time()) > 0:
        try:
            await asyncio.wait(tasks, timeout=left)
        except asyncio.CancelledError as exc:
            if str(exc).startswith(ANYIO_CANCELS):
                continue
            if not expected:
                raise
            expected -= 1


async def kept(work: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Return what ``work`` gives, or what it raises as a value: raised in a task of its own it would end the loop."""
    try:
        return await work, None
    except BaseException as exc:  # noqa: BLE001  SystemExit among them
        return None, exc


async def give_up(task: asyncio.Task[Any], runtime: Any) -> None:
    """Cancel ``task`` if it still runs and wait for its clean-up; what ignores that is left to the runtime."""
    if task.done():
        return
    task.cancel()
    try:
        await wait_for_clean_up([task], seconds=GRACE_SECONDS)
    finally:
        if not task.done():
            runtime.leave_behind(task)
