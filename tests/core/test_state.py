"""What a composition gives: text, spans, values and errors, all the caller's own, masked when printed."""

from __future__ import annotations

import asyncio

import pytest

from agentctx_nb import AgentRuntime, State

SECRET = "k3y-0f-the-d00r"


def register(runtime, name, result, **fields):
    async def get():
        if isinstance(result, Exception):
            raise result
        return result

    runtime.register_provider({"name": name, "get": get, **fields})


# Text and spans --------------------------------------------------------------------------


def test_the_texts_are_joined_in_order_untrimmed_by_one_newline_without_blank_ones(runtime):
    texts = {"A": "  a \n", "B": "", "C": " \n\t ", "D": "\nd", "E": None, "F": "f"}
    for name, text in texts.items():
        register(runtime, name, {"text": text})
    state = runtime.compose("hi")
    assert state.text == "  a \n\n\nd\nf"
    assert state.spans == [(0, 5, "A"), (6, 8, "D"), (9, 10, "F")]
    assert [state.text[start:end] for start, end, _ in state.spans] == [texts[name] for name in "ADF"]


def test_a_composition_of_nothing_is_empty(runtime):
    state = runtime.compose("hi")
    assert (state.text, state.spans, state.errors, list(state.report)) == ("", [], {}, [])
    assert state.values == {"providers": ""}
    assert (len(state.data.providers), state.data.provider_order) == (0, [])


def test_a_failed_provider_has_no_span_and_an_error_with_its_traceback(runtime):
    error = ValueError("broken")
    register(runtime, "BAD", error, position=-1)
    register(runtime, "GOOD", "good")
    state = runtime.compose("hi")
    assert state.spans == [(0, 4, "GOOD")]
    assert state.errors == {"BAD": error}
    assert error.__traceback__ is not None
    frame = error.__traceback__
    while frame.tb_next:
        frame = frame.tb_next
    assert frame.tb_frame.f_code.co_name == "get"


def test_errors_stand_in_text_order_whoever_failed_first(runtime):
    @runtime.provider("SLOW")
    async def slow():
        await asyncio.sleep(0.02)
        raise ValueError("broken")

    register(runtime, "FAST", ValueError("broken"))
    assert list(runtime.compose("hi").errors) == ["SLOW", "FAST"]


# Values ----------------------------------------------------------------------------------


def test_values_are_merged_in_order_the_later_wins_and_none_wins_too(runtime):
    register(runtime, "LATE", {"values": {"a": "late", "n": None}}, position=1)
    register(runtime, "EARLY", {"values": {"a": "early", "n": 5, "own": 1}})
    state = runtime.compose("hi")
    assert state.values == {"a": "late", "n": None, "own": 1, "providers": ""}
    assert dict(state.data.providers.EARLY.values) == {"a": "early", "n": 5, "own": 1}


def test_values_providers_is_the_text_whoever_writes_it(runtime):
    register(runtime, "A", {"text": "a", "values": {"providers": "mine"}})
    register(runtime, "B", {"text": "b"})
    state = runtime.compose("hi")
    assert state.values["providers"] == state.text == "a\nb"
    assert state.data.providers.A.values["providers"] == "mine"


def test_value_rows_tell_key_value_type_writer_and_who_was_shadowed(runtime):
    register(runtime, "A", {"text": "t", "values": {"a": 1, "b": "x"}})
    register(runtime, "B", {"values": {"a": None, "providers": "mine"}})
    register(runtime, "C", {"values": {"a": 2.5}})
    state = runtime.compose("hi")
    assert sorted(state.value_rows()) == [
        ("a", 2.5, "float", "C", ("A", "B")),
        ("b", "x", "str", "A", ()),
        ("providers", "t", "str", "(the text)", ("B",)),
    ]
    state.values["mine"] = []
    assert ("mine", [], "list", "(the caller)", ()) in state.value_rows()


def test_the_frame_of_values_has_the_columns_of_the_contract_and_the_very_values(runtime):
    rows = [1, [2]]
    register(runtime, "A", {"values": {"rows": rows, "n": 5, "nothing": None, "flag": True}})
    frame = runtime.compose("hi").values_frame()
    assert list(frame.columns) == ["key", "value", "type", "writer", "shadowed"]
    by_key = frame.set_index("key")
    assert by_key.loc["rows", "value"] is rows
    assert by_key.loc["n", "value"] == 5
    assert by_key.loc["nothing", "value"] is None
    assert by_key.loc["flag", "value"] is True
    assert by_key.loc["n", "shadowed"] == ()
    assert list(frame["type"]) == ["list", "int", "NoneType", "bool", "str"]


def test_the_frame_of_no_values_has_its_columns_too():
    frame = State().values_frame()
    assert list(frame.columns) == ["key", "value", "type", "writer", "shadowed"]
    assert list(frame["key"]) == ["providers"]


# The caller's own ------------------------------------------------------------------------

EDITS = {
    "text": lambda s: setattr(s, "text", "EDITED"),
    "value": lambda s: s.values.update(a="EDITED"),
    "values cleared": lambda s: s.values.clear(),
    "values replaced": lambda s: setattr(s, "values", {}),
    "data": lambda s: s.data.providers.A.data.update(y="EDITED"),
    "nested data": lambda s: s.data.providers.A["data"]["rows"].append("EDITED"),
    "entry values": lambda s: s.data.providers.A["values"].update(a="EDITED"),
    "entry removed": lambda s: s.data.providers.pop("A"),
    "entry replaced": lambda s: setattr(s.data.providers, "A", "EDITED"),
    "order": lambda s: s.data.provider_order.append("EDITED"),
    "errors": lambda s: s.errors.update(A=ValueError("EDITED")),
    "spans": lambda s: s.spans.clear(),
    "data keys": lambda s: s.data.update(actions="EDITED"),
    "unknown": lambda s: s.report.unknown.update(EDITED=()),
}


