from __future__ import annotations

import datetime as dt
import decimal
import math

import numpy as np
import pandas as pd
import pytest

from agentctx_nb.looking.comparing import Comparing, alike
from tests.hostile import BrokenRepr, LyingClass, cyclic, doubling

SAME = {
    "nan": lambda: float("nan"),
    "nested nan": lambda: {"a": [(float("nan"), 1)]},
    "array": lambda: np.arange(3),
    "array of objects": lambda: np.array(["a", None, 1.5], dtype=object),
    "frame": lambda: pd.DataFrame({"a": [1.0, math.nan]}),
    "object": object,
    "exception": lambda: ValueError("x"),
    "cycle": cyclic,
    "doubling": doubling,
    "set": lambda: {1, "a", None},
    "date": lambda: dt.date(2026, 11, 30),
    "decimal": lambda: decimal.Decimal("1.50"),
    "many": lambda: list(range(1_000_000)),
    "dicts in another order": lambda: dict(sorted({"a": 1, "b": 2}.items())),
}

OTHER = {
    "bool and int": (True, 1),
    "int and float": (1, 1.0),
    "list and tuple": ([1], (1,)),
    "nested bool": ({"a": [True]}, {"a": [1]}),
    "kinds in a set": ({True}, {1}),
    "longer": ([1, 2], [1]),
    "key": ({"a": 1}, {"b": 1}),
    "array": (np.arange(3), np.arange(3) + 1),
    "dtype": (np.zeros(2, dtype="int64"), np.zeros(2, dtype="int32")),
    "shape": (np.zeros((2, 1)), np.zeros(2)),
    "frame": (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2]})),
    "text": ("a", "b"),
    "NaN and number": (math.nan, 1.0),
    "broken": (BrokenRepr(), BrokenRepr()),
    "classes": (LyingClass(), object()),
}


@pytest.mark.parametrize("label", SAME)
def test_made_twice_they_are_alike(label):
    assert alike(SAME[label](), SAME[label]()) is True


@pytest.mark.parametrize("label", OTHER)
def test_they_are_not_alike(label):
    one, other = OTHER[label]
    assert alike(one, other) is False
    assert alike(other, one) is False


def test_a_broken_comparison_is_a_difference_and_nothing_worse():
    class Broken:
        def __eq__(self, other):
            raise RuntimeError("no")

        __hash__ = None

    assert alike(Broken(), Broken()) is False
    one = Broken()
    assert alike([one], [one]) is True


def test_a_budget_is_shared_by_the_calls():
    comparing = Comparing(10)
    assert comparing.alike([1, "a"] * 2, [1, "a"] * 2) is True
    assert comparing.alike([1, "a"] * 5, [1, "a"] * 5) is None
