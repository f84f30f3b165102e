from __future__ import annotations

from difflib import SequenceMatcher

import pytest

from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.looking import text_changes
from agentctx_nb.looking.text_changes import line_changes
from agentctx_nb.runtime import AgentRuntime
from agentctx_nb.state import State
from tests.hostile import LARGEST, SECRETS, TEXTS, VALUES, problems
from tests.viewed import adds


@pytest.fixture
def runtime():
    secrets = {f"KEY{n}": secret for n, secret in enumerate(SECRETS)}
    return AgentRuntime(secrets=secrets, count_tokens=len)


def harmless(view):
    bundle = view._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/markdown", "text/html"]
    assert {kind: problems(form, kind) for kind, form in bundle.items()} == {kind: [] for kind in bundle}
    assert sum(len(form.encode()) for form in bundle.values()) < LARGEST
    assert view.to_html() == bundle["text/html"]
    assert problems(view.summary, "text/plain") == []


def two_states(runtime):
    adds(runtime, "PROFILE", {"text": "Ada\nlives in Oslo.", "values": {"city": "Oslo", "old": 1}})
    adds(runtime, "QUIET")
    adds(runtime, "WEATHER", "It rains.", dynamic=True, relevance_keywords=["rain"])
    adds(runtime, "NEWS", "all quiet")
    before = runtime.compose("hi")
    adds(runtime, "PROFILE", {"text": "Ada\nlives in Bergen.", "values": {"city": "Bergen", "new": 2}})
    adds(runtime, "NEWS", OSError("no answer from <Client object at 0x7f12ab34cd56>"))
    return before, runtime.compose("will it rain?")


def rows(table):
    return [tuple(row.values()) for row in table]


def test_changed_lines_are_told_by_provider(runtime):
    before, after = two_states(runtime)
    assert rows(before.diff(after).lines) == [
        ("PROFILE", "removed", "lives in Oslo."),
        ("PROFILE", "added", "lives in Bergen."),
        ("NEWS", "removed", "all quiet"),
        ("WEATHER", "added", "It rains."),
    ]


def test_values_are_told_with_what_they_were_and_are_and_who_wrote_them(runtime):
    before, after = two_states(runtime)
    assert rows(before.diff(after).values) == [
        ("city", "changed", "Oslo", "Bergen", "PROFILE"),
        ("old", "removed", 1, "", "PROFILE"),
        ("new", "added", "", 2, "PROFILE"),
    ]


def test_providers_are_told_in_words_with_their_tokens(runtime):
    before, after = two_states(runtime)
    told = {row[0]: row[1:4] for row in rows(before.diff(after).providers)}
    assert told == {
        "PROFILE": ("text changed; values changed", 18, 20),
        "WEATHER": ("runs now (keyword 'rain')", "", 9),
        "NEWS": ("ok → failed; error: OSError: no answer from <Client object>; text changed", 9, 0),
    }


def test_the_other_way_round_all_is_reversed(runtime):
    before, after = two_states(runtime)
    back = after.diff(before)
    assert ("WEATHER", "removed", "It rains.") in rows(back.lines)
    told = {row[0]: row[1] for row in rows(back.providers)}
    assert told["WEATHER"] == "no longer runs (dynamic, no keyword in message)"
    assert told["NEWS"] == "failed → ok; text changed"


def test_the_summary_is_one_line_that_says_it_all(runtime):
    before, after = two_states(runtime)
    said = before.diff(after).summary
    assert said.startswith(
        "text: 2 lines added, 2 lines removed (PROFILE, NEWS, WEATHER); "
        "values: city changed, old removed, new added; "
        "providers: WEATHER runs now (keyword 'rain'), NEWS ok → failed (error: OSError: no answer"
    )
    assert said.count("; ") == 4  # between its five parts only
    assert "; 27 → 29 tokens (+2); " in said
    assert said.endswith(" ms")


def test_a_difference_is_false_where_nothing_but_time_changed(runtime):
    two_states(runtime)
    before, after = runtime.compose("hi"), runtime.compose("hi")
    same = before.diff(after)
    assert not same
    assert same.summary.startswith("nothing changed; 20 tokens; ")
    assert before.report.total_ms != after.report.total_ms


def test_a_result_from_a_cache_is_no_change(runtime):
    adds(runtime, "KEPT", "kept", ttl=60)
    before, after = runtime.compose("hi"), runtime.compose("hi")
    assert after.report["KEPT"].outcome == "cached"
    assert not before.diff(after)


def test_another_reason_not_to_run_is_no_change(runtime):
    adds(runtime, "A", "a")
    adds(runtime, "STOCKS", "up", dynamic=True)
    assert not runtime.compose("hi").diff(runtime.compose("hi", ["A"], only_include=True)).lines
    told = rows(runtime.compose("hi").diff(runtime.compose("hi", ["A"], only_include=True)).providers)
    assert [row[:2] for row in told] == [("A", "static → named")]


def test_a_change_of_data_alone_is_one(runtime):
    adds(runtime, "FACTS", {"data": {"rows": [1, 2]}})
    before = runtime.compose("hi")
    adds(runtime, "FACTS", {"data": {"rows": [1, 3]}})
    difference = before.diff(runtime.compose("hi"))
    assert difference
    assert [row[:2] for row in rows(difference.providers)] == [("FACTS", "data changed")]


