"""Who runs, and why: every rule with its reason, pure and through a composition."""

from __future__ import annotations

import asyncio
import logging
from contextlib import nullcontext

import pytest

from agentctx_nb import AgentRuntime, Content, Memory, Provider, UnknownProviderError
from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.selection import Decision, decide, names_of

STATIC, DYNAMIC, PRIVATE = {}, {"dynamic": True, "relevance_keywords": ["rain"]}, {"private": True}
BOTH = {**DYNAMIC, **PRIVATE}
NO_LIST, EMPTY, NAMED, OTHER = None, [], ["X"], ["OTHER"]

STATIC_SAYS = "static"
NAMED_SAYS = "named"
WOKEN = "keyword 'rain'"
ASLEEP = "skipped: dynamic, no keyword in message"
HIDDEN = "skipped: private, not named"
OUT = "skipped: not in the only-list"

# flags of X, message, include_list, only_include, the reason of X
RULES = [
    (STATIC, "hi", NO_LIST, False, STATIC_SAYS),
    (STATIC, "hi", NO_LIST, True, STATIC_SAYS),
    (STATIC, "hi", EMPTY, False, STATIC_SAYS),
    (STATIC, "hi", OTHER, False, STATIC_SAYS),
    (STATIC, "hi", NAMED, False, NAMED_SAYS),
    (STATIC, "hi", NAMED, True, NAMED_SAYS),
    (STATIC, "hi", OTHER, True, OUT),
    (STATIC, "hi", EMPTY, True, OUT),
    (DYNAMIC, "hi", NO_LIST, False, ASLEEP),
    (DYNAMIC, "rain", NO_LIST, False, WOKEN),
    (DYNAMIC, "rain", NO_LIST, True, WOKEN),
    (DYNAMIC, "rain", EMPTY, False, WOKEN),
    (DYNAMIC, "rain", OTHER, False, WOKEN),
    (DYNAMIC, "rain", OTHER, True, OUT),
    (DYNAMIC, "rain", EMPTY, True, OUT),
    (DYNAMIC, "hi", NAMED, False, NAMED_SAYS),
    (DYNAMIC, "rain", NAMED, False, NAMED_SAYS),
    (DYNAMIC, "rain", NAMED, True, NAMED_SAYS),
    (DYNAMIC, "train", NO_LIST, False, ASLEEP),
    ({"dynamic": True}, "rain", NO_LIST, False, ASLEEP),
    ({"relevance_keywords": ["rain"]}, "rain", NO_LIST, False, STATIC_SAYS),
    (PRIVATE, "hi", NO_LIST, False, HIDDEN),
    (PRIVATE, "hi", OTHER, False, HIDDEN),
    (PRIVATE, "hi", NAMED, False, NAMED_SAYS),
    (PRIVATE, "hi", NAMED, True, NAMED_SAYS),
    (PRIVATE, "hi", OTHER, True, OUT),
    (BOTH, "rain", NO_LIST, False, HIDDEN),
    (BOTH, "rain", EMPTY, False, HIDDEN),
    (BOTH, "rain", NAMED, False, NAMED_SAYS),
    (BOTH, "rain", EMPTY, True, OUT),
]


def says(text):
    return lambda: text


def runtime_with(**flags):
    runtime = AgentRuntime(count_tokens=len)
    runtime.register_provider({"name": "OTHER", "get": lambda: "other", "private": True})
    runtime.register_provider({"name": "X", "get": lambda: "x", **flags})
    return runtime


@pytest.mark.parametrize(("flags", "message", "include", "only", "reason"), RULES)
def test_each_rule_gives_its_reason(flags, message, include, only, reason):
    state = runtime_with(**flags).compose(message, include, only)
    row = state.report["X"]
    assert row.reason == reason
    assert (
        row.ran == ("X" in state.data.providers) == ("x" in state.text) == (not reason.startswith("skipped"))
    )


@pytest.mark.parametrize("flags", [STATIC, DYNAMIC, PRIVATE, BOTH])
@pytest.mark.parametrize("message", ["hi", "rain", ""])
@pytest.mark.parametrize("include", [NO_LIST, EMPTY, NAMED, OTHER])
@pytest.mark.parametrize("only", [False, True])
def test_always_run_runs_whatever_the_lists_and_flags_say(flags, message, include, only):
    warns = pytest.warns(UserWarning, match="hidden from the list") if "private" in flags else nullcontext()
    with warns:
        runtime = runtime_with(**flags, always_run=True)
    state = runtime.compose(message, include, only)
    assert (state.report["X"].ran, state.report["X"].reason) == (True, "always runs")
    assert state.data.providers.X.text == "x"


def test_of_several_reasons_the_first_in_order_is_given():
    def reason(*, named, hits, **flags):
        return decide(Provider("X", print, **flags), named=named, only=False, hits=hits).reason

    assert reason(named=True, hits=("rain",), dynamic=True, always_run=True) == "always runs"
    assert reason(named=True, hits=("rain",), dynamic=True) == "named"
    assert reason(named=False, hits=(), dynamic=False) == "static"
    assert reason(named=False, hits=("rain",), dynamic=True) == "keyword 'rain'"


