"""One run of a ``ttl=`` provider serves all who want the same at the same time."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agentctx_nb import AgentRuntime, Provider
from agentctx_nb.errors import CompositionRecursionError
from tests.core.bounded import bounded, until


def run(runtime):
    return asyncio.run(bounded(runtime.compose_state("hello")))


class Work:
    """A provider whose runs are counted and end when they are told to."""

    def __init__(self, *, timeout=None, answer="done"):
        self.started = self.cancelled = self.cleaned = 0
        self.finish = asyncio.Event()
        self.answer = answer
        self.runtime = AgentRuntime()
        self.runtime.register_provider(Provider("WORK", self.get, ttl=60, timeout=timeout))

    async def get(self):
        self.started += 1
        try:
            await self.finish.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            await asyncio.sleep(0.01)
            self.cleaned += 1
            raise
        if isinstance(self.answer, BaseException):
            raise self.answer
        return {"text": self.answer, "data": {"rows": [1]}}

    def call(self, message="hello", **options):
        return asyncio.create_task(self.runtime.compose_state(message, **options))

    async def calls(self, count):
        tasks = [self.call() for _ in range(count)]
        await bounded(until(lambda: self.started))
        await asyncio.sleep(0.01)
        return tasks


def test_identical_calls_in_flight_share_one_run_and_each_has_its_own_copy():
    async def main():
        work = Work()
        tasks = await work.calls(5)
        other = work.call("another message")
        await bounded(until(lambda: work.started == 2))
        work.finish.set()
        states = [await bounded(task) for task in tasks]
        assert (await other).text == "done"
        assert work.started == 2
        assert [state.text for state in states] == ["done"] * 5
        rows = [state.data.providers["WORK"]["data"]["rows"] for state in states]
        assert len(set(map(id, rows))) == 5
        return states

    for state in asyncio.run(main()):
        row = state.report["WORK"]
        assert row.outcome == "ok"
        assert row.blocked_ms is None or row.blocked_ms < max(row.ms / 2, 5)  # waiting is not blocking


def test_an_error_reaches_all_who_wait():
    async def main():
        work = Work(answer=ValueError("no weather"))
        tasks = await work.calls(3)
        work.finish.set()
        return work.started, [await bounded(task) for task in tasks]

    started, states = asyncio.run(main())
    assert started == 1
    assert [str(state.errors["WORK"]) for state in states] == ["no weather"] * 3
    assert states[0].errors["WORK"].__traceback__ is not None


@pytest.mark.parametrize("leaver", [0, 1, 2])
def test_a_waiter_that_leaves_hurts_nobody(leaver):
    async def main():
        work = Work()
        tasks = await work.calls(3)
        gone = tasks.pop(leaver)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bounded(gone)
        late = work.call()
        await asyncio.sleep(0.01)
        work.finish.set()
        texts = [(await bounded(task)).text for task in (*tasks, late)]
        return texts, work.started, work.cancelled

    assert asyncio.run(main()) == (["done"] * 3, 1, 0)


def test_the_last_one_out_cancels_the_work_and_waits_for_it():
    async def main():
        work = Work()
        tasks = await work.calls(3)
        for number, task in enumerate(tasks, start=1):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await bounded(task)
            assert (work.cancelled, work.cleaned) == ((1, 1) if number == 3 else (0, 0))
        assert len(asyncio.all_tasks()) == 1
        again = work.call()
        await bounded(until(lambda: work.started == 2))
        work.finish.set()
        return (await bounded(again)).text

    assert asyncio.run(main()) == "done"


def test_all_leaving_at_once_cancel_the_work_once():
    async def main():
        work = Work()
        tasks = await work.calls(4)
        for task in tasks:
            task.cancel()
        await bounded(asyncio.wait(tasks))
        await bounded(until(lambda: work.cleaned))
        assert len(asyncio.all_tasks()) == 1
        return work.started, work.cancelled, [task.cancelled() for task in tasks]

    assert asyncio.run(main()) == (1, 1, [True] * 4)


def test_one_that_comes_while_the_work_is_being_cancelled_starts_its_own():
    async def main():
        work = Work()
        (task,) = await work.calls(1)
        task.cancel()
        await bounded(until(lambda: work.cancelled))
        late = work.call()
        await bounded(until(lambda: work.started == 2))
        work.finish.set()
        return (await bounded(late)).text

    assert asyncio.run(main()) == "done"


def test_each_waiter_keeps_the_deadline_of_its_own_call():
    async def main():
        work = Work()
        patient = work.call()
        hasty = [work.call(timeout=0.03), work.call(timeout=0.05)]
        for task in hasty:
            assert (await bounded(task)).report["WORK"].outcome == "timed_out"
        assert (work.started, work.cancelled) == (1, 0)
        work.finish.set()
        return (await bounded(patient)).text

    assert asyncio.run(main()) == "done"


def test_a_deadline_of_the_provider_counts_for_each_waiter_from_its_own_start():
    async def main():
        work = Work(timeout=0.5)
        first = work.call()
        await asyncio.sleep(0.25)
        second = work.call()
        late = await bounded(first)
        work.finish.set()
        return late.report["WORK"].outcome, (await bounded(second)).report["WORK"].outcome, work.started

    assert asyncio.run(main()) == ("timed_out", "ok", 1)


def test_runs_that_wait_for_each_other_are_an_error_and_no_deadlock():
    async def main():
        runtime = AgentRuntime()
        here, errors = set(), []

        def composes(name, other):
            async def get(runtime, message):
                here.add(name)
                await until(lambda: len(here) == 2)
                state = await runtime.compose_state(message, [other], True)
                errors.extend(state.errors.values())
                return name + state.text

            return get

        runtime.register_provider(Provider("X", composes("X", "Y"), dynamic=True, ttl=60))
        runtime.register_provider(Provider("Y", composes("Y", "X"), dynamic=True, ttl=60))
        calls = [runtime.compose_state("hello", [name], True) for name in "XY"]
        states = await bounded(asyncio.gather(*calls), 5)
        return errors, [state.errors for state in states]

    errors, outer = asyncio.run(main())
    assert {type(error) for error in errors} == {CompositionRecursionError}
    assert "composes itself" in str(errors[0])
    assert outer == [{}, {}]


def test_one_that_waits_twice_for_another_still_waits_when_one_of_the_two_gives_up():
    async def main():
        runtime, errors, go = AgentRuntime(), [], asyncio.Event()

        async def x(runtime, message):
            hasty = runtime.compose_state(message, ["Y"], True, timeout=0.02)
            patient = asyncio.create_task(runtime.compose_state(message, ["Y"], True))
            await hasty
            go.set()
            return (await patient).text

        async def y(runtime, message):
            await go.wait()
            errors.extend((await runtime.compose_state(message, ["X"], True)).errors.values())
            return "y"

        runtime.register_provider(Provider("X", x, dynamic=True, ttl=60))
        runtime.register_provider(Provider("Y", y, dynamic=True, ttl=60))
        calls = [runtime.compose_state("hello", [name], True) for name in "YX"]
        states = await bounded(asyncio.gather(*calls), 5)
        return [type(error) for error in errors], [state.text for state in states]

    assert asyncio.run(main()) == ([CompositionRecursionError], ["y", "y"])


@pytest.mark.parametrize("leave", [SystemExit, KeyboardInterrupt])
def test_an_exit_in_a_shared_run_reaches_the_caller_and_not_the_loop(leave):
    async def main():
        work = Work(answer=leave())
        task = asyncio.create_task(catches(work.runtime.compose_state("hello")))
        await bounded(until(lambda: work.started))
        work.finish.set()
        return await bounded(task)

    async def catches(call):
        try:
            await call
        except leave:
            return "caught"

    assert asyncio.run(main()) == "caught"


def test_loops_of_different_threads_share_results_but_no_run():
    barrier = threading.Barrier(2)
    runs = []

    async def get():
        runs.append(asyncio.get_running_loop())
        await asyncio.to_thread(barrier.wait, 10)
        return "met"

    runtime = AgentRuntime()
    runtime.register_provider(Provider("MEETS", get, ttl=60))
    states = []
    threads = [threading.Thread(target=lambda: states.append(run(runtime))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert [state.text for state in states] == ["met", "met"]
    assert len(set(runs)) == 2
    assert run(runtime).report["MEETS"].outcome == "cached"


def test_a_def_is_kept_and_shared_too():
    runs, finish = [], threading.Event()

    def get():
        runs.append(None)
        finish.wait(10)
        return "done"

    async def main():
        runtime = AgentRuntime()
        runtime.register_provider(Provider("DEF", get, ttl=60))
        tasks = [asyncio.create_task(runtime.compose_state("hello")) for _ in range(3)]
        await bounded(until(lambda: runs))
        await asyncio.sleep(0.01)
        finish.set()
        texts = [(await bounded(task)).text for task in tasks]
        return texts, (await runtime.compose_state("hello")).report["DEF"].outcome

    assert asyncio.run(main()) == (["done"] * 3, "cached")
    assert len(runs) == 1


class Refuses(Exception):
    def __init__(self, place, *, why):
        super().__init__(f"{place}: {why}")


@pytest.mark.parametrize("error", [ValueError("no weather"), Refuses("here", why="no weather")])
def test_each_who_waits_has_the_error_as_an_object_of_his_own_where_it_can_be_copied(error):
    async def main():
        work = Work(answer=error)
        tasks = await work.calls(3)
        work.finish.set()
        return [(await bounded(task)).errors["WORK"] for task in tasks]

    errors = asyncio.run(main())
    assert {type(each) for each in errors} == {type(error)}
    assert len({str(each) for each in errors}) == 1
    assert all(each.__traceback__.tb_frame.f_code.co_name == "get" for each in errors)
    assert len(set(map(id, errors))) == (3 if type(error) is ValueError else 1)
