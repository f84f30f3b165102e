"""An object whose class lies about itself is shown as well as it can be, and hides no other."""

from __future__ import annotations

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.errors import describe
from agentctx_nb.names import kind_name


class EqRaises(type):
    def __eq__(cls, other):
        raise RuntimeError("eq")

    __hash__ = type.__hash__


class HashRaises(type):
    def __hash__(cls):
        raise RuntimeError("hash")


class NameRaises(type):
    @property
    def __name__(cls):
        raise RuntimeError("name")


class ModuleRaises(type):
    @property
    def __module__(cls):
        raise RuntimeError("module")


class LyingBytes(bytes):
    def __len__(self):
        raise RuntimeError("len")


class LyingBytearray(bytearray):
    def __len__(self):
        raise RuntimeError("len")


LIARS = {
    "eq": EqRaises("Liar", (), {}),
    "hash": HashRaises("Liar", (), {}),
    "name": NameRaises("Liar", (), {}),
    "module": ModuleRaises("Liar", (), {}),
}
BYTES = {"bytes": LyingBytes, "bytearray": LyingBytearray}
LABELS = (*LIARS, *BYTES)


def maker(label):
    return (lambda: BYTES[label](b"abc")) if label in BYTES else (lambda: object.__new__(LIARS[label]))


def composed(make, found="found"):
    runtime = AgentRuntime()
    held = {"one": make(), "many": [make(), {"k": 1}], "other": found}
    runtime.register_provider({"name": "A", "get": lambda: {"text": "T", "values": held, "data": held}})
    runtime.register_provider(
        {"name": "B", "get": lambda runtime, message, state: state.values["other"], "after": ["A"]}
    )
    return runtime.compose("hello")


@pytest.mark.parametrize("label", LABELS)
def test_a_liar_hides_no_other_value_in_any_view(label):
    state = composed(maker(label))
    assert not state.errors
    assert state.text == "T\nfound"
    assert {row["key"]: row["value"] for row in state.values_view()}["other"] == "found"
    assert "other: found (str)" in repr(state.data_tree())
    assert len(state.find("found")) == 3
    assert state.values_frame()["value"].iloc[2] == "found"
    assert "found" in state.data_tree().to_frame().to_string()
    assert "'other': 'found'" in repr(state.data)
    assert state.data.providers.A.data.many[1].k == 1
    assert state.without("B").text == "T"
    for view in (state, state.values_view(), state.data_tree(), state.find("found")):
        assert view._repr_mimebundle_()


@pytest.mark.parametrize("label", LABELS)
def test_two_liars_that_print_alike_are_no_change_and_another_value_is(label):
    difference = composed(maker(label)).diff(composed(maker(label), "else"))
    assert [row["key"] for row in difference.values] == ["other"]
    assert difference._repr_mimebundle_()


def test_lying_bytes_are_counted_by_what_they_hold():
    assert "one: (LyingBytes, 3 bytes)" in repr(composed(lambda: LyingBytes(b"abc")).data_tree())


def test_the_name_of_a_class_is_the_one_it_was_given():
    assert kind_name(NameRaises("Liar", (), {})()) == "Liar"
    error = type("Failure", (Exception,), {})
    assert describe(error("x")) == "Failure: x"
