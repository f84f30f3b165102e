"""What is no result, what cannot be shown, what is too big: a failed outcome at worst, never a harm to others."""

from __future__ import annotations

from collections import OrderedDict

import pytest

from agentctx_nb import AgentRuntime, ProviderResult
from agentctx_nb.errors import ResultError


async def kept():
    return "kept"


class Unshowable:
    def __repr__(self):
        raise RuntimeError("this cannot be shown")


# What a get returns, and what the failed outcome must say.
NO_RESULT = {
    "a number": (5, "get returned int; return a ProviderResult, a dict"),
    "False": (False, "get returned bool"),
    "a list": (["text"], "get returned list"),
    "a tuple": (("text", {}, {}), "get returned tuple"),
    "bytes": (b"text", "get returned bytes"),
    "an object": (object(), "get returned object"),
    "unshowable": (Unshowable(), "get returned Unshowable"),
    "text number": ({"text": 5}, "the text of a result must be a string, not int"),
    "text False": ({"text": False}, "the text of a result must be a string, not bool"),
    "text list": (
        {"text": ["a"], "values": {}, "data": {}},
        "the text of a result must be a string, not list",
    ),
    "text bytes": (ProviderResult(text=b"a"), "the text of a result must be a string, not bytes"),
    "values list": ({"values": [1]}, "the values of a result must be a dict, not list"),
    "values string": (
        {"text": "t", "values": "a", "data": {}},
        "the values of a result must be a dict, not str",
    ),
    "values empty list": ({"values": []}, "the values of a result must be a dict, not list"),
    "data number": ({"data": 5}, "the data of a result must be a dict, not int"),
    "data list": (ProviderResult(data=[1]), "the data of a result must be a dict, not list"),
    "unknown key": ({"text": "t", "value": {}}, "'value' is none of them; did you mean 'values'"),
    "capital": ({"Text": "t"}, "'Text' is none of them; did you mean 'text'"),
    "far key": ({"text": "t", "zzzzz": 1}, "a result has text, values and data; 'zzzzz' is none of them"),
    "key None": ({"text": "t", None: 1}, "None is none of them"),
    "key 3": ({"text": "t", "values": {}, "data": {}, 3: 1}, "3 is none of them"),
    "unknown key in a mapping": (OrderedDict(txt="t"), "'txt' is none of them; did you mean 'text'"),
    "unknown key with None": ({"text": None, "tekst": None}, "'tekst' is none of them; did you mean 'text'"),
    "unshowable key": ({Unshowable(): 1}, "an Unshowable is none of them"),
    "long key": ({"x" * 2_000_000: 1}, "a long str is none of them"),
    "a class": (ProviderResult, "get returned type"),
}


@pytest.mark.parametrize("kind", ["async", "def"])
@pytest.mark.parametrize(("result", "said"), NO_RESULT.values(), ids=NO_RESULT.keys())
def test_what_is_no_result_is_a_failed_outcome_that_says_so_and_hurts_nobody(kind, result, said, caplog):
    runtime = AgentRuntime(count_tokens=len)

    async def wrong():
        return result

    runtime.register_provider({"name": "BEFORE", "get": kept})
    runtime.register_provider({"name": "WRONG", "get": wrong if kind == "async" else lambda: result})
    runtime.register_provider({"name": "BEHIND", "get": kept})
    state = runtime.compose("hi")
    assert state.text == "kept\nkept"
    assert list(state.errors) == ["WRONG"]
    assert isinstance(state.errors["WRONG"], ResultError)
    row = state.report["WRONG"]
    assert row.outcome == "failed"
    assert said in row.error
    assert len(row.error) < 300
    entry = state.data.providers["WRONG"]
    assert (entry.text, dict(entry.values), dict(entry.data), entry.outcome) == ("", {}, {}, "failed")
    assert entry.error is state.errors["WRONG"]
    errors = [record for record in caplog.records if record.levelname == "ERROR"]
    assert len(errors) == 1
    assert "WRONG" in errors[0].getMessage()


