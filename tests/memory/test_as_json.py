from __future__ import annotations

import enum
import json
import uuid
from collections import OrderedDict, defaultdict
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentctx_nb.errors import DefinitionError
from agentctx_nb.memory.as_json import read_json, write_json


class Point(NamedTuple):
    x: int
    y: int


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


def back(value):
    return read_json(write_json(value, of="metadata"))


EQUAL = [
    {"a": [1, 2.5, None, True, "ü 日本 😀 \0"], "b": {"c": {}}},
    {"$": "not a kind", "is": 1},
    {"deep": {"$": {"$": "date"}}},
    {1: "one", (2, 3): "pair", None: "none", "s": "string"},
    (1, (2, [3])),
    {1, 2, "x"},
    frozenset({"a"}),
    b"\x00\xff",
    datetime(2026, 1, 2, 3, 4, 5, 678),
    datetime(2026, 1, 2, tzinfo=UTC),
    datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    date(2026, 1, 2),
    time(3, 4),
    timedelta(days=-1, microseconds=5),
    Decimal("1.10"),
    uuid.UUID(int=7),
    10**30,
    float("inf"),
    "half \ud83d",
    OrderedDict(b=1, a=2),
    defaultdict(list, a=[1]),
    Point(1, 2),
    Colour.RED,
    {Colour.RED: 1},
    Level.HIGH,
    np.float32(0.1),
    np.float64(0.1),
    np.int64(7),
    np.bool_(True),
    np.str_("a"),
    np.datetime64("2026-01-01"),
]


@pytest.mark.parametrize("value", EQUAL, ids=lambda value: type(value).__name__)
def test_it_reads_back_equal(value):
    assert back(value) == value
    assert back({"k": [value]}) == {"k": [value]}


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=">i2").reshape(2, 3),
        np.array([], np.float32),
        np.array(["a", "日本"]),
        np.array([1 + 2j]),
        np.array([True, False]),
        np.array(["2026-01-01"], "datetime64[ns]"),
        np.array(3.5),
    ],
    ids=lambda array: str(array.dtype),
)
def test_an_array_reads_back_as_one_that_can_be_edited(array):
    read = back({"x": array})["x"]
    assert read.dtype == array.dtype
    assert read.shape == array.shape
    np.testing.assert_array_equal(read, array)
    if array.size > 1:
        read[...] = array[:1] if array.ndim == 1 else 0


def test_plain_values_are_plain_json():
    value = {"text": "ü", "tags": ["a", 1, None, True, 1.5], "more": {"k": []}}
    assert json.loads(write_json(value, of="content")) == value
    assert "ü" in write_json(value, of="content")


circle: list = []
circle.append({"again": circle})
deep: list = []
for _ in range(100_000):
    deep = [deep]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            {"a": {"b": [1, object()]}},
            r"metadata\['a'\]\['b'\]\[1\] is of type object, which a store cannot keep",
        ),
        ({"frame": pd.DataFrame({"x": [1]})}, r"metadata\['frame'\] is of type DataFrame"),
        ({"when": pd.Timestamp("2026-01-01")}, r"metadata\['when'\] is of type Timestamp"),
        ({"f": print}, r"metadata\['f'\] is of type builtin_function_or_method"),
        ({object: 1}, "a key of metadata is of type type"),
        ({"s": {object}}, r"an item of metadata\['s'\] is of type type"),
        (
            {"x": np.array([object()])},
            r"metadata\['x'\] is an array of object, which a store cannot keep; give its .tolist",
        ),
        ({"c": circle}, r"metadata\['c'\]\[0\]\['again'\] holds itself"),
        ({"d": deep}, "metadata is nested too deep to be stored"),
        ({"n": 10**5000}, "metadata cannot be stored: .*digits"),
    ],
)
def test_what_a_store_cannot_keep_is_named_by_its_place(value, words):
    with pytest.raises(DefinitionError, match=words):
        write_json(value, of="metadata")


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters())
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "$", "is", "text"]) | st.text(max_size=3), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


@given(plain)
def test_anything_plain_reads_back_equal_and_of_the_same_type(value):
    assert back(value) == value
    assert repr(back(value)) == repr(value)
