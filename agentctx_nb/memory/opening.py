"""From what a user names as a store to the store."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from agentctx_nb.errors import DefinitionError, DefinitionTypeError, did_you_mean
from agentctx_nb.memory.store import Store
from agentctx_nb.names import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

__all__ = ["open_store"]

_SCHEME = re.compile(r"(\w[\w+.-]+)://|(sqlite|postgres|postgresql):")
_POSTGRES = ("postgres", "postgresql")


def open_store(
    store: Store | str | os.PathLike[str] | None, clock: Callable[[], datetime] | None = None
) -> Store:
    """Return the store a user means.

    Parameters
    ----------
    store
        A store; the path of an SQLite file, or ``"sqlite:"`` and the path; ``None`` for one that ends
        with the process.
    clock
        Says what time it is, for rows that come without ``created_at``.

    Raises
    ------
    DefinitionError
        It names no store there is.
    StoreError
        The file cannot be used.

    >>> open_store(None)
    InProcessStore()
    """
    if store is None:
        from agentctx_nb.memory.in_process import InProcessStore

        return InProcessStore(clock=clock)
    if isinstance(store, str | os.PathLike):
        return _open_address(os.fspath(store), clock)
    if isinstance(store, type) or not isinstance(store, Store):
        raise DefinitionTypeError(
            f"store is a Store or the path of a file such as 'agent.db', not {shown(store)}"
        )
    return store


def _open_address(address: str, clock: Callable[[], datetime] | None) -> Store:
    if not isinstance(address, str):
        raise DefinitionTypeError("store is a path in text, not in bytes")
    scheme = _SCHEME.match(address)
    if scheme is None:
        path = address
    else:
        kind = (scheme[1] or scheme[2]).lower()
        if kind in _POSTGRES:  # what else the address says may be a password
            raise DefinitionError(
                "this version of agentctx_nb has no store for PostgreSQL; name a file instead, such as store='agent.db'"
            )
        if kind != "sqlite":
            raise DefinitionError(
                f"no store is known as {kind!r}{did_you_mean(kind, ['sqlite'])}; name a file such as 'agent.db'"
            )
        path = address[len("sqlite:") :]
        if path.startswith("//"):  # sqlite:///relative.db and sqlite:////absolute.db, as elsewhere in Python
            path = path[2:].removeprefix("/")
    if not path.strip() or path == ":memory:":
        raise DefinitionError("store names no file; leave it out to keep memories in this process only")
    from agentctx_nb.memory.sqlite import SqliteStore

    return SqliteStore(path, clock=clock)
