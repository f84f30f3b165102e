"""One exception that several runs hold: what is let go of for one of them must not be what another still needs."""

from __future__ import annotations

import asyncio

from agentctx_nb import AgentRuntime, Provider
from tests.core.bounded import bounded


def test_a_stored_exception_that_two_compositions_raise_ends_no_provider_of_the_other(caplog):
    caplog.set_level("CRITICAL")

    async def main():
        runtime, ends = AgentRuntime(), {"first": asyncio.Event(), "second": asyncio.Event()}
        connection = asyncio.get_running_loop().create_future()
        connection.set_exception(OSError("no"))

        @runtime.provider("DATABASE")
        async def database():
            return await connection

        @runtime.provider("WAITS")
        async def waits(runtime, message):
            await ends[message.content.text].wait()
            return message.content.text

        first, second = (asyncio.create_task(runtime.compose_state(text)) for text in ends)
        await asyncio.sleep(0.01)
        ends["first"].set()
        states = [await first]
        ends["second"].set()
        return [*states, await second]

    states = asyncio.run(bounded(main()))
    assert [state.text for state in states] == ["first", "second"]
    assert [[*state.errors] for state in states] == [["DATABASE"]] * 2


def test_an_error_kept_from_before_ends_no_provider_that_was_given_up_then(caplog, monkeypatch):
    caplog.set_level("CRITICAL")
    monkeypatch.setattr("agentctx_nb.execution.DEADLINE_GRACE_SECONDS", 0.01)

    async def main():
        runtime, finish, ended = AgentRuntime(), asyncio.Event(), []

        async def fails():
            raise ValueError("broken")

        async def stubborn():
            while not finish.is_set():
                try:
                    await finish.wait()
                except asyncio.CancelledError:
                    continue
            ended.append("in its own time")

        runtime.register_provider(Provider("FAILS", fails))
        runtime.register_provider(Provider("STUBBORN", stubborn, timeout=0.01))
        state = await runtime.compose_state("hi")
        again = await runtime.compose_state("hi", previous=state, refresh=[])
        assert [*again.errors] == ["FAILS", "STUBBORN"]
        finish.set()
        await asyncio.sleep(0.01)
        return ended

    assert asyncio.run(bounded(main())) == ["in its own time"]
