"""The state an action is handed: a state in all that code asks of one, edits included."""

from __future__ import annotations

import asyncio
import pickle
from copy import copy, deepcopy

import pytest

from agentctx_nb import AgentRuntime, State

THING = object()


@pytest.fixture
def runtime():
    runtime = AgentRuntime(secrets={"KEY": "s3cr3t-value"})
    runtime.register_provider(
        {
            "name": "A",
            "get": lambda: {
                "text": "a text",
                "values": {"x": 1, "thing": THING, "y": 2},
                "data": {"thing": THING, "n": {"m": [1, {"k": 2}]}, "none": None},
            },
        }
    )
    runtime.register_provider({"name": "B", "get": lambda: 1 / 0})
    return runtime


@pytest.fixture
def look(runtime):
    """A function that has an action look at a state, and returns what it saw."""

    def look(see):
        seen = []
        state = runtime.compose("hi")
        runtime.register_action(
            {"name": "LOOK", "handler": lambda runtime, message, given: seen.append(see(given))}
        )
        result = asyncio.run(runtime.run_action("LOOK", "hi", state))
        assert result.error is None, result.error
        return seen[0], state

    return look


@pytest.mark.parametrize(
    "see",
    [
        lambda state: (state.text, str(state), repr(state)),
        lambda state: dict(state.values),
        lambda state: (isinstance(state, State), isinstance(state.values, dict)),
        lambda state: state.values["thing"] is THING,
        lambda state: state.data.providers.A.data.thing is THING,
        lambda state: state.data.providers["A"]["data"]["thing"] is THING,
        lambda state: state.data.providers.A.data.n.m[1].k,
        lambda state: state.data.providers.A.data["n"],
        lambda state: type(state.data.providers.A.data["n"]),
        lambda state: (state.data.providers.A.text, state.data.providers.A["text"]),
        lambda state: (state.data.providers.A.outcome, state.data.providers.B.outcome),
        lambda state: state.data.providers.A.nothing == None,  # noqa: E711
        lambda state: (state.data.providers.GONE.data.x == None, bool(state.data.providers.GONE)),  # noqa: E711
        lambda state: state.data.providers.A.data.none == None,  # noqa: E711
        lambda state: "GONE" in state.data.providers,
        lambda state: (list(state.data.providers), len(state.data.providers), state.data.provider_order),
        lambda state: (list(state.errors), state.spans, state.report["A"].outcome),
        lambda state: [row[:4] for row in state.value_rows()],
        lambda state: repr(state.data.providers.A),
        lambda state: repr(state.data),
        lambda state: state.data.providers.A == state.data.providers.A,
        lambda state: copy(state).text,
        lambda state: (type(copy(state)), type(deepcopy(state)), type(copy(state.data.providers.A))),
        lambda state: state.values | {"z": 3},
        lambda state: state.mask("s3cr3t-value"),
        lambda state: state._repr_mimebundle_(),
        lambda state: state.prompt("{{x}} {{data.providers.A.data.n.m}}"),
    ],
)
def test_it_reads_like_the_state_behind_it(look, see):
    seen, state = look(see)
    assert seen == see(state)


def test_what_is_missing_raises_the_same(look):
    def see(state):
        with pytest.raises(KeyError, match="GONE"):
            state.data.providers["GONE"]
        with pytest.raises(KeyError, match="gone"):
            state.values["gone"]
        with pytest.raises(KeyError):
            state.data.providers.A["wrong"]

    look(see)


@pytest.mark.parametrize("copied", [copy, deepcopy, lambda state: pickle.loads(pickle.dumps(state))])
def test_a_copy_of_it_is_a_plain_state_from_which_all_is_read(copied):
    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": lambda: {"text": "a", "values": {"x": 1}}})
    runtime.register_provider({"name": "B", "get": lambda: {"values": {"y": 1}}})

    def handler(runtime, message, state):
        plain = copied(state)
        assert type(plain) is State
        assert plain.values["x"] == 1

    runtime.register_action({"name": "LOOK", "handler": handler})
    assert asyncio.run(runtime.run_action("LOOK", "hi")).error is None
    noted = {(read.key, read.provider): read.times for read in runtime.reads()}
    assert noted == {
        ("x", "A"): 1,
        ("y", "B"): 1,
        ("providers", "(the text)"): 1,
        ("state.text", "(the text)"): 1,
        ("data", ""): 1,
    }