def picture(state):
    entry = state.data.providers["A"]
    return (
        state.text, dict(state.values), entry.text, dict(entry.values), dict(entry.data), list(state.errors),
        list(state.data), list(state.data.provider_order), state.spans, dict(state.report.unknown),
    )  # fmt: skip


@pytest.mark.parametrize("ttl", [None, 60])
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_nothing_edited_in_a_state_shows_up_in_a_later_one(edit, ttl):
    runtime = AgentRuntime(count_tokens=len)

    @runtime.provider("A", ttl=ttl)
    async def get():
        return {"text": "a", "values": {"a": 1}, "data": {"rows": [1], "y": 2}}

    first, second = runtime.compose("hi", ["NOBODY"]), runtime.compose("hi", ["NOBODY"])
    before = picture(second)
    edit(first)
    assert picture(second) == before
    assert picture(runtime.compose("hi", ["NOBODY"])) == before


def test_nor_does_it_reach_a_result_that_a_provider_gives_again_and_again(runtime):
    constant = {"text": "a", "values": {"a": 1}, "data": {}}
    register(runtime, "A", constant)
    state = runtime.compose("hi")
    state.values["a"] = "EDITED"
    state.values["b"] = "EDITED"
    state.data.providers.A["values"]["a"] = "EDITED"
    assert constant["values"] == {"a": 1}
    assert runtime.compose("hi").values == {"a": 1, "providers": "a"}


def test_nor_does_an_edit_of_what_is_kept_by_previous(runtime):
    register(runtime, "A", {"text": "a", "values": {"a": 1}, "data": {"rows": [1], "y": 2}})
    first = runtime.compose("hi")
    kept = runtime.compose("hi", previous=first, refresh=[])
    kept.values["a"] = "EDITED"
    kept.data.providers.A["data"]["rows"].append("EDITED")
    kept.data.providers.A["values"]["a"] = "EDITED"
    kept.data.provider_order.clear()
    again = runtime.compose("hi", previous=first, refresh=[])
    for state in (first, again):
        assert state.values["a"] == 1
        assert state.data.providers.A["data"] == {"rows": [1], "y": 2}
        assert state.data.providers.A["values"] == {"a": 1}
        assert state.data.provider_order == ["A"]


# Printed ---------------------------------------------------------------------------------


def test_a_state_prints_its_text_and_shows_itself_in_one_line(runtime):
    register(runtime, "A", "a")
    register(runtime, "BAD", ValueError("broken"))
    state = runtime.compose("hi")
    assert str(state) == state.text == "a"
    assert repr(state) == "<State: 2 providers ran, 1 character, failed: BAD>"


def test_secrets_are_masked_in_whatever_is_printed_and_raw_in_what_code_reads():
    runtime = AgentRuntime(secrets={"KEY": SECRET}, count_tokens=len)
    result = {
        "text": f"t {SECRET}",
        "values": {"v": SECRET, SECRET: [SECRET]},
        "data": {"d": {"deep": SECRET}},
    }
    register(runtime, "A", result)
    register(runtime, "BAD", ValueError(f"no entry with {SECRET}"))
    state = runtime.compose("hi")
    providers = state.data.providers
    printed = [
        str(state), repr(state), repr(state.data), repr(providers), repr(providers.A), repr(providers.A.data),
        repr(providers.A.data.d), repr(providers.A.values), repr(providers.BAD), repr(state.report),
        repr(state.report["A"]), repr(state.report["BAD"]), state.values_frame().to_string(),
        state.report.to_frame().to_string(),
    ]  # fmt: skip
    assert [text for text in printed if SECRET in text] == []
    assert "[secret KEY]" in str(state)
    assert state.text == f"t {SECRET}"
    assert state.values["v"] == SECRET
    assert providers.A.data.d.deep == SECRET
    assert SECRET in str(state.errors["BAD"])
    assert state.mask(f"a {SECRET}") == "a [secret KEY]"


def test_the_state_a_provider_is_given_is_masked_when_it_prints_it():
    runtime = AgentRuntime(secrets={"KEY": SECRET}, count_tokens=len)
    printed = []
    register(runtime, "A", {"text": SECRET, "data": {"d": SECRET}})

    @runtime.provider("B", after=["A"])
    async def b(runtime, message, state):
        printed.extend([str(state), repr(state.data), state.text])

    runtime.compose("hi")
    assert printed[0] == "[secret KEY]"
    assert SECRET not in printed[1]
    assert printed[2] == SECRET


def test_a_state_can_be_made_by_hand():
    state = State(text="t", values={"a": 1}, data={"providers": {"X": {"data": {"y": 5}}}})
    assert state.values == {"a": 1, "providers": "t"}
    assert state.data.providers.X.data.y == 5
    assert state.data.providers.Z.data.y == None  # noqa: E711
    assert state.data.provider_order == []
    assert (state.spans, state.errors, len(state.report)) == ([], {}, 0)
    assert State().data.providers.X == None  # noqa: E711