class BrokenMapping(dict):
    def __iter__(self):
        raise RuntimeError("no iteration")

    def keys(self):
        raise RuntimeError("no keys")

    def get(self, *_):
        raise RuntimeError("no get")

    def items(self):
        raise RuntimeError("no items")


class LoudText(str):
    __slots__ = ()

    def __str__(self):
        raise RuntimeError("no str")

    def __len__(self):
        raise RuntimeError("no len")

    def isspace(self):
        raise RuntimeError("no isspace")

    def strip(self, *_):
        raise RuntimeError("no strip")


HOSTILE = {
    "result": BrokenMapping(text="t"),
    "values": {"values": BrokenMapping(a=1)},
    "data": {"data": BrokenMapping(a=1)},
    "text": {"text": LoudText("loud")},
    "bare text": LoudText("loud"),
    "value": {"text": "t", "values": {"x": Unshowable(), "y": [Unshowable()]}},
    "data value": {"text": "t", "data": {"x": Unshowable()}},
    "key": {"values": {LoudText("k"): 1}},
}


@pytest.mark.parametrize("result", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_result_never_harms_the_others_nor_the_report(runtime, result):
    async def hostile():
        return result

    runtime.register_provider({"name": "HOSTILE", "get": hostile, "position": -1})
    runtime.register_provider({"name": "KEPT", "get": kept})
    state = runtime.compose("hi")
    assert state.text.endswith("kept")
    assert len(state.report) == 2
    assert state.report["HOSTILE"].outcome in {"ok", "failed"}
    assert len(state.report.to_frame()) == 2
    assert len(state.values_frame()) == len(state.values)
    assert "2 providers ran" in repr(state)
    for shown in (state.report, state.report["HOSTILE"], state.data, state.data.providers["HOSTILE"]):
        assert repr(shown)
    assert state.spans[-1][2] == "KEPT"


def test_a_value_that_cannot_be_shown_is_a_good_value(runtime):
    value = Unshowable()
    runtime.register_provider({"name": "A", "get": lambda: {"values": {"x": value}}})
    state = runtime.compose("hi")
    assert state.report["A"].outcome == "ok"
    assert state.values["x"] is value
    row = state.values_frame().set_index("key").loc["x"]
    assert (row["type"], row["writer"]) == ("Unshowable", "A")


def test_an_error_that_cannot_be_shown_is_still_a_failed_outcome(runtime):
    class Silent(Exception):
        def __str__(self):
            raise RuntimeError("no str")

        __repr__ = __str__

    @runtime.provider("A")
    async def a():
        raise Silent

    runtime.register_provider({"name": "KEPT", "get": kept})
    state = runtime.compose("hi")
    assert state.text == "kept"
    assert isinstance(state.errors["A"], Silent)
    assert state.report["A"].error == "Silent: (its message cannot be shown: RuntimeError)"


def test_two_megabytes_of_text_pass_through(runtime):
    text = "0123456789" * 200_000
    runtime.register_provider({"name": "BIG", "get": lambda: text})
    runtime.register_provider({"name": "KEPT", "get": kept})
    state = runtime.compose("hi")
    assert state.text == text + "\nkept"
    assert state.spans == [(0, 2_000_000, "BIG"), (2_000_001, 2_000_005, "KEPT")]
    assert state.report["BIG"].chars == 2_000_000
    assert len(repr(state)) < 200
    assert len(repr(state.data)) < 10_000
    assert len(repr(state.data.providers["BIG"])) < 10_000


def test_a_message_of_two_megabytes_is_looked_through(runtime):
    runtime.register_provider({"name": "A", "get": kept, "dynamic": True, "relevance_keywords": ["rain"]})
    assert runtime.compose("word " * 400_000 + "rain").text == "kept"
    assert runtime.compose("word " * 400_000).text == ""