def test_all_keywords_that_hit_are_told():
    runtime = runtime_with(dynamic=True, relevance_keywords=["snow", "rain", "how to"])
    row = runtime.compose("How-to walk in rain and snow?").report["X"]
    assert row.reason == "keyword 'snow', 'rain', 'how to'"
    assert row.keyword == "snow, rain, how to"
    assert runtime.compose("rain?", ["X"]).report["X"].keyword == "rain"
    assert runtime.compose("sun", ["X"]).report["X"].keyword is None


def test_only_the_current_message_is_looked_at(runtime):
    runtime.register_provider({"name": "X", "get": lambda: "x", **DYNAMIC})

    async def main():
        await runtime.create_memory(Memory("rain", room_id="lobby"), "messages")
        memory = Memory("hi", room_id="lobby", metadata={"text": "rain"})
        return await runtime.compose_state(memory), await runtime.compose_state(
            {"content": {"title": "rain"}}
        )

    assert [state.text for state in asyncio.run(main())] == ["", ""]


@pytest.mark.parametrize(
    "message",
    [
        "",
        " \n",
        Memory(),
        Memory(Content(None)),
        Memory(Content("")),
        {},
        {"content": {}},
        {"content": {"text": None}},
        {"text": None},
        {"content": {"attachments": ["rain"]}},
    ],
    ids=range(10),
)
def test_a_message_with_no_text_wakes_nobody_and_breaks_nothing(message):
    runtime = runtime_with(**DYNAMIC)
    runtime.register_provider(
        {"name": "S", "get": lambda runtime, message: f"[{message.content.text or ''}]".strip()}
    )
    state = runtime.compose(message)
    assert state.report["X"].reason == ASLEEP
    assert state.report["S"].outcome == "ok"
    assert runtime.compose(message, ["X"]).report["X"].reason == NAMED_SAYS


@pytest.mark.parametrize(
    "given",
    [["C", "A"], ["A", "C", "A", "C"], ("A", "C"), {"A", "C"}, frozenset("AC"), dict.fromkeys("CA").keys()],
    ids=["list", "twice", "tuple", "set", "frozenset", "keys"],
)
@pytest.mark.parametrize("only", [False, True])
def test_order_and_duplicates_and_kind_of_a_list_do_not_matter(given, only):
    runtime = AgentRuntime(count_tokens=len)
    for name, flags in (("A", STATIC), ("B", STATIC), ("C", DYNAMIC), ("D", PRIVATE)):
        runtime.register_provider({"name": name, "get": says(name.lower()), **flags})
    assert runtime.compose("hi", given, only).text == ("a\nc" if only else "a\nb\nc")


def test_an_iterator_is_read_once(runtime):
    runtime.register_provider({"name": "X", "get": lambda: "x", "private": True})
    assert runtime.compose("hi", iter(["X"])).text == "x"
    assert runtime.compose("hi", (name for name in ["X"]), True).text == "x"


def test_a_bare_string_is_one_name(runtime):
    runtime.register_provider({"name": "NEWS", "get": lambda: "news", "dynamic": True})
    runtime.register_provider({"name": "N", "get": lambda: "n", "dynamic": True})
    state = runtime.compose("hi", "NEWS")
    assert state.text == "news"
    assert state.report.unknown == {}
    assert runtime.compose("hi", "NEWS", True).text == "news"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([None], "include_list holds provider names, but one is None"),
        (["X", None], "but one is None"),
        (["X", 3], "but one is 3"),
        ([["X"]], r"but one is \['X'\]"),
        ([b"X"], "but one is b'X'"),
        ([Provider("X", print)], "include_list holds provider names, but one is a Provider"),
        (5, "include_list is a list of provider names, not 5"),
        (True, "include_list is a list of provider names, not True"),
        (b"X", "include_list is a list of provider names, not b'X'"),
        ({"X": True}, "include_list is a list of provider names, not {'X': True}"),
    ],
)
@pytest.mark.parametrize("only", [False, True])
def test_a_list_that_holds_no_names_is_a_type_error_before_anything_runs(runtime, given, said, only):
    ran = []
    runtime.register_provider({"name": "X", "get": lambda: ran.append(1), "always_run": True})
    with pytest.raises(TypeError, match=said) as caught:
        runtime.compose("hi", given, only)
    assert isinstance(caught.value, DefinitionTypeError)
    assert ran == []


def test_names_of_tells_no_list_from_an_empty_one():
    assert names_of(None) is None
    assert names_of([]) == frozenset()
    assert names_of("X") == {"X"}


# Names nobody registered -----------------------------------------------------------------


def messages(caplog, level=logging.WARNING):
    return [record.getMessage() for record in caplog.records if record.levelno == level]