def test_the_same_failure_is_no_change_but_another_is(runtime):
    adds(runtime, "A", OSError("no answer"))
    before = runtime.compose("hi")
    assert not before.diff(runtime.compose("hi"))
    adds(runtime, "A", OSError("no answer from <Client object at 0x7f12ab34cd56>"))
    before = runtime.compose("hi")
    adds(runtime, "A", OSError("no answer from <Client object at 0x7f99ab34cd56>"))
    assert not before.diff(runtime.compose("hi"))
    adds(runtime, "A", OSError("late answer"))
    assert rows(before.diff(runtime.compose("hi")).providers)[0][1] == "error: OSError: late answer"


def test_a_provider_that_moved_is_told_and_its_lines_are_not(runtime):
    for name in "ABCD":
        adds(runtime, name, name.lower())
    before = runtime.compose("hi")
    adds(runtime, "A", "a", position=9)
    difference = before.diff(runtime.compose("hi"))
    assert rows(difference.lines) == [("A", "moved", "now part 4 of 4 parts")]
    assert "text: 1 part moved (A)" in difference.summary
    assert [row[:2] for row in rows(difference.providers)] == [("A", "moved")]


def test_a_provider_registered_or_gone_is_told(runtime):
    adds(runtime, "A", "a")
    before = runtime.compose("hi")
    adds(runtime, "B", "b")
    runtime.unregister_provider("A")
    told = {row[0]: row[1] for row in rows(before.diff(runtime.compose("hi")).providers)}
    assert told == {"A": "no longer runs (not registered)", "B": "new (static)"}


def test_a_text_its_owner_edited_is_compared_as_a_whole(runtime):
    adds(runtime, "A", "one\ntwo")
    before, after = runtime.compose("hi"), runtime.compose("hi")
    after.text = "one\nthree"
    assert rows(before.diff(after).lines) == [
        ("(the text)", "removed", "two"),
        ("(the text)", "added", "three"),
    ]
    after.text = None
    harmless(before.diff(after))


def test_only_states_are_compared(runtime):
    with pytest.raises(DefinitionTypeError, match="compared with another state, not with 'text'"):
        State().diff("text")


def test_every_form_has_the_words_and_the_signs(runtime):
    before, after = two_states(runtime)
    bundle = before.diff(after)._repr_mimebundle_()
    for form in bundle.values():
        assert "text: 2 lines added, 2 lines removed" in form
        assert "removed" in form.split("Values")[1]
    assert "\n- lives in Oslo.\n+ lives in Bergen.\n" in bundle["text/plain"]
    assert "\n- lives in Oslo.\n+ lives in Bergen.\n" in bundle["text/markdown"]
    assert "- removed</td>" in bundle["text/html"]
    assert 'background-color: rgba(46, 160, 67, 0.22)">lives in Bergen.</div>' in bundle["text/html"]
    assert list(before.diff(after)._repr_mimebundle_(include=["text/html"])) == ["text/html"]


def test_the_frame_has_all_parts(runtime):
    before, after = two_states(runtime)
    frame = before.diff(after).to_frame()
    assert list(frame.columns) == ["part", "name", "change", "old", "new"]
    assert list(frame["part"].unique()) == ["text", "value", "provider", "tokens"]
    assert frame[frame["part"] == "tokens"][["old", "new"]].to_numpy().tolist() == [[27, 29]]
    assert len(before.diff(before).to_frame()) == 0


def test_secrets_stay_hidden_and_a_changed_one_is_told_without_its_lines(runtime):
    adds(runtime, "A", {"text": f"key {SECRETS[0]}", "values": {"k": SECRETS[0]}})
    before = runtime.compose("hi")
    adds(runtime, "A", {"text": f"key {SECRETS[1]}", "values": {"k": SECRETS[1]}})
    difference = before.diff(runtime.compose("hi"))
    harmless(difference)
    assert not any(secret in repr(difference.to_frame().to_dict()) for secret in SECRETS)
    adds(runtime, "A", f"key {SECRETS[0]}")
    one = runtime.compose("hi")
    runtime.set_setting("KEY0", None, secret=True)
    runtime.set_setting("KEY0", SECRETS[0], secret=True)
    assert rows(one.diff(one).lines) == []


def test_lines_that_differ_only_within_a_secret():
    def mask(text):
        return text.replace("hunter1", "***").replace("hunter2", "***")

    changes = line_changes([("A", "key hunter1")], [("A", "key hunter2")], mask)
    assert changes == [("A", "changed", "only within a secret, which is not shown")]


def test_a_long_line_is_shown_from_where_it_changed(runtime):
    adds(runtime, "A", "x" * 5_000 + " rain")
    before = runtime.compose("hi")
    adds(runtime, "A", "x" * 5_000 + " snow")
    text = before.diff(runtime.compose("hi")).to_text()
    assert f"- …{'x' * 39} rain\n+ …{'x' * 39} snow" in text


