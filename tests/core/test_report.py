"""The report: one row per registered provider, with why, what and how much; its times are in test_report_time.py."""

from __future__ import annotations

import asyncio
import math
import sys
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.report import ReportRow
from agentctx_nb.tokens import estimate_tokens

SECRET = "k3y-0f-the-d00r"
COLUMNS = [
    "provider", "ran", "reason", "keyword", "outcome", "position", "ms", "start_ms", "blocked_ms", "chars",
    "tokens", "value_keys", "clashes", "error",
]  # fmt: skip


def register(runtime, name, result=None, **flags):
    async def get():
        if isinstance(result, Exception):
            raise result
        return result

    runtime.register_provider({"name": name, "get": get, **flags})


@pytest.fixture
def mixed(runtime):
    """A runtime with one provider of each fate."""
    register(runtime, "STATIC", {"text": "stat", "values": {"a": 1, "b": 2}}, position=-1)
    register(runtime, "WOKEN", "it rains", dynamic=True, relevance_keywords=["forecast", "rain"])
    register(runtime, "ASLEEP", "zzz", dynamic=True, relevance_keywords=["snow"], position=7)
    register(runtime, "PRIVATE", "hidden", private=True)
    register(runtime, "ALWAYS", "", always_run=True, dynamic=True)
    register(runtime, "BAD", ValueError("broken"))
    register(runtime, "NAMED", {"data": {"x": 1}}, private=True)
    return runtime


def test_there_is_one_row_per_registered_provider_in_text_order_with_its_reason_and_outcome(mixed):
    report = mixed.compose("the forecast", ["NAMED"]).report
    assert [(row.provider, row.ran, row.reason, row.keyword, row.outcome) for row in report] == [
        ("STATIC", True, "static", None, "ok"),
        ("WOKEN", True, "keyword 'forecast'", "forecast", "ok"),
        ("PRIVATE", False, "skipped: private, not named", None, "skipped"),
        ("ALWAYS", True, "always runs", None, "empty"),
        ("BAD", True, "static", None, "failed"),
        ("NAMED", True, "named", None, "ok"),
        ("ASLEEP", False, "skipped: dynamic, no keyword in message", None, "skipped"),
    ]
    assert len(report) == 7
    only = mixed.compose("the forecast", ["NAMED"], True).report
    assert {row.reason for row in only if not row.ran} == {"skipped: not in the only-list"}
    assert [row.provider for row in only if row.ran] == ["ALWAYS", "NAMED"]


def test_a_row_tells_what_the_provider_gave(mixed):
    report = mixed.compose("rain").report
    static = report["STATIC"]
    assert (static.position, static.chars, static.tokens) == (-1, 4, 4)
    assert static.value_keys == ("a", "b")
    assert (static.clashes, static.error) == ((), None)
    bad = report["BAD"]
    assert (bad.chars, bad.tokens, bad.value_keys, bad.error) == (0, 0, (), "ValueError: broken")


def test_a_row_of_what_did_not_run_has_its_position_and_nothing_else(mixed):
    row = mixed.compose("hi").report["ASLEEP"]
    assert (row.ran, row.position) == (False, 7)
    assert (row.ms, row.start_ms, row.blocked_ms, row.error) == (None, None, None, None)
    assert (row.chars, row.tokens, row.value_keys, row.clashes) == (0, 0, (), ())


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        ({"text": "t"}, "ok"),
        ({"values": {"v": None}}, "ok"),
        ({"data": {"d": None}}, "ok"),
        ({"text": " \n", "values": {}, "data": {}}, "empty"),
        ({"text": ""}, "empty"),
        (None, "empty"),
        ("", "empty"),
        (5, "failed"),
        (ValueError("x"), "failed"),
        (TimeoutError("their own"), "failed"),
    ],
)
def test_what_came_of_it_is_told_in_one_word(runtime, result, outcome):
    register(runtime, "A", result)
    state = runtime.compose("hi")
    assert state.report["A"].outcome == state.data.providers.A.outcome == outcome
    assert (state.report["A"].error is None) == (outcome != "failed")


def test_one_past_its_deadline_is_timed_out_and_its_error_says_so(runtime):
    @runtime.provider("SLOW", timeout=0.02)
    async def slow():
        await asyncio.sleep(60)

    row = runtime.compose("hi").report["SLOW"]
    assert (row.ran, row.outcome) == (True, "timed_out")
    assert "deadline of 0.02 s" in row.error
    assert 15 < row.ms < 2_000


