"""How the tests of the SQLite store write to a file and look into it."""

from __future__ import annotations

import asyncio
import sqlite3

from agentctx_nb.memory import EmbedderMark
from agentctx_nb.model import Memory

MARK = EmbedderMark("small", 2, "f1")


def run(coroutine):
    return asyncio.run(coroutine)


def put(store, text, table="documents", **fields) -> str:
    mark = fields.pop("mark", None)
    return run(store.create_memory(Memory(text, **fields), table, mark=mark))


def found(store, **arguments) -> list[str]:
    hits = run(store.search_memories(**{"table_name": "documents", "embedding": [1.0, 0.0], **arguments}))
    return [hit.content.text for hit in hits]


def execute(path, script: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
