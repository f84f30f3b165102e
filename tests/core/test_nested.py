"""Providers that compose in their turn: others, which works, or themselves, which is an error at once."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agentctx_nb import AgentRuntime, Provider
from agentctx_nb.errors import CompositionRecursionError
from tests.core.bounded import bounded, runtime_of, until

ROOT = Path(__file__).parents[2]
variable = contextvars.ContextVar("variable", default="clean")


def run(runtime, *args, **options):
    return asyncio.run(bounded(runtime.compose_state("hello", *args, **options)))


def test_a_def_may_compose_others_with_the_synchronous_door():
    async def leaf(runtime, message):
        await asyncio.sleep(0)
        return {"text": f"leaf {variable.get()} {message.content.text}", "values": {"leaf": 1}}

    def middle(runtime, message):
        variable.set("middle's")
        return runtime.compose(message, ["LEAF"], True).text

    def top(runtime, message):
        return runtime.compose(message, ["MIDDLE"], True).text

    runtime = runtime_of(TOP=top)
    for name, get in {"MIDDLE": middle, "LEAF": leaf}.items():
        runtime.register_provider(Provider(name, get, dynamic=True))
    assert run(runtime).text == "leaf middle's hello"
    assert runtime.compose("hello").text == "leaf middle's hello"


def test_many_defs_may_compose_at_once():
    runtime = runtime_of(
        **{f"P{n}": lambda runtime, message: runtime.compose(message, ["LEAF"], True).text for n in range(30)}
    )
    runtime.register_provider(Provider("LEAF", lambda: "leaf", dynamic=True))
    assert run(runtime).text.split("\n") == ["leaf"] * 30


@pytest.mark.parametrize("end", ["cancel", "deadline"])
def test_a_composition_inside_a_def_ends_with_the_one_around_it(end):
    async def main():
        log = []

        async def inner():
            log.append("started")
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0)
                log.append("ended")

        runtime = AgentRuntime()
        runtime.register_provider(
            Provider(
                "OUTER",
                lambda runtime, message: runtime.compose(message, ["INNER"], True).text,
                timeout=0.1 if end == "deadline" else None,
            )
        )
        runtime.register_provider(Provider("INNER", inner, dynamic=True))
        task = asyncio.create_task(runtime.compose_state("hello"))
        await bounded(until(lambda: log))
        if end == "cancel":
            task.cancel()
        await bounded(asyncio.wait([task]))
        assert log == ["started", "ended"]
        assert task.cancelled() if end == "cancel" else task.result().report["OUTER"].outcome == "timed_out"

    asyncio.run(main())


def test_a_thread_nobody_waits_for_any_more_starts_no_composition():
    async def main():
        started, release, log = threading.Event(), threading.Event(), []

        def outer(runtime, message):
            started.set()
            release.wait(15)
            try:
                runtime.compose(message, ["INNER"], True)
            except BaseException as error:
                log.append(type(error).__name__)
                raise

        runtime = runtime_of(OUTER=outer)
        runtime.register_provider(Provider("INNER", lambda: log.append("inner"), dynamic=True))
        task = asyncio.create_task(runtime.compose_state("hello"))
        await bounded(until(started.is_set))
        task.cancel()
        await bounded(asyncio.wait([task]))
        release.set()
        await bounded(until(lambda: log))
        return log

    assert asyncio.run(main()) == ["CancelledError"]


def prints(code):
    """Return what ``code`` prints in a fresh interpreter, since nesting patches asyncio for good."""
    done = subprocess.run(
        [sys.executable, "-c", NESTED + code],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


NESTED = """
import asyncio
from agentctx_nb import AgentRuntime, Provider

async def leaf():
    await asyncio.sleep(0.1)
    return "leaf"

async def outer(runtime, message):
    return runtime.compose(message, ["LEAF"], True).text

async def loops(runtime, message):
    return runtime.compose(message).text

async def waits():
    await asyncio.sleep(0.001)
    return "waited"

async def main(*providers):
    runtime = AgentRuntime()
    for provider in (Provider("LEAF", leaf, dynamic=True), *providers):
        runtime.register_provider(provider)
    for _ in range(3):
        state = await asyncio.wait_for(runtime.compose_state("hello"), 10)
        print(state.text.split(), {name: type(error).__name__ for name, error in state.errors.items()})
