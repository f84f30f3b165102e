"""Results and exceptions made to break whoever looks at them: they fail their own provider, and no other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

import pytest

from agentctx_nb import AgentRuntime, Provider, execution
from agentctx_nb.errors import CompositionRecursionError, ResultError

pytestmark = pytest.mark.filterwarnings("error")


async def kept():
    return {"text": "kept", "values": {"city": "Bergen"}, "data": {"a": 1}}


def giving(result):
    async def get():
        if isinstance(result, BaseException):
            raise result
        return result

    return get


def composed(runtime=None, **results):
    """Compose one provider for each result, or exception, between two good ones."""
    runtime = runtime or AgentRuntime(count_tokens=len)
    runtime.register_provider(Provider("FIRST", kept, position=-1))
    for name, result in results.items():
        runtime.register_provider(Provider(name, giving(result)))
    runtime.register_provider(Provider("LAST", kept, position=1))
    return runtime.compose("hi")


def look_at_everything(state):
    """Look at a state in every way that must work whatever is in it."""
    assert state.text.startswith("kept")
    assert state.text.endswith("kept")
    assert len(state.report) == len(state.data.providers)
    assert len(state.report.to_frame()) == len(state.report)
    assert len(state.values_frame()) == len(state.values)
    assert state.data.providers.LAST.text == "kept"
    assert state._repr_mimebundle_()["text/plain"]
    assert repr(state)
    assert str(state.report)


# Exceptions ----------------------------------------------------------------------------------


class NoTraceback(Exception):
    def with_traceback(self, trace):
        raise RuntimeError("no with_traceback")


class OwnTraceback(Exception):
    @property
    def __traceback__(self):
        raise RuntimeError("no traceback")


class ReturnsNothing(Exception):
    def with_traceback(self, trace):
        return None


class ExitsWhenShown(Exception):
    def __str__(self):
        raise SystemExit(3)

    __repr__ = __str__


class CancelsWhenShown(Exception):
    def __str__(self):
        raise asyncio.CancelledError


class RaisingNotes(Exception):
    @property
    def __notes__(self):
        raise RuntimeError("no notes")


EXCEPTIONS = {
    "with_traceback raises": NoTraceback("x"),
    "traceback raises": OwnTraceback("x"),
    "with_traceback returns nothing": ReturnsNothing("x"),
    "str exits": ExitsWhenShown(),
    "str cancels": CancelsWhenShown(),
    "notes raise": RaisingNotes("x"),
    "line is a text": SyntaxError("bad", ("f.py", 1, "3", "text")),
    "line number is a text": SyntaxError("bad", ("f.py", "x", None, 5)),
}


@pytest.mark.parametrize("level", ["ERROR", "DEBUG"])
@pytest.mark.parametrize("error", EXCEPTIONS.values(), ids=EXCEPTIONS)
def test_an_exception_that_breaks_its_handling_is_a_failure_all_the_same(error, level, caplog):
    caplog.set_level(level, "agentctx_nb")
    state = composed(HOSTILE=error)
    assert state.errors["HOSTILE"] is error
    assert state.report["HOSTILE"].outcome == "failed"
    assert any("HOSTILE failed" in record.getMessage() for record in caplog.records)
    look_at_everything(state)


@pytest.mark.parametrize("error", [NoTraceback("x"), OwnTraceback("x"), ReturnsNothing("x")])
def test_who_waits_for_such_a_failure_runs_and_sees_it(error):
    runtime = AgentRuntime()

    async def fails():
        raise error

    async def waits(_runtime, _message, state):
        return state.data.providers["FAILS"].outcome

    runtime.register_provider(Provider("FAILS", fails))
    runtime.register_provider(Provider("WAITS", waits, after=["FAILS"]))
    assert runtime.compose("hi").text == "failed"


def test_a_provider_run_from_a_text_without_a_module_name_fails_as_others_do():
    names = {"__name__": None}
    exec("async def get():\n    raise ValueError('x')", names)
    runtime = AgentRuntime()
    runtime.register_provider(Provider("TEXT", names["get"]))
    assert str(runtime.compose("hi").errors["TEXT"]) == "x"


@pytest.mark.parametrize("suspends", [False, True])
def test_what_breaks_the_driver_itself_fails_the_provider_it_served_and_no_other(monkeypatch, suspends):
    def breaks(error):
        if str(error) == "break":
            raise RuntimeError("the driver broke")
        return error

    monkeypatch.setattr(execution, "without_our_frames", breaks)

    async def fails():
        if suspends:
            await asyncio.sleep(0)
        raise ValueError("break")

    async def sees(_runtime, _message, state):
        return state.data.providers["FAILS"].outcome

    runtime = AgentRuntime()
    for name, get, after in (("FAILS", fails, ()), ("SEES", sees, ("FAILS",)), ("KEPT", kept, ())):
        runtime.register_provider(Provider(name, get, after=after))
    for _ in range(3):
        state = runtime.compose("hi")
        assert state.text == "failed\nkept"
        assert str(state.errors["FAILS"]) == "the driver broke"


# Values and data -----------------------------------------------------------------------------


class Key(str):
    """A key that is found by its hash and cannot be compared."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        raise RuntimeError("no comparison")


