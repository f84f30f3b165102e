"""A read of a table that holds nothing names the one that was meant, and costs little where there is none."""

from __future__ import annotations

import asyncio

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.memory.in_process import InProcessStore


class Counting(InProcessStore):
    counted = 0

    async def stats(self):
        self.counted += 1
        return await super().stats()


def told(caplog, runtime, **asked):
    async def main():
        if not await runtime.get_memories(table_name="messages"):
            await runtime.create_memory("hello", "messages")
        caplog.clear()
        return await runtime.get_memories(**asked)

    found = asyncio.run(main())
    return found, [record.getMessage() for record in caplog.records]


def test_a_name_that_is_nearly_that_of_a_table_is_told_with_it_each_time(caplog):
    runtime = AgentRuntime()
    said = ["table 'mesages' holds nothing; did you mean 'messages'?"]
    assert told(caplog, runtime, table_name="mesages") == ([], said)
    assert told(caplog, runtime, table_name="mesages", room_id="lobby", count=5) == ([], said)


@pytest.mark.parametrize("asked", [{"room_id": "nowhere"}, {"count": 0}, {"table_name": "documents"}])
def test_a_room_with_nothing_in_it_and_a_table_to_come_are_told_of_nobody(asked, caplog):
    assert told(caplog, AgentRuntime(), **asked) == ([], [])


def test_tables_are_counted_once_for_a_name_like_no_other():
    store = Counting()
    runtime = AgentRuntime(store=store)

    async def main():
        await runtime.create_memory("hello", "messages")
        for _ in range(3):
            await runtime.get_memories(table_name="facts")
            await runtime.get_memories(table_name="messages", room_id="nowhere")
            await runtime.search_memories(table_name="facts", query="tea")

    asyncio.run(main())
    assert store.counted == 1


def test_learning_into_a_table_that_is_written_like_another_says_so_once(tmp_path, caplog):
    (tmp_path / "a.md").write_text("Tea is a drink.\n")
    runtime = AgentRuntime()

    async def main():
        await runtime.create_memory("hello", "documents")
        for _ in range(2):
            await runtime.learn(tmp_path, table_name="documnts")

    asyncio.run(main())
    assert caplog.text.count("table 'documnts' holds nothing; did you mean 'documents'?") == 1


def test_a_name_is_compared_again_once_something_was_written(caplog):
    caplog.set_level("INFO")
    runtime = AgentRuntime()

    async def main():
        await runtime.create_memory("hello", "notes")
        await runtime.get_memories(table_name="fact")
        await runtime.create_memory("tea is a drink", "facts")
        await runtime.get_memories(table_name="fact")

    asyncio.run(main())
    assert "table 'fact' holds nothing; did you mean 'facts'?" in caplog.text