"""


def test_an_async_provider_may_use_the_synchronous_door_too():
    code = "asyncio.run(main(Provider('A', outer), Provider('B', outer), Provider('LOOPS', loops), Provider('C', waits)))"
    assert prints(code) == ["['leaf', 'leaf', 'waited'] {'LOOPS': 'CompositionRecursionError'}"] * 3


def test_a_deadline_that_passes_while_a_provider_nests_is_its_own_and_nobody_elses():
    code = "asyncio.run(main(Provider('A', outer, timeout=0.03), Provider('B', waits), Provider('C', waits)))"
    assert prints(code) == ["['waited', 'waited'] {'A': 'ProviderTimeoutError'}"] * 3


QUICK = """
late = []

async def nothing():
    pass

async def first():
    await (asyncio.sleep(0.005) if late and {waits} else nothing())
    return "first"

async def nests(runtime, message):
    return runtime.compose(message, ["LEAF"], True).text if late else "nested"

async def changes():
    await (asyncio.sleep(60) if late else nothing())
    return "quick"

async def changing():
    runtime = AgentRuntime()
    for provider in (
        Provider("LEAF", leaf, dynamic=True), Provider("FIRST", first), Provider("NESTS", nests),
        Provider("CHANGES", changes, timeout=0.3),
    ):
        runtime.register_provider(provider)
    for _ in range(3):
        await runtime.compose_state("hello")
    late.append(True)
    state = await asyncio.wait_for(runtime.compose_state("hello"), 10)
    print(state.text.split(), *state.errors.values())
