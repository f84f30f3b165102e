"""Numbers of numpy are written as a person means them, wherever a value is written."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from agentctx_nb import AgentRuntime, Content, Memory, Provider, State
from agentctx_nb.bare import bare, bare_scalar
from agentctx_nb.errors import TemplateError

WRITTEN = {
    "1.5": np.float64(1.5),
    "2": np.float64(2.0),
    "0.1": np.float32(0.1),
    "0.2": np.float16(0.2),
    "0.3": np.longdouble("0.3"),
    "1e-7": np.float64(1e-7),
    "NaN": np.float32("nan"),
    "-Infinity": np.float64("-inf"),
    "3": np.int64(3),
    "255": np.uint8(255),
    "true": np.bool_(True),
    "hey": np.str_("hey"),
    "2024-01-02T03:04:05": np.datetime64("2024-01-02T03:04:05", "ns"),
    "2024-01-02": np.datetime64("2024-01-02"),
    "0:01:30": np.timedelta64(90_000_000_000, "ns"),
    "2.5": np.array(2.5, np.float32),
    "": np.datetime64("NaT", "s"),
}


@pytest.mark.parametrize(("written", "value"), WRITTEN.items(), ids=[repr(text) for text in WRITTEN])
def test_a_scalar_stands_in_a_prompt_as_its_python_twin_does(written, value):
    state = State(values={"one": value, "list": [value], "tuple": (value,)})
    prompt = state.prompt("{{one}}|{{list}}|{{#each tuple}}{{this}}{{/each}}|{{extra}}", extra=value)
    assert prompt == f"{written}|{written}|{written}|{written}"


@pytest.mark.parametrize(
    ("value", "json"),
    [
        ({"a": np.float64(1.5), "b": [np.float32(0.1), np.int64(2)]}, '{"a":1.5,"b":[0.1,2]}'),
        ({np.int64(2): np.float64(2.0)}, '{"2":2}'),
        ({"day": np.datetime64("2024-01-02")}, '{"day":"2024-01-02"}'),
        (pd.DataFrame({"a": [1.5], "b": ["x"], "c": np.float32([0.1])}), '{"a":1.5,"b":"x","c":0.1}'),
        (pd.DataFrame({"n": pd.array([0.1, None], dtype="Float32")}), '{"n":0.1},{"n":null}'),
    ],
    ids=["dict", "keys", "moment", "frame", "nullable"],
)
def test_json_in_a_prompt_holds_plain_numbers(value, json):
    assert State(values={"x": value}).prompt("{{x}}") == json


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (np.array([0.1, 0.2], np.float32), "0.1,0.2"),
        (np.array([[0.1], [2.0]], np.float16), "0.1,2"),
        (np.array([np.float64(1.5), "a"], dtype=object), "1.5,a"),
        (pd.Series(np.float32([0.1, 0.2])), "0.1,0.2"),
        (pd.DataFrame({"a": [1.5], "b": ["x"], "c": np.float32([0.1])}).iloc[0], "1.5,x,0.1"),
        (pd.Index([1.5, 2.0]), "1.5,2"),
        (pd.array([1, 2]), "1,2"),
        (pd.MultiIndex.from_tuples([(1, "a")]), "1,a"),
    ],
    ids=["array", "matrix", "objects", "series", "row", "index", "extension", "levels"],
)
def test_tables_and_arrays_keep_the_digits_they_were_given(value, written):
    assert State(values={"x": value}).prompt("{{x}}") == written


class Odd(float):
    def __repr__(self):
        return "odd"


def test_a_float_that_writes_itself_in_its_own_way_is_a_number_all_the_same():
    assert State(values={"x": Odd(1.25)}).prompt("{{x}}") == "1.25"


def test_what_cannot_be_written_is_named():
    with pytest.raises(TemplateError, match="x is of type complex and cannot stand in a prompt"):
        State(values={"x": np.complex128(1)}).prompt("{{x}}")


VALUES = {
    "rate": np.float64(1.5),
    "list": [np.float64(2.5), np.float32(0.1)],
    "dict": {"a": np.float64(3.5)},
    "array": np.float32([0.1]),
    "series": pd.Series(np.float32([0.7])),
    "day": np.datetime64("2024-01-02T03:04:05", "ns"),
}


def composed(values):
    runtime = AgentRuntime()
    runtime.register_provider(Provider("P", lambda: {"values": values, "data": values}))
    return runtime.compose("hi")


def test_no_view_of_a_state_names_the_type_in_a_value():
    state = composed(VALUES)
    other = composed({**VALUES, "rate": np.float64(9.5), "list": [np.float64(8.5)]})
    for view in (state.values_view(), state.data_tree(), state.find("1.5"), state.diff(other), state.data):
        text = repr(view)
        assert "np.float" not in text
        assert "0.10000000149" not in text
    assert "[0]: 0.1 (float32)" in repr(state.data_tree())
    assert "[0]: 0.7 (float32)" in repr(state.data_tree())
    assert "[2.5, 0.1]" in repr(state.values_view())
    told = dict(state.values_view().to_frame()[["key", "value"]].itertuples(index=False))
    assert told["dict"] == {"a": 3.5}
    assert told["rate"] == 1.5


@pytest.mark.parametrize(
    ("sought", "paths"),
    [
        ("1.5", ["rate"]),
        (np.float64(1.5), ["rate"]),
        (np.float32(0.1), ["list[1]", "array[0]"]),
        ("0.7", ["series[0]"]),
        ("2024-01-02T03", ["day"]),
    ],
)
def test_a_number_is_found_as_a_prompt_writes_it(sought, paths):
    places = composed(VALUES).find(sought)
    assert [place.path for place in places if place.where == "data"] == paths


def test_log_lines_memories_and_contents_print_bare_numbers(caplog):
    AgentRuntime().logger.error({"rate": np.float64(1.5), "all": [np.float32(0.1)]}, "odd")
    assert caplog.messages == ["odd rate=1.5 all=[0.1]"]
    memory = Memory(
        Content("x", rate=np.float64(1.5)), similarity=np.float64(0.5), metadata={"a": [np.int64(1)]}
    )
    assert repr(memory) == (
        "Memory(content=Content(text='x', rate=1.5), similarity=0.5, metadata={'a': [1]})"
    )


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.datetime64("2024-01-02"), date(2024, 1, 2)),
        (np.datetime64("2024-01-02T03", "ns"), datetime(2024, 1, 2, 3)),
        (np.datetime64("2024-01-02T00:00:00.000000001", "ns"), "2024-01-02T00:00:00.000000001"),
        (np.datetime64("20240-01-02", "s"), "20240-01-02T00:00:00"),
        (np.timedelta64(5, "s"), timedelta(seconds=5)),
        (np.timedelta64(3, "M"), "3 months"),
        (np.void((1, 2.0), dtype=[("a", "i4"), ("b", "f8")]), (1, 2.0)),
        (np.array("x"), "x"),
    ],
)
def test_a_scalar_becomes_what_python_has_for_it(value, plain):
    assert bare_scalar(value) == plain
    assert type(bare_scalar(value)) is type(plain)


def test_what_is_no_scalar_comes_back_as_it_is():
    held = [1]
    held.append(held)
    for value in (np.array([1.5]), "x", None, 1.5, np.float64, object()):
        assert bare_scalar(value) is value
    assert bare(held)[1] is held
