"""Running some providers again and keeping what the others gave."""

from __future__ import annotations

import asyncio
import logging

import pytest

from agentctx_nb import AgentRuntime, Provider
from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.state import ProviderEntry


@pytest.fixture
def runs():
    return []


@pytest.fixture
def runtime(runs):
    """A, B and C, which say how often they ran; C waits for B, and D waits for C."""
    runtime = AgentRuntime()

    def counts(name):
        async def get(runtime, message, state):
            runs.append(name)
            count = runs.count(name)
            return {"text": f"{name}{count}", "values": {name: count}, "data": {"rows": [count]}}

        return get

    for name, after in {"A": (), "B": (), "C": ("B",), "D": ("C",)}.items():
        runtime.register_provider(Provider(name, counts(name), after=after))
    return runtime


def compose(runtime, message="hello", **options):
    return asyncio.run(runtime.compose_state(message, **options))


def outcomes(state):
    return {row.provider: row.outcome for row in state.report}


def test_refresh_runs_one_again_and_keeps_the_rest(runtime, runs):
    before = compose(runtime)
    after = compose(runtime, previous=before, refresh=["A"])
    assert runs == ["A", "B", "C", "D", "A"]
    assert after.text == "A2\nB1\nC1\nD1"
    assert after.values == {"A": 2, "B": 1, "C": 1, "D": 1, "providers": after.text}
    assert outcomes(after) == {"A": "ok", "B": "cached", "C": "cached", "D": "cached"}
    assert before.text == "A1\nB1\nC1\nD1"


def test_whoever_waits_for_a_refreshed_one_runs_again_too(runtime, runs):
    before = compose(runtime)
    after = compose(runtime, previous=before, refresh="B")
    assert after.text == "A1\nB2\nC2\nD2"
    assert outcomes(after) == {"A": "cached", "B": "ok", "C": "ok", "D": "ok"}
    assert compose(runtime, previous=before, refresh=["C"]).text == "A1\nB1\nC3\nD3"
    assert runs.count("A") == 1


def test_a_dependent_sees_what_was_kept_of_those_it_waits_for(runtime):
    @runtime.provider("E", after=["A", "B"])
    async def reads(runtime, message, state):
        return f"E saw {state.text} {state.values['A']} {state.data.providers['A']['data']['rows']}".replace(
            "\n", "+"
        )

    before = compose(runtime)
    after = compose(runtime, previous=before, refresh=["B"])
    assert after.data.providers["E"].text == "E saw A1+B2 1 [1]"


def test_an_empty_refresh_runs_nothing(runtime, runs):
    before = compose(runtime)
    after = compose(runtime, previous=before, refresh=[])
    assert len(runs) == 4
    assert after.text == before.text
    assert set(outcomes(after).values()) == {"cached"}


def test_refresh_and_previous_need_each_other(runtime):
    before = compose(runtime)
    with pytest.raises(DefinitionError, match="refresh= needs previous="):
        compose(runtime, refresh=["A"])
    with pytest.raises(DefinitionError, match="previous= needs refresh="):
        compose(runtime, previous=before)
    with pytest.raises(DefinitionTypeError, match="previous= is a State"):
        compose(runtime, previous={"text": "x"}, refresh=["A"])
    with pytest.raises(DefinitionTypeError, match="refresh"):
        compose(runtime, previous=before, refresh=[None])


def test_an_unknown_name_in_refresh_is_reported_with_near_ones(runtime, caplog):
    runtime.register_provider(Provider("WEATHER", lambda: "sun"))
    before = compose(runtime)
    after = compose(runtime, previous=before, refresh=["WETHER"])
    assert after.report.unknown == {"WETHER": ("WEATHER",)}
    assert [r.levelno for r in caplog.records] == [logging.WARNING]


def test_one_that_did_not_run_before_runs_when_it_is_named(runtime):
    runtime.register_provider(Provider("EXTRA", lambda: "extra", dynamic=True, position=-1))
    before = compose(runtime)
    assert not before.report["EXTRA"].ran
    assert compose(runtime, previous=before, refresh=["A"]).text == "A2\nB1\nC1\nD1"
    assert compose(runtime, previous=before, refresh=["EXTRA"]).text == "extra\nA1\nB1\nC1\nD1"


def test_a_kept_failure_stays_one_and_is_not_logged_twice(runtime, caplog):
    @runtime.provider("BROKEN")
    async def broken():
        raise ValueError("no weather")

    @runtime.provider("LATE", timeout=0.01)
    async def late():
        await asyncio.sleep(60)

    before = compose(runtime)
    caplog.clear()
    after = compose(runtime, previous=before, refresh=["A"])
    assert after.errors == before.errors
    assert (outcomes(after)["BROKEN"], outcomes(after)["LATE"]) == ("failed", "timed_out")
    assert not caplog.records


def test_a_failure_is_mended_by_running_it_again(runtime):
    broken = [True]

    @runtime.provider("SHAKY")
    async def shaky():
        if broken:
            raise ValueError("not yet")
        return "mended"

    before = compose(runtime)
    broken.clear()
    after = compose(runtime, previous=before, refresh=["SHAKY"])
    assert after.errors == {}
    assert after.text.endswith("mended")


def test_a_refreshed_one_does_not_read_its_own_kept_result(runs):
    runtime = AgentRuntime()

    @runtime.provider("KEPT", ttl=60)
    async def kept():
        runs.append("KEPT")
        return str(len(runs))

    before = compose(runtime)
    assert compose(runtime).text == "1"
    assert compose(runtime, previous=before, refresh=["KEPT"]).text == "2"
    assert compose(runtime).text == "2"


def test_edits_of_one_state_do_not_show_in_what_the_next_keeps_of_it_nor_the_other_way(runtime):
    before = compose(runtime)
    after = compose(runtime, previous=before, refresh=[])
    after.values["A"] = 99
    after.data.providers["A"]["data"]["rows"].append("edited")
    assert before.values["A"] == 1
    assert before.data.providers["A"]["data"] == {"rows": [1]}


def test_one_removed_meanwhile_is_not_kept(runtime):
    before = compose(runtime)
    runtime.unregister_provider("A")
    assert compose(runtime, previous=before, refresh=["B"]).text == "B2\nC2\nD2"


def test_times_are_told_only_of_what_ran_again(runtime):
    after = compose(runtime, previous=compose(runtime), refresh=["A"])
    assert after.report["A"].ms >= 0
    assert after.report["B"].ms is None
    assert after.report["B"].start_ms is None


EDITS = {
    "a number": lambda s: s.data.providers.update(A=5),
    "a dict": lambda s: s.data.providers.update(A={"text": "a"}),
    "providers replaced": lambda s: s.data.update(providers=5),
    "providers removed": lambda s: s.data.pop("providers"),
    "another text": lambda s: s.data.providers.update(A=ProviderEntry(5, {}, {})),
    "other values": lambda s: s.data.providers.update(A=ProviderEntry("", 5, {})),
    "other data": lambda s: s.data.providers.update(A=ProviderEntry("", {}, "x")),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_a_previous_state_edited_into_none_is_an_error_of_one_line(runtime, edit):
    before = compose(runtime)
    edit(before)
    with pytest.raises(DefinitionError, match="give a state as it was composed") as caught:
        compose(runtime, previous=before, refresh=["B"])
    assert "\n" not in str(caught.value)


def test_an_entry_removed_from_the_previous_state_is_not_kept(runtime):
    before = compose(runtime)
    del before.data.providers["A"]
    after = compose(runtime, previous=before, refresh=[])
    assert "A" not in after.data.providers
