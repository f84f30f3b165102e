"""Deadlines: of one provider and of the whole call, opt-in, and what becomes of those they end."""

from __future__ import annotations

import asyncio
import pickle
import time

import pytest

from agentctx_nb import Provider, execution
from agentctx_nb.errors import DefinitionError, ProviderTimeoutError
from tests.core.bounded import FAR, bounded, hangs, holds, outcomes, quick, run, runtime_of, until


def test_a_deadline_of_its_own_ends_one_provider_and_no_other():
    async def finishes():
        await asyncio.sleep(0.1)
        return "finished"

    state = run(
        runtime_of(HANGS=(hangs, 0.03), A=quick, LONGER=finishes, ALSO=(hangs, 0.05), FREE=(quick, FAR))
    )
    assert state.text == "quick\nfinished\nquick"
    assert outcomes(state) == {
        "HANGS": "timed_out", "A": "ok", "LONGER": "ok", "ALSO": "timed_out", "FREE": "ok",
    }  # fmt: skip
    error = state.errors["ALSO"]
    assert isinstance(error, TimeoutError)
    assert (error.provider, error.seconds) == ("ALSO", 0.05)
    assert "deadline of 0.05 s" in state.report["ALSO"].error
    assert state.report["HANGS"].ms < 500 > state.report["ALSO"].ms  # each in its own time


def test_one_that_never_started_is_told_so():
    runtime = runtime_of(WEATHER=(hangs, None))
    runtime.register_provider(Provider("FACTS", quick, after=["WEATHER"]))
    state = run(runtime, timeout=0.03)
    errors = {name: str(error) for name, error in state.errors.items()}
    assert errors == {
        "WEATHER": "provider WEATHER was cancelled after its deadline of 0.03 s",
        "FACTS": "provider FACTS never started: the deadline of the composition, 0.03 s, passed first",
    }
    assert (state.errors["WEATHER"].started, state.errors["FACTS"].started) == (True, False)
    assert str(pickle.loads(pickle.dumps(state)).errors["FACTS"]) == errors["FACTS"]


def test_the_deadline_really_cancels_and_waits_for_the_clean_up():
    cleaned = []

    async def cleans():
        try:
            await asyncio.sleep(FAR)
        finally:
            await asyncio.sleep(0.01)
            cleaned.append(True)

    assert outcomes(run(runtime_of(CLEANS=(cleans, 0.02)))) == {"CLEANS": "timed_out"}
    assert cleaned == [True]


def test_a_timeout_error_of_its_own_is_a_failure_and_not_our_deadline():
    async def own():
        async with asyncio.timeout(0.01):
            await asyncio.sleep(FAR)

    async def raised():
        raise TimeoutError("the server said so")

    state = run(runtime_of(OWN=(own, FAR), RAISED=(raised, FAR)), timeout=FAR)
    assert outcomes(state) == {"OWN": "failed", "RAISED": "failed"}
    assert not any(isinstance(error, ProviderTimeoutError) for error in state.errors.values())


def test_what_comes_after_the_deadline_is_never_used():
    async def swallows():
        try:
            await asyncio.sleep(FAR)
        except asyncio.CancelledError:
            return {"text": "late", "values": {"late": 1}, "data": {"late": 1}}

    async def answers_with_an_error():
        try:
            await asyncio.sleep(FAR)
        except asyncio.CancelledError:
            raise ValueError("late too") from None

    state = run(runtime_of(A=(swallows, 0.02), B=(answers_with_an_error, 0.02), C=quick))
    assert state.text == "quick"
    assert outcomes(state) == {"A": "timed_out", "B": "timed_out", "C": "ok"}
    assert "late" not in state.values
    assert not state.data.providers["A"]["data"]
    assert isinstance(state.errors["B"].__cause__, ValueError)


def test_one_that_holds_the_loop_past_its_deadline_is_late_all_the_same():
    async def holds():
        time.sleep(0.05)  # noqa: ASYNC251  it holds the loop on purpose
        return "late"

    assert outcomes(run(runtime_of(HOLDS=(holds, 0.01), A=quick))) == {"HOLDS": "timed_out", "A": "ok"}


