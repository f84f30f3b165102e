"""One file in several processes, some of them killed while they write."""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentctx_nb.memory.sqlite import SqliteStore

ROOT = Path(__file__).parents[2]

# Prints the id of each memory once its write has returned, for ever.
WRITER = """
import asyncio, sys
from agentctx_nb.memory.sqlite import SqliteStore
from agentctx_nb.model import Memory

async def main(path, name):
    store = SqliteStore(path)
    number = 0
    while True:
        number += 1
        new = [
            Memory("x" * 300, id=f"{name}-{number}-{part}", room_id=name, embedding=[1.0, number],
                   metadata={"batch": f"{name}-{number}"})
            for part in range(number % 3 + 1)
        ]
        if len(new) == 1:
            print(await store.create_memory(new[0], "documents", unique=number % 2 == 0), flush=True)
        else:
            print(*await store.create_memories(new, "documents"), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""

# Does what it is told, a call a line, and says what came of it.
SERVANT = """
import asyncio, json, sys
from agentctx_nb.memory.sqlite import SqliteStore
from agentctx_nb.model import Memory

async def main(path):
    store = SqliteStore(path)
    for line in sys.stdin:
        method, arguments = json.loads(line)
        if "memory" in arguments:
            arguments["memory"] = Memory.from_dict(arguments["memory"])
        answer = await getattr(store, method)(**arguments)
        if isinstance(answer, list):
            answer = [memory.content.text for memory in answer]
        print(json.dumps(answer), flush=True)
    await store.close()

asyncio.run(main(*sys.argv[1:]))
"""


def start(script: str, *arguments: object, **pipes) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        **pipes,
    )


@pytest.mark.parametrize("turn", range(2))
def test_nothing_acknowledged_is_lost_when_writers_are_killed(tmp_path, turn):
    chance = random.Random(turn)
    path = tmp_path / "agent.db"
    acknowledged: list[str] = []
    for life in range(2):  # the second pair finds the file as the first left it
        writers = [start(WRITER, path, f"{name}{life}") for name in "ab"]
        for writer in writers:
            for _ in range(chance.randrange(2, 30)):
                acknowledged += writer.stdout.readline().split()
        time.sleep(chance.random() * 0.05)
        for writer in writers:
            writer.kill()
        for writer in writers:
            rest, _ = writer.communicate(timeout=30)
            acknowledged += rest[: rest.rfind("\n") + 1].split()

    async def look():
        store = SqliteStore(path)
        rows = await store.get_memories(table_name="documents")
        hits = await store.search_memories(table_name="documents", embedding=[1.0, 1.0])
        await store.close()
        return rows, hits

    rows, hits = asyncio.run(look())
    assert len(acknowledged) > 8
    assert {memory.id for memory in rows} >= set(acknowledged)
    assert {memory.id for memory in hits} == {memory.id for memory in rows}
    batches: dict[str, int] = {}
    for memory in rows:
        assert memory.content.text == "x" * 300
        batches[memory.metadata["batch"]] = batches.get(memory.metadata["batch"], 0) + 1
    for batch, size in batches.items():  # of what was not acknowledged, too, all is there or nothing
        assert size == int(batch.split("-")[1]) % 3 + 1
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_two_processes_see_each_other_s_writes_at_once(tmp_path):
    path = tmp_path / "agent.db"
    servant = start(SERVANT, path, stdin=subprocess.PIPE)

    def there(method, **arguments):
        servant.stdin.write(json.dumps([method, arguments]) + "\n")
        servant.stdin.flush()
        return json.loads(servant.stdout.readline())

    async def here():
        store = SqliteStore(path)
        memory = {"id": "m0", "text": "theirs", "embedding": [1.0, 0.0]}
        assert there("create_memory", memory=memory, table_name="documents") == "m0"
        search = {"table_name": "documents", "embedding": [1.0, 0.0]}
        for number in range(1, 20):
            hits = await store.search_memories(**search)
            assert [hit.content.text for hit in hits] == there("search_memories", **search)
            assert len(hits) == number
            memory = {"id": f"m{number}", "text": f"theirs {number}", "embedding": [1.0, number]}
            assert there("create_memory", memory=memory, table_name="documents", unique=True) == f"m{number}"
        assert await store.delete_memory("m0")
        assert "theirs" not in there("search_memories", **search)
        assert there("delete_memory", memory_id="m1")
        assert "theirs 1" not in [hit.content.text for hit in await store.search_memories(**search)]
        await store.close()

    asyncio.run(here())
    servant.communicate(timeout=30)
    assert servant.returncode == 0


def test_many_processes_may_make_the_file_at_once(tmp_path):
    path = tmp_path / "agent.db"
    writers = [start(WRITER, path, name) for name in "abc"]
    first = [writer.stdout.readline() for writer in writers]
    for writer in writers:
        writer.kill()
        writer.communicate(timeout=30)
    assert [line.split("-")[0] for line in first] == ["a", "b", "c"]
