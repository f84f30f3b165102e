from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agentctx_nb import AgentRuntime, Provider
from agentctx_nb.bridge import await_interruptible, run_sync
from agentctx_nb.errors import ProviderCancelledError

ROOT = Path(__file__).parents[2]


async def nothing():
    return "nothing"


def interrupt_after(seconds, *, once=lambda: True, unless=lambda: False):
    """Press Ctrl-C that long after ``once()`` holds: on a busy machine nothing else says when."""

    def send():
        while not once():
            time.sleep(0.01)
        time.sleep(seconds)
        if not unless():
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send, daemon=True).start()


@pytest.fixture
def log():
    before = signal.getsignal(signal.SIGINT)
    yield []
    assert signal.getsignal(signal.SIGINT) is before, "the handler found here must be put back"


def waiting(log):
    async def provider():
        try:
            await asyncio.sleep(60)
        finally:
            log.append("finally")

    return provider


def sleeping(log):
    async def provider():
        try:
            time.sleep(60)  # noqa: ASYNC251  it blocks on purpose
        finally:
            log.append("finally")

    return provider


def computing(log):
    async def provider():
        deadline = time.monotonic() + 60
        try:
            while time.monotonic() < deadline:
                sum(range(1000))  # CPython 3.13.0 skips a `finally` when a handler raises at a bare jump back
        finally:
            log.append("finally")

    return provider


def failing_first(log):
    async def provider():
        for _ in range(2):  # what isolates providers may take the first one for a failure and go on
            try:
                time.sleep(60)  # noqa: ASYNC251
            except asyncio.CancelledError:
                log.append("cancelled")
        await asyncio.sleep(60)

    return provider


@pytest.mark.parametrize("kind", [waiting, sleeping, computing])
def test_an_interrupt_cancels_cleans_up_and_ends_as_keyboard_interrupt(kind, log):
    interrupt_after(0.2)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_sync(kind(log))
    assert log == ["finally"]
    assert time.monotonic() - start < 5
    assert run_sync(nothing)


def test_a_second_press_reaches_what_goes_on_after_the_first(log):
    interrupt_after(0.2)
    # Pressed again until it is felt: signals do not queue, and one that meets the watchdog's own is lost.
    for press in range(5):
        interrupt_after(0.3 + 0.9 * press, once=lambda: log, unless=lambda: len(log) > 1)
    with pytest.raises(KeyboardInterrupt):
        run_sync(failing_first(log))
    assert log == ["cancelled", "cancelled"]


def test_cleaning_up_may_take_its_time_after_an_interrupt(log):
    async def provider():
        try:
            time.sleep(60)  # noqa: ASYNC251
        finally:
            time.sleep(0.8)  # noqa: ASYNC251
            log.append("finally")

    interrupt_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        run_sync(provider)
    assert log == ["finally"]


def test_a_result_that_came_in_spite_of_the_interrupt_is_not_taken_for_an_answer(log):
    async def stubborn():
        try:
            time.sleep(60)  # noqa: ASYNC251
        except asyncio.CancelledError:
            log.append("swallowed")

    interrupt_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        run_sync(stubborn)
    assert log == ["swallowed"]


def test_an_awaited_run_is_interrupted_too_and_the_loop_lives_on(log):
    async def main():
        interrupt_after(0.2)
        with pytest.raises(KeyboardInterrupt):
            await await_interruptible(waiting(log)())
        await asyncio.sleep(0.01)
        return "alive"

    assert asyncio.run(main()) == "alive"
    assert log == ["finally"]


def test_an_inner_run_ends_as_a_cancellation_which_passes_through_the_loop():
    code = (
        "import asyncio, os, signal, threading\nfrom agentctx_nb.bridge import run_sync\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored where a shell started us behind it
        "async def inner():\n"
        "    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    await asyncio.sleep(60)\n"
        "async def outer():\n"
        "    try: run_sync(inner)\n"
        "    except BaseException as error: print(type(error).__name__); raise\n"
        "try: run_sync(outer)\n"
        "except KeyboardInterrupt: print('KeyboardInterrupt')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=30, check=True
    )
    assert done.stdout.split() == ["Interrupted", "KeyboardInterrupt"]


def test_a_thread_that_is_not_the_main_one_leaves_signals_alone():
    async def handler():
        return signal.getsignal(signal.SIGINT)

    seen = []
    thread = threading.Thread(target=lambda: seen.append(run_sync(handler)))
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]


def test_the_handler_of_the_process_is_back_after_a_run(log):
    async def handler():
        return signal.getsignal(signal.SIGINT)

    assert run_sync(handler) is not signal.getsignal(signal.SIGINT)


async def blocks():
    time.sleep(60)  # noqa: ASYNC251


async def blocks_in_a_child():
    await asyncio.gather(blocks(), asyncio.sleep(60))


async def blocks_later():
    await asyncio.sleep(0.01)
    time.sleep(60)  # noqa: ASYNC251


@pytest.mark.parametrize("ttl", [None, 60])
@pytest.mark.parametrize("get", [blocks, blocks_in_a_child, blocks_later])
def test_an_interrupt_is_no_failure_of_the_provider_it_stops(get, ttl, caplog):
    runtime = AgentRuntime()
    runtime.register_provider(Provider("BLOCKS", get, ttl=ttl))
    interrupt_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        runtime.compose("hi")
    assert not [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("get", [blocks, blocks_in_a_child, blocks_later])
def test_an_interrupt_waits_for_the_clean_up_of_the_others(get, log):
    async def waits():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            log.append("cleaned up")

    async def composes():
        try:
            return await runtime.compose_state("hi")
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    runtime = AgentRuntime()
    runtime.register_provider(Provider("WAITS", waits))
    runtime.register_provider(Provider("BLOCKS", get))
    interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        run_sync(composes)
    assert log == ["cleaned up", "cancelled"]
    assert run_sync(nothing)


def test_a_provider_that_cancels_itself_after_an_interrupted_run_has_failed_as_ever(log):
    async def cancels_itself():
        raise asyncio.CancelledError

    runtime = AgentRuntime()
    runtime.register_provider(Provider("BLOCKS", blocks))
    interrupt_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        runtime.compose("hi")
    runtime.register_provider(Provider("BLOCKS", cancels_itself))
    assert isinstance(runtime.compose("hi").errors["BLOCKS"], ProviderCancelledError)