def stubborn(finish, log, *, ending=None):
    """Return a provider that ignores every cancellation until ``finish`` is set, and ends with ``ending``."""

    async def get():
        while not finish.is_set():
            try:
                await finish.wait()
            except asyncio.CancelledError:
                log.append("ignored")
        log.append("ended")
        if ending is not None:
            raise ending
        return {"text": "much too late", "values": {"late": 1}, "data": {"late": 1}}

    return get


@pytest.mark.parametrize("ending", [None, ValueError("much too late"), asyncio.CancelledError()])
@pytest.mark.parametrize("looked_at", ["before it ends", "after"])
def test_one_that_ignores_its_cancellation_is_left_behind(monkeypatch, ending, looked_at):
    monkeypatch.setattr(execution, "DEADLINE_GRACE_SECONDS", 0.05)

    async def main():
        finish, log = asyncio.Event(), []
        get = stubborn(finish, log, ending=ending)
        runtime = runtime_of(A=quick, IGNORES=(get, 0.02), B=quick)
        try:
            state = await bounded(runtime.compose_state("hello"))
            if looked_at == "before it ends":
                assert state.report["IGNORES"].blocked_ms is None  # nobody knows yet
        finally:
            finish.set()
        assert log == ["ignored"]
        await bounded(until(lambda: log[-1] == "ended"))
        await asyncio.sleep(0)
        assert state.text == "quick\nquick"
        row, entry = state.report["IGNORES"], state.data.providers["IGNORES"]
        assert (row.outcome, row.error) == (
            "timed_out",
            "ProviderTimeoutError: provider IGNORES was cancelled after its deadline of 0.02 s",
        )
        assert row.blocked_ms is None or row.blocked_ms < row.ms / 2
        assert isinstance(entry.error, ProviderTimeoutError)
        assert (entry.text, entry.values, entry["data"]) == ("", {}, {})
        return (await runtime.compose_state("hello", ["A"], True)).text

    assert asyncio.run(main()) == "quick"


def test_a_runtime_that_closes_ends_what_was_left_behind(monkeypatch):
    monkeypatch.setattr(execution, "DEADLINE_GRACE_SECONDS", 0.03)
    ended = []

    async def ignores_once_or_twice():
        for _ in range(2):
            try:
                await asyncio.sleep(FAR)
            except asyncio.CancelledError:
                ended.append("asked")
        ended.append("gave in")

    async def main():
        async with runtime_of(IGNORES=(ignores_once_or_twice, 0.02)) as runtime:
            await bounded(runtime.compose_state("hello"))
            assert ended == ["asked"]
        return list(ended), len(asyncio.all_tasks())

    assert asyncio.run(main()) == (["asked", "asked", "gave in"], 1)


def test_a_deadline_of_the_call_gives_a_state_in_which_the_unfinished_are_late():
    async def own():
        raise ValueError("mine")

    state = run(runtime_of(A=quick, HANGS=hangs, OWN=own, ALSO=hangs, B=quick), timeout=0.05)
    assert state.text == "quick\nquick"
    assert outcomes(state) == {
        "A": "ok",
        "HANGS": "timed_out",
        "OWN": "failed",
        "ALSO": "timed_out",
        "B": "ok",
    }
    assert state.errors["HANGS"].seconds == 0.05
    assert isinstance(state.errors["OWN"], ValueError)


def test_the_shorter_of_two_deadlines_counts():
    state = run(runtime_of(OWN=(hangs, 0.02), CALL=(hangs, FAR)), timeout=0.4)
    assert (state.errors["OWN"].seconds, state.errors["CALL"].seconds) == (0.02, 0.4)
    assert state.report["OWN"].ms < state.report["CALL"].ms / 2