def test_a_deadline_of_the_call_times_out_what_has_not_finished_and_keeps_the_rest(runtime):
    register(runtime, "FAST", "fast")

    @runtime.provider("SLOW")
    async def slow():
        await asyncio.sleep(60)

    report = runtime.compose("hi", timeout=0.02).report
    assert [row.outcome for row in report] == ["ok", "timed_out"]


def test_what_comes_from_the_cache_is_cached_and_still_told_of(runtime):
    register(runtime, "A", {"text": "a", "values": {"v": 1}}, ttl=60)
    assert runtime.compose("hi").report["A"].outcome == "ok"
    row = runtime.compose("hi").report["A"]
    assert (row.ran, row.reason, row.outcome, row.chars, row.value_keys) == (
        True,
        "static",
        "cached",
        1,
        ("v",),
    )
    assert runtime.compose("hi", skip_cache=True).report["A"].outcome == "ok"


def test_what_is_kept_of_a_previous_state_is_cached_with_the_reason_it_had(mixed):
    before = mixed.compose("the forecast", ["NAMED"])
    report = mixed.compose("hi", previous=before, refresh=["STATIC"]).report
    assert (report["STATIC"].reason, report["STATIC"].outcome) == ("named", "ok")
    assert (report["WOKEN"].reason, report["WOKEN"].keyword) == ("keyword 'forecast'", "forecast")
    assert (report["WOKEN"].outcome, report["WOKEN"].chars, report["WOKEN"].ms) == ("cached", 8, None)
    assert report["BAD"].outcome == "failed"
    assert report["ASLEEP"].outcome == "skipped"


def test_every_clash_is_told_with_key_winner_and_loser_to_both(runtime):
    register(runtime, "A", {"values": {"k": 1, "own": 1, "same": 1}})
    register(runtime, "B", {"values": {"k": 2, "same": 1}})
    register(runtime, "C", {"values": {"k": None, "providers": "x"}})
    report = runtime.compose("hi").report
    assert report["A"].clashes == (("k", "C", "A"), ("same", "B", "A"))
    assert report["B"].clashes == (("k", "C", "B"), ("same", "B", "A"))
    assert report["C"].clashes == (("k", "C", "A"), ("k", "C", "B"), ("providers", "(the text)", "C"))
    assert report.clashes == (
        ("k", "C", "A"),
        ("same", "B", "A"),
        ("k", "C", "B"),
        ("providers", "(the text)", "C"),
    )


def test_a_failed_provider_clashes_with_nobody(runtime):
    register(runtime, "A", {"values": {"k": 1}})
    register(runtime, "B", {"values": {"k": 2}, "text": 5})
    assert runtime.compose("hi").report.clashes == ()


def test_unknown_names_are_told_with_near_ones(mixed):
    assert mixed.compose("hi", ["STATC"]).report.unknown == {"STATC": ("STATIC",)}
    assert mixed.compose("hi").report.unknown == {}


def test_a_name_in_after_that_nobody_registered_is_told_once(runtime, caplog):
    register(runtime, "WEATHER", "w")
    register(runtime, "A", "a", after=["WHEATHER"])
    register(runtime, "B", "b", after=["WHEATHER"])
    state = runtime.compose("hi")
    assert state.text == "w\na\nb"
    assert state.report.unknown == {"WHEATHER": ("WEATHER",)}
    assert len([r for r in caplog.records if "WHEATHER" in r.getMessage()]) == 1


def test_a_report_is_a_collection_of_rows_by_name(mixed):
    report = mixed.compose("hi").report
    assert "STATIC" in report
    assert "NOBODY" not in report
    assert report["STATIC"] is next(iter(report))
    with pytest.raises(KeyError, match="did you mean 'STATIC'"):
        report["STATC"]
    with pytest.raises(FrozenInstanceError):
        report["STATIC"].outcome = "ok"
    assert repr(report) == "<Report: 3 of 7 providers ran; failed: BAD>"
    assert mixed.compose("hi").report is not report


def test_a_report_reads_the_same_each_time(mixed):
    state = mixed.compose("hi")
    before = list(state.report)
    mixed.register_provider({"name": "STATIC", "get": print, "position": 99})
    mixed.unregister_provider("BAD")
    assert list(state.report) == before
    assert state.report is state.report


