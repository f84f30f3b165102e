"""A thread with a connection of its own, on which an `SqliteStore` does its work one job after the other."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from agentctx_nb.memory.sqlite_file import connect, explained, transaction
from agentctx_nb.memory.store import StoreClosedError, StoreError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["SqliteThread"]

P = ParamSpec("P")
T = TypeVar("T")


class SqliteThread:
    """Runs jobs on one connection to the file, each in a transaction of its own.

    Parameters
    ----------
    connection
        To the file, if it is open already; it belongs to this thread from now on.
    write
        Whether the jobs write, and so take their turn with other processes that do.
    after
        Called with the connection after each job that was committed.
    """

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection | None = None,
        *,
        write: bool,
        after: Callable[[sqlite3.Connection], None] | None = None,
    ) -> None:
        self._path = path
        self._write = write
        self._after = after
        self._connection = connection
        self._file = _identity(path)
        self._process = os.getpid()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"agentctx_nb {path.name}")

    async def run(
        self, job: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **more: P.kwargs
    ) -> T:
        """Return what ``job(connection, ...)`` returns, once all it did is in the file.

        A caller that is cancelled stops waiting at once. A job that has not begun is then dropped; one
        that has is done to its end.
        """
        if os.getpid() != self._process:  # a fork has the store, but not its thread
            raise StoreError(f"{self._path} was opened before this process was forked; open it again here")
        try:
            future = self._thread.submit(self._do, lambda connection: job(connection, *args, **more))
        except RuntimeError:  # it was shut down from another thread meanwhile
            raise StoreClosedError from None
        return await asyncio.wrap_future(future)

    async def close(self) -> None:
        """Wait for the jobs that were given, then let go of the file."""
        if os.getpid() != self._process:
            return
        closing = self._thread.submit(self._let_go)
        self._thread.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(closing))

    def _do(self, job: Callable[[sqlite3.Connection], T]) -> T:
        with explained(self._path):
            if _identity(self._path) != self._file:
                raise StoreError(
                    f"{self._path} was moved or deleted while it was in use, so nothing is stored; "
                    "put it back, or make a new runtime"
                )
            if self._connection is None:
                self._connection = connect(self._path)
            with transaction(self._connection, write=self._write):
                answer = job(self._connection)
            if self._after is not None:
                self._after(self._connection)
            return answer

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _identity(path: Path) -> Any:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
