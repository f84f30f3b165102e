from __future__ import annotations

import asyncio
import copy
import pickle
import re

import pytest

from agentctx_nb.record import Record
from agentctx_nb.render.text import text_width
from agentctx_nb.render.timeline import timeline_of
from agentctx_nb.report import Report, ReportRow
from agentctx_nb.runtime import AgentRuntime
from agentctx_nb.state import State
from tests.hostile import LARGEST, SECRETS, TEXTS, mask, problems


def row(provider, start, ms, *, blocked=0.0, outcome="ok", **fields):
    times = {"start_ms": start, "ms": ms, "blocked_ms": blocked}
    return ReportRow(provider, ran=True, reason="static", outcome=outcome, **times, **fields)


def state_of(*rows, total=100.0, after=None, mask=str):
    runtime = AgentRuntime()
    for name, needed in (after or {}).items():
        runtime.register_provider({"name": name, "get": dict, "after": needed})
    record = Record(names=[row.provider for row in rows], snapshot=runtime.registry.snapshot(), mask=mask)
    record.parts = [("", {}, {}) for _ in rows]
    record.settle([row.outcome for row in rows], Report(tuple(rows), {}, "len", total, mask))
    return State(record=record)


def chain():
    return state_of(
        row("SLOW", 0.0, 40.0, blocked=40.0, outcome="failed"),
        row("FACTS", 0.0, 50.0),
        row("WEATHER", 50.0, 30.0),
        row("QUIET", 40.0, 0.5, outcome="empty"),
        ReportRow("STOCKS", ran=False, reason="skipped: dynamic, no keyword in message"),
        after={"WEATHER": ["FACTS", "SLOW"], "FACTS": [], "SLOW": []},
    )


def bars_in(view):
    return {line.split()[0]: line.rsplit("  ", 1)[-1] for line in view.to_text().splitlines() if "=" in line}


def harmless(view):
    bundle = view._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/markdown", "text/html"]
    assert {kind: problems(form, kind) for kind, form in bundle.items()} == {kind: [] for kind in bundle}
    assert sum(len(form.encode()) for form in bundle.values()) < LARGEST
    assert view.to_html() == bundle["text/html"]


def test_bars_stand_in_the_order_they_started_with_their_times():
    bars = chain().timeline().bars
    assert [bar.provider for bar in bars] == ["SLOW", "FACTS", "QUIET", "WEATHER"]
    assert (bars[3].start_ms, bars[3].ms, bars[3].end_ms) == (50.0, 30.0, 80.0)


def test_bars_of_text_are_drawn_to_scale():
    drawn = bars_in(chain().timeline())
    assert drawn["FACTS"] == "=" * 16 + "." * 16
    assert drawn["WEATHER"] == "-" * 16 + "=" * 10 + "." * 6
    assert drawn["QUIET"] == "." * 12 + "=" + "." * 19


def test_the_time_the_loop_was_held_has_a_sign_of_its_own():
    text = chain().timeline().to_text()
    assert re.search(r"^SLOW .* {2}#{13}\.{19}$", text, re.MULTILINE)
    assert "= ran, # of that held the event loop" in text


def test_every_form_says_how_each_provider_ended():
    for form in chain().timeline()._repr_mimebundle_().values():
        assert "failed" in form
        assert "empty" in form
        assert "1 did not run" in form


def test_the_one_that_held_the_event_loop_is_named():
    view = chain().timeline()
    assert view.blocking == "SLOW"
    assert "SLOW held the event loop for 40.0 ms" in view.to_text()


def test_nobody_is_blamed_for_holding_the_loop_a_moment():
    view = state_of(row("QUICK", 0.0, 20.0, blocked=9.9)).timeline()
    assert view.blocking is None
    assert "No provider held the event loop for 10 ms or more." in view.to_text()


def test_the_path_goes_through_what_the_last_one_needed():
    view = chain().timeline()
    assert view.waited_for == ("FACTS", "WEATHER")
    assert view.longest == "FACTS"
    assert "waited for FACTS (50.0 ms), then WEATHER (30.0 ms), longest for FACTS." in view.to_text()


def test_without_after_the_composition_waited_for_the_last_one():
    view = state_of(row("A", 0.0, 99.0), row("B", 0.0, 20.0)).timeline()
    assert view.waited_for == ("A",)
    assert "The composition waited for A (99.0 ms)." in view.to_text()


def test_what_was_kept_from_before_has_words_and_no_bar():
    view = state_of(
        row("KEPT", None, None, outcome="cached"),
        row("LATE", None, None, outcome="timed_out"),
        row("NOW", 0.0, 1.0),
    ).timeline()
    outcomes = {bar.provider: bar.outcome for bar in view.bars}
    assert outcomes == {"KEPT": "from cache", "LATE": "timed out, not run", "NOW": "ok"}
    assert list(bars_in(view)) == ["NOW", "="]


