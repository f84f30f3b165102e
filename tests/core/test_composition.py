"""How the results of those that ran become one state, and what a provider may not touch."""

from __future__ import annotations

import asyncio
import logging
import traceback

import pytest

from agentctx_nb import AgentRuntime, Content, Memory, Provider, ProviderResult
from agentctx_nb.errors import DefinitionError, ResultError, UnknownProviderError


def gives(result):
    async def get(runtime, message, state):
        return result

    return get


def runtime_of(**results):
    """Return a runtime with one provider a keyword, each giving what stands there."""
    runtime = AgentRuntime()
    for name, result in results.items():
        runtime.register_provider(Provider(name, gives(result)))
    return runtime


def compose(runtime, message="hello", *args, **options):
    return asyncio.run(runtime.compose_state(message, *args, **options))


def test_providers_stand_in_order_of_position_and_then_of_registration():
    runtime = AgentRuntime()
    for name, position in {"LAST": 1.5, "B": 0, "FIRST": -3, "A": None, "C": 0.0, "MIDDLE": 1}.items():
        runtime.register_provider(Provider(name, gives(name), position=position))
    state = compose(runtime)
    assert state.data.provider_order == ["FIRST", "B", "A", "C", "MIDDLE", "LAST"]
    assert state.text.split("\n") == state.data.provider_order
    assert list(state.data.providers) == state.data.provider_order


def test_position_orders_text_and_not_time():
    async def main():
        last_ran = asyncio.Event()

        async def first():
            async with asyncio.timeout(10):
                await last_ran.wait()
            return "first"

        async def last():
            last_ran.set()
            return "last"

        runtime = AgentRuntime()
        runtime.register_provider(Provider("LAST", last, position=3))
        runtime.register_provider(Provider("FIRST", first, position=1))
        return await runtime.compose_state("hello")

    assert asyncio.run(main()).text == "first\nlast"


@pytest.mark.parametrize("position", [True, float("nan"), "1"])
def test_a_position_that_is_no_place_in_an_order_is_rejected(position):
    with pytest.raises(DefinitionError, match="position of provider X"):
        Provider("X", gives(""), position=position)


def test_texts_are_joined_by_one_newline_untrimmed_and_blank_ones_left_out():
    runtime = runtime_of(A="  a \n", B="", C=" \n\t ", D=None, E="e\n", F={"values": {"f": 1}}, G="g")
    state = compose(runtime)
    assert state.text == "  a \n\ne\n\ng"
    assert [(name, state.text[start:end]) for start, end, name in state.spans] == [
        ("A", "  a \n"),
        ("E", "e\n"),
        ("G", "g"),
    ]
    assert state.values["providers"] == state.text


def test_no_provider_at_all_is_an_empty_state():
    state = compose(AgentRuntime())
    assert (state.text, state.values, list(state.data.providers), list(state.report)) == (
        "",
        {"providers": ""},
        [],
        [],
    )


def test_the_later_value_wins_none_included_and_every_clash_names_both_writers():
    runtime = runtime_of(
        A={"values": {"place": "Bergen", "a": 1, "gone": "here"}},
        B={"values": {"place": "Oslo"}},
        C={"values": {"gone": None, "place": "Moss"}},
    )
    state = compose(runtime)
    assert state.values == {"place": "Moss", "a": 1, "gone": None, "providers": ""}
    assert set(state.report.clashes) == {("place", "C", "A"), ("place", "C", "B"), ("gone", "C", "A")}
    assert ("place", "C", "B") in state.report["B"].clashes
    assert ("place", "C", "B") in state.report["C"].clashes


def test_position_decides_which_value_wins():
    runtime = AgentRuntime()
    runtime.register_provider(Provider("LATE", gives({"values": {"x": "late"}}), position=1))
    runtime.register_provider(Provider("EARLY", gives({"values": {"x": "early"}}), position=0))
    assert compose(runtime).values["x"] == "late"


def test_the_text_is_always_the_value_named_providers():
    state = compose(runtime_of(A={"text": "a", "values": {"providers": "mine"}}))
    assert state.values["providers"] == "a"
    assert state.report.clashes == (("providers", "(the text)", "A"),)


def test_data_is_the_very_object_under_its_providers_name_also_when_empty():
    rows, nothing = {"rows": [1]}, {}
    runtime = runtime_of(
        A={"text": "a", "data": rows},
        B={"text": "b", "values": {}, "data": nothing},
        C=ProviderResult(data=rows),
        D=None,
    )
    providers = compose(runtime).data.providers
    assert providers["A"]["data"] is rows
    assert providers["B"]["data"] is nothing
    assert providers["C"]["data"] is rows
    assert providers["D"]["data"] == {}


