"""Whatever mix of providers is run, and whenever it is cancelled, the rules of composition hold."""

from __future__ import annotations

import asyncio
import contextvars
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentctx_nb import AgentRuntime, Provider

FAR = 60
variable = contextvars.ContextVar("variable", default="clean")


class Log:
    """When providers have begun and ended, to see that none is left in the middle."""

    def __init__(self):
        self.events = []

    def names(self, kind):
        return sorted(name for event, name in self.events if event == kind)


async def instant():
    return "text"


async def yields():
    for _ in range(3):
        await asyncio.sleep(0)
    return "text"


async def sleeps():
    await asyncio.sleep(0.002)
    return "text"


async def says_nothing():
    await asyncio.sleep(0)


async def raises():
    raise ValueError("now")


async def raises_later():
    await asyncio.sleep(0.001)
    raise OSError("later")


async def is_nonsense():
    return {"txt": "x"}


async def cancels_itself():
    asyncio.current_task().cancel()
    return "lost"


async def cancels_itself_and_waits():
    asyncio.current_task().cancel()
    await asyncio.sleep(FAR)


async def awaits_the_cancelled():
    future = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(future.cancel)
    await future


async def sets_a_variable():
    assert variable.get() == "clean"
    variable.set("dirty")
    return "text"


async def sets_a_variable_and_waits():
    assert variable.get() == "clean"
    variable.set("dirty")
    await asyncio.sleep(0)
    assert variable.get() == "dirty"
    return "text"


async def has_a_timeout():
    assert variable.get() == "clean"
    try:
        async with asyncio.timeout(0.001):
            await asyncio.sleep(FAR)
    except TimeoutError:
        return "text"


async def has_a_group():
    async with asyncio.TaskGroup() as group:
        task = group.create_task(sleeps())
        group.create_task(yields())
    return task.result()


async def hangs():
    await asyncio.sleep(FAR)


async def hangs_and_answers_late():
    try:
        await asyncio.sleep(FAR)
    except asyncio.CancelledError:
        await asyncio.sleep(0)
        return "late"


def blocks():
    time.sleep(0.001)
    return "text"


def raises_in_a_thread():
    raise StopIteration


KINDS = {
    instant: "ok", yields: "ok", sleeps: "ok", says_nothing: "empty", raises: "failed", raises_later: "failed",
    is_nonsense: "failed", cancels_itself: "failed", cancels_itself_and_waits: "failed",
    awaits_the_cancelled: "failed", sets_a_variable: "ok", sets_a_variable_and_waits: "ok", has_a_timeout: "ok",
    has_a_group: "ok", hangs: "timed_out", hangs_and_answers_late: "timed_out", blocks: "ok",
    raises_in_a_thread: "failed",
}  # fmt: skip

# Mostly the plain kinds, as in life; what each waits for is a number of places further down the list.
kinds = st.one_of(st.just(instant), st.sampled_from([instant, yields, sleeps]), st.sampled_from(list(KINDS)))
waits = st.one_of(st.just(()), st.just(()), st.lists(st.integers(1, 12), max_size=3).map(tuple))
plans = st.lists(st.tuples(kinds, waits, st.booleans()), min_size=1, max_size=40)
steady = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def logged(get, name, log):
    if not asyncio.iscoroutinefunction(get):
        return get

    async def logs():
        log.events.append(("begin", name))
        try:
            return await get()
        finally:
            log.events.append(("end", name))

    return logs


def build(plan, log):
    runtime = AgentRuntime()
    for place, (get, after, keeps) in enumerate(plan):
        runtime.register_provider(
            Provider(
                f"P{place}",
                logged(get, f"P{place}", log),
                after=[f"P{place + step}" for step in after if place + step < len(plan)],
                timeout=0.004 if KINDS[get] == "timed_out" else None,
                ttl=FAR if keeps else None,
            )
        )
    return runtime


