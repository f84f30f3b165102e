"""The watchdog: it names in the log what runs for too long, and enforces nothing."""

from __future__ import annotations

import asyncio
import time

from agentctx_nb import Provider, execution
from tests.core.bounded import quick, runtime_of


def run(runtime):
    return asyncio.run(asyncio.wait_for(runtime.compose_state("hello"), 20))


def slow_warnings(caplog):
    return [record.getMessage() for record in caplog.records if "still running" in record.getMessage()]


def test_the_watchdog_names_what_still_runs_and_enforces_nothing(caplog, monkeypatch):
    assert execution.WATCHDOG_SECONDS == 5
    monkeypatch.setattr(execution, "WATCHDOG_SECONDS", 0.05)

    async def slow():
        while not slow_warnings(caplog):  # noqa: ASYNC110  the log has no event
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.1)
        return "done"

    state = run(runtime_of(A=quick, SLOW=slow))
    assert state.text == "quick\ndone"
    (warning,) = slow_warnings(caplog)
    assert "SLOW is still running after 0.05 s" in warning


def test_the_watchdog_counts_from_the_start_of_each_provider(caplog, monkeypatch):
    monkeypatch.setattr(execution, "WATCHDOG_SECONDS", 0.15)

    async def first():
        await asyncio.sleep(0.1)

    async def second():
        began = time.monotonic()
        while not slow_warnings(caplog):  # noqa: ASYNC110  the log has no event
            await asyncio.sleep(0.005)
        return {"values": {"seconds": time.monotonic() - began}}

    runtime = runtime_of(FIRST=first)
    runtime.register_provider(Provider("SECOND", second, after=["FIRST"]))
    assert run(runtime).values["seconds"] >= 0.14
    (warning,) = slow_warnings(caplog)
    assert "SECOND" in warning


def test_the_watchdog_is_quiet_where_all_is_quick(caplog, monkeypatch):
    monkeypatch.setattr(execution, "WATCHDOG_SECONDS", 0.05)
    run(runtime_of(A=quick, B=lambda: "in a thread"))

    async def main():
        await runtime_of(A=quick).compose_state("hello")
        await asyncio.sleep(0.1)

    asyncio.run(main())
    assert slow_warnings(caplog) == []