# Tokens ----------------------------------------------------------------------------------


def test_any_callable_counts_tokens_and_its_name_is_told():
    def words(text):
        return len(text.split())

    class Counter:
        def __call__(self, text):
            return 42

    for count, name, tokens in ((words, "words", 3), (Counter(), "Counter", 42), (len, "len", 13)):
        runtime = AgentRuntime(count_tokens=count)
        register(runtime, "A", "one two three")
        register(runtime, "B", "")
        report = runtime.compose("hi").report
        assert (report.token_counter, report["A"].tokens, report["B"].tokens) == (name, tokens, 0)


def test_without_a_tokenizer_the_count_is_an_estimate_and_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "toktok", None)
    runtime = AgentRuntime()
    register(runtime, "A", "The quick brown fox jumps over the lazy dog.")
    report = runtime.compose("hi").report
    assert report.token_counter == "estimate"
    assert report["A"].tokens == estimate_tokens("The quick brown fox jumps over the lazy dog.")
    assert 7 <= report["A"].tokens <= 14


def test_counting_waits_until_the_report_is_asked_for():
    counted = []
    runtime = AgentRuntime(count_tokens=lambda text: counted.append(text) or 1)
    register(runtime, "A", "a")
    state = runtime.compose("hi")
    assert counted == []
    assert state.report["A"].tokens == 1


def test_what_is_no_counter_is_a_type_error():
    with pytest.raises(TypeError, match="count_tokens must be callable"):
        AgentRuntime(count_tokens="cl100k")


# Errors ----------------------------------------------------------------------------------


def test_errors_are_masked_and_stay_on_one_line():
    runtime = AgentRuntime(secrets={"KEY": SECRET}, count_tokens=len)
    register(runtime, "BAD", ValueError(f"no entry\nwith {SECRET}"))
    register(runtime, "SILENT", ValueError())
    report = runtime.compose("hi").report
    assert report["BAD"].error == "ValueError: no entry with [secret KEY]"
    assert report["SILENT"].error == "ValueError"


# The frame -------------------------------------------------------------------------------


def test_the_frame_has_the_columns_of_the_contract_in_order(mixed):
    assert [field.name for field in fields(ReportRow)] == COLUMNS
    frame = mixed.compose("rain", ["NAMED"]).report.to_frame()
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 7
    by_name = frame.set_index("provider")
    assert by_name.loc["STATIC", "value_keys"] == ("a", "b")
    assert by_name.loc["STATIC", "error"] is None
    assert by_name.loc["BAD", "error"] == "ValueError: broken"
    assert math.isnan(by_name.loc["ASLEEP", "ms"])
    assert by_name.loc["WOKEN", "ms"] > 0


TYPES = {
    "provider": "object", "ran": "bool", "reason": "object", "keyword": "object", "outcome": "object", "ms": "float64",
    "start_ms": "float64", "blocked_ms": "float64", "chars": "int64", "tokens": "int64", "value_keys": "object",
    "clashes": "object", "error": "object",
}  # fmt: skip


@pytest.mark.parametrize("include", [None, [], ["STATIC"], ["BAD"], ["PRIVATE"]])
def test_the_types_of_the_columns_do_not_depend_on_what_ran(mixed, include):
    frame = mixed.compose("rain", include, True).report.to_frame()
    assert {name: str(frame[name].dtype) for name in TYPES} == TYPES
    assert str(frame["position"].dtype) == "int64"


def test_the_frame_of_nothing_has_its_columns_and_types(runtime):
    frame = runtime.compose("hi").report.to_frame()
    assert len(frame) == 0
    assert {name: str(frame[name].dtype) for name in TYPES} == TYPES


def test_any_position_has_its_place_in_the_frame(runtime):
    positions = [-math.inf, 0.5, Fraction(3, 4), 10**400]
    for i, position in enumerate(positions):
        register(runtime, f"P{i}", position=position)
    assert list(runtime.compose("hi").report.to_frame()["position"]) == positions


def test_the_frame_can_be_summed_and_sorted(mixed):
    frame = mixed.compose("rain").report.to_frame()
    assert frame["chars"].sum() == 12
    assert set(frame.sort_values("ms")["provider"][-3:]) == {"PRIVATE", "NAMED", "ASLEEP"}
