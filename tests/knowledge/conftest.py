"""A runtime small enough to see what `learn` asks of one, and a way to write files."""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import replace

import pytest

from agentctx_nb.errors import DefinitionError
from agentctx_nb.knowledge import learn
from agentctx_nb.memory.store import EmbedderMark


class FakeStore:
    def __init__(self):
        self.marks = {}

    async def embedder_mark(self, table_name):
        return self.marks.get(table_name)


class InPlace:
    async def run(self, function, *args):
        await asyncio.sleep(0)
        return function(*args)


class FakeRuntime:
    """Rows in a dict; every call suspends, as with a store on a disk."""

    agent_id = "agent"

    def __init__(self):
        self.rows = {}
        self.store = FakeStore()
        self.threads = InPlace()
        self.noise = 0.0  # by which the vectors of two calls differ
        self.embedded = []  # texts of each call
        self.mark_made = EmbedderMark("fake", 2, "1")
        self.before_create = lambda memories: None

    async def embedder_mark(self):
        return self.mark_made

    def mask(self, text):
        return text.replace("hunter2hunter2", "[secret]")

    async def embed_many(self, texts, *, kind="document"):
        self.embedded.append(list(texts))
        noise = len(self.embedded) * self.noise
        await asyncio.sleep(0)
        return [[float(zlib.crc32(text.encode()) % 97), 1.0 + noise] for text in texts]

    async def get_memories(self, *, table_name, room_id):
        await asyncio.sleep(0)
        return [m for table, m in self.rows.values() if table == table_name and m.room_id == room_id]

    async def create_memories(self, memories, table_name, *, replacing=()):
        await asyncio.sleep(0)
        self.before_create(memories)
        for memory in memories:
            there = self.rows.get(memory.id)
            if there not in (None, (table_name, replace(memory, agent_id="agent"))):
                raise DefinitionError("another memory is stored under this id")
        for memory_id in replacing:
            self.rows.pop(memory_id, None)
        for memory in memories:
            self.rows[memory.id] = (table_name, replace(memory, agent_id="agent"))
        self.store.marks[table_name] = self.mark_made

    async def get_memory_by_id(self, memory_id):
        await asyncio.sleep(0)
        return self.rows.get(memory_id, (None, None))[1]

    # What tests ask.

    def texts(self, source=None):
        """The texts of a file, or of all, in the order of their parts."""
        found = [m for _, m in self.rows.values() if source in {None, m.metadata["source"]}]
        found.sort(key=lambda m: (m.metadata["source"], m.metadata["part"]))
        return [m.content.text for m in found]

    def sources(self):
        return sorted({m.metadata["source"] for _, m in self.rows.values()})

    def learn(self, path, **options):
        return asyncio.run(learn(self, path, **options))


@pytest.fixture
def runtime():
    return FakeRuntime()


@pytest.fixture
def folder(tmp_path):
    """A function that writes files by name into a folder and returns the folder."""

    def write(**files):
        return write_all(files)

    def write_all(files):
        root = tmp_path / "docs"
        root.mkdir(exist_ok=True)
        for name, content in files.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    write.all = write_all
    return write_all
