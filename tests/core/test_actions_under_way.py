"""Actions while they run: closed, cancelled from inside and outside, run by themselves, in threads."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading

import pytest

from agentctx_nb import ActionResult, AgentRuntime
from agentctx_nb.errors import ActionCancelledError, ProviderCancelledError
from tests.core.bounded import bounded, until


def runtime_of(**handlers):
    runtime = AgentRuntime()
    for name, handler in handlers.items():
        runtime.register_action({"name": name, "handler": handler})
    return runtime


def run(runtime, name="A", message="hi", state=None):
    return asyncio.run(bounded(runtime.run_action(name, message, state)))


# It cancels itself ------------------------------------------------------------------------


async def raises_it():
    raise asyncio.CancelledError


def raises_it_in_a_thread():
    raise asyncio.CancelledError


async def cancels_its_task():
    asyncio.current_task().cancel()
    await asyncio.sleep(60)


async def cancels_its_task_and_returns():
    asyncio.current_task().cancel()
    return "done"


async def cancels_its_task_and_goes_on():
    asyncio.current_task().cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(60)
    return "done"


@pytest.mark.parametrize(
    "function",
    [
        raises_it,
        raises_it_in_a_thread,
        cancels_its_task,
        cancels_its_task_and_returns,
        cancels_its_task_and_goes_on,
    ],
)
@pytest.mark.parametrize("role", ["handler", "validate"])
def test_an_action_that_cancels_itself_has_failed_and_its_caller_goes_on(function, role, caplog):
    async def main():
        runtime = AgentRuntime()
        runtime.register_action({"name": "A", "handler": lambda: "done", role: function})
        result = await bounded(runtime.run_action("A", "hi"))
        await asyncio.sleep(0)  # where its cancellation would reach us, had it been ours
        return result, asyncio.current_task().cancelling()

    result, asked = asyncio.run(main())
    assert (result.success, result.text, result.action, asked) == (False, "", "A", 0)
    assert isinstance(result.error, ActionCancelledError)
    assert str(result.error) == "action A cancelled itself"
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_it_is_told_as_a_provider_that_does_so():
    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": cancels_its_task})
    error = asyncio.run(bounded(runtime.compose_state("hi"))).errors["A"]
    assert isinstance(error, ProviderCancelledError)
    assert str(error) == str(ActionCancelledError("A")).replace("action", "provider")


@pytest.mark.parametrize("leave", [SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("in_thread", [False, True])
def test_an_exit_or_interrupt_reaches_the_caller(leave, in_thread):
    async def handler():
        raise leave

    def plain():
        raise leave

    async def main():
        runtime = runtime_of(A=plain if in_thread else handler, B=lambda: "b")
        with pytest.raises(leave):
            await bounded(runtime.run_action("A", "hi"))
        return (await runtime.run_action("B", "hi")).text

    assert asyncio.run(main()) == "b"


def test_a_cancelled_caller_waits_for_the_clean_up_of_the_action():
    log = []

    async def handler():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            log.append("cleaned")

    async def main():
        task = asyncio.create_task(runtime_of(A=handler).run_action("A", "hi"))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return [*log]

    assert asyncio.run(main()) == ["cleaned"]


def test_an_action_that_ignores_its_cancellation_keeps_nobody_and_ends_with_the_runtime(monkeypatch):
    monkeypatch.setattr("agentctx_nb.running.clean_up.GRACE_SECONDS", 0.02)
    log = []

    async def handler():
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                log.append("no")
                if len(log) == 2:
                    raise

    async def main():
        runtime = runtime_of(A=handler)
        task = asyncio.create_task(runtime.run_action("A", "hi"))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task], timeout=10)
        cancelled = task.cancelled()
        await bounded(runtime.close())
        return cancelled

    assert asyncio.run(main()) is True
    assert log == ["no", "no"]


# The runtime closes -----------------------------------------------------------------------


def test_closing_cancels_a_running_action_and_waits_for_its_clean_up():
    log = []

    async def main():
        started = asyncio.Event()

        async def handler():
            started.set()
            try:
                await asyncio.sleep(60)
            finally:
                log.append("cleaned")

        runtime = runtime_of(A=handler)
        task = asyncio.create_task(runtime.run_action("A", "hi"))
        await bounded(started.wait())
        await bounded(runtime.close())
        return task.cancelled()

    assert asyncio.run(main()) is True
    assert log == ["cleaned"]


def test_closing_does_not_wait_for_the_thread_of_an_action():
    started, release = threading.Event(), threading.Event()

    def handler():
        started.set()
        release.wait(20)

    async def main():
        runtime = runtime_of(A=handler)
        task = asyncio.create_task(runtime.run_action("A", "hi"))
        await bounded(until(started.is_set))
        await bounded(runtime.close())
        return task.cancelled()

    assert asyncio.run(main()) is True
    release.set()


def test_another_thread_closes_an_action_on_a_loop_of_its_own():
    started, log = threading.Event(), []

    async def handler():
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            log.append("cleaned")

    runtime = runtime_of(A=handler)

    def act():
        try:
            asyncio.run(runtime.run_action("A", "hi"))
        except asyncio.CancelledError:
            log.append("cancelled")

    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    assert started.wait(20)
    asyncio.run(bounded(runtime.close()))
    thread.join(20)
    assert log == ["cleaned", "cancelled"]


async def closes(runtime):
    await runtime.close()
    return "closed it"


def closes_in_a_thread(runtime):
    asyncio.run(runtime.close())
    return "closed it"


async def closes_in_a_task(runtime):
    await asyncio.create_task(runtime.close())
    return "closed it"


@pytest.mark.parametrize("handler", [closes, closes_in_a_thread, closes_in_a_task])
def test_an_action_that_closes_its_runtime_goes_on_and_ends_those_beside_it(handler):
    async def sleeps():
        await asyncio.sleep(60)

    async def main():
        runtime = runtime_of(A=handler, SLEEPS=sleeps)
        beside = asyncio.create_task(runtime.run_action("SLEEPS", "hi"))
        await asyncio.sleep(0.01)
        result = await bounded(runtime.run_action("A", "hi"))
        return result.text, beside.cancelled()

    assert asyncio.run(main()) == ("closed it", True)


def test_nothing_is_under_way_after_actions_that_fail_or_do_not_exist():
    async def handler():
        raise ValueError

    async def main():
        runtime = runtime_of(A=handler)
        await runtime.run_action("A", "hi")
        for name, message in (("NOPE", "hi"), ("A", 5)):
            with pytest.raises((KeyError, ValueError)):
                await runtime.run_action(name, message)
        await bounded(runtime.close())  # which would cancel this very task
        return (await runtime.run_action("A", "hi")).success

    assert asyncio.run(main()) is False


# It runs itself ---------------------------------------------------------------------------


# Results of their own ---------------------------------------------------------------------


class Sent(ActionResult):
    """A result that is made from other arguments."""

    def __init__(self, receipt):
        super().__init__(success=True, text=f"sent {receipt}")
        object.__setattr__(self, "receipt", receipt)


class Broken(ActionResult):
    def __init__(self):
        """Leave out all that makes a result."""


def test_a_result_of_a_class_with_arguments_of_its_own_comes_back_as_one():
    kept = Sent(7)
    result = run(runtime_of(A=lambda: kept))
    assert isinstance(result, Sent)
    assert (result.text, result.receipt, result.action) == ("sent 7", 7, "A")
    assert kept.action == ""  # theirs, and left as it was


def test_a_result_with_nothing_in_it_is_a_failure():
    result = run(runtime_of(A=Broken))
    assert (result.success, result.action) == (False, "A")
    assert isinstance(result.error, AttributeError)


def test_a_stop_iteration_is_told_of_no_provider():
    def handler():
        return next(iter(()))

    async def awaited():
        return next(iter(()))

    for each in (handler, awaited):
        error = run(runtime_of(A=each)).error
        assert isinstance(error, RuntimeError)
        assert isinstance(error.__cause__, StopIteration)
        assert "provider" not in str(error)


def test_what_the_caller_set_is_seen_by_the_action():
    asked = contextvars.ContextVar("asked", default="nothing")

    async def handler():
        return asked.get()

    async def main():
        asked.set("by main")
        runtime = runtime_of(A=handler, B=lambda: asked.get())  # noqa: PLW0108  a def, in a thread
        return [(await runtime.run_action(name, "hi")).text for name in "AB"]

    assert asyncio.run(main()) == ["by main", "by main"]
