"""Providers that wait for others and see what those gave."""

from __future__ import annotations

import asyncio
import logging
import pickle

import pytest

from agentctx_nb import AgentRuntime, Provider, execution
from agentctx_nb.errors import CycleError, DefinitionError, ProviderTimeoutError
from agentctx_nb.render.views import state_page
from tests.core.bounded import bounded

FAR = 60


def run(runtime, *args, **options):
    return asyncio.run(bounded(runtime.compose_state("hello", *args, **options)))


def gives(result, *, turns=0):
    async def get():
        for _ in range(turns):
            await asyncio.sleep(0)
        return result

    return get


def look(name):
    """Return a provider that tells how it sees the provider ``name``."""

    async def get(runtime, message, state):
        entry = state.data.providers.get(name)
        if entry is None:
            seen = (name in state.data.providers, state.data.providers.NO.data.x == None)  # noqa: E711
        else:
            seen = (
                entry.outcome,
                entry.text,
                dict(entry.values),
                dict(entry["data"]),
                type(entry.error).__name__,
            )
        return {"values": {"seen": seen}}

    return get


@pytest.mark.parametrize("turns", [0, 1, 3])
@pytest.mark.parametrize("rounds", [1, 3])
def test_it_waits_for_the_one_it_names_and_sees_what_that_gave(turns, rounds):
    runtime = AgentRuntime()
    given = {"text": "sun", "values": {"sky": "blue"}, "data": {"rows": [1]}}
    runtime.register_provider(Provider("LOOKS", look("WEATHER"), after=["WEATHER"], position=-1))
    runtime.register_provider(Provider("WEATHER", gives(given, turns=turns)))
    for _ in range(rounds):
        state = run(runtime)
        assert state.values["seen"] == ("ok", "sun", {"sky": "blue"}, {"rows": [1]}, "NoneType")
        assert state.data.provider_order == ["LOOKS", "WEATHER"]


def test_the_state_it_is_given_holds_what_it_waited_for_and_nothing_else():
    runtime = AgentRuntime()

    @runtime.provider("LOOKS", after=["B", "A"])
    async def looks(runtime, message, state):
        return {
            "values": {
                "text": state.text,
                "names": list(state.data.providers),
                "order": list(state.data.provider_order),
                "keys": sorted(state.values),
            }
        }

    for name in "ABC":
        runtime.register_provider(Provider(name, gives({"text": name, "values": {name: 1}})))
    values = run(runtime).values
    assert sorted(values["text"].split("\n")) == ["A", "B"]
    assert sorted(values["names"]) == sorted(values["order"]) == ["A", "B"]
    assert values["keys"] == ["A", "B", "providers"]


def test_results_of_others_are_merged_for_it_in_text_order_whatever_order_it_names_them_in():
    runtime = AgentRuntime()

    @runtime.provider("LOOKS", after=["B", "A"])
    async def looks(runtime, message, state):
        return {"values": {"text": state.text, "who": state.values["who"]}}

    for name in "AB":
        runtime.register_provider(Provider(name, gives({"text": name, "values": {"who": name}})))
    values = run(runtime).values
    assert values["text"] == "A\nB"


EDITS = {
    "values": lambda state: state.values.update(x=1),
    "text": lambda state: setattr(state, "text", "mine"),
    "entry": lambda state: state.data.providers.pop("A"),
    "data": lambda state: state.data.providers["A"]["data"]["rows"].append(2),
    "data by attribute": lambda state: setattr(state.data.providers.A.data, "rows", []),
    "values of an entry": lambda state: state.data.providers.A.values.update(x=1),
    "errors": lambda state: state.errors.clear(),
}


@pytest.mark.parametrize("edit", EDITS)
def test_what_it_sees_is_read_only(edit):
    rows = {"rows": [1]}
    runtime = AgentRuntime()
    runtime.register_provider(Provider("A", gives({"text": "a", "values": {"v": 1}, "data": rows})))

    @runtime.provider("EDITS", after=["A"])
    async def edits(runtime, message, state):
        EDITS[edit](state)

    state = run(runtime)
    assert "read-only" in str(state.errors["EDITS"])
    assert rows == {"rows": [1]}
    assert state.values == {"v": 1, "providers": "a"}


def test_a_failed_one_does_not_stop_it_and_is_seen_as_failed():
    runtime = AgentRuntime()

    @runtime.provider("BROKEN")
    async def broken():
        await asyncio.sleep(0)
        raise ValueError("no weather")

    runtime.register_provider(Provider("LOOKS", look("BROKEN"), after=["BROKEN"]))
    assert run(runtime).values["seen"] == ("failed", "", {}, {}, "ValueError")


