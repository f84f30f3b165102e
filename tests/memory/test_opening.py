from __future__ import annotations

import asyncio
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.memory import InProcessStore, StoreError, open_store
from agentctx_nb.memory.sqlite import SqliteStore
from agentctx_nb.memory.sqlite_thread import SqliteThread
from agentctx_nb.model import Memory


def clock():
    return datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)


def test_no_store_is_one_in_this_process():
    assert isinstance(open_store(None, clock), InProcessStore)


def test_a_store_is_itself():
    store = InProcessStore()
    assert open_store(store, clock) is store


@pytest.mark.parametrize(
    "address",
    [
        "agent.db",
        "sqlite:agent.db",
        "sqlite:///agent.db",
        "sqlite://agent.db",
        "no:scheme.db",
        Path("agent.db"),
    ],
)
def test_a_path_is_an_sqlite_file(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = open_store(address, clock)
    assert isinstance(store, SqliteStore)
    assert store.path == tmp_path / ("no:scheme.db" if address == "no:scheme.db" else "agent.db")
    asyncio.run(store.create_memory(Memory("a"), "messages"))
    assert asyncio.run(store.get_memories(table_name="messages"))[0].created_at == 5000
    asyncio.run(store.close())


def test_an_absolute_address_keeps_its_root(tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'agent.db'}")
    assert store.path == tmp_path / "agent.db"
    asyncio.run(store.close())


@pytest.mark.parametrize("address", ["postgresql://ada:s3cret@host/db", "postgres://host", "postgresql:db"])
def test_postgresql_is_not_there_yet_and_its_password_not_shown(address):
    with pytest.raises(DefinitionError, match=r"no store for PostgreSQL; name a file instead") as caught:
        open_store(address)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("address", ["redis://host", "sqlit://agent.db", "https://x"])
def test_an_unknown_kind_of_store_says_what_there_is(address):
    with pytest.raises(DefinitionError, match=r"no store is known as '.*'.*; name a file such as 'agent.db'"):
        open_store(address)


@pytest.mark.parametrize("address", ["", "  ", ":memory:", "sqlite:", "sqlite::memory:", "sqlite://"])
def test_no_file_is_an_error_that_says_what_to_do(address):
    with pytest.raises(DefinitionError, match="store names no file; leave it out"):
        open_store(address)


@pytest.mark.parametrize("make", [open_store, SqliteStore, Path, lambda path: open_store(f"sqlite:{path}")])
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("a\0.db", r"store='a\\x00.db' names no file: a path holds no NUL"),
        ("\ud800.db", r"store='\\ud800.db' names no file: it holds half of a character"),
        ("~nobody_is_called_so/a.db", "names no file: there is no such user"),
    ],
)
def test_a_path_no_file_can_have_is_refused_in_a_sentence(make, path, words):
    with pytest.raises(DefinitionError, match=words):
        open_store(make(path))


@pytest.mark.parametrize("path", ["x" * 5000, "x/" * 3000 + "a.db"])
def test_a_path_that_is_too_long_for_the_system_is_refused_in_a_sentence(path):
    with pytest.raises(StoreError, match=r"cannot be used: |there is no folder"):
        open_store(path)


def test_a_folder_of_the_process_that_is_gone_is_told(tmp_path, monkeypatch):
    def gone():
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("os.getcwd", gone)
    with pytest.raises(StoreError, match="the folder this process works in is gone"):
        open_store("agent.db")


def test_a_name_of_bytes_that_are_no_text_is_a_name(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.db")

    async def write():
        store = open_store(path)
        await store.create_memory(Memory("a"), "messages")
        await store.close()

    asyncio.run(write())
    assert path.exists()


@pytest.mark.parametrize("store", [7, {"path": "agent.db"}, InProcessStore, b"agent.db", object()])
def test_what_is_no_store_is_refused(store):
    with pytest.raises(DefinitionTypeError, match="store is a"):
        open_store(store)


def test_what_is_closed_is_one_file_with_all_of_it(tmp_path, monkeypatch):
    let_go, inside, most = SqliteThread._let_go, [], []

    def slowly(thread):  # two connections that close at the same moment both leave the file to the other
        inside.append(thread)
        most.append(len(inside))
        time.sleep(0.02)
        let_go(thread)
        inside.remove(thread)

    async def written():
        async with AgentRuntime("z", store=str(tmp_path / "agent.db")) as runtime:
            await runtime.learn(Path(__file__).parents[2] / "docs")
            await runtime.search_memories(table_name="documents", query="shop", match_count=1)

    monkeypatch.setattr(SqliteThread, "_let_go", slowly)
    asyncio.run(written())
    assert most == [1, 1]
    assert [left.name for left in tmp_path.iterdir()] == ["agent.db"]
