"""Providers in their places: order, replacing, removing, listing."""

from __future__ import annotations

import asyncio
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from agentctx_nb import AgentRuntime, Provider, UnknownProviderError
from agentctx_nb.errors import CycleError
from agentctx_nb.registry import Registry


def says(text):
    async def get():
        return text

    return get


def register(runtime, *names, **fields):
    for name in names:
        runtime.register_provider({"name": name, "get": says(name), **fields})


def names(providers):
    return [provider.name for provider in providers]


def test_a_runtime_needs_no_arguments():
    state = AgentRuntime().compose("hi")
    assert (state.text, state.values) == ("", {"providers": ""})
    assert AgentRuntime().providers == []
    assert AgentRuntime().agent_id == "agent"


def test_registering_returns_the_provider_and_unregistering_says_whether_there_was_one(runtime):
    given = Provider("A", says("a"))
    assert runtime.register_provider(given) is given
    assert runtime.unregister_provider("A") is True
    assert runtime.unregister_provider("A") is False
    assert runtime.unregister_provider("NEVER") is False
    assert runtime.compose("hi").text == ""
    assert "A" not in runtime.compose("hi").report


def test_order_is_position_then_registration(runtime):
    register(runtime, "B0")
    register(runtime, "C5", position=5)
    register(runtime, "A0")
    register(runtime, "MINUS", position=-1)
    register(runtime, "A5", position=5)
    expected = ["MINUS", "B0", "A0", "C5", "A5"]
    assert names(runtime.providers) == expected
    state = runtime.compose("hi")
    assert state.text == "\n".join(expected)
    assert state.data.provider_order == expected
    assert [row.provider for row in state.report] == expected


def test_any_real_number_is_a_position(runtime):
    for name, position in [
        ("LAST", math.inf),
        ("HALF", 0.5),
        ("THIRD", Fraction(1, 3)),
        ("FOURTH", Decimal("0.4")),
        ("NUMPY", np.float32(0.45)),
        ("FIRST", -math.inf),
        ("HUGE", 10**400),
        ("ZERO", None),
    ]:
        register(runtime, name, position=position)
    assert names(runtime.providers) == ["FIRST", "ZERO", "THIRD", "FOURTH", "NUMPY", "HALF", "HUGE", "LAST"]


def test_the_same_name_again_replaces_in_place_and_keeps_the_slot(runtime):
    register(runtime, "A", "B", "C")
    runtime.register_provider(Provider("A", says("new a")))
    assert runtime.compose("hi").text == "new a\nB\nC"
    assert len(runtime.providers) == 3
    assert runtime.registered("A").slot == 1


def test_a_replacement_that_moves_comes_back_to_its_old_slot(runtime):
    register(runtime, "A", "B")
    register(runtime, "A", position=9)
    assert names(runtime.providers) == ["B", "A"]
    register(runtime, "A")
    assert names(runtime.providers) == ["A", "B"]


def test_the_latest_flags_apply(runtime):
    register(runtime, "A", dynamic=True, relevance_keywords=["rain"])
    assert runtime.compose("rain").text == "A"
    register(runtime, "A", dynamic=True, relevance_keywords=["snow"])
    assert runtime.compose("rain").text == ""
    assert runtime.compose("snow").text == "A"
    register(runtime, "A", private=True)
    assert runtime.compose("snow").text == ""
    assert runtime.providers == []
    register(runtime, "A")
    assert runtime.compose("none").text == "A"


def test_a_name_removed_and_registered_again_goes_to_the_end(runtime):
    register(runtime, "A", "B")
    runtime.unregister_provider("A")
    register(runtime, "A")
    assert names(runtime.providers) == ["B", "A"]


def test_a_removed_provider_is_woken_by_nothing(runtime):
    register(runtime, "A", dynamic=True, relevance_keywords=["rain"])
    runtime.unregister_provider("A")
    assert runtime.match("rain").woken == {}
    assert runtime.compose("rain").text == ""


def test_versions_count_the_registrations_of_a_name_even_past_its_removal(runtime):
    register(runtime, "A", "B")
    assert runtime.registered("A").version == 1
    register(runtime, "A")
    runtime.unregister_provider("A")
    register(runtime, "A")
    assert runtime.registered("A").version == 3
    assert runtime.registered("B").version == 1


def test_the_origin_is_kept_for_listings(runtime):
    runtime.register_provider(Provider("A", says("a")), origin="cell 3")
    assert runtime.registered("A").origin == "cell 3"
    runtime.register_provider(Provider("A", says("a")))
    assert runtime.registered("A").origin is None
    runtime.provider("B")(test_the_origin_is_kept_for_listings)
    assert runtime.registered("B").origin == __name__


def test_private_providers_are_listed_only_when_asked_for(runtime):
    register(runtime, "A", dynamic=True)
    register(runtime, "P", private=True)
    assert names(runtime.providers) == ["A"]
    assert names(runtime.list_providers()) == ["A"]
    assert names(runtime.list_providers(include_private=True)) == ["A", "P"]
    assert runtime.get_provider("P").private is True


def test_a_list_of_providers_is_the_callers_own(runtime):
    register(runtime, "A")
    runtime.providers.clear()
    assert names(runtime.providers) == ["A"]


def test_a_name_nobody_registered_raises_with_near_names(runtime):
    register(runtime, "WEATHER", "NEWS")
    with pytest.raises(
        UnknownProviderError, match="no provider is registered as 'weathr'; did you mean"
    ) as caught:
        runtime.get_provider("weathr")
    assert isinstance(caught.value, KeyError)
    assert (caught.value.name, caught.value.near) == ("weathr", ("WEATHER",))