def test_a_result_that_is_none_is_seen_as_failed_too():
    runtime = AgentRuntime()
    runtime.register_provider(Provider("BROKEN", gives({"txt": "a"})))
    runtime.register_provider(Provider("LOOKS", look("BROKEN"), after=["BROKEN"]))
    state = run(runtime)
    assert state.values["seen"] == ("failed", "", {}, {}, "ResultError")
    assert list(state.errors) == ["BROKEN"]


def test_one_that_cancelled_itself_is_seen_as_failed():
    runtime = AgentRuntime()

    @runtime.provider("CANCELS")
    async def cancels():
        asyncio.current_task().cancel()
        return "mine"

    runtime.register_provider(Provider("LOOKS", look("CANCELS"), after=["CANCELS"]))
    assert run(runtime).values["seen"] == ("failed", "", {}, {}, "ProviderCancelledError")


async def hangs():
    await asyncio.sleep(FAR)


async def answers_late():
    try:
        await asyncio.sleep(FAR)
    except asyncio.CancelledError:
        return {"text": "late", "values": {"late": 1}, "data": {"late": 1}}


async def ignores():
    for _ in range(2):
        try:
            await asyncio.sleep(FAR)
        except asyncio.CancelledError:
            continue
    return "late"


@pytest.mark.parametrize("get", [hangs, answers_late, ignores])
def test_one_past_its_deadline_is_seen_as_timed_out_and_its_late_result_never(get, monkeypatch):
    monkeypatch.setattr(execution, "DEADLINE_GRACE_SECONDS", 0.03)
    runtime = AgentRuntime()
    runtime.register_provider(Provider("LATE", get, timeout=0.02))
    runtime.register_provider(Provider("LOOKS", look("LATE"), after=["LATE"]))
    state = run(runtime)
    assert state.values["seen"] == ("timed_out", "", {}, {}, "ProviderTimeoutError")
    assert "late" not in state.text


def test_one_that_was_not_selected_does_not_stop_it_and_is_missing():
    runtime = AgentRuntime()
    runtime.register_provider(Provider("QUIET", gives("quiet"), dynamic=True))
    runtime.register_provider(Provider("LOOKS", look("QUIET"), after=["QUIET"]))
    state = run(runtime)
    assert state.values["seen"] == (False, True)
    assert not state.report["QUIET"].ran
    assert run(runtime, ["QUIET"]).values["seen"][:2] == ("ok", "quiet")


def test_an_unregistered_name_is_reported_once(caplog):
    runtime = AgentRuntime()
    runtime.register_provider(Provider("WEATHER", gives("sun")))
    for name in ("A", "B"):
        runtime.register_provider(Provider(name, gives(name), after=["WETHER"]))
    runtime.register_provider(Provider("C", gives("C"), after=["WEATHER"]))
    state = run(runtime)
    assert state.text == "sun\nA\nB\nC"
    assert state.report.unknown == {"WETHER": ("WEATHER",)}
    (warning,) = caplog.records
    assert warning.levelno == logging.WARNING
    assert warning.getMessage().count("WETHER") == 1
    assert state.report.awaited_by == {"WETHER": ("A", "B")}
    assert "unknown name: WETHER, in after= of A, B (did you mean WEATHER?)" in state_page(state).to_text()
    assert pickle.loads(pickle.dumps(state)).report.awaited_by == {"WETHER": ("A", "B")}
    assert run(runtime).report.unknown == {"WETHER": ("WEATHER",)}
    assert len(caplog.records) == 1
    runtime.register_provider(Provider("B", gives("b"), after=["WETHER"]))
    run(runtime)
    assert caplog.records[1].getMessage().startswith("in after= of B: no provider is registered as 'WETHER'")


def test_the_name_may_be_registered_later():
    runtime = AgentRuntime()
    runtime.register_provider(Provider("LOOKS", look("WEATHER"), after="WEATHER"))
    runtime.register_provider(Provider("WEATHER", gives("sun", turns=1)))
    assert run(runtime).values["seen"][1] == "sun"


def test_a_cycle_is_an_error_when_it_is_registered_and_changes_nothing():
    runtime = AgentRuntime()
    runtime.register_provider(Provider("A", gives("a"), after=["C"]))
    runtime.register_provider(Provider("B", gives("b"), after=["A"]))
    runtime.register_provider(Provider("C", gives("c")))
    with pytest.raises(CycleError) as caught:
        runtime.register_provider(Provider("C", gives("new"), after=["B"]))
    assert caught.value.cycle == ("C", "B", "A", "C")
    assert "C → B → A → C" in str(caught.value)
    assert run(runtime).text == "a\nb\nc"
    with pytest.raises(DefinitionError, match="cannot wait for itself"):
        Provider("A", gives("a"), after=["A"])


