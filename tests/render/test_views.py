from __future__ import annotations

import asyncio
import functools
import pickle
import re
import time
from types import SimpleNamespace

import pytest

from agentctx_nb.errors import UnknownProviderError
from agentctx_nb.provider import Provider
from agentctx_nb.render import (
    provider_card,
    providers_table,
    report_table,
    state_bundle,
    values_table,
)
from agentctx_nb.runtime import AgentRuntime
from agentctx_nb.state import State
from tests.hostile import LARGEST, SECRETS, TEXTS, VALUES, problems
from tests.viewed import adds


def characters(text):
    return len(text)


@pytest.fixture
def runtime():
    return AgentRuntime(
        secrets={f"KEY{n}": secret for n, secret in enumerate(SECRETS)}, count_tokens=characters
    )


def weather_state(runtime):
    adds(runtime, "LATE", "last", position=5)
    adds(runtime, "PROFILE", {"text": "Ada lives in Oslo.", "values": {"city": "Oslo", "name": "Ada"}})
    adds(runtime, "PLACE", {"values": {"city": "Bergen"}}, position=-1)
    adds(runtime, "QUIET")
    adds(runtime, "WEATHER", OSError("no answer"), dynamic=True, relevance_keywords=["rain"])
    adds(runtime, "STOCKS", "up", dynamic=True, relevance_keywords=["stock"])
    return runtime.compose("will it rain?", ["WETHER", "zzzz"])


def harmless(bundle):
    assert list(bundle) == ["text/plain", "text/markdown", "text/html"]
    assert {kind: problems(form, kind) for kind, form in bundle.items()} == {kind: [] for kind in bundle}
    assert sum(len(form.encode()) for form in bundle.values()) < LARGEST


def test_the_summary_counts_and_names_what_failed(runtime):
    first = state_bundle(weather_state(runtime))["text/plain"].splitlines()[0]
    assert first == "composed 5 of 6 providers, 23 characters, 22 tokens (characters); 1 failed: WEATHER"


def test_an_estimate_of_tokens_is_called_one():
    state = State(text="It rains.")
    assert "9 characters, about 0 tokens (estimate)" in state_bundle(state)["text/plain"]


def test_providers_that_ran_stand_first_in_text_order_then_the_skipped_ones(runtime):
    table = report_table(weather_state(runtime).report)
    assert [row["provider"] for row in table] == ["PLACE", "PROFILE", "QUIET", "WEATHER", "LATE", "STOCKS"]
    assert table.columns == ("provider", "outcome", "reason", "chars", "tokens", "error")


def test_a_failed_provider_an_empty_one_and_a_skipped_one_never_look_alike(runtime):
    rows = {row["provider"]: row for row in report_table(weather_state(runtime).report)}
    assert rows["WEATHER"]["outcome"] == "failed"
    assert rows["WEATHER"]["error"] == "OSError: no answer"
    assert rows["QUIET"]["outcome"] == "empty"
    assert rows["QUIET"]["error"] == ""
    assert rows["STOCKS"]["outcome"] == "skipped"
    assert rows["STOCKS"]["chars"] == ""


def test_unknown_names_and_clashes_are_told_in_every_form(runtime):
    for form in state_bundle(weather_state(runtime)).values():
        assert "unknown name: WETHER (did you mean WEATHER?)" in form
        assert "unknown name: zzzz" in form
        assert "value city: PROFILE wins over PLACE" in form


def test_the_composed_text_is_shown_open(runtime):
    bundle = state_bundle(weather_state(runtime))
    assert "Ada lives in Oslo.\nlast" in bundle["text/plain"]
    assert "```text\nAda lives in Oslo.\nlast\n```" in bundle["text/markdown"]
    assert (
        'open="open"><summary style="cursor: pointer; font-weight: bold">composed text</summary><pre'
        in bundle["text/html"]
    )


def test_no_timing_is_shown_so_that_the_same_state_has_the_same_bytes(runtime):
    first = weather_state(runtime)
    second = weather_state(runtime)
    assert first.report["PROFILE"].start_ms != second.report["PROFILE"].start_ms
    assert state_bundle(first) == state_bundle(first) == state_bundle(second)


def test_an_error_too_long_for_its_column_is_told_in_full(runtime):
    adds(runtime, "SLOW", OSError("no answer from <Client object at 0x7f12ab34cd56> " + "x" * 300))
    for form in state_bundle(runtime.compose("hi")).values():
        assert re.search(r"SLOW failed in get, line \d+: OSError: no answer from", form)
        assert "x" * 300 in form


