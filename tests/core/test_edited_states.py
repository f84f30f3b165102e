"""A state is its owner's: whatever was put into it, its views show that, and copies keep it."""

from __future__ import annotations

import copy
import pickle

import pytest

from agentctx_nb import AgentRuntime, State

EDITS = [
    *[("text", value) for value in (None, 5, [], b"x")],
    *[("values", value) for value in (None, "x", [1])],
    *[("errors", value) for value in (None, 5, ["a"], "x", {5: 1})],
]


def composed():
    runtime = AgentRuntime()
    runtime.register_provider({"name": "WEATHER", "get": lambda: {"text": "It rains.", "values": {"mm": 3}}})
    runtime.register_provider({"name": "BROKEN", "get": lambda: 1 / 0})
    return runtime.compose("hello")


@pytest.fixture(params=EDITS, ids=lambda edit: f"{edit[0]}={edit[1]!r}")
def edited(request):
    state = composed()
    setattr(state, *request.param)
    return state


def test_every_view_of_an_edited_state_is_shown(edited):
    whole = composed()
    assert "2 providers ran" in repr(edited)
    assert isinstance(str(edited), str)
    shown = [
        edited,
        edited.why(),
        edited.source_map(),
        edited.values_view(),
        edited.data_tree(),
        edited.timeline(),
        edited.find("It"),
        edited.diff(whole),
        whole.diff(edited),
        edited.without("WEATHER"),
        edited.explore(),
    ]
    for view in shown:
        assert view._repr_mimebundle_()
    edited.values_frame()
    assert not edited.diff(edited)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda state: pickle.loads(pickle.dumps(state))])
def test_a_copy_keeps_what_was_put_there(edited, again):
    made = again(edited)
    for name in ("text", "values", "errors"):
        assert repr(getattr(made, name)) == repr(getattr(edited, name))


def test_what_was_put_there_is_what_is_shown():
    state = State(text="It rains.")
    state.text = None
    assert (str(state), repr(state)) == ("None", "<State: 0 providers ran, 4 characters>")
    state.values = [1]
    assert [row["key"] for row in state.values_view()] == ["(values)"]
    assert state.values_view()[0]["value"] == [1]
    assert state.prompt("[{{a}}]") == "[]"
    state.errors = {5: 1, "BROKEN": None}
    assert repr(state).endswith("failed: 5, BROKEN>")


def test_a_composed_state_without_values_renders_a_template_with_nothing_in_it():
    state = composed()
    state.values = None
    assert state.prompt("[{{mm}}]") == "[]"
