"""Every store there is, each with a clock that stands still and ids that count up."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from agentctx_nb.memory import InProcessStore
from agentctx_nb.memory.sqlite import SqliteStore

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def _counting():
    numbers = count()
    return {"clock": lambda: NOON, "new_id": lambda: f"id-{next(numbers)}"}


# A new store adds a line here and keeps the whole contract.
STORES = {
    "in_process": lambda folder: InProcessStore(**_counting()),
    "sqlite": lambda folder: SqliteStore(folder / "agent.db", **_counting()),
}


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    opened = STORES[request.param](tmp_path)
    yield opened
    asyncio.run(opened.close())


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "agent.db"


@pytest.fixture
def opened(path):
    """Open the file of the test, as often as it is called."""
    stores = []

    def open_another() -> SqliteStore:
        stores.append(SqliteStore(path))
        return stores[-1]

    yield open_another
    for store in stores:
        asyncio.run(store.close())
