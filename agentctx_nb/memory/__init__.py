"""Stores: where memories and entities are kept, all behind one protocol."""

from __future__ import annotations

from agentctx_nb.memory.in_process import InProcessStore
from agentctx_nb.memory.opening import open_store
from agentctx_nb.memory.store import (
    EmbedderMark,
    MissingVectorsError,
    Store,
    StoreClosedError,
    StoreError,
    StoreStats,
)

__all__ = [
    "EmbedderMark",
    "InProcessStore",
    "MissingVectorsError",
    "Store",
    "StoreClosedError",
    "StoreError",
    "StoreStats",
    "open_store",
]