@pytest.fixture
def matched(monkeypatch):
    """Return the numbers of lines that were matched with each other, which is quadratic at worst."""
    numbers = []

    def counting(junk, one, other):
        numbers.append(max(len(one), len(other)))
        return SequenceMatcher(junk, one, other)

    monkeypatch.setattr(text_changes, "SequenceMatcher", counting)
    return numbers


def test_lines_in_between_are_matched(matched):
    old, new = ["a", "b", "c", "d"], ["x", "b", "c", "y", "d"]
    changes = line_changes([("A", "\n".join(old))], [("A", "\n".join(new))])
    assert [tuple(change[1:]) for change in changes] == [("removed", "a"), ("added", "x"), ("added", "y")]
    assert matched == [4]  # the end is the same


def test_huge_texts_are_told_whole_between_the_first_and_the_last_change(runtime, matched):
    lines = [f"line {n % 7} {n % 3}" for n in range(100_000)]
    adds(runtime, "A", "\n".join(lines))
    before = runtime.compose("hi")
    adds(runtime, "A", "\n".join(["first", *lines[::-1], "last"]))
    difference = before.diff(runtime.compose("hi"))
    assert len(difference.lines) == 200_002
    assert matched == []
    harmless(difference)


def test_many_middling_parts_share_what_may_be_matched(matched):
    old = [(f"P{n}", "\n".join(f"{i % 11} {i % 7}" for i in range(900))) for n in range(50)]
    new = [(name, "\n".join(f"{i % 7} {i % 13}" for i in range(900))) for name, _ in old]
    assert {change.provider for change in line_changes(old, new)} == {name for name, _ in old}
    assert matched
    assert max(matched) <= text_changes.MOST_LINES
    assert sum(matched) <= text_changes.MOST_LINES_IN_ALL


def test_ten_thousand_providers_in_reverse_are_compared():
    old = [(f"P{n}", "x") for n in range(10_000)]
    changes = line_changes(old, old[::-1])
    assert len(changes) == 9_999
    assert {change.change for change in changes} == {"moved"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("abc", "abc", ""),
        ("abc", "axc", "-b +x"),
        ("abc", "bca", "~a"),
        ("abcd", "cabd", "~c"),
        ("ab", "", "-a -b"),
        ("", "ab", "+a +b"),
        ("abc", "dab", "+d -c"),
    ],
)
def test_parts_come_go_and_move(old, new, told):
    signs = {"added": "+", "removed": "-", "moved": "~"}
    changes = line_changes([(c, c) for c in old], [(c, c) for c in new])
    assert " ".join(signs[change] + name for name, change, _ in changes) == told


@pytest.mark.parametrize("label", TEXTS)
def test_a_difference_of_hostile_texts_is_harmless(runtime, label):
    text = TEXTS[label][:300_000]
    name = text[:300].strip() or "BLANK"
    adds(runtime, name, {"text": "plain\n" + text[:200_000], "values": {text[:300]: text}})
    adds(runtime, "OTHER", {"text": "other"})
    before = runtime.compose("hi")
    adds(runtime, name, {"text": "other\n" + text[:100_000] + "!", "values": {text[:300] + "?": 1}})
    adds(runtime, "OTHER", ValueError(text))
    after = runtime.compose("hi")
    harmless(before.diff(after))
    harmless(after.diff(after.without(name)))
    frame = before.diff(after).to_frame()
    assert not any(secret in repr(frame.to_numpy().tolist()) for secret in SECRETS)


@pytest.mark.parametrize("label", VALUES)
def test_a_difference_of_hostile_values_is_harmless(runtime, label):
    adds(runtime, "A", lambda: {"values": {"value": VALUES[label]()}, "data": {"inside": [VALUES[label]()]}})
    before, again = runtime.compose("hi"), runtime.compose("hi")
    harmless(before.diff(again))
    assert bool(before.diff(again)) == (
        label in {"broken repr", "repr of wrong type", "broken inside", "address"}
    )
    adds(runtime, "A", {"values": {"value": "another"}})
    difference = before.diff(runtime.compose("hi"))
    assert difference
    harmless(difference)


def test_five_megabytes_through_every_form(runtime):
    text = TEXTS["huge"]
    adds(runtime, "A", {"text": text, "values": {"value": text}})
    before = runtime.compose("hi")
    adds(runtime, "A", ValueError(text))
    harmless(before.diff(runtime.compose("hi")))


def test_keys_that_cannot_be_found_again_are_harmless(runtime):
    class Key(str):
        __slots__ = ()

        def __eq__(self, other):
            raise RuntimeError("no comparison")

        __hash__ = str.__hash__

    before, after = State(values={Key("a"): 1}), State(values={Key("a"): 2})
    harmless(before.diff(after))


def test_values_too_large_to_compare_are_named_and_count_as_unchanged(runtime):
    adds(runtime, "A", lambda: {"data": {"rows": [[n] for n in range(210_000)]}})
    before = runtime.compose("hi")
    difference = before.diff(runtime.compose("hi"))
    assert not difference
    assert difference.not_compared == ("data of A",)
    for form in difference._repr_mimebundle_().values():
        assert "too large to compare: data of A" in form
