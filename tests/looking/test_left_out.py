from __future__ import annotations

import pytest

from agentctx_nb.errors import DefinitionTypeError, UnknownProviderError
from agentctx_nb.runtime import AgentRuntime
from tests.hostile import SECRETS
from tests.viewed import adds


@pytest.fixture
def runtime():
    secrets = {f"KEY{n}": secret for n, secret in enumerate(SECRETS)}
    return AgentRuntime(secrets=secrets, count_tokens=len)


def rows(table):
    return [tuple(row.values()) for row in table]


def shadowing(runtime):
    adds(runtime, "FACTS", {"text": "Ada likes tea.", "values": {"city": "Oslo"}, "data": {"n": [1]}})
    adds(runtime, "PLACE", {"text": "Bergen.", "values": {"city": "Bergen", "mm": 3}})
    adds(runtime, "BROKEN", OSError("no"))
    adds(runtime, "LAST", {"text": "Bye.", "values": {"mm": 4, "city": "Paris"}})
    adds(runtime, "STOCKS", "up", dynamic=True, relevance_keywords=["stock"])
    return runtime.compose("hi")


def test_without_folds_the_rest_as_if_it_had_given_nothing(runtime):
    state = shadowing(runtime)
    made = state.without("PLACE", "LAST")
    assert made.text == "Ada likes tea."
    assert dict(made.values.items()) == {"city": "Oslo", "providers": "Ada likes tea."}
    assert list(made.data.provider_order) == ["FACTS", "BROKEN"]
    assert made.spans == [(0, 14, "FACTS")]
    assert list(made.errors) == ["BROKEN"]
    assert "PLACE" not in made.data.providers


def test_shadowed_values_surface_again_and_clashes_are_told_anew(runtime):
    state = shadowing(runtime)
    made = state.without("LAST")
    assert made.values.get("city") == "Bergen"
    assert made.report.clashes == (("city", "PLACE", "FACTS"),)
    assert {row[0]: row[3:] for row in made.value_rows()}["city"] == ("PLACE", ("FACTS",))


def test_the_report_says_what_was_left_out(runtime):
    row = shadowing(runtime).without("PLACE").report["PLACE"]
    assert (row.ran, row.outcome, row.reason) == (False, "skipped", "skipped: left out of this view")
    assert (row.ms, row.tokens, row.chars, row.value_keys, row.error) == (None, 0, 0, (), None)


def test_the_state_itself_is_untouched(runtime):
    state = shadowing(runtime)
    said, values = repr(list(state.report)), dict(state.values)
    made = state.without("PLACE", "BROKEN")
    made.data.providers.FACTS.data["n"].append(2)
    made.values.clear()
    assert (repr(list(state.report)), dict(state.values)) == (said, values)
    assert state.data.providers["FACTS"].raw_data == {"n": [1]}
    assert list(state.errors) == ["BROKEN"]


def test_what_one_provider_put_there_is_the_difference_without_it(runtime):
    state = shadowing(runtime)
    difference = state.diff(state.without("LAST"))
    assert rows(difference.lines) == [("LAST", "removed", "Bye.")]
    assert rows(difference.values) == [
        ("city", "changed", "Paris", "Bergen", "PLACE"),
        ("mm", "changed", 4, 3, "PLACE"),
    ]
    assert [row[:2] for row in rows(difference.providers)] == [
        ("LAST", "no longer runs (left out of this view)")
    ]


def test_without_nothing_is_the_same(runtime):
    state = shadowing(runtime)
    assert not state.diff(state.without())


def test_without_can_be_asked_again_and_shown(runtime):
    made = shadowing(runtime).without("PLACE").without("FACTS")
    assert made.text == "Bye."
    assert made.report["PLACE"].reason == made.report["FACTS"].reason == "skipped: left out of this view"
    assert "left out of this view" in made._repr_mimebundle_()["text/plain"]
    assert made.timeline().skipped == 3
    assert made.mask is runtime.mask


def test_a_name_that_did_not_run_is_an_error_that_helps(runtime):
    state = shadowing(runtime)
    with pytest.raises(
        UnknownProviderError, match="no provider that ran here is called 'FACT'; did you mean 'FACTS'"
    ):
        state.without("FACT")
    with pytest.raises(
        UnknownProviderError, match=r"STOCKS did not run here \(dynamic, no keyword in message\)"
    ):
        state.without("STOCKS")
    with pytest.raises(DefinitionTypeError, match="names of providers, not 3"):
        state.without(3)
    with pytest.raises(UnknownProviderError) as caught:
        state.without(SECRETS[1])
    assert SECRETS[1] not in str(caught.value)
    assert SECRETS[1] not in repr(caught.value.__dict__)