@pytest.mark.parametrize("only", [False, True])
def test_unknown_names_are_reported_with_near_ones_and_one_warning_and_the_rest_goes_on(caplog, only):
    runtime = runtime_with()
    runtime.register_provider({"name": "WEATHER", "get": lambda: "w", "dynamic": True})
    state = runtime.compose("hi", ["WHEATHER", "weather", "X", "ZZZZ"], only)
    assert state.text == "x"
    assert list(state.report.unknown) == ["WHEATHER", "ZZZZ", "weather"]
    assert state.report.unknown["WHEATHER"][0] == state.report.unknown["weather"][0] == "WEATHER"
    assert state.report.unknown["ZZZZ"] == ()
    assert "ZZZZ" not in state.report
    assert len(messages(caplog)) == 1
    warning = messages(caplog)[0]
    assert "'WHEATHER'; did you mean 'WEATHER'" in warning
    assert "no provider is registered as 'ZZZZ'" in warning
    assert state.errors == {}


def test_a_warning_is_logged_for_each_composition_and_none_where_all_is_known(caplog):
    runtime = runtime_with()
    runtime.compose("hi", ["X"])
    assert messages(caplog) == []
    runtime.compose("hi", ["NOBODY"])
    runtime.compose("hi", ["NOBODY"])
    assert len(messages(caplog)) == 2


def test_strict_raises_one_group_with_every_unknown_name():
    runtime = runtime_with()
    with pytest.raises(ExceptionGroup, match=r"NOBODY.*XX") as caught:
        runtime.compose("hi", ["NOBODY", "XX"], strict=True)
    assert [type(error) for error in caught.value.exceptions] == [UnknownProviderError, UnknownProviderError]
    assert caught.value.exceptions[1].near == ("X",)
    assert runtime.compose("hi", ["X"], strict=True).text == "x"


def test_strict_raises_unknown_names_and_failures_alike(runtime):
    def fails():
        raise ValueError("broken")

    runtime.register_provider({"name": "FAILS", "get": fails})
    with pytest.raises(ExceptionGroup) as caught:
        runtime.compose("hi", ["NOBODY"], strict=True)
    assert [type(error) for error in caught.value.exceptions] == [UnknownProviderError, ValueError]


def test_strict_minds_an_unregistered_name_in_after_only_where_it_was_asked_for(runtime):
    runtime.register_provider({"name": "A", "get": lambda: "a", "after": ["NOPE"]})
    assert runtime.compose("hi", strict=True).text == "a"
    with pytest.raises(ExceptionGroup) as caught:
        runtime.compose("hi", ["NOPE"], strict=True)
    assert [error.name for error in caught.value.exceptions] == ["NOPE"]


def test_a_name_registered_later_is_known_then():
    runtime = runtime_with()
    assert list(runtime.compose("hi", ["LATER"]).report.unknown) == ["LATER"]
    runtime.register_provider({"name": "LATER", "get": lambda: "later", "dynamic": True})
    assert runtime.compose("hi", ["LATER"]).text == "x\nlater"
    runtime.unregister_provider("LATER")
    assert list(runtime.compose("hi", ["LATER"]).report.unknown) == ["LATER"]


# What the selection must not depend on ---------------------------------------------------


def test_a_decision_is_made_anew_for_each_message_and_list():
    runtime = runtime_with(**DYNAMIC)
    for _ in range(2):
        assert runtime.compose("rain").text == "x"
        assert runtime.compose("sun").text == ""
        assert runtime.compose("rain", []).text == "x"
        assert runtime.compose("rain", [], True).text == ""
        assert runtime.compose("sun", ["X"]).text == "x"
        assert runtime.compose("sun", ["OTHER"], True).text == "other"


def test_every_registered_provider_has_one_decision_in_text_order():
    decisions = []
    runtime = AgentRuntime(select=lambda given, message: decisions.extend(given))
    for name, position in (("LATE", 5), ("FIRST", -5), ("MIDDLE", 0)):
        runtime.register_provider(
            {"name": name, "get": print, "position": position, "private": name == "MIDDLE"}
        )
    runtime.compose("hi", [], True)
    assert decisions == [
        Decision("FIRST", False, OUT),
        Decision("MIDDLE", False, OUT),
        Decision("LATE", False, OUT),
    ]


def test_many_unknown_names_among_many_providers_are_looked_up_within_bounds(monkeypatch):
    compared = []

    def counted(_word, possibilities, **_):
        compared.append(len(list(possibilities)))
        return []

    monkeypatch.setattr("difflib.get_close_matches", counted)
    runtime = AgentRuntime()
    for number in range(1_000):
        runtime.register_provider(Provider(f"PROVIDER_{number}", str, private=True))
    wrong = [f"WRONG_{number}" for number in range(50)]
    assert list(runtime.compose("hi", wrong).report.unknown) == sorted(wrong)
    assert sum(compared) <= 5_000
