"""Stores: where memories and entities are kept, all behind one protocol."""

from __future__ import annotations

from agentctx_nb.memory.in_process import InProcessStore
from agentctx_nb.memory.store import Store, StoreClosedError, StoreStats

__all__ = ["InProcessStore", "Store", "StoreClosedError", "StoreStats"]
