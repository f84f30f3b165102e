"""Worker threads for ``def`` providers.

The standard pool joins its threads when the interpreter ends, so one provider that never returns
would keep a kernel from shutting down. These threads are daemons, and there are as many as there
are providers blocking at the same time, so that one of them may compose others without a deadlock.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from contextvars import Context, copy_context
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from agentctx_nb.bridge import home_loop
from agentctx_nb.running.errand import Errand, current_errand

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["WorkerThreads"]

T = TypeVar("T")
# A function, its arguments, the context to call it in, and the loop and the future that wait for what it returns.
_Job: TypeAlias = (
    "tuple[Callable[..., Any], tuple[Any, ...], Context, asyncio.AbstractEventLoop, asyncio.Future[Any]]"
)
IDLE_SECONDS = 10.0


class WorkerThreads:
    """Runs plain functions off the event loop, each in the context of its caller."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._alive = 0

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Return ``function(*args)``, called in a worker thread.

        A cancelled caller stops waiting at once; the thread cannot be stopped and goes on alone,
        and what it returns is dropped. Compositions it has started end with its caller.
        """
        loop = asyncio.get_running_loop()
        context = copy_context()
        context.run(home_loop.set, loop)
        errand = Errand(loop)
        context.run(current_errand.set, errand)
        answer: asyncio.Future[T] = loop.create_future()
        self._submit((function, args, context, loop, answer))
        try:
            return await answer
        except asyncio.CancelledError:
            await errand.abandon()
            raise

    def _submit(self, job: _Job) -> None:
        if (
            self._process != os.getpid()
        ):  # a forked child has the numbers of its parent, and none of its threads
            self._begin()
        with self._lock:
            if self._idle:
                self._idle -= 1  # that thread is now spoken for
            else:
                self._start()
        self._jobs.put(job)

    def _start(self) -> None:
        thread = threading.Thread(target=self._serve, name="agentctx_nb provider", daemon=True)
        try:
            # A fresh context: a thread that inherits a cell's one would print into that cell for ever.
            Context().run(thread.start)
        except RuntimeError:
            if not self._alive:
                raise
        else:
            self._alive += 1  # at the system's limit the job waits for a thread to come free

    def _serve(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_SECONDS)
            except Empty:
                with self._lock:
                    if self._idle:
                        self._idle -= 1
                        self._alive -= 1
                        return
                continue
            _work(*job)
            del job  # it holds the provider's runtime, and the next one may be long in coming
            with self._lock:
                self._idle += 1


def _work(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    context: Context,
    loop: asyncio.AbstractEventLoop,
    answer: asyncio.Future[Any],
) -> None:
    if (errand := context[current_errand]) is not None:
        errand.thread = threading.get_ident()
    try:
        settle = _settle(answer, result=context.run(function, *args))
    except StopIteration as exc:
        error = RuntimeError("a def function raised StopIteration")
        error.__cause__ = exc  # a future refuses StopIteration itself
        settle = _settle(answer, error=error)
    except BaseException as exc:  # noqa: BLE001  whatever it is belongs to whoever waits for it
        settle = _settle(answer, error=exc)
    with suppress(RuntimeError):  # the loop was closed meanwhile, so nobody waits
        loop.call_soon_threadsafe(settle)
    # An error holds on to this frame, which shall lead back neither to it nor to all that its caller knows.
    del function, args, context, answer, settle, errand


def _settle(
    answer: asyncio.Future[Any], *, result: Any = None, error: BaseException | None = None
) -> Callable[[], None]:
    def settle() -> None:
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)

    return settle