def test_a_state_is_its_owners_and_edits_show_in_no_later_one():
    kept = {"text": "a", "values": {"x": 1}, "data": {"y": 1}}
    runtime = runtime_of(A=kept)
    first = compose(runtime)
    first.values["x"] = first.values["new"] = 2
    first.data.provider_order.append("B")
    first.data.providers["B"] = "mine"
    first.errors["B"] = ValueError()
    first.text = "mine"
    second = compose(runtime)
    assert second.values == {"x": 1, "providers": "a"}
    assert second.data.provider_order == ["A"]
    assert list(second.data.providers) == ["A"]
    assert (second.text, second.errors) == ("a", {})
    assert kept == {"text": "a", "values": {"x": 1}, "data": {"y": 1}}


def test_registering_again_replaces_in_place_and_the_latest_flags_apply():
    runtime = runtime_of(A="a", B="b", C="c")
    runtime.register_provider(Provider("B", gives("new")))
    assert compose(runtime).text == "a\nnew\nc"
    runtime.register_provider(Provider("B", gives("new"), dynamic=True))
    assert compose(runtime).text == "a\nc"
    runtime.register_provider(Provider("B", gives("new"), position=-1))
    assert compose(runtime).text == "new\na\nc"
    runtime.register_provider(Provider("B", gives("old place")))
    assert compose(runtime).text == "a\nold place\nc"


def test_one_that_was_removed_comes_back_at_the_end():
    runtime = runtime_of(A="a", B="b")
    assert runtime.unregister_provider("A") is True
    assert runtime.unregister_provider("A") is False
    assert compose(runtime).text == "b"
    runtime.register_provider(Provider("A", gives("a")))
    assert compose(runtime).text == "b\na"


def test_changes_of_the_registry_touch_no_composition_under_way():
    runtime = AgentRuntime()

    @runtime.provider("CHANGES")
    async def changes():
        runtime.register_provider(Provider("NEW", gives("new")))
        runtime.register_provider(Provider("REPLACED", gives("second")))
        runtime.unregister_provider("REMOVED")
        await asyncio.sleep(0)
        return "changes"

    runtime.register_provider(Provider("REPLACED", gives("first"), after=["CHANGES"]))
    runtime.register_provider(Provider("REMOVED", gives("still here"), after=["CHANGES"]))
    state = compose(runtime)
    assert state.text == "changes\nfirst\nstill here"
    assert [row.provider for row in state.report] == ["CHANGES", "REPLACED", "REMOVED"]
    assert compose(runtime).text == "changes\nsecond\nnew"


@pytest.mark.parametrize(
    "message", ["hi", {"text": "hi"}, {"content": {"text": "hi"}}, Memory("hi"), Content("hi")]
)
def test_a_message_may_be_given_in_any_of_its_forms(message):
    runtime = AgentRuntime()
    runtime.provider("ECHO")(lambda runtime, message: message.content.text)
    assert compose(runtime, message).text == "hi"


@pytest.mark.parametrize("message", [None, 3, ["hi"]])
def test_what_is_no_message_is_an_error_that_says_so(message):
    with pytest.raises(TypeError, match="a message is a Memory, a string or a dict"):
        compose(AgentRuntime(), message)


