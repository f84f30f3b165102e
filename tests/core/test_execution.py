"""How providers run beside each other: together, each failing alone, ended when asked to."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import time

import pytest

from agentctx_nb.errors import ProviderCancelledError
from tests.core.bounded import bounded, quick, runtime_of

FAR = 60  # seconds nobody waits for: what reaches it fails by the bound of its test
variable = contextvars.ContextVar("variable", default="clean")


def run(runtime, **options):
    return asyncio.run(bounded(runtime.compose_state("hello", **options)))


# Concurrency ------------------------------------------------------------------------------


def meeting(count):
    """Return a provider that ends only when ``count`` runs of it have come together."""
    here = []
    all_here = asyncio.Event()

    async def get():
        here.append(None)
        if len(here) == count:
            all_here.set()
        await all_here.wait()
        return "met"

    return get


@pytest.mark.parametrize("count", [2, 40, 300])
def test_all_that_wait_wait_together(count):
    async def main():
        get = meeting(count)
        runtime = runtime_of(**{f"P{n}": get for n in range(count)})
        return await bounded(runtime.compose_state("hello"))

    assert asyncio.run(main()).text == "\n".join(["met"] * count)


def test_one_that_waits_holds_back_none_behind_it_whatever_mix_they_are():
    async def main():
        get = meeting(20)

        async def twice():
            await asyncio.sleep(0)
            return await get()

        kinds = [quick, get, quick, quick, twice]
        gets = {f"P{n}": kinds[n % 5] for n in range(50)}
        return await bounded(runtime_of(**gets).compose_state("hello"))

    assert asyncio.run(main()).text.split("\n") == ["quick", "met", "quick", "quick", "met"] * 10


def test_a_thousand_providers_keep_their_order():
    def numbered(number):
        async def get():
            if number % 7 == 0:
                await asyncio.sleep(0)
            return str(number)

        return get

    state = run(runtime_of(**{f"P{n}": numbered(n) for n in range(1000)}))
    assert state.text.split("\n") == [str(n) for n in range(1000)]


def test_providers_may_be_quick_now_and_slow_then():
    """Those known as quick are run bare; one that suspends all the same must hold back nobody."""
    pace = {}

    def changing(name):
        async def get():
            if pace.get(name):
                await pace[name]()
            return name

        return get

    async def main():
        names = [f"P{n}" for n in range(12)]
        runtime = runtime_of(**{name: changing(name) for name in names})
        text = "\n".join(names)
        for slow in (
            [],
            [],
            ["P0"],
            ["P11"],
            [],
            [],
            ["P3", "P4", "P11"],
            names,
            [],
            [],
            ["P5"],
            ["P5"],
            [],
            [],
        ):
            pace.clear()
            pace.update(dict.fromkeys(slow, meeting(len(slow))))
            state = await bounded(runtime.compose_state("hello"))
            assert state.text == text
            assert {row.outcome for row in state.report} == {"ok"}

    asyncio.run(main())


@pytest.mark.parametrize("warm_up", [0, 3])
@pytest.mark.parametrize("first", ["HOLDS", "WAITS"])
def test_the_report_tells_who_held_the_loop_and_who_only_waited(warm_up, first):
    block = []

    async def holds():
        if block:
            time.sleep(0.06)  # noqa: ASYNC251  it holds the loop on purpose
        return "held"

    async def waits():
        if block:
            await asyncio.sleep(0.12)
        return "waited"

    async def main():
        gets = {"HOLDS": holds, "WAITS": waits}
        runtime = runtime_of(**{first: gets.pop(first)}, **gets)
        for _ in range(warm_up):
            await runtime.compose_state("hello")
        block.append(True)
        return (await runtime.compose_state("hello")).report

    report = asyncio.run(main())
    assert report["HOLDS"].blocked_ms >= 55
    assert report["WAITS"].ms >= 100
    assert report["WAITS"].blocked_ms is None or report["WAITS"].blocked_ms < report["WAITS"].ms / 2


# Isolation --------------------------------------------------------------------------------


async def raises_at_once():
    raise ValueError("now")


async def raises_later():
    await asyncio.sleep(0)
    raise KeyError("later")


async def stops_iterating():
    next(iter(()))


async def exits_a_group():
    raise ExceptionGroup("many", [ValueError("a"), OSError("b")])


@pytest.mark.parametrize("broken", [raises_at_once, raises_later, stops_iterating, exits_a_group])
@pytest.mark.parametrize("rounds", [1, 3])
def test_a_failed_provider_does_not_hurt_the_others(broken, rounds):
    async def waits():
        await asyncio.sleep(0.001)
        return "waited"

    runtime = runtime_of(A=quick, BROKEN=broken, B=waits, BROKEN_TOO=broken, C=quick)
    for _ in range(rounds):
        state = run(runtime)
        assert state.text == "quick\nwaited\nquick"
        assert list(state.errors) == ["BROKEN", "BROKEN_TOO"]
        assert state.report["BROKEN"].outcome == "failed"


async def awaits_what_was_cancelled():
    future = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


async def raises_cancelled():
    raise asyncio.CancelledError


async def cancels_its_task_and_waits():
    asyncio.current_task().cancel()
    await asyncio.sleep(FAR)


async def cancels_its_task_and_returns():
    asyncio.current_task().cancel()
    return {"text": "mine", "values": {"mine": 1}, "data": {"mine": 1}}


async def waits_and_cancels_its_task():
    await asyncio.sleep(0)
    asyncio.current_task().cancel()
    return "mine"


@pytest.mark.parametrize(
    "cancels",
    [
        awaits_what_was_cancelled,
        raises_cancelled,
        cancels_its_task_and_waits,
        cancels_its_task_and_returns,
        waits_and_cancels_its_task,
    ],
)
@pytest.mark.parametrize("rounds", [1, 3])
def test_one_that_cancels_itself_has_failed_and_cancels_nobody_else(cancels, rounds):
    async def waits():
        await asyncio.sleep(0.001)
        return "waited"

    async def main():
        runtime = runtime_of(A=waits, CANCELS=cancels, B=waits, C=quick)
        for _ in range(rounds):
            state = await bounded(runtime.compose_state("hello"))
            await asyncio.sleep(0)
            assert asyncio.current_task().cancelling() == 0
            assert state.text == "waited\nwaited\nquick"
            assert "mine" not in state.values
            assert list(state.errors) == ["CANCELS"]
            assert isinstance(state.errors["CANCELS"], ProviderCancelledError)
            entry = state.data.providers["CANCELS"]
            assert (entry.outcome, entry.text, entry.values, entry["data"]) == ("failed", "", {}, {})

    asyncio.run(main())


@pytest.mark.parametrize("stop", [SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("suspends", [False, True])
def test_an_exit_or_interrupt_passes_through_and_ends_the_others_first(stop, suspends):
    cleaned = []

    async def leaves():
        if suspends:
            await asyncio.sleep(0)
        raise stop

    async def waits():
        try:
            await asyncio.sleep(FAR)
        finally:
            await asyncio.sleep(0)
            cleaned.append("cleaned")

    async def main():
        runtime = runtime_of(A=waits, B=quick, LEAVES=leaves, C=waits)
        try:
            await runtime.compose_state("hello")
        except stop:
            left = len(asyncio.all_tasks())
            runtime.unregister_provider("LEAVES")
            runtime.unregister_provider("A")
            runtime.unregister_provider("C")
            return cleaned, left, (await runtime.compose_state("hello")).text
        return None

    cleaned, left, text = asyncio.run(bounded(main()))
    assert cleaned in (["cleaned"], ["cleaned", "cleaned"])  # one behind it may not have started
    assert left == 1
    assert text == "quick"


# Context variables ------------------------------------------------------------------------


def test_context_variables_of_the_caller_are_seen_and_never_leak():
    seen = []

    async def reads():
        seen.append(variable.get())

    async def writes():
        variable.set("dirty")

    async def writes_and_waits():
        variable.set("dirty")
        await asyncio.sleep(0)
        assert variable.get() == "dirty"

    async def main():
        runtime = runtime_of(
            A=reads, B=writes, C=reads, D=writes_and_waits, E=reads, F=writes, G=writes, H=reads
        )
        for caller in ("one", "two", "three"):
            variable.set(caller)
            seen.clear()
            state = await runtime.compose_state("hello")
            assert not state.errors
            assert seen == [caller] * 4
            assert variable.get() == caller

    asyncio.run(main())


def test_a_variable_whose_values_cannot_be_compared_does_no_harm():
    class Array:
        def __eq__(self, other):
            raise ValueError("the truth value of an array is ambiguous")

        __hash__ = None

    async def writes():
        variable.set(Array())
        return "wrote"

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        variable.set(Array())
        state = await bounded(runtime_of(A=writes, B=quick, C=writes, D=quick).compose_state("hello"))
        gc.collect()  # a task that died of it would be complained of now
        return state.text

    complaints = []
    assert asyncio.run(main()) == "wrote\nquick\nwrote\nquick"
    assert not complaints