@pytest.mark.parametrize(
    ("take", "key"),
    [
        (lambda state: copy(state.data.providers.A), "data.providers.A"),
        (lambda state: deepcopy(state.data.providers.A), "data.providers.A"),
        (lambda state: repr(state.data.providers.A), "data.providers.A"),
        (lambda state: copy(state.data.providers.A.data), "data.providers.A.data"),
        (lambda state: deepcopy(state.data.providers.A.data.n), "data.providers.A.data.n"),
        (lambda state: f"{state.data.providers.A.data}", "data.providers.A.data"),
        (lambda state: deepcopy(state.data.providers.A["values"]["x"]), "data.providers.A.values"),
        (str, "state.text"),
        (lambda state: f"{state}", "state.text"),
    ],
)
def test_what_is_copied_or_printed_is_read_whole(look, runtime, take, key):
    look(take)
    assert [read.key for read in runtime.reads()] == [key]


def test_it_can_be_pickled_as_a_plain_state():
    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": lambda: {"values": {"x": 1}, "data": {"y": 2}}})
    kept = []

    def handler(runtime, message, state):
        kept.append(pickle.loads(pickle.dumps((state, state.values, state.data.providers.A))))

    runtime.register_action({"name": "DO", "handler": handler})
    assert asyncio.run(runtime.run_action("DO", "hi")).success
    state, values, entry = kept[0]
    assert (type(state), type(values), values["x"], entry.data.y) == (State, dict, 1, 2)


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda values: values.__setitem__("z", 3), {"x": 1, "y": 2, "z": 3}),
        (lambda values: values.__delitem__("x"), {"y": 2}),
        (lambda values: values.update({"x": 5}, z=1), {"x": 5, "y": 2, "z": 1}),
        (lambda values: values.__ior__({"x": 7}), {"x": 7, "y": 2}),
        (lambda values: values.setdefault("z", 9), {"x": 1, "y": 2, "z": 9}),
        (lambda values: values.pop("x"), {"y": 2}),
        (lambda values: values.pop("gone", None), {"x": 1, "y": 2}),
        (lambda values: values.clear(), {}),
        (lambda values: values.popitem(), {"x": 1}),
    ],
)
def test_edits_reach_the_state_behind_it(edit, expected):
    runtime = AgentRuntime()
    state = State(values={"x": 1, "y": 2})
    del state.values["providers"]
    seen = []

    def handler(runtime, message, given):
        edit(given.values)
        seen.append(dict(given.values))
        given.text = "edited"

    runtime.register_action({"name": "EDIT", "handler": handler})
    assert asyncio.run(runtime.run_action("EDIT", "hi", state)).error is None
    assert state.values == seen[0] == expected
    assert state.text == "edited"


def test_values_put_in_place_of_the_old_ones_are_the_ones_read_next():
    runtime = AgentRuntime()
    state = State(values={"x": 1})

    def handler(runtime, message, given):
        assert given.values["x"] == 1
        given.values = {"x": 2}
        return str(given.values["x"])

    runtime.register_action({"name": "EDIT", "handler": handler})
    assert asyncio.run(runtime.run_action("EDIT", "hi", state)).text == "2"
    assert state.values == {"x": 2}


def test_data_is_edited_through_it_as_through_any_view(look):
    def see(state):
        state.data.providers.A.data.n.extra = 5

    _, state = look(see)
    assert state.data.providers.A.data.n.extra == 5


def test_an_action_run_by_an_action_has_reads_of_its_own(runtime):
    async def outer(runtime, message, state):
        return await runtime.run_action("INNER", message, state)

    runtime.register_action(
        {"name": "INNER", "handler": lambda runtime, message, state: str(state.values["x"])}
    )
    runtime.register_action({"name": "OUTER", "handler": outer})
    assert asyncio.run(runtime.run_action("OUTER", "hi")).text == "1"
    assert [(read.reader, read.key) for read in runtime.reads()] == [("action INNER", "x")]