def test_an_error_too_long_for_a_column_of_text_alone_is_told_twice_there_only(runtime):
    adds(runtime, "SLOW", OSError("no answer from the server in all that time"))
    told = [form.count("no answer from the server") for form in state_bundle(runtime.compose("hi")).values()]
    assert told == [2, 1, 1]


def test_where_a_provider_failed_stands_in_every_form(runtime):
    def weather():
        raise ValueError("no")

    runtime.register_provider({"name": "WEATHER", "get": weather})
    runtime.register_provider({"name": "SLOW", "get": lambda: asyncio.sleep(5), "timeout": 0.01})
    state = runtime.compose("hi")
    place = f"WEATHER failed in weather, line {weather.__code__.co_firstlineno + 1}"
    for form in state_bundle(state).values():
        assert place in form
        assert "SLOW timed out in" not in form
    assert state_bundle(state)["text/plain"].count("ValueError") == 1
    assert (state.report["WEATHER"].place, state.report["SLOW"].place) == (
        place[len("WEATHER failed ") :],
        "",
    )
    assert state_bundle(pickle.loads(pickle.dumps(state))) == state_bundle(state)


def test_an_empty_state_is_harmless():
    bundle = state_bundle(State())
    harmless(bundle)
    assert "composed 0 of 0 providers" in bundle["text/plain"]
    assert "no rows" in bundle["text/plain"]
    harmless(values_table(State())._repr_mimebundle_())


def test_a_state_edited_by_its_owner_is_still_shown():
    state = State()
    state.text = None
    state.values[("odd", 1)] = object()
    harmless(state_bundle(state))
    harmless(values_table(state)._repr_mimebundle_())


@pytest.mark.parametrize("label", TEXTS)
def test_a_state_of_hostile_text_is_harmless(runtime, label):
    text = TEXTS[label]
    name = text[:300].strip() or "BLANK"
    adds(runtime, name, text)
    adds(runtime, "VALUES", {"text": text, "values": {text[:300]: text}})
    adds(runtime, "AGAIN", {"values": {text[:300]: 1}})
    adds(runtime, "FAILS", ValueError(text))
    state = runtime.compose("hi", [text[:300] + "?"])
    bundle = state_bundle(state)
    harmless(bundle)
    assert state_bundle(state) == bundle
    harmless(values_table(state)._repr_mimebundle_())
    harmless(report_table(state.report, state.mask)._repr_mimebundle_())


@pytest.mark.parametrize("label", VALUES)
def test_a_state_of_hostile_values_is_harmless(runtime, label):
    state = State(values={"value": VALUES[label]()})
    state.mask = runtime.mask
    table = values_table(state)
    harmless(table._repr_mimebundle_())
    assert values_table(state)._repr_mimebundle_() == table._repr_mimebundle_()


@pytest.mark.parametrize("label", TEXTS)
def test_a_hostile_provider_is_harmless_in_the_list_and_on_its_card(runtime, label):
    text = TEXTS[label]
    name = text[:300].strip() or "BLANK"
    fields = (
        {"description": text, "after": [text + "?"], "relevance_keywords": [text]} if text.strip() else {}
    )
    runtime.register_provider({"name": name, "get": lambda: text, **fields}, origin=text)
    harmless(providers_table(runtime)._repr_mimebundle_())
    harmless(provider_card(runtime, name)._repr_mimebundle_())


def test_values_show_their_writer_and_whose_value_they_shadow(runtime):
    rows = {row["key"]: row for row in values_table(weather_state(runtime))}
    assert rows["city"] == {
        "key": "city", "value": "Oslo", "type": "str", "writer": "PROFILE", "shadowed": "PLACE",
    }  # fmt: skip


def test_kinds_are_words(runtime):
    adds(runtime, "A")
    adds(runtime, "B", dynamic=True)
    adds(runtime, "C", private=True, dynamic=True)
    adds(runtime, "D", always_run=True)
    kinds = {row["provider"]: row["kind"] for row in providers_table(runtime, include_private=True)}
    assert kinds == {"A": "static", "B": "dynamic", "C": "dynamic, private", "D": "static, always runs"}


def test_private_providers_are_listed_only_when_asked_for(runtime):
    adds(runtime, "SEEN")
    adds(runtime, "HIDDEN", private=True)
    assert [row["provider"] for row in providers_table(runtime)] == ["SEEN"]
    assert len(providers_table(runtime, include_private=True)) == 2