def test_after_the_deadline_of_the_call_nothing_is_started_any_more():
    async def main():
        started = []

        async def holds():
            await asyncio.sleep(0)
            time.sleep(0.02)  # noqa: ASYNC251  past the deadline before the others have had a turn
            return "held"

        def hanging(number):
            async def get():
                started.append(number)
                await asyncio.sleep(FAR)

            return get

        runtime = runtime_of(A=hangs, HOLDS=holds, **{f"P{n}": hanging(n) for n in range(40)})
        state = await bounded(runtime.compose_state("hello", timeout=0.01), 5)
        count = len(started)
        await asyncio.sleep(0.01)
        assert len(started) == count
        assert len(asyncio.all_tasks()) <= 2  # this one and the one that bounds nothing any more
        return set(outcomes(state).values())

    assert asyncio.run(main()) == {"timed_out"}


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_deadline_that_is_none_is_rejected(timeout):
    with pytest.raises(ValueError, match="timeout must be more than 0 s"):
        run(runtime_of(A=quick), timeout=timeout)
    with pytest.raises(ValueError, match="timeout of provider X must be more than 0 s"):
        Provider("X", quick, timeout=timeout)


@pytest.mark.parametrize("timeout", ["1", True])
def test_a_deadline_of_the_wrong_type_is_rejected(timeout):
    with pytest.raises(TypeError, match="timeout"):
        run(runtime_of(A=quick), timeout=timeout)
    with pytest.raises(DefinitionError, match="timeout"):
        Provider("X", quick, timeout=timeout)


def test_a_deadline_may_be_infinite():
    async def waits():
        await asyncio.sleep(0)
        return "waited"

    assert run(runtime_of(A=quick, B=(waits, float("inf"))), timeout=float("inf")).text == "quick\nwaited"


@pytest.mark.parametrize("timeout", [1e-9, 1e-4])
@pytest.mark.parametrize("fails", [False, True])
def test_a_loop_whose_timers_do_not_tell_when_they_ring_will_do(timeout, fails):
    uvloop = pytest.importorskip("uvloop")

    async def waits():
        if fails:
            raise ValueError("broken")
        await asyncio.sleep(0)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        state = runner.run(bounded(runtime_of(waits=waits).compose_state("hi", timeout=timeout)))
    assert outcomes(state)["waits"] in ("timed_out", "failed" if fails else "empty")


@pytest.mark.parametrize(("own", "of_all"), [(0.02, None), (None, 0.02), (0.02, FAR)])
def test_one_that_held_the_event_loop_past_its_deadline_is_told_so(own, of_all):
    error = run(runtime_of(HOLDS=(holds, own)), timeout=of_all).errors["HOLDS"]
    assert 0.05 <= error.held < 10
    assert str(error).startswith(
        "provider HOLDS missed its deadline of 0.02 s: it held the event loop for 0."
    )
    assert (
        pickle.loads(pickle.dumps(run(runtime_of(HOLDS=(holds, own)), timeout=of_all))).errors["HOLDS"].held
    )


async def holds_and_hangs():
    await holds()
    await asyncio.sleep(FAR)


async def holds_in_steps():
    for _ in range(100):
        time.sleep(0.005)  # noqa: ASYNC251  short of the deadline each time
        await asyncio.sleep(0)


async def holds_in_its_clean_up():
    try:
        await asyncio.sleep(FAR)
    finally:
        await holds()


@pytest.mark.parametrize("get", [hangs, holds_and_hangs, holds_in_steps, holds_in_its_clean_up])
@pytest.mark.parametrize("of_all", [False, True])
def test_one_that_was_cancelled_in_time_is_not_told_that_it_held_the_loop(get, of_all):
    runtime = runtime_of(LATE=(get, None if of_all else 0.1))
    assert run(runtime, timeout=0.1 if of_all else None).errors["LATE"].held is None


def test_neither_is_one_that_was_quick_before():
    waits = []

    async def get():
        if waits:
            await asyncio.sleep(FAR)
        return "quick"

    runtime = runtime_of(A=get, B=get)
    for _ in range(3):
        run(runtime)
    waits.append(True)
    errors = run(runtime, timeout=0.05).errors
    assert {name: error.held for name, error in errors.items()} == {"A": None, "B": None}


def test_the_deadline_that_passed_first_is_named_however_long_the_clean_up_takes():
    async def cleans():
        try:
            await asyncio.sleep(FAR)
        finally:
            await asyncio.sleep(0.1)

    error = run(runtime_of(CLEANS=(cleans, 0.06)), timeout=0.02).errors["CLEANS"]
    assert error.seconds == 0.02