def test_a_diamond_runs_each_once_and_waits_for_both_sides():
    log = []

    def notes(name, turns):
        async def get(runtime, message, state):
            log.append(name)
            for _ in range(turns):
                await asyncio.sleep(0)
            log.append(name.lower())
            return f"{name}({state.text})".replace("\n", "+")

        return get

    runtime = AgentRuntime()
    runtime.register_provider(Provider("D", notes("D", 0), after=["B", "C"]))
    runtime.register_provider(Provider("B", notes("B", 3), after=["A"]))
    runtime.register_provider(Provider("C", notes("C", 1), after=["A"]))
    runtime.register_provider(Provider("A", notes("A", 2)))
    state = run(runtime)
    assert state.text == "D(B(A())+C(A()))\nB(A())\nC(A())\nA()"
    assert log[:2] == ["A", "a"]
    assert set(log[2:4]) == {"B", "C"}  # both at once
    assert log[-2:] == ["D", "d"]


def test_a_chain_of_300_runs_in_its_order():
    log = []

    def links(number):
        async def get(runtime, message, state):
            log.append(number)
            if number % 3 == 0:
                await asyncio.sleep(0)
            return {"values": {"count": state.values.get("count", 0) + 1}}

        return get

    runtime = AgentRuntime()
    for number in reversed(range(300)):
        after = [f"P{number - 1}"] if number else []
        runtime.register_provider(Provider(f"P{number}", links(number), after=after))
    assert run(runtime).data.providers["P299"].values["count"] == 300
    assert log == list(range(300))


def test_a_hundred_that_wait_for_one_all_run_together():
    async def main():
        here, all_here = [], asyncio.Event()

        async def meets():
            here.append(None)
            if len(here) == 100:
                all_here.set()
            await all_here.wait()
            return "met"

        runtime = AgentRuntime()
        runtime.register_provider(Provider("FIRST", gives("first", turns=1)))
        for number in range(100):
            runtime.register_provider(Provider(f"P{number}", meets, after=["FIRST"]))
        return await bounded(runtime.compose_state("hello"))

    assert asyncio.run(main()).text.count("met") == 100


def test_it_starts_as_soon_as_those_it_names_have_ended_and_waits_for_no_other():
    async def main():
        ran = asyncio.Event()

        async def waits_for_the_dependent():
            await ran.wait()
            return "slow"

        async def dependent():
            ran.set()
            return "dependent"

        runtime = AgentRuntime()
        runtime.register_provider(Provider("SLOW", waits_for_the_dependent))
        runtime.register_provider(Provider("FIRST", gives("first")))
        runtime.register_provider(Provider("DEPENDENT", dependent, after=["FIRST"]))
        return await bounded(runtime.compose_state("hello"))

    assert asyncio.run(main()).text == "slow\nfirst\ndependent"


def test_a_deadline_counts_from_its_own_start_and_not_from_the_waiting():
    async def first():
        await asyncio.sleep(0.15)

    async def second():
        await asyncio.sleep(0.01)
        return "second"

    runtime = AgentRuntime()
    runtime.register_provider(Provider("FIRST", first))
    runtime.register_provider(Provider("SECOND", second, after=["FIRST"], timeout=0.14))
    state = run(runtime)
    assert state.report["SECOND"].outcome == "ok"
    assert state.report["SECOND"].start_ms >= 145
    assert state.report["SECOND"].ms < 140


def test_what_still_waits_when_the_call_is_over_is_late_and_never_starts():
    started = []

    async def second():
        started.append("second")

    runtime = AgentRuntime()
    runtime.register_provider(Provider("FIRST", hangs))
    runtime.register_provider(Provider("SECOND", second, after=["FIRST"]))
    runtime.register_provider(Provider("THIRD", second, after=["SECOND"], timeout=0.001))
    state = run(runtime, timeout=0.03)
    assert [row.outcome for row in state.report] == ["timed_out"] * 3
    assert isinstance(state.errors["THIRD"], ProviderTimeoutError)
    assert state.errors["THIRD"].seconds == 0.03  # the call's, as it never started itself
    assert (started, state.report["SECOND"].ms) == ([], None)


def test_a_def_may_be_waited_for_and_wait():
    runtime = AgentRuntime()
    runtime.provider("A")(lambda: "a")
    runtime.provider("B", after=["A"])(lambda runtime, message, state: f"b after {state.text}")
    assert run(runtime).text == "a\nb after a"


def test_cancelling_the_call_starts_none_of_those_that_wait():
    async def main():
        log = []

        async def first():
            try:
                await asyncio.sleep(FAR)
            finally:
                log.append("first ended")

        async def second():
            log.append("second")

        runtime = AgentRuntime()
        runtime.register_provider(Provider("FIRST", first))
        runtime.register_provider(Provider("SECOND", second, after=["FIRST"]))
        task = asyncio.create_task(runtime.compose_state("hello"))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bounded(task)
        await asyncio.sleep(0)
        return log, len(asyncio.all_tasks())

    assert asyncio.run(main()) == (["first ended"], 1)