def test_html_draws_bars_in_percent_with_borders():
    html = chain().timeline().to_html()
    assert "margin-left: 50.00%; width: 30.00%; min-width: 2px; border-top: 0.8em solid steelblue" in html
    assert html.count("border-top: 0.25em solid") == 1


def test_a_failed_bar_has_another_colour_than_one_that_is_all_right():
    html = chain().timeline().to_html()
    assert html.count("0.8em solid rgb(214, 86, 76)") == 1
    assert html.count("0.8em solid steelblue") == 2


def test_a_bar_is_cut_in_no_text_however_long_the_names():
    view = state_of(row("N" * 500, 0.0, 50.0), row("東京" * 100, 50.0, 50.0)).timeline()
    lines = [line for line in view.to_text().splitlines() if line.endswith((".....", "====="))]
    assert [line[-32:] for line in lines] == ["=" * 16 + "." * 16, "." * 16 + "=" * 16]
    assert [text_width(line) for line in lines] == [100, 100]


def test_bars_keep_their_width_beside_a_long_name_that_is_cut_in_its_middle():
    html = state_of(row("START_" + "x" * 90 + "_END", 0.0, 50.0)).timeline().to_html()
    assert f">START_{'x' * 10}…{'x' * 11}_END<" in html
    assert html.count('style="width: 16em; ') == 1


def test_headings_are_words():
    view = chain().timeline()
    assert "start" in view.to_text().splitlines()[4].split()
    assert not any("_ms" in form for form in view._repr_mimebundle_().values())


def test_of_many_providers_the_longest_are_shown_in_order_of_their_start():
    state = state_of(*[row(f"P{n}", n / 100, n / 100) for n in range(10_000)], total=200.0)
    view = state.timeline()
    assert len(view) == 10_000
    text = view.to_text()
    assert "showing 40 of 10,000 rows" in text
    shown = [line.split()[0] for line in text.splitlines() if line.startswith("P")]
    assert shown == [f"P{n}" for n in range(9_960, 10_000)]
    harmless(view)


def test_a_long_chain_is_followed_to_its_start():
    after = {f"P{n}": [f"P{n - 1}"] if n else [] for n in range(300)}
    rows = [row(f"P{n}", float(n), 1.0) for n in range(300)]
    view = state_of(*rows, total=300.0, after=after).timeline()
    assert len(view.waited_for) == 300
    assert "then P4 (1.0 ms), then …" in view.to_text()


def test_the_frame_has_all_of_it():
    frame = chain().timeline().to_frame()
    assert list(frame.index) == ["SLOW", "FACTS", "QUIET", "WEATHER"]
    assert frame.loc["WEATHER", "end_ms"] == 80.0
    assert list(frame["waited_for"]) == [False, True, False, True]
    assert frame.loc["WEATHER", "after"] == ("FACTS", "SLOW")


def test_a_state_nothing_ran_in_has_a_timeline():
    view = State().timeline()
    assert "no rows" in view.to_text()
    harmless(view)
    assert len(view.to_frame()) == 0


def test_a_real_composition_is_told():
    runtime = AgentRuntime()

    @runtime.provider("FIRST")
    async def first():
        await asyncio.sleep(0.01)
        return "first"

    @runtime.provider("SECOND", after=["FIRST"])
    async def second():
        await asyncio.sleep(0.01)
        return "second"

    @runtime.provider("LATE", timeout=0.001)
    async def late():
        await asyncio.sleep(30)

    state = runtime.compose("hi")
    view = state.timeline()
    assert view.waited_for == ("FIRST", "SECOND")
    assert {bar.provider: bar.outcome for bar in view.bars}["LATE"] == "timed out"
    harmless(view)
    again = pickle.loads(pickle.dumps(state)).timeline()
    assert [bar[:5] for bar in again.bars] == [bar[:5] for bar in view.bars]
    assert copy.deepcopy(state).timeline().waited_for == ("SECOND",)


@pytest.mark.parametrize("label", TEXTS)
def test_hostile_names_and_failures_are_harmless(label):
    name = TEXTS[label][:300].strip() or "BLANK"
    secrets = {f"KEY{n}": secret for n, secret in enumerate(SECRETS)}
    runtime = AgentRuntime(secrets=secrets)

    def fails():
        raise ValueError(TEXTS[label])

    runtime.register_provider({"name": name, "get": lambda: TEXTS[label]})
    runtime.register_provider({"name": name + "!", "get": fails, "after": [name]})
    view = runtime.compose("hi").timeline()
    harmless(view)
    assert not any(secret in repr(view.to_frame().reset_index().to_dict()) for secret in SECRETS)


def test_names_are_masked_in_the_bars_themselves():
    view = timeline_of(state_of(row(SECRETS[1], 0.0, 20.0, blocked=20.0), mask=mask))
    assert SECRETS[1] not in repr(view.bars)
    assert view.blocking == "[secret]"