def test_a_name_near_to_nothing_raises_without_a_guess(runtime):
    register(runtime, "WEATHER")
    with pytest.raises(UnknownProviderError) as caught:
        runtime.get_provider("ZZZ")
    assert str(caught.value) == "no provider is registered as 'ZZZ'; there is 'WEATHER'"
    register(runtime, "HIDDEN", private=True)
    register(runtime, *"ABCDEFG")
    with pytest.raises(UnknownProviderError) as caught:
        runtime.get_provider("ZZZ")
    assert str(caught.value).endswith("; there are 'WEATHER', 'A', 'B', 'C', 'D', 'E', 'F', 'G'")
    register(runtime, "H")
    with pytest.raises(UnknownProviderError) as caught:
        runtime.get_provider("ZZZ")
    assert str(caught.value) == "no provider is registered as 'ZZZ'"


def test_what_is_registered_during_a_composition_is_not_in_it():
    runtime = AgentRuntime(count_tokens=len)

    @runtime.provider("CHANGES")
    async def changes(runtime):
        register(runtime, "NEW", position=-1)
        runtime.unregister_provider("GOES")
        runtime.register_provider(Provider("STAYS", says("replaced")))
        await asyncio.sleep(0)
        return "changed"

    register(runtime, "GOES", "STAYS")
    state = runtime.compose("hi")
    assert state.text == "changed\nGOES\nSTAYS"
    assert [row.provider for row in state.report] == ["CHANGES", "GOES", "STAYS"]
    assert runtime.compose("hi", ["NEW", "STAYS"], True).text == "NEW\nreplaced"


@pytest.mark.parametrize(
    ("waits", "cycle"),
    [
        ([("A", "B"), ("B", "A")], ("B", "A", "B")),
        ([("A", "B"), ("B", "C"), ("C", "A")], ("C", "A", "B", "C")),
        ([("A", ("X", "B")), ("B", ("Y", "C")), ("C", ("B",))], ("C", "B", "C")),
    ],
)
def test_a_cycle_is_an_error_that_names_the_way_and_leaves_all_as_it_was(runtime, waits, cycle):
    *first, (last, after) = waits
    for name, needs in first:
        register(runtime, name, after=needs)
    with pytest.raises(CycleError, match=" → ".join(cycle)) as caught:
        register(runtime, last, after=after)
    assert caught.value.cycle == cycle
    assert isinstance(caught.value, ValueError)
    assert names(runtime.providers) == [name for name, _ in first]
    register(runtime, last)
    assert set(runtime.compose("hi").text.split("\n")) == {name for name, _ in waits}


def test_a_replacement_that_would_make_a_cycle_leaves_the_old_one(runtime):
    register(runtime, "A")
    register(runtime, "B", after=["A"])
    with pytest.raises(CycleError):
        register(runtime, "A", after=["B"])
    assert runtime.get_provider("A").after == ()
    assert runtime.registered("A").version == 1


def test_many_ways_to_one_provider_are_no_cycle(runtime):
    register(runtime, "D")
    register(runtime, "B", "C", after=["D"])
    register(runtime, "A", after=["B", "C", "D"])
    assert runtime.compose("hi").text == "D\nB\nC\nA"


def test_a_private_provider_that_always_runs_warns_once(runtime):
    register(runtime, "A", "B", private=True)
    register(runtime, "C", always_run=True)  # warnings are errors in these tests
    with pytest.warns(UserWarning, match="A is private and always runs") as caught:
        register(runtime, "A", private=True, always_run=True)  # a replacement: the pair is new here
    assert len(caught) == 1
    assert caught[0].filename == f"{__file__}:{caught[0].lineno}"
    register(runtime, "A", private=True, always_run=True)
    runtime.unregister_provider("A")
    register(runtime, "A", private=True, always_run=True)
    with pytest.warns(UserWarning, match="D is private"):
        register(runtime, "D", private=True, always_run=True)
    assert names(runtime.providers) == ["C"]
    assert runtime.compose("hi", [], True).data.provider_order == ["C", "A", "D"]


def test_two_runtimes_share_nothing():
    one, other = AgentRuntime(), AgentRuntime()
    register(one, "A")
    assert other.providers == []


def test_a_snapshot_does_not_change_and_is_kept_until_the_registry_does():
    registry = Registry()
    registry.register(Provider("A", says("a")))
    before = registry.snapshot()
    assert registry.snapshot() is before
    registry.register(Provider("B", says("b")))
    assert [entry.name for entry in before.entries] == ["A"]
    assert list(before.by_name) == ["A"]
    assert [entry.name for entry in registry.snapshot().entries] == ["A", "B"]


def test_to_unregister_nobody_changes_nothing(runtime):
    runtime.register_provider({"name": "A", "get": lambda: "a"})
    before = runtime.registry.snapshot()
    assert not runtime.unregister_provider("NOBODY")
    assert runtime.registry.snapshot() is before


def test_keywords_of_a_provider_that_is_not_dynamic_are_logged_at_each_registration(caplog):
    runtime = AgentRuntime()
    runtime.provider("RAIN", relevance_keywords=["rain"])(lambda: "rain")
    said = "keywords of provider RAIN wake nothing without dynamic=True"
    assert [record.getMessage() for record in caplog.records] == [said]
    runtime.compose("rain")
    runtime.leak_scan("rain")
    assert len(caplog.records) == 1
    runtime.register_provider(runtime.get_provider("RAIN"))
    assert len(caplog.records) == 2
    runtime.provider("SNOW", relevance_keywords=["snow"], dynamic=True)(lambda: "snow")
    runtime.provider("SUN")(lambda: "sun")
    assert len(caplog.records) == 2
