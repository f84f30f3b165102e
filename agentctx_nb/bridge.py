"""Synchronous code waiting for a coroutine, wherever it is called from.

>>> async def answer() -> int:
...     return 42
>>> run_sync(answer)
42
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import warnings
import weakref
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from agentctx_nb.errors import LoopError
from agentctx_nb.interrupt import Leaving, Run, returned
from agentctx_nb.running.clean_up import look_at

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__ = ["await_interruptible", "home_loop", "run_sync"]

T = TypeVar("T")

HOME_CHECK_SECONDS = 1.0
EXIT_SECONDS = 5.0  # for the clean-up of what a thread or the interpreter leaves behind as it ends
ORIGINAL_MARK = "_nest_patched"

home_loop: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("agentctx_nb_home_loop", default=None)
"""The event loop that runs the composition a worker thread serves; set in the thread's context."""


def run_sync(make_coroutine: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run the coroutine that ``make_coroutine`` makes and return its result.

    With an event loop running in this thread, the wait nests in it; a worker thread that serves a
    composition hands the coroutine to that composition's loop; otherwise a loop kept for this thread
    runs it, so that clients and locks bound to a loop live from call to call.

    Raises
    ------
    LoopError
        The running loop cannot be entered a second time.
    KeyboardInterrupt
        SIGINT came; the coroutine has been cancelled and has cleaned up.
    """
    __tracebackhide__ = True
    running = _running_loop()
    if running is not None:
        _make_reentrant(running)
        return _run_nested(running, make_coroutine)
    home = home_loop.get()
    if home is not None and home.is_running():
        return _run_at_home(home, make_coroutine)
    return _run_until_complete(_resting_loop(), make_coroutine)


async def await_interruptible(coroutine: Coroutine[Any, Any, T]) -> T:
    """Await ``coroutine`` so that SIGINT cancels it, which neither a kernel nor asyncio does by itself.

    Raises
    ------
    KeyboardInterrupt
        SIGINT came; the coroutine has been cancelled and has cleaned up.
    """
    __tracebackhide__ = True
    run = Run(asyncio.get_running_loop(), coroutine)
    with run:
        await run.task
        return run.outcome()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _run_until_complete(
    loop: asyncio.AbstractEventLoop, make_coroutine: Callable[[], Coroutine[Any, Any, T]]
) -> T:
    __tracebackhide__ = True
    run = Run(loop, make_coroutine())
    with run:
        try:
            loop.run_until_complete(run.task)
            return run.outcome()
        except BaseException:
            # SystemExit in a callback leaves the loop at once; what it left behind still has to clean up.
            if not run.task.done():
                run.task.cancel()
                with suppress(asyncio.CancelledError):
                    loop.run_until_complete(run.task)
            raise


def _run_nested(loop: Any, make_coroutine: Callable[[], Coroutine[Any, Any, T]]) -> T:
    __tracebackhide__ = True
    ready = loop._ready  # noqa: SLF001  as nest_asyncio2 does, for want of a public name
    waiting = len(ready)
    try:
        return _run_until_complete(loop, make_coroutine)
    finally:
        # The turn we interrupt counted its callbacks beforehand and would find too few.
        while len(ready) < waiting:
            loop.call_soon(_nothing)


def _nothing() -> None:
    """Fill a place in the loop's queue."""


def _run_at_home(home: asyncio.AbstractEventLoop, make_coroutine: Callable[[], Coroutine[Any, Any, T]]) -> T:
    __tracebackhide__ = True
    answer = asyncio.run_coroutine_threadsafe(returned(make_coroutine()), home)
    while True:
        try:
            result = answer.result(timeout=HOME_CHECK_SECONDS)
            if isinstance(result, Leaving):
                raise result.error
            return result
        except TimeoutError:
            if answer.done():  # with a TimeoutError of its own
                raise
            if not home.is_running():
                answer.cancel()
                raise LoopError("the event loop of the composition ended before its provider did") from None


def _make_reentrant(loop: asyncio.AbstractEventLoop) -> None:
    """Let ``loop`` be run from inside one of its own callbacks, by way of nest_asyncio2."""
    if hasattr(loop, "_nest_asyncio2"):
        return
    if not isinstance(loop, asyncio.BaseEventLoop):
        raise LoopError(
            f"synchronous code cannot wait inside a running {type(loop).__module__.partition('.')[0]} loop: "
            "write `await runtime.compose_state(...)` instead of runtime.compose(...)"
        )
    import nest_asyncio2  # type: ignore[import-untyped]

    # The original nest_asyncio loses what ipykernel 7 queues behind a nested run (nest-asyncio2 pull
    # request 4). Where a notebook has applied it, the fork takes its place, which it does not do by itself.
    patched = [kind for kind in type(loop).__mro__ if ORIGINAL_MARK in vars(kind)]
    for kind in patched:
        delattr(kind, ORIGINAL_MARK)
    with warnings.catch_warnings():
        if patched:
            warnings.simplefilter("ignore")  # it warns of the very thing mended here
        nest_asyncio2.apply(loop, run_close_loop=True)
    for kind in patched:
        setattr(kind, ORIGINAL_MARK, True)


class _RestingLoop:
    """A loop that rests between the calls of one thread and is closed with the thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.process = os.getpid()
        weakref.finalize(self, _close, self.loop, self.process)

    @property
    def usable(self) -> bool:
        """Whether it is open, and not the parent's in a forked process."""
        return not self.loop.is_closed() and self.process == os.getpid()


_resting = threading.local()


def _resting_loop() -> asyncio.AbstractEventLoop:
    if threading.current_thread() is threading.main_thread():
        shell_module = sys.modules.get("IPython.core.interactiveshell")
        if shell_module is not None and shell_module.InteractiveShell.initialized():
            from IPython.core.async_helpers import get_asyncio_loop

            shared: asyncio.AbstractEventLoop = get_asyncio_loop()  # type: ignore[no-untyped-call]
            return shared  # the one a terminal awaits on, so both share what is bound to it
    kept: _RestingLoop | None = getattr(_resting, "kept", None)
    if kept is None or not kept.usable:
        kept = _resting.kept = _RestingLoop()
    return kept.loop


def _close(loop: asyncio.AbstractEventLoop, process: int) -> None:
    if loop.is_closed() or loop.is_running() or process != os.getpid():
        return
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        ended, _ = loop.run_until_complete(asyncio.wait(left, timeout=EXIT_SECONDS))
        for task in ended:
            look_at(task)
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