def on_a_quiet_loop(main):
    """Run ``main``; nothing may be left of it, and the loop may have nothing to complain about."""
    complaints = []

    async def watched():
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        await asyncio.wait_for(main(), 30)
        await asyncio.sleep(0)
        assert asyncio.current_task().cancelling() == 0
        return asyncio.all_tasks() - {asyncio.current_task()}

    left = asyncio.run(watched())
    assert not left
    assert not complaints


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level("CRITICAL", logger="agentctx_nb")


def check(state, plan, log, allowed=()):
    names = [f"P{place}" for place in range(len(plan))]
    assert state.data.provider_order == names
    assert [row.provider for row in state.report] == names
    texts = []
    for (get, _, _), row in zip(plan, state.report, strict=True):
        expected = {KINDS[get], *allowed}
        assert row.outcome in expected or (row.outcome == "cached" and KINDS[get] in ("ok", "empty"))
        texts += ["text"] if row.outcome in ("ok", "cached") and KINDS[get] == "ok" else []
        assert (row.provider in state.errors) == (row.outcome in ("failed", "timed_out"))
    assert state.text == "\n".join(texts)
    assert log.names("begin") == log.names("end")
    assert variable.get() == "clean"


def check_waiting(plan, log):
    """Nobody may have begun before those it waits for had ended."""
    at = {event: place for place, event in enumerate(log.events)}
    for place, (_, after, _) in enumerate(plan):
        begun = at.get(("begin", f"P{place}"))
        for needed in (f"P{place + step}" for step in after):
            ended = at.get(("end", needed))
            assert begun is None or ended is None or ended < begun


@steady
@given(plan=plans)
def test_every_provider_has_the_one_outcome_that_is_its_own(plan):
    log = Log()

    async def main():
        runtime = build(plan, log)
        for _ in range(3):  # the first time nobody is known, later some are as quick or as slow as before
            log.events.clear()
            check(await runtime.compose_state("hello"), plan, log)
            check_waiting(plan, log)

    on_a_quiet_loop(main)


@steady
@given(plan=plans, timeout=st.floats(0.0005, 0.01))
def test_with_a_deadline_of_the_call_each_has_its_own_outcome_or_is_late(plan, timeout):
    log = Log()

    async def main():
        runtime = build(plan, log)
        for _ in range(2):
            check(await runtime.compose_state("hello", timeout=timeout), plan, log, allowed=("timed_out",))

    on_a_quiet_loop(main)


@steady
@given(plan=plans, turns=st.integers(0, 12), pause=st.sampled_from([0, 0, 0.001, 0.003]), warm=st.booleans())
def test_cancelled_at_any_time_nothing_is_left_behind(plan, turns, pause, warm):
    log = Log()

    async def main():
        runtime = build(plan, log)
        if warm:
            await runtime.compose_state("hello")
        before = asyncio.all_tasks()
        task = asyncio.create_task(runtime.compose_state("hello"))
        for _ in range(turns):
            await asyncio.sleep(0)
        await asyncio.sleep(pause)
        task.cancel()
        await asyncio.wait([task])
        assert len(asyncio.all_tasks() - before) == 0
        assert log.names("begin") == log.names("end")
        if not task.cancelled():
            check(task.result(), plan, log)
        check(await runtime.compose_state("hello"), plan, log)

    on_a_quiet_loop(main)


@steady
@given(plan=plans, leavers=st.lists(st.integers(0, 6), min_size=1, max_size=5))
def test_many_calls_at_once_some_of_them_cancelled_do_not_hurt_each_other(plan, leavers):
    log = Log()

    async def main():
        runtime = build(plan, log)
        staying = [asyncio.create_task(runtime.compose_state("hello")) for _ in range(2)]
        leaving = [asyncio.create_task(runtime.compose_state("hello")) for _ in leavers]
        for turns, task in zip(leavers, leaving, strict=True):
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
        await asyncio.wait(leaving)
        states = await asyncio.gather(*staying)
        for state in states:
            check(state, plan, log)

    on_a_quiet_loop(main)
