"""What is raised and is no `Exception`: a failure of one all the same, but for what belongs to the caller."""

from __future__ import annotations

import asyncio
import time

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.errors import AgentCtxError


class Panic(BaseException):
    """As a library written in Rust raises one."""


FAILURES = [
    Panic("index out of bounds"),
    BaseExceptionGroup("several", [Panic("one"), ValueError("two")]),
    BaseExceptionGroup("several", [asyncio.CancelledError()]),
]
FOR_ALL = [SystemExit(3), KeyboardInterrupt(), BaseExceptionGroup("several", [KeyboardInterrupt()])]


def raiser(kind, error):
    async def at_once():
        raise error

    async def later():
        await asyncio.sleep(0.001)
        raise error

    def in_thread():
        raise error

    return {"at_once": at_once, "later": later, "in_thread": in_thread}[kind]


async def beside(get, **options):
    runtime = AgentRuntime()
    runtime.register_provider({"name": "PANICS", "get": get, **options})
    runtime.register_provider({"name": "FINE", "get": lambda: "fine"})
    return await runtime.compose_state("hello")


@pytest.mark.parametrize("options", [{}, {"ttl": 5}, {"timeout": 5}], ids="".join)
@pytest.mark.parametrize("error", FAILURES, ids=repr)
@pytest.mark.parametrize("kind", ["at_once", "later", "in_thread"])
def test_it_is_the_failure_of_its_provider(kind, error, options):
    state = asyncio.run(beside(raiser(kind, error), **options))
    assert state.text == "fine"
    assert isinstance(state.errors["PANICS"], AgentCtxError)
    assert state.errors["PANICS"].__cause__ is error
    assert str(state.errors["PANICS"]).startswith(f"provider PANICS raised {type(error).__name__}: ")
    assert state.report["PANICS"].outcome == "failed"


@pytest.mark.parametrize("error", FAILURES[:2], ids=repr)
@pytest.mark.parametrize("kind", ["at_once", "later", "in_thread"])
def test_it_is_the_failure_of_its_action(kind, error):
    runtime = AgentRuntime()
    runtime.register_action({"name": "ACT", "handler": raiser(kind, error)})
    result = asyncio.run(runtime.run_action("ACT", "hello"))
    assert not result.success
    assert result.error.__cause__ is error


@pytest.mark.parametrize("kind", ["at_once", "later"])
def test_it_does_not_cost_a_composition_when_the_hook_raises_it(kind):
    get = raiser(kind, Panic("hook"))
    runtime = AgentRuntime(select=lambda decisions, message: get())
    runtime.register_provider({"name": "FINE", "get": lambda: "fine"})
    assert asyncio.run(runtime.compose_state("hello")).text == "fine"


@pytest.mark.parametrize("error", FOR_ALL, ids=repr)
def test_what_belongs_to_the_caller_reaches_it(error):
    async def main():
        with pytest.raises(type(error)):
            await beside(raiser("later", error))

    asyncio.run(main())


def test_an_exception_that_lies_about_its_class_is_a_failure_as_well():
    class Lies(Exception):
        @property
        def __class__(self):
            raise RuntimeError("no class")

    state = asyncio.run(beside(raiser("at_once", Lies("broken"))))
    assert state.text == "fine"
    assert state.report["PANICS"].outcome == "failed"


def test_a_deadline_of_another_runtime_is_no_deadline_of_ours():
    inner = AgentRuntime()
    inner.register_provider({"name": "PANICS", "get": lambda: time.sleep(0.05), "timeout": 0.01})

    async def passes_on():
        raise (await inner.compose_state("inner")).errors["PANICS"]

    state = asyncio.run(beside(passes_on))
    assert state.report["PANICS"].outcome == "failed"
    assert isinstance(state.errors["PANICS"], TimeoutError)