"""


@pytest.mark.parametrize("waits", [False, True])
def test_where_loops_nest_the_deadline_of_one_known_as_quick_is_kept_too(waits):
    said = "['first', 'leaf'] provider CHANGES was cancelled after its deadline of 0.3 s"
    assert prints(QUICK.replace("{waits}", str(waits)) + "asyncio.run(changing())") == [said]


async def awaits_itself(runtime, message):
    return (await runtime.compose_state(message)).text


def composes_itself(runtime, message):
    return runtime.compose(message).text


async def composes_itself_in_a_task(runtime, message):
    return (await asyncio.create_task(runtime.compose_state(message))).text


@pytest.mark.parametrize("get", [awaits_itself, composes_itself, composes_itself_in_a_task])
@pytest.mark.parametrize("ttl", [None, 60])
def test_one_that_composes_itself_is_an_error_at_once(get, ttl):
    calls = []

    @functools.wraps(get)
    def counted(runtime, message):
        calls.append(None)
        return get(runtime, message)

    runtime = runtime_of(A=lambda: "a")
    runtime.register_provider(Provider("LOOPS", counted, ttl=ttl))
    state = run(runtime)
    assert state.text == "a"
    assert len(calls) == 1
    error = state.errors["LOOPS"]
    assert isinstance(error, CompositionRecursionError)
    assert isinstance(error, RecursionError)
    assert str(error).startswith("provider LOOPS composes itself: LOOPS → LOOPS; ")


@pytest.mark.parametrize("names", ["ABC", "ABCDEFGHIJ"])
def test_a_ring_of_providers_is_an_error_that_shows_the_ring(names):
    def composes(other, *, blocking):
        def by_the_synchronous_door(runtime, message):
            return runtime.compose(message, [other], True, strict=True).text

        async def awaiting(runtime, message):
            return (await runtime.compose_state(message, [other], True, strict=True)).text

        return by_the_synchronous_door if blocking else awaiting

    runtime = AgentRuntime()
    for place, name in enumerate(names):
        other = names[(place + 1) % len(names)]
        runtime.register_provider(Provider(name, composes(other, blocking=place % 2 == 0), dynamic=True))
    state = run(runtime, [names[0]])
    assert " → ".join((*names, names[0])) in leaf_of(state.errors[names[0]])


def leaf_of(error):
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return str(error)


def test_another_runtime_may_have_a_provider_of_the_same_name():
    inner = runtime_of(SAME=lambda: "inner")
    outer = runtime_of(SAME=lambda: inner.compose("hello").text)
    assert run(outer).text == "inner"


def test_the_same_provider_may_be_composed_again_once_it_has_ended():
    runtime = runtime_of(FIRST=lambda: "first")
    runtime.register_provider(
        Provider(
            "SECOND", lambda runtime, message: runtime.compose(message, ["FIRST"], True).text, after=["FIRST"]
        )
    )
    assert run(runtime).text == "first\nfirst"


@pytest.mark.parametrize("what", ["B", "A"])
def test_a_task_that_a_provider_leaves_behind_may_compose_one_that_runs_meanwhile(what):
    left = []

    async def a(runtime):
        async def background():
            await asyncio.sleep(0.01)
            return await runtime.compose_state("hello", [what], True)

        if not left or left[-1].done():
            left.append(asyncio.create_task(background()))
        return "a"

    async def b():
        await asyncio.sleep(0.05)
        return "b"

    async def main():
        runtime = runtime_of(A=a, B=b)
        for _ in range(3):  # in the first run nobody knows yet that A is quick
            assert (await runtime.compose_state("hello")).text == "a\nb"
            assert (await left[-1]).text == what.lower()

    asyncio.run(bounded(main()))


@pytest.mark.parametrize("options", [{}, {"timeout": 5}, {"ttl": 60}, {"ttl": 60, "timeout": 5}])
@pytest.mark.parametrize("turns", [0, 1, 3])
def test_a_task_left_behind_may_compose_its_provider_at_once(options, turns):
    left = []

    async def leaves(runtime):
        async def later():
            for _ in range(turns):
                await asyncio.sleep(0)
            return await runtime.compose_state("later")

        if not left:
            left.append(asyncio.create_task(later()))
        return "x"

    async def main():
        runtime = AgentRuntime()
        runtime.register_provider(Provider("X", leaves, **options))
        assert (await runtime.compose_state("hi")).text == "x"
        assert (await left[0]).text == "x"

    asyncio.run(bounded(main()))


async def awaits_itself_when_asked(runtime, message):
    return (await runtime.compose_state(message)).text


async def composes_itself_when_asked(runtime, message):
    return runtime.compose(message).text


async def composes_itself_in_a_task_when_asked(runtime, message):
    return (await asyncio.create_task(runtime.compose_state(message))).text


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("ttl", [None, 60])
@pytest.mark.parametrize(
    "get", [awaits_itself_when_asked, composes_itself_when_asked, composes_itself_in_a_task_when_asked]
)
def test_one_known_as_quick_that_composes_itself_after_all_is_an_error(get, ttl, before):
    # A task says by its context only which driver started it. Where that has served others before, one of them may have
    # left the task behind, so it may compose the provider a second time, which then is an error inside.
    code = (
        "import asyncio, sys; sys.path.insert(0, 'tests/core')\n"
        "from agentctx_nb import AgentRuntime, Provider\n"
        f"from test_nested import {get.__name__} as get\n"
        "calls = []\n"
        "async def maybe(runtime, message):\n"
        "    calls.append(message.content.text)\n"
        "    return 'quick' if message.content.text == 'quick' else await get(runtime, message)\n"
        "async def main():\n"
        "    runtime = AgentRuntime()\n"
        f"    for _ in range({before}): runtime.register_provider(Provider('QUICK', lambda: 'quick'))\n"
        f"    runtime.register_provider(Provider('LOOPS', maybe, ttl={ttl}))\n"
        "    for text in ('quick', 'quick', 'loop'):\n"
        "        await asyncio.wait_for(runtime.compose_state(text), 10)\n"
        f"    assert calls.count('loop') <= 1 + {before}, calls\n"
        "asyncio.run(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "provider LOOPS composes itself: LOOPS → LOOPS" in done.stderr


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("others", [0, 1])
def test_a_task_left_behind_by_an_inner_composition_is_still_inside_of_the_provider_that_waits_for_it(
    waits, others
):
    runtime, inner, left, depth = AgentRuntime(), AgentRuntime("inner"), [], []

    async def later():
        await asyncio.sleep(0.001)
        return await runtime.compose_state("again", strict=True)

    for number in range(others):
        inner.register_provider(Provider(f"OTHER_{number}", lambda: "other"))

    @inner.provider("LEAVES")
    async def leaves():
        if waits:
            await asyncio.sleep(0)
        left.append(asyncio.create_task(later()))

    @runtime.provider("P")
    async def p():
        depth.append(1)
        await inner.compose_state("x")
        return (await left[-1]).text

    state = run(runtime)
    assert isinstance(state.errors["P"], CompositionRecursionError)
    assert len(depth) == 1