class Odd:
    """A key that collides with all of its kind."""

    def __hash__(self):
        return 1

    def __eq__(self, other):
        raise RuntimeError("no comparison")


@pytest.mark.parametrize("place", [-2, 0, 2])
@pytest.mark.parametrize("key", [Key("city"), Key("providers")], ids=["a key of others", "ours"])
def test_a_key_that_cannot_be_compared_fails_the_provider_that_wrote_it(key, place):
    runtime = AgentRuntime()

    async def hostile():
        return {"text": "lost", "values": {key: 1}, "data": {}}

    runtime.register_provider(Provider("HOSTILE", hostile, position=place))
    runtime.register_provider(Provider("KEPT", kept))
    runtime.register_provider(Provider("ALSO_KEPT", kept))
    state = runtime.compose("hi")
    assert list(state.errors) == ["HOSTILE"]
    assert isinstance(state.errors["HOSTILE"], ResultError)
    assert "cannot be compared" in str(state.errors["HOSTILE"])
    assert state.text == "kept\nkept"
    assert dict(state.values) == {"city": "Bergen", "providers": "kept\nkept"}
    assert state.data.providers["HOSTILE"].text == ""


def test_of_two_providers_whose_keys_collide_with_each_other_one_fails():
    state = composed(A={"values": {Odd(): 1}}, B={"values": {Odd(): 2}})
    assert list(state.errors) == ["B"]
    look_at_everything(state)


def test_a_result_whose_own_keys_cannot_be_compared_is_a_failed_outcome():
    state = composed(HOSTILE={Key("text"): "a", Key("values"): {}, Key("data"): {}})
    assert list(state.errors) == ["HOSTILE"]
    look_at_everything(state)


def test_a_key_that_cannot_be_compared_and_meets_no_other_is_shown():
    state = composed(A={"values": {Key("alone"): 1}})
    assert not state.errors
    look_at_everything(state)


class NoLength(dict):
    def __len__(self):
        raise RuntimeError("no length")


class NoTruth(dict):
    def __bool__(self):
        raise RuntimeError("no truth")


class Lies(Mapping):
    def __init__(self, *_):
        pass

    def __getitem__(self, key):
        raise RuntimeError("nothing here")

    def __iter__(self):
        return iter(["a"])

    def __len__(self):
        return "many"  # noqa: PLE0303  it lies


@pytest.mark.parametrize("kind", [NoLength, NoTruth, Lies])
def test_data_that_will_not_be_asked_breaks_no_report_and_no_view(kind):
    state = composed(HOSTILE={"text": "t", "data": kind({"a": 1})}, BARE={"data": kind({"a": 1})})
    assert not state.errors
    assert state.report["BARE"].outcome == "ok"
    look_at_everything(state)


@pytest.mark.parametrize("broken", [lambda text: 1 / 0, lambda text: "many", lambda text: None])
def test_a_counter_that_fails_is_said_and_an_estimate_takes_its_place(broken):
    state = composed(AgentRuntime(count_tokens=broken), A="some words")
    look_at_everything(state)
    assert state.report.token_counter.startswith("estimate, as your counter failed with ")
    assert state.report["A"].tokens > 0


# Logging -------------------------------------------------------------------------------------


@pytest.fixture
def broken_handler():
    class Broken(logging.Handler):
        def emit(self, record):
            raise RuntimeError("the disk is full")

    handler, logger = Broken(), logging.getLogger("agentctx_nb")
    logger.addHandler(handler)
    yield
    logger.removeHandler(handler)


@pytest.mark.usefixtures("broken_handler")
def test_a_log_handler_that_raises_costs_no_composition_and_is_complained_of(capsys):
    state = composed(A=ValueError("no weather"))
    assert list(state.errors) == ["A"]
    look_at_everything(state)
    said = capsys.readouterr().err
    assert "of the logger agentctx_nb.agent failed: RuntimeError: the disk is full" in said


def test_a_recursion_is_told_as_before():
    async def again(runtime, message):
        await runtime.compose_state(message)

    runtime = AgentRuntime()
    runtime.register_provider(Provider("AGAIN", again))
    inner = runtime.compose("hi").errors["AGAIN"]
    assert isinstance(inner, CompositionRecursionError)
