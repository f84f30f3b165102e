"""How the contract tests search a store: vectors of two numbers, told by their angle."""

from __future__ import annotations

import asyncio
import math

from agentctx_nb.model import Memory


def run(coroutine):
    return asyncio.run(coroutine)


def put(store, *memories: Memory, table: str = "documents", mark=None) -> list[str]:
    return run(store.create_memories(memories, table, mark=mark))


def at(degrees: float) -> list[float]:
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]


def search(store, **arguments) -> list[Memory]:
    return run(store.search_memories(**{"table_name": "documents", "embedding": [1.0, 0.0], **arguments}))


def texts(store, **arguments) -> list[str]:
    return [m.content.text for m in search(store, **arguments)]
