"""Cancelling a composition: every provider is cancelled and awaited, and nothing is left behind."""

from __future__ import annotations

import asyncio

import pytest

from agentctx_nb import AgentRuntime, Provider, execution
from agentctx_nb.errors import ProviderTimeoutError
from tests.core.bounded import FAR, bounded, hangs, quick, runtime_of, until


def stubborn(finish, log):
    """Return a provider that ignores every cancellation until ``finish`` is set, and then fails."""

    async def get():
        while not finish.is_set():
            try:
                await finish.wait()
            except asyncio.CancelledError:
                log.append("ignored")
        log.append("ended")
        raise ValueError("much too late")

    return get


def cleaning(log, started):
    async def get():
        started.append(True)
        try:
            await asyncio.sleep(FAR)
        finally:
            await asyncio.sleep(0.01)
            log.append("cleaned")

    return get


def test_cancelling_the_call_cancels_every_provider_and_waits_for_it():
    async def main():
        log, started = [], []
        get = cleaning(log, started)
        runtime = runtime_of(A=get, B=quick, C=get, D=get)
        task = asyncio.create_task(runtime.compose_state("hello"))
        await bounded(until(lambda: len(started) == 3))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bounded(task)
        assert log == ["cleaned"] * 3
        assert len(asyncio.all_tasks()) == 1
        runtime.register_provider(Provider("A", quick))
        return (await runtime.compose_state("hello", ["A", "B"], True)).text

    assert asyncio.run(main()) == "quick\nquick"


def test_a_timeout_around_the_call_waits_for_the_clean_up_and_stays_the_callers():
    async def main():
        log, started = [], []
        runtime = runtime_of(A=cleaning(log, started), B=quick)
        with pytest.raises(TimeoutError) as caught:
            async with asyncio.timeout(0.02):
                await runtime.compose_state("hello")
        assert not isinstance(caught.value, ProviderTimeoutError)
        assert asyncio.current_task().cancelling() == 0
        return log

    assert asyncio.run(main()) == ["cleaned"]


def test_a_cancelled_call_is_nobodys_failure(caplog):
    async def main():
        task = asyncio.create_task(runtime_of(A=hangs, B=hangs).compose_state("hello", strict=True))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert not caplog.records


def test_a_second_cancellation_stops_waiting_for_the_clean_up(monkeypatch):
    monkeypatch.setattr(execution, "CANCEL_GRACE_SECONDS", FAR)

    async def main():
        cleaning_up, finish, tidied = asyncio.Event(), asyncio.Event(), []

        async def tidy():
            try:
                await asyncio.sleep(FAR)
            finally:
                cleaning_up.set()
                await finish.wait()
                tidied.append(True)

        task = asyncio.create_task(runtime_of(TIDY=tidy, A=quick).compose_state("hello"))
        await asyncio.sleep(0.01)
        task.cancel()
        await bounded(cleaning_up.wait())
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bounded(task)
        assert not tidied
        finish.set()
        await bounded(until(lambda: tidied))

    asyncio.run(main())


def test_one_that_ignores_the_cancellation_of_the_call_is_left_behind(monkeypatch):
    monkeypatch.setattr(execution, "CANCEL_GRACE_SECONDS", 0.05)

    async def main():
        finish, log = asyncio.Event(), []
        task = asyncio.create_task(runtime_of(IGNORES=stubborn(finish, log)).compose_state("hello"))
        await asyncio.sleep(0.01)
        task.cancel()
        try:
            with pytest.raises(asyncio.CancelledError):
                await bounded(task)
        finally:
            finish.set()
        await bounded(until(lambda: log[-1] == "ended"))
        return log

    assert asyncio.run(main()) == ["ignored", "ended"]


def test_one_that_swallows_the_cancellation_does_not_stop_it_nor_start_another():
    async def main():
        started, cancelled, too_late = [], [], []

        def swallowing(number):
            async def get():
                started.append(number)
                too_late.extend([number] if cancelled else [])
                try:
                    await asyncio.sleep(FAR)
                except asyncio.CancelledError:
                    cancelled.append(number)
                    return "swallowed"

            return get

        runtime = runtime_of(**{f"P{n}": swallowing(n) for n in range(200)})
        task = asyncio.create_task(runtime.compose_state("hello"))
        while not started:  # noqa: ASYNC110  turn by turn: on 3.11 not all have started by then
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bounded(task, 5)
        assert len(asyncio.all_tasks()) == 1
        assert sorted(cancelled) == sorted(started)
        return too_late

    assert asyncio.run(main()) == []


def test_closing_a_runtime_ends_its_compositions():
    async def main():
        log, started = [], []
        runtime = runtime_of(A=cleaning(log, started))
        task = asyncio.create_task(runtime.compose_state("hello"))
        await bounded(until(lambda: started))
        await bounded(runtime.close())
        assert log == ["cleaned"]
        assert task.cancelled()

    asyncio.run(main())


@pytest.mark.parametrize("timeout", [None, 5])
def test_a_provider_that_cancels_every_other_task_hurts_nobody_who_has_not_started(timeout):
    async def main():
        runtime, caller = AgentRuntime(), asyncio.current_task()

        @runtime.provider("CANCELS")
        async def cancels():
            for task in asyncio.all_tasks() - {caller, asyncio.current_task()}:
                task.cancel()
            return "cancelled"

        for number in range(5):

            @runtime.provider(f"SLEEPS_{number}")
            async def sleeps():
                await asyncio.sleep(0.001)
                return "slept"

        async with asyncio.timeout(20):  # in this very task, which wait_for would not be
            return await runtime.compose_state("hi", timeout=timeout)

    assert asyncio.run(main()).text.split("\n") == ["cancelled", *["slept"] * 5]