def test_the_card_shows_how_a_provider_is_set_up_and_its_source(runtime):
    @runtime.provider("WEATHER", dynamic=True, relevance_keywords=["rain"], timeout=2.5)
    def weather():
        """Tell the weather."""
        return "It rains."

    for form in provider_card(runtime, "WEATHER")._repr_mimebundle_().values():
        for said in ("dynamic", "rain", "2.5 s", "Tell the weather.", "def weather():"):
            assert said in form
    assert "timeout" not in provider_card(runtime, "WEATHER").to_text().replace("timeout  ", "", 1)[:60]


def test_the_source_behind_a_partial_or_a_callable_object_is_found(runtime):
    class Counter:
        def __call__(self):
            return "counted by an object"

    runtime.register_provider({"name": "PARTIAL", "get": functools.partial(characters)})
    runtime.register_provider({"name": "OBJECT", "get": Counter()})
    assert "def characters(text):" in provider_card(runtime, "PARTIAL").to_text()
    assert "counted by an object" in provider_card(runtime, "OBJECT").to_text()


def test_a_provider_without_source_says_so(runtime):
    runtime.register_provider({"name": "EVALUATED", "get": eval("lambda: 1")})
    assert "the source is not available" in provider_card(runtime, "EVALUATED").to_text()


def test_a_card_of_nobody_names_the_nearest_provider(runtime):
    adds(runtime, "WEATHER")
    with pytest.raises(UnknownProviderError, match="did you mean 'WEATHER'"):
        provider_card(runtime, "WETHER")


def test_a_thousand_providers_and_ten_megabytes_are_shown_at_once(runtime):
    for n in range(1_000):
        adds(runtime, f"PROVIDER_{n}", {"text": "<x> & " * 1_700, "values": {f"v{n}": ["y" * 1_000] * 10}})
    state = runtime.compose("hi")
    _ = state.report  # counted by its own test
    start = time.process_time()
    bundle = state_bundle(state)
    values = values_table(state)._repr_mimebundle_()
    assert time.process_time() - start < 1.0
    harmless(bundle)
    harmless(values)
    assert "of 1,000 rows; state.report.to_frame() has all" in bundle["text/html"]
    assert "of 10,200,999 characters; state.text has all" in bundle["text/html"]


def test_ten_thousand_providers_are_listed_within_bounds(runtime, monkeypatch):
    entries = {
        f"PROVIDER_{n}": SimpleNamespace(
            provider=Provider(f"PROVIDER_{n}", dict, relevance_keywords=(f"word{n}",)), version=1, origin=None
        )
        for n in range(10_000)
    }
    monkeypatch.setattr(runtime, "registered", entries.__getitem__)
    monkeypatch.setattr(
        runtime, "list_providers", lambda include_private: [entry.provider for entry in entries.values()]
    )
    start = time.process_time()
    bundle = providers_table(runtime)._repr_mimebundle_()
    assert time.process_time() - start < 1.0
    harmless(bundle)
    assert "showing 100 of 10,000 rows" in bundle["text/plain"]


def test_failures_beyond_the_rows_shown_are_still_named(runtime):
    for n in range(300):
        adds(runtime, f"P{n}", "text")
    for n in range(8):
        adds(runtime, f"BROKEN{n}", OSError("x"))
    plain = state_bundle(runtime.compose("hi"))["text/plain"]
    assert "8 failed: BROKEN0, BROKEN1, BROKEN2, BROKEN3, BROKEN4 and 3 more" in plain


def test_many_unknown_names_and_clashes_are_counted(runtime):
    adds(runtime, "A", {"values": dict.fromkeys(map(str, range(50)), 1)})
    adds(runtime, "B", {"values": dict.fromkeys(map(str, range(50)), 2)})
    plain = state_bundle(runtime.compose("hi", [f"nobody{n}" for n in range(30)]))["text/plain"]
    assert "and 20 more unknown names" in plain
    assert "and 40 more clashes of values" in plain


def test_a_timed_out_provider_is_told_in_words(runtime):
    async def slow():
        await asyncio.sleep(30)

    runtime.register_provider({"name": "SLOW", "get": slow, "timeout": 0.01})
    plain = state_bundle(runtime.compose("hi"))["text/plain"]
    assert "1 timed out: SLOW" in plain
    assert "SLOW      timed out" in plain
