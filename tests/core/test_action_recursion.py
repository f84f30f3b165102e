"""Actions that run themselves, and those that only seem to."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.errors import ActionRecursionError
from tests.core.bounded import bounded


def runtime_of(**handlers):
    runtime = AgentRuntime()
    for name, handler in handlers.items():
        runtime.register_action({"name": name, "handler": handler})
    return runtime


def run(runtime, name="A", message="hi", state=None):
    return asyncio.run(bounded(runtime.run_action(name, message, state)))


async def awaits_itself(runtime, message):
    return await runtime.run_action("A", message)


def runs_itself_in_a_loop_of_its_own(runtime, message):
    return asyncio.run(runtime.run_action("A", message))


async def runs_itself_in_a_task(runtime, message, state):
    return await asyncio.create_task(runtime.run_action("A", message, state))


@pytest.mark.parametrize("handler", [awaits_itself, runs_itself_in_a_loop_of_its_own, runs_itself_in_a_task])
@pytest.mark.parametrize("role", ["handler", "validate"])
def test_an_action_that_runs_itself_is_an_error_at_once(handler, role):
    calls = []

    def counted(runtime, message, state):
        calls.append(None)
        return handler(*(runtime, message, state)[: handler.__code__.co_argcount])

    runtime = AgentRuntime()
    runtime.register_action({"name": "A", "handler": lambda: None, role: counted})
    result = run(runtime)
    assert (result.success, len(calls)) == (False, 1)
    assert isinstance(result.error, ActionRecursionError)
    assert isinstance(result.error, RecursionError)
    assert result.error.chain == ("A", "A")
    assert str(result.error).startswith("action A runs itself: A → A; ")


def test_a_ring_of_actions_and_compositions_is_an_error_that_shows_the_ring():
    def composes(runtime, message):
        return runtime.compose(message, ["P"], True).values["error"]

    async def tells(runtime, message):
        try:
            return {"values": {"error": await runtime.run_action("A", message)}}
        except ActionRecursionError as exc:
            return {"values": {"error": exc}}

    runtime = runtime_of(
        A=lambda runtime, message: asyncio.run(runtime.run_action("B", message)),
        B=lambda runtime, message: {"data": {"error": composes(runtime, message)}},
    )
    runtime.register_provider({"name": "P", "get": tells, "dynamic": True})
    error = run(runtime).data["error"]
    assert isinstance(error, ActionRecursionError)
    assert error.chain == ("A", "B", "A")


def test_an_action_may_run_another_and_the_same_one_again_once_it_has_ended():
    async def outer(runtime, message):
        texts = [(await runtime.run_action("B", message)).text for _ in range(2)]
        return " ".join(texts)

    runtime = runtime_of(A=outer, B=lambda: "b")
    assert run(runtime).text == "b b"
    assert run(runtime).text == "b b"


def test_another_runtime_may_have_an_action_of_the_same_name():
    inner = runtime_of(A=lambda: "inner")

    async def outer(runtime, message):
        return (await inner.run_action("A", message)).text

    assert run(runtime_of(A=outer)).text == "inner"


def test_a_task_an_action_leaves_behind_may_run_it_later():
    async def main():
        left, ended = [], asyncio.Event()

        async def later(runtime):
            await ended.wait()
            return await runtime.run_action("A", "again")

        async def handler(runtime, message):
            if message.content.text == "hi":
                left.append(asyncio.create_task(later(runtime)))
            return message.content.text

        runtime = runtime_of(A=handler)
        await runtime.run_action("A", "hi")
        ended.set()
        return (await bounded(left[0])).text

    assert asyncio.run(main()) == "again"


def test_two_threads_and_two_tasks_run_the_same_action_at_once():
    meeting, results = threading.Barrier(4), []

    def handler(runtime, message):
        meeting.wait(20)  # all four are inside
        return message.content.text

    runtime = runtime_of(A=handler)

    async def two(name):
        return await asyncio.gather(*(runtime.run_action("A", f"{name}{n}") for n in range(2)))

    threads = [
        threading.Thread(target=lambda name=name: results.extend(asyncio.run(bounded(two(name)))))
        for name in "xy"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(result.text for result in results) == ["x0", "x1", "y0", "y1"]
