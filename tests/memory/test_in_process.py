"""What only the store in the process does: ids of its own, and big searches leave the event loop free."""

from __future__ import annotations

import asyncio

import pytest

from agentctx_nb.memory import InProcessStore, in_process
from agentctx_nb.model import Memory


def test_ids_made_without_being_told_how_are_all_different():
    async def write():
        store = InProcessStore()
        return [await store.create_memory(Memory(str(n)), "messages") for n in range(50)]

    assert len(set(asyncio.run(write()))) == 50


@pytest.mark.parametrize("query", [None, "x"])
def test_a_big_search_runs_beside_the_event_loop_and_finds_the_same(monkeypatch, query):
    async def search():
        store = InProcessStore()
        rows = [Memory(f"x {n}", embedding=[1.0, n]) for n in range(30)]
        await store.create_memories(rows, "documents")

        async def texts():
            hits = await store.search_memories(
                table_name="documents", embedding=[1.0, 0.0], query=query, count=3
            )
            return [hit.content.text for hit in hits]

        here = await texts()
        monkeypatch.setattr(in_process, "_FELT", 10)
        return here, await texts(), await store.search_memories(table_name="documents", embedding=[1.0, 0.0])

    one, other, everything = asyncio.run(search())
    assert one == other == ["x 0", "x 1", "x 2"]
    assert len(everything) == 30
