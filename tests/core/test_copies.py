"""Copies and pickles of what a composition gave: whole, the caller's own, and still masked."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.errors import ProviderTimeoutError

SECRET = "k3y-0f-the-d00r"


def gives(result):
    async def get():
        if isinstance(result, Exception):
            raise result
        return result

    return get


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} {two}")
        self.one = one


def unpicklable():
    class Local(Exception):
        pass

    return Local("of a class in a function")


ERRORS = {
    "BAD": ValueError(f"broken {SECRET}"),
    "ODD": Odd(1, 2),
    "LOCAL": unpicklable(),
    "LATE": ProviderTimeoutError("X", 2),
    "OS": FileNotFoundError(2, "no such file", "x.txt"),
}


@pytest.fixture
def state():
    runtime = AgentRuntime(secrets={"KEY": SECRET}, count_tokens=len)
    rows = [{"day": SECRET}]
    runtime.register_provider(
        {"name": "A", "get": gives({"text": SECRET, "values": {"v": [SECRET]}, "data": {"rows": rows}})}
    )
    runtime.register_provider({"name": "CACHED", "get": gives("c"), "ttl": 60})
    for name, error in ERRORS.items():
        runtime.register_provider({"name": name, "get": gives(error)})
    runtime.compose("hi")
    return runtime.compose("hi", ["NOPE"])


WAYS = {"deepcopy": copy.deepcopy, "pickle": lambda given: pickle.loads(pickle.dumps(given))}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())


@every_way
@pytest.mark.parametrize("looked", [False, True])
def test_a_copied_state_says_what_the_state_said(state, way, looked):
    if looked:
        list(state.data.providers)
    copied = way(state)
    assert (copied.text, copied.values, copied.spans) == (state.text, state.values, state.spans)
    assert copied.report.rows == state.report.rows
    assert copied.report.unknown == state.report.unknown
    assert copied.value_rows() == state.value_rows()
    assert list(copied.data.providers) == list(state.data.providers)
    for name, entry in state.data.providers.items():
        assert copied.data.providers[name].outcome == entry.outcome
        assert copied.data.providers[name].data == entry.data
    assert copied.data.providers.CACHED.outcome == "cached"
    assert {n: str(e) for n, e in copied.errors.items()} == {
        n: f"Local: {e}" if n == "LOCAL" and way is not copy.deepcopy else str(e)
        for n, e in state.errors.items()
    }
    assert copied._repr_mimebundle_() == state._repr_mimebundle_()


@every_way
def test_a_copied_state_is_the_callers_own(state, way):
    copied = way(state)
    copied.values["v"].append("edited")
    copied.data.providers.A.data.rows[0]["day"] = "edited"
    copied.errors.clear()
    assert state.values["v"] == [SECRET]
    assert state.data.providers.A.data["rows"] == [{"day": SECRET}]
    assert list(state.errors) == list(ERRORS)


def test_a_shallow_copy_has_values_and_errors_of_its_own(state):
    copied = copy.copy(state)
    copied.values["new"] = 1
    copied.errors.clear()
    copied.data["new"] = 1
    assert "new" not in state.values
    assert "new" not in state.data
    assert list(state.errors) == list(ERRORS)
    assert copied.data.providers.A["data"] is state.data.providers.A["data"]


def test_errors_keep_their_class_in_a_pickle_where_it_can_be_found(state):
    read = pickle.loads(pickle.dumps(state)).errors
    assert [type(read[name]) for name in ("BAD", "ODD", "LATE", "OS")] == [
        ValueError, Odd, ProviderTimeoutError, FileNotFoundError,
    ]  # fmt: skip
    assert (read["ODD"].one, read["LATE"].seconds, read["OS"].filename) == (1, 2, "x.txt")


SHOWN = {
    "state": lambda s: s,
    "report": lambda s: s.report,
    "row": lambda s: s.report["BAD"],
    "unknown": lambda s: s.report.unknown,
    "entry": lambda s: s.data.providers.A,
    "entry with an error": lambda s: s.data.providers.BAD,
    "view": lambda s: s.data.providers.A.data,
    "list view": lambda s: s.data.providers.A.data.rows,
    "all data": lambda s: s.data,
}


@pytest.mark.parametrize("part", SHOWN.values(), ids=SHOWN.keys())
@pytest.mark.parametrize("way", [*WAYS.values(), copy.copy], ids=[*WAYS, "copy"])
def test_a_copy_of_each_part_is_masked_as_the_part_is(state, part, way):
    given = part(state)
    copied = way(given)
    for shown in (repr(copied), str(copied)):
        assert SECRET not in shown
    if "LOCAL" not in repr(given):
        assert repr(copied) == repr(given)


def test_a_pickle_holds_no_secret_that_is_not_in_the_state():
    runtime = AgentRuntime(secrets={"KEY": SECRET})
    runtime.register_provider({"name": "A", "get": gives({"data": {"rows": [{"n": 1}]}})})
    state = runtime.compose("hi")
    list(state.data.providers)
    assert SECRET.encode() not in pickle.dumps(state)


def test_a_pickle_can_be_read_in_another_process(tmp_path):
    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": gives({"text": "t", "data": {"rows": [{"n": 1}]}})})
    path = tmp_path / "state.pickle"
    path.write_bytes(pickle.dumps(runtime.compose("hi")))
    code = f"import pickle; s = pickle.load(open({str(path)!r}, 'rb')); print(s.data.providers.A.data.rows[0].n, s.report['A'].outcome)"
    read = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert read.stdout == "1 ok\n"


@every_way
def test_what_a_provider_is_handed_is_copied_to_an_ordinary_state(way):
    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": gives({"values": {"v": [1]}, "data": {"d": [1]}})})
    copies = []

    @runtime.provider("B", after=["A"])
    async def b(runtime, message, state):
        copies.append(way(state))

    runtime.compose("hi")
    (copied,) = copies
    copied.text = "mine"
    copied.values["v"].append(2)
    copied.data.providers.A.data.d.append(2)
    assert (copied.text, copied.values["v"], copied.data.providers.A["data"]) == (
        "mine",
        [1, 2],
        {"d": [1, 2]},
    )
