"""A store used by several threads from the start, and one whose indexing is interrupted."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from agentctx_nb import AgentRuntime, Memory
from agentctx_nb.memory import opening
from agentctx_nb.search.table import SearchTable


def test_threads_that_use_a_runtime_at_once_open_one_store(monkeypatch):
    real, opened = opening.open_store, []

    def open_store(*args):
        opened.append(args)
        time.sleep(0.05)  # so that all of them are here before the first is done
        return real(*args)

    monkeypatch.setattr(opening, "open_store", open_store)
    runtime = AgentRuntime()
    barrier = threading.Barrier(4)

    def write(number):
        barrier.wait()
        asyncio.run(runtime.create_memory({"text": str(number)}, "notes"))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = asyncio.run(runtime.get_memories(table_name="notes"))
    assert sorted(row.content.text for row in rows) == ["0", "1", "2", "3"]
    assert len(opened) == 1


def turned(number):
    return [1.0, float(number), float(number * number % 17)]


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("earlier", [0, 20])
def test_what_was_stored_is_found_though_its_indexing_was_interrupted(monkeypatch, error, earlier):
    runtime = AgentRuntime()
    real, pending = SearchTable.add_many, [error()]

    def add_many(self, rows, vectors):
        real(self, rows[:3], vectors[:3])  # it comes as far as this
        if pending:
            raise pending.pop()
        real(self, rows[3:], vectors[3:])

    async def write(first, count):
        rows = [Memory(f"row {n}", id=f"m{n}", embedding=turned(n)) for n in range(first, first + count)]
        await runtime.create_memories(rows, "notes")

    async def nearest(number):
        hits = await runtime.search_memories(table_name="notes", embedding=turned(number), count=1)
        return hits[0].content.text

    async def main():
        if earlier:
            await write(0, earlier)
        monkeypatch.setattr(SearchTable, "add_many", add_many)
        with pytest.raises(error):
            await write(earlier, 20)
        await runtime.delete_memory(f"m{earlier + 5}")
        stored = await runtime.get_memories(table_name="notes")
        assert len(stored) == earlier + 19
        await write(earlier + 20, 10)
        for row in [*range(earlier + 5), *range(earlier + 6, earlier + 30)]:
            assert await nearest(row) == f"row {row}"
        gone = await runtime.search_memories(table_name="notes", embedding=turned(earlier + 5))
        assert f"m{earlier + 5}" not in {hit.id for hit in gone}

    main_coroutine = main()
    try:
        while True:
            main_coroutine.send(None)  # by hand: KeyboardInterrupt would end a loop
    except StopIteration:
        pass
    assert pending == []
