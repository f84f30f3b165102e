"""How the contract tests write to a store and read from it."""

from __future__ import annotations

import asyncio

from agentctx_nb.model import Memory


def run(coroutine):
    return asyncio.run(coroutine)


def put(store, *memories: Memory, table: str = "messages", unique: bool = False) -> list[str]:
    async def write():
        return [await store.create_memory(memory, table, unique=unique) for memory in memories]

    return run(write())


def put_all(store, *memories: Memory, table: str = "messages", unique: bool = False) -> list[str]:
    return run(store.create_memories(memories, table, unique=unique))


def texts(store, **arguments) -> list[str]:
    return [m.content.text for m in run(store.get_memories(**{"table_name": "messages", **arguments}))]