EDITS = {
    "text": lambda message: setattr(message.content, "text", "edited"),
    "attribute": lambda message: setattr(message.content, "user", "edited"),
    "room": lambda message: setattr(message, "room_id", "edited"),
    "list": lambda message: message.content.tags.append("edited"),
    "nested": lambda message: message.content.deep["rows"].append("edited"),
    "metadata": lambda message: message.metadata.update(edited=True),
    "delete": lambda message: delattr(message.content, "text"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_no_provider_can_edit_the_message_for_another(edit):
    given = Memory(Content("hi", tags=["a"], deep={"rows": [1]}), room_id="lobby", metadata={"k": 1})
    runtime = AgentRuntime()
    seen = []

    @runtime.provider("EDITS")
    async def edits(runtime, message):
        EDITS[edit](message)

    @runtime.provider("READS")
    async def reads(runtime, message):
        seen.append(message.to_dict())

    before = given.to_dict()
    state = compose(runtime, given)
    assert "read-only" in str(state.errors["EDITS"])
    assert seen == [before]
    assert given.to_dict() == before


def test_what_the_caller_edits_meanwhile_is_not_seen_by_a_provider():
    given = Memory(Content("before", tags=["a"]))
    runtime = AgentRuntime()

    @runtime.provider("WAITS")
    async def waits(runtime, message):
        given.content.text = "after"
        given.content.tags.append("b")
        await asyncio.sleep(0)
        return f"{message.content.text} {message.content.tags}"

    assert compose(runtime, given).text == "before ['a']"


def test_all_that_wait_for_nothing_are_given_one_and_the_same_read_only_state():
    runtime = AgentRuntime()
    seen = []

    def edit(state):
        state.values["x"] = 1

    def assign(state):
        state.text = "mine"

    def add(state):
        state.data.providers["x"] = 1

    def order(state):
        state.data.provider_order.append("x")

    for number, change in enumerate((edit, assign, add, order)):

        async def get(runtime, message, state, change=change):
            seen.append(state)
            change(state)

        runtime.register_provider(Provider(f"P{number}", lambda r, m, s, get=get: get(r, m, s)))
    state = compose(runtime)
    assert len(state.errors) == 4
    assert all("read-only" in str(error) for error in state.errors.values())
    assert len(set(map(id, seen))) == 1
    assert (seen[0].text, dict(seen[0].values), len(seen[0].data.providers)) == ("", {"providers": ""}, 0)
    assert seen[0].data.providers.ANY.data.x == None  # noqa: E711  the chain's end as it is documented


NONSENSE = {
    "a number": (5, "get returned int"),
    "a list": (["text"], "get returned list"),
    "a text that is no string": ({"text": 5}, "text of a result must be a string, not int"),
    "values that are no mapping": ({"values": [1]}, "values of a result must be a dict, not list"),
    "data that are no mapping": (ProviderResult(data="x"), "data of a result must be a dict, not str"),
    "an unknown key": ({"txt": "a"}, "did you mean 'text'"),
}


@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense_is_a_failure_that_says_so_and_hurts_no_other(kind):
    result, said = NONSENSE[kind]
    state = compose(runtime_of(A="a", BAD=result, C="c"))
    assert state.text == "a\nc"
    assert isinstance(state.errors["BAD"], ResultError)
    assert said in str(state.errors["BAD"])
    assert state.report["BAD"].outcome == "failed"


def broken_runtime():
    runtime = runtime_of(A="a")

    @runtime.provider("BROKEN")
    async def broken():
        raise ValueError("no weather")

    @runtime.provider("QUIET")
    async def quiet():
        return None

    return runtime


def test_a_failure_is_loud_and_is_no_empty_result():
    state = compose(broken_runtime())
    broken, quiet = state.data.providers["BROKEN"], state.data.providers["QUIET"]
    assert (broken.outcome, quiet.outcome) == ("failed", "empty")
    assert broken.error is state.errors["BROKEN"]
    assert quiet.error is None
    assert (broken.text, broken.values, broken["data"]) == ("", {}, {})
    assert state.data.provider_order == ["A", "BROKEN", "QUIET"]
    assert state.report["BROKEN"].error == "ValueError: no weather"
    frames = traceback.extract_tb(state.errors["BROKEN"].__traceback__)
    assert [frame.name for frame in frames] == ["broken"]


def test_one_error_is_logged_for_each_failure_and_its_traceback_for_debugging(caplog):
    caplog.set_level(logging.DEBUG, "agentctx_nb")
    runtime = broken_runtime()
    compose(runtime)
    get = runtime.get_provider("BROKEN").get
    where = f"provider BROKEN failed in {get.__name__}, line {get.__code__.co_firstlineno + 2}"
    errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [record.getMessage() for record in errors] == [f"{where} error='ValueError: no weather'"]
    assert errors[0].exc_info is None
    assert [r.levelname for r in caplog.records if r.exc_info is not None] == ["DEBUG"]


def test_strict_raises_one_group_with_failures_and_unknown_names_alike():
    with pytest.raises(ExceptionGroup) as caught:
        compose(broken_runtime(), "hello", ["QUITE"], strict=True)
    unknown, failed = caught.value.exceptions
    assert isinstance(unknown, UnknownProviderError)
    assert unknown.near == ("QUIET",)
    assert isinstance(failed, ValueError)
    assert "QUITE" in str(caught.value)
    assert "BROKEN failed" in str(caught.value)


def test_strict_is_content_where_all_is_well():
    assert compose(runtime_of(A="a"), strict=True).text == "a"
