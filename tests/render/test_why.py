"""Why each provider ran or not: everything the report knows, in words, in three forms and a frame."""

from __future__ import annotations

import re

import pytest

from agentctx_nb.render.why import why_of
from agentctx_nb.runtime import AgentRuntime
from agentctx_nb.state import State
from tests.hostile import SECRETS, TEXTS
from tests.viewed import adds, harmless


@pytest.fixture
def runtime():
    return AgentRuntime(secrets={f"KEY{n}": secret for n, secret in enumerate(SECRETS)}, count_tokens=len)


@pytest.fixture
def state(runtime):
    adds(runtime, "QUIET")
    adds(runtime, "BAD", OSError("no answer"))
    adds(
        runtime,
        "RAIN",
        {"text": "It rains.", "values": {"a": 1, "b": 2}},
        dynamic=True,
        relevance_keywords=["rain"],
    )
    adds(runtime, "STOCKS", "up", dynamic=True, relevance_keywords=["stock"])
    adds(runtime, "HIDDEN", "x", private=True)
    return runtime.compose("will it rain?")


def test_it_says_run_or_not_why_and_what_came_of_it(state):
    rows = {row["provider"]: row for row in state.why()}
    told = {
        name: (row["run"], row["outcome"], row["reason"], row["keyword"], row["values"], row["error"])
        for name, row in rows.items()
    }
    assert told == {
        "QUIET": ("run", "empty", "static", "", "", ""),
        "BAD": ("run", "failed", "static", "", "", "OSError: no answer"),
        "RAIN": ("run", "ok", "keyword 'rain'", "rain", "a, b", ""),
        "STOCKS": ("not run", "skipped", "skipped: dynamic, no keyword in message", "", "", ""),
        "HIDDEN": ("not run", "skipped", "skipped: private, not named", "", "", ""),
    }
    assert (rows["RAIN"]["chars"], rows["RAIN"]["tokens"]) == (9, 9)


def test_times_are_those_of_the_report_and_blank_where_nothing_ran(state):
    for row in state.why():
        known = state.report[row["provider"]]
        for column, exact in (("ms", known.ms), ("start", known.start_ms), ("blocked", known.blocked_ms)):
            assert row[column] == ("" if exact is None else pytest.approx(exact, abs=0.06))
        assert (row["ms"] == "") is not known.ran


@pytest.mark.parametrize("form", ["text/plain", "text/markdown", "text/html"])
def test_failed_empty_and_not_run_never_look_alike_in_words(state, form):
    shown = state.why()._repr_mimebundle_()[form]
    for words in ("empty", "failed", "OSError: no answer", "not run", "times in ms", "tokens counted by len"):
        assert words in shown


def test_the_text_form_has_room_for_reasons(state):
    assert "dynamic, no keyword in message" in state.why().to_text()


@pytest.mark.parametrize("form", ["text/plain", "text/markdown", "text/html"])
def test_nothing_is_shown_twice_and_errors_stand_below(state, form):
    shown = state.why()._repr_mimebundle_()[form]
    table, _, below = shown.partition("times in ms")
    assert "OSError" not in table
    assert "BAD failed in get, line " in below
    assert shown.count("OSError: no answer") == 1
    assert "skipped" not in shown


def test_the_columns_are_those_a_person_reads(state):
    assert state.why().to_text().splitlines()[1].split() == [
        "provider", "outcome", "reason", "ms", "start", "blocked", "chars", "tokens", "values",
    ]  # fmt: skip
    row = next(line for line in state.why().to_text().splitlines() if line.startswith("STOCKS"))
    assert re.split(r"\s{2,}", row) == ["STOCKS", "not run", "dynamic, no keyword in message"]


def test_a_keyword_that_is_no_reason_is_still_told(runtime):
    adds(runtime, "RAIN", "x", dynamic=True, always_run=True, relevance_keywords=["rain"])
    why = runtime.compose("rain").why()
    assert "always runs, keyword rain" in why.to_text()
    assert (why[0]["reason"], why[0]["keyword"]) == ("always runs", "rain")


def test_times_are_rounded_to_a_tenth(state):
    for row in state.why():
        assert row["ms"] == "" or row["ms"] == round(row["ms"], 1)


def test_a_part_of_it_shows_that_part(state):
    part = state.why()[:1].to_text()
    assert "QUIET" in part
    assert "STOCKS" not in part
    assert "OSError" not in part


def test_of_many_errors_the_rest_is_counted(runtime):
    for n in range(40):
        adds(runtime, f"BAD{n}", OSError(f"no answer to {n}"))
    shown = runtime.compose("hi").why().to_html()
    assert "no answer to 29" in shown
    assert "no answer to 30" not in shown
    assert "and 10 more errors" in shown


def test_the_same_state_gives_the_same_bytes_though_it_holds_times(state):
    assert state.why()._repr_mimebundle_() == state.why()._repr_mimebundle_()


def test_the_frame_has_numbers_where_there_are_any(state):
    frame = state.why().to_frame()
    assert frame["ms"].dtype.kind == "f"
    assert frame["ms"].isna().sum() == 2


def test_many_values_are_counted_and_not_all_named(runtime):
    adds(runtime, "WIDE", {"values": {f"key{i:02}": i for i in range(30)}})
    assert runtime.compose("hi").why()[0]["values"].endswith("key08, key09, and 20 more keys")


def test_a_report_shows_itself(state):
    assert "text/html" in state.report._repr_mimebundle_()


def test_an_empty_state_has_no_rows():
    harmless(why_of(State()))


@pytest.mark.parametrize("label", TEXTS)
def test_hostile_names_values_and_errors_are_harmless(runtime, label):
    text = TEXTS[label]
    adds(
        runtime,
        text[:300].strip() or "BLANK",
        {"text": text, "values": {text[:9_000]: 1, (text[:9_000],): 2}},
    )
    adds(runtime, "FAILS", ValueError(text))
    harmless(runtime.compose("hi").why())


def test_ten_thousand_providers_are_bounded(runtime):
    for n in range(10_000):
        adds(runtime, f"P{n}", "<b>")
    table = runtime.compose("hi").why()
    harmless(table)
    assert "of 10,000 rows; state.report.to_frame() has all" in table.to_text()
