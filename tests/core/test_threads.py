"""Plain functions as providers: off the loop, beside each other, and holding nobody back."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import gc
import os
import subprocess
import sys
import threading
import time
import traceback
import weakref
from pathlib import Path

import pytest

from agentctx_nb import AgentRuntime, Provider
from agentctx_nb.errors import ProviderCancelledError
from tests.core.bounded import bounded, runtime_of, until

ROOT = Path(__file__).parents[2]
variable = contextvars.ContextVar("variable", default="clean")


def run(runtime, *args, **options):
    return asyncio.run(bounded(runtime.compose_state("hello", *args, **options)))


def test_a_def_runs_in_a_thread_other_than_the_loops():
    seen = []
    state = run(runtime_of(A=lambda: seen.append(threading.current_thread()) or "a"))
    assert state.text == "a"
    assert seen[0] is not threading.main_thread()


@pytest.mark.parametrize("count", [2, 60])
def test_defs_block_beside_each_other_as_many_as_there_are(count):
    barrier = threading.Barrier(count)

    def meets():
        barrier.wait(timeout=15)
        return "met"

    assert run(runtime_of(**{f"P{n}": meets for n in range(count)})).text.count("met") == count


def test_a_blocking_def_holds_nobody_back():
    go = threading.Event()

    async def later():
        await asyncio.sleep(0)
        go.set()
        return "later"

    state = run(runtime_of(BLOCKS=lambda: f"released {go.wait(15)}", LATER=later))
    assert state.text == "released True\nlater"
    assert state.report["BLOCKS"].blocked_ms is None or state.report["BLOCKS"].blocked_ms < 1000


def test_threads_are_used_again():
    seen = set()
    runtime = runtime_of(A=lambda: seen.add(threading.get_ident()))
    for _ in range(30):
        run(runtime)
    assert len(seen) < 10


def test_context_variables_are_seen_and_do_not_leak():
    async def main():
        variable.set("caller's")
        runtime = runtime_of(
            A=lambda *_: variable.get(), B=lambda: variable.set("dirty") and "b", C=lambda *_: variable.get()
        )
        for _ in range(3):
            state = await runtime.compose_state("hello")
            assert state.text == "caller's\nb\ncaller's"
            assert variable.get() == "caller's"

    asyncio.run(main())


class Asks:
    async def __call__(self, runtime, message):
        await asyncio.sleep(0)
        return message.content.text

    async def method(self, runtime, message, state):
        return message.content.text


async def with_more(prefix, runtime, message):
    return prefix + message.content.text


FORMS = {
    "lambda": (lambda runtime, message: message.content.text, "hello"),
    "all arguments": (lambda *given: str(len(given)), "3"),
    "no arguments": (lambda: "none", "none"),
    "more with defaults": (lambda runtime, message, state, more="kept": more, "kept"),
    "async callable": (Asks(), "hello"),
    "async method": (Asks().method, "hello"),
    "partial of async": (functools.partial(with_more, "oh "), "oh hello"),
    "awaitable of a def": (lambda runtime, message: with_more("well ", runtime, message), "well hello"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_get_may_be_written_in_many_ways(form):
    get, text = FORMS[form]
    for _ in range(2):
        assert run(runtime_of(X=get)).text == text


def test_the_awaitable_a_def_returns_is_awaited_on_the_loop():
    seen = []

    async def inner():
        seen.append(threading.current_thread())
        await asyncio.sleep(0)
        return "inner"

    assert run(runtime_of(OUTER=lambda: inner())).text == "inner"  # noqa: PLW0108  a def that returns it
    assert seen == [threading.main_thread()]


def raise_(error):
    raise error


def test_an_error_is_the_defs_own_with_its_traceback():
    def broken():
        raise ValueError("no weather")

    state = run(runtime_of(BROKEN=broken, A=lambda: "a"))
    assert state.text == "a"
    frames = traceback.extract_tb(state.errors["BROKEN"].__traceback__)
    assert frames[-1].name == "broken"


@pytest.mark.parametrize("error", [StopIteration, StopAsyncIteration, TimeoutError, MemoryError])
def test_any_exception_is_a_failure(error):
    state = run(runtime_of(BROKEN=lambda: raise_(error()), A=lambda: "a"))
    assert (state.text, list(state.errors)) == ("a", ["BROKEN"])
    assert state.report["BROKEN"].outcome == "failed"


def test_a_cancelled_error_out_of_a_thread_is_a_failure():
    state = run(runtime_of(BROKEN=lambda: raise_(asyncio.CancelledError()), A=lambda: "a"))
    assert state.text == "a"
    assert isinstance(state.errors["BROKEN"], ProviderCancelledError)


@pytest.mark.parametrize("leave", [SystemExit, KeyboardInterrupt])
def test_an_exit_or_interrupt_reaches_the_caller(leave):
    async def main():
        runtime = runtime_of(LEAVES=lambda: raise_(leave()), A=lambda: "a")
        with pytest.raises(leave):
            await bounded(runtime.compose_state("hello"))
        return (await runtime.compose_state("hello", ["A"], True)).text

    assert asyncio.run(main()) == "a"


def test_a_cancelled_call_does_not_wait_for_the_thread_and_drops_what_comes():
    async def main():
        started, release, ended = threading.Event(), threading.Event(), threading.Event()

        def blocks():
            started.set()
            release.wait(15)
            ended.set()
            return "late"

        runtime = runtime_of(BLOCKS=blocks, A=lambda: "a")
        task = asyncio.create_task(runtime.compose_state("hello"))
        await bounded(until(started.is_set))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bounded(task)
        assert not ended.is_set()
        release.set()
        await bounded(until(ended.is_set))
        await asyncio.sleep(0.01)
        return (await runtime.compose_state("hello", ["A"], True)).text

    async def watched():
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        return await main()

    complaints = []
    assert asyncio.run(watched()) == "a"
    assert not complaints


def test_a_deadline_does_not_wait_for_the_thread():
    release = threading.Event()
    runtime = AgentRuntime()
    runtime.register_provider(Provider("BLOCKS", lambda: f"late {release.wait(15)}", timeout=0.03))
    runtime.register_provider(Provider("A", lambda: "a"))
    start = time.monotonic()
    state = run(runtime)
    assert time.monotonic() - start < 5
    release.set()
    assert (state.text, state.report["BLOCKS"].outcome) == ("a", "timed_out")


def test_a_process_ends_though_a_def_never_returns():
    code = (
        "import asyncio, threading\n"
        "from agentctx_nb import AgentRuntime, Provider\n"
        "runtime = AgentRuntime()\n"
        "runtime.register_provider(Provider('NEVER', lambda: threading.Event().wait(), timeout=0.05))\n"
        "print(asyncio.run(runtime.compose_state('hello')).report['NEVER'].outcome)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=20, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stdout) == (0, "timed_out\n"), done.stderr
    assert "Exception" not in done.stderr
    assert "Task was destroyed" not in done.stderr


def test_a_forked_child_starts_threads_of_its_own():
    code = (
        "import os, sys, warnings\nwarnings.simplefilter('ignore')\n"
        "from agentctx_nb import AgentRuntime, Provider\n"
        "runtime = AgentRuntime()\n"
        "runtime.register_provider(Provider('DEF', lambda: 'done'))\n"
        "assert runtime.compose('hello').text == 'done'\n"
        "child = os.fork()\n"
        "text = runtime.compose('hello', timeout=5).text\n"
        "if not child: os._exit(0 if text == 'done' else 1)\n"
        "print(os.waitpid(child, 0)[1], text)"
    )
    if hasattr(os, "fork"):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, cwd=ROOT, check=False
        )
        assert done.stdout.split() == ["0", "done"], done.stderr


def test_an_idle_thread_holds_no_runtime():
    class Big:
        """What a provider holds on to."""

    def holding(big):
        return lambda: "done" if big else ""

    def composed():
        big = Big()
        runtime = runtime_of(HOLDS=holding(big))

        async def text():  # and not the state: an asyncio.run that was patched keeps what it returned
            return (await runtime.compose_state("hello")).text

        assert asyncio.run(bounded(text())) == "done"
        return weakref.ref(big), weakref.ref(runtime)

    big, runtime = composed()
    deadline = time.monotonic() + 5
    while (big() or runtime()) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert (big(), runtime()) == (None, None)
