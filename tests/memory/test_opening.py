from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.memory import InProcessStore, open_store
from agentctx_nb.memory.sqlite import SqliteStore
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


@pytest.mark.parametrize("store", [7, {"path": "agent.db"}, InProcessStore, b"agent.db", object()])
def test_what_is_no_store_is_refused(store):
    with pytest.raises(DefinitionTypeError, match="store is a"):
        open_store(store)
