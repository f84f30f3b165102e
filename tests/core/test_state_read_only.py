"""The state a provider is handed: read-only, and the same for all that wait for nothing."""

from __future__ import annotations

import pytest

from agentctx_nb import State

EDITS = {
    "text": lambda s: setattr(s, "text", "EDITED"),
    "values replaced": lambda s: setattr(s, "values", {}),
    "errors replaced": lambda s: setattr(s, "errors", {}),
    "value": lambda s: s.values.update(v="EDITED"),
    "nested value": lambda s: s.values["rows"].append("EDITED"),
    "errors": lambda s: s.errors.update(A="EDITED"),
    "data": lambda s: s.data.update(more="EDITED"),
    "data by attribute": lambda s: setattr(s.data, "more", "EDITED"),
    "order": lambda s: s.data.provider_order.append("EDITED"),
    "providers": lambda s: s.data.providers.update(A="EDITED"),
    "provider removed": lambda s: s.data["providers"].pop("A"),
    "entry": lambda s: setattr(s.data.providers.A, "text", "EDITED"),
    "entry values": lambda s: s.data.providers.A.values.update(v="EDITED"),
    "entry values in brackets": lambda s: s.data.providers.A["values"].update(v="EDITED"),
    "entry data": lambda s: setattr(s.data.providers.A.data, "d", "EDITED"),
    "entry data in brackets": lambda s: s.data.providers.A["data"].update(d="EDITED"),
    "nested data": lambda s: s.data.providers.A.data.rows.append("EDITED"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_no_edit_of_the_state_gets_through_or_reaches_another(runtime, edit):
    result = {"text": "a", "values": {"v": 1, "rows": [1]}, "data": {"d": 2, "rows": [1]}}
    seen = []

    @runtime.provider("A")
    async def a():
        return result

    @runtime.provider("EDITOR", after=["A"])
    async def editor(runtime, message, state):
        edit(state)

    @runtime.provider("READER", after=["A", "EDITOR"])
    async def reader(runtime, message, state):
        entry = state.data.providers.A
        seen.append((state.text, dict(state.values), dict(entry.values), dict(entry.data), list(state.data)))

    composed = runtime.compose("hi")
    assert composed.report["EDITOR"].outcome == "failed"
    assert isinstance(composed.errors["EDITOR"], TypeError | AttributeError)
    values, data = {"v": 1, "rows": [1]}, {"d": 2, "rows": [1]}
    assert seen == [("a", {**values, "providers": "a"}, values, data, ["providers", "provider_order"])]
    assert result == {"text": "a", "values": values, "data": data}
    assert composed.values == {**values, "providers": "a"}
    assert composed.data.providers.A["data"] is result["data"]


@pytest.mark.parametrize("name", ["text", "values", "errors"])
def test_the_refusal_says_that_the_state_is_read_only(runtime, name):
    @runtime.provider("EDITOR")
    async def editor(runtime, message, state):
        setattr(state, name, None)

    error = runtime.compose("hi").errors["EDITOR"]
    assert str(error) == f"a provider sees the state read-only: {name} cannot be changed"


def test_all_that_wait_for_nothing_see_the_same_empty_state(runtime):
    seen = []

    async def look(runtime, message, state):
        seen.append(state)
        return {"text": "t", "values": {"v": 1}, "data": {"d": 1}}

    for name in "AB":
        runtime.register_provider({"name": name, "get": look})
    for _ in range(2):
        runtime.compose("hi")
    assert isinstance(seen[0], State)
    for state in seen:
        assert (state.text, state.values, state.errors, state.spans) == ("", {"providers": ""}, {}, [])
        assert (list(state.data.providers), list(state.data.provider_order)) == ([], [])
        assert state.data.providers.A.data.d == None  # noqa: E711
        assert repr(state) == repr(State())


def test_one_that_waits_sees_what_it_waits_for_and_nothing_else(runtime):
    seen = []
    client = object()
    runtime.register_provider({"name": "C", "get": lambda: "c", "position": -5})
    runtime.register_provider({"name": "B", "get": lambda: {"text": "b", "data": {"client": client}}})
    runtime.register_provider({"name": "BAD", "get": lambda: 1 / 0})

    @runtime.provider("A", after=["B", "BAD", "ASLEEP"], position=-9)
    async def a(runtime, message, state):
        seen.append(state)

    runtime.provider("ASLEEP", dynamic=True)(lambda: "z")
    runtime.compose("hi")
    (state,) = seen
    assert list(state.data.providers) == list(state.data.provider_order) == ["B", "BAD"]
    assert (state.text, state.data.providers.B.text) == ("b", "b")
    assert state.data.providers.B.data.client is client
    assert (state.data.providers.BAD.outcome, state.data.providers.BAD.data.x) == ("failed", None)
    assert isinstance(state.errors["BAD"], ZeroDivisionError)
    assert state.data.providers.ASLEEP.text == state.data.providers.C.text == None  # noqa: E711
    with pytest.raises(KeyError):
        state.data.providers["C"]
