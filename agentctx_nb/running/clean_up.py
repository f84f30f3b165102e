"""Waiting for cancelled tasks to put things away."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["wait_for_clean_up"]

# An anyio scope cancels again on each turn of the loop until it is left; that is no second cancellation.
ANYIO_CANCELS = ("Cancelled via cancel scope ", "Cancelled by cancel scope ")


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
