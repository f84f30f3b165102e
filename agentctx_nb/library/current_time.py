"""CURRENT_TIME: what the clock of the runtime says."""

from __future__ import annotations

from typing import Any

from agentctx_nb.moments import iso, milliseconds
from agentctx_nb.provider import Provider, ProviderResult

__all__ = ["CURRENT_TIME"]


async def _current_time(runtime: Any) -> ProviderResult:
    now = runtime.clock()
    written = iso(now)
    return ProviderResult(
        text=f"Current time: {written}",
        values={"currentTime": written, "timestamp": milliseconds(now)},
        data={"date": now},
    )


CURRENT_TIME = Provider("CURRENT_TIME", _current_time, description="The date and time now, in UTC")
