"""ADMIN_STATS: how many users and messages the store holds; private, so only its name runs it."""

from __future__ import annotations

from typing import Any

from agentctx_nb.provider import Provider, ProviderResult

__all__ = ["ADMIN_STATS"]


async def _admin_stats(runtime: Any) -> ProviderResult:
    held = await runtime.store.stats()
    stats = {"activeUsers": held.entities, "messageCount": held.memories.get("messages", 0)}
    return ProviderResult(
        text=f"System stats: {stats['activeUsers']} users, {stats['messageCount']} messages",
        data={"stats": stats},
    )


ADMIN_STATS = Provider(
    "ADMIN_STATS", _admin_stats, description="How many users and messages there are", private=True
)
