"""How long each provider took, when it started, and how long it held the event loop."""

from __future__ import annotations

import asyncio
import time

import pytest


@pytest.fixture
def timed(runtime):
    @runtime.provider("BLOCKS")
    async def blocks():
        time.sleep(0.05)  # noqa: ASYNC251  the very mistake that is told

    @runtime.provider("SLEEPS")
    async def sleeps():
        await asyncio.sleep(0.05)

    @runtime.provider("BOTH")
    async def both():
        await asyncio.sleep(0.01)
        time.sleep(0.05)  # noqa: ASYNC251
        await asyncio.sleep(0.01)

    @runtime.provider("THREAD")
    def thread():
        time.sleep(0.05)

    @runtime.provider("QUICK")
    async def quick():
        return "q"

    return runtime


@pytest.mark.parametrize(
    "names", [["BLOCKS"], ["SLEEPS"], ["THREAD"], ["BOTH"], ["QUICK"]], ids=lambda names: names[0]
)
def test_blocked_ms_is_how_long_a_provider_held_the_loop_not_how_long_it_took(timed, names):
    name = names[0]
    for _ in range(3):  # the first run finds out who suspends; the others know
        row = timed.compose("hi", names, True).report[name]
        if name in {"BLOCKS", "BOTH"}:
            assert 45 < row.blocked_ms < 1_000
        else:
            assert row.blocked_ms < 25
        if name != "QUICK":
            assert row.ms >= 45
        assert row.blocked_ms <= row.ms


def test_one_that_blocks_is_told_from_those_that_wait_meanwhile(timed):
    for _ in range(2):
        report = timed.compose("hi", ["BLOCKS", "SLEEPS", "THREAD"], True).report
        assert report["BLOCKS"].blocked_ms > 45
        assert report["SLEEPS"].blocked_ms < 25
        assert report["THREAD"].blocked_ms < 25


def test_one_that_is_quick_until_it_is_not_is_not_said_to_block(runtime):
    delays = iter([0, 0, 0.05, 0.05])

    @runtime.provider("MOODY")
    async def moody():
        if delay := next(delays):
            await asyncio.sleep(delay)

    for slow in (False, False, True, True):
        row = runtime.compose("hi").report["MOODY"]
        assert (row.ms >= 45) == slow
        assert row.blocked_ms is None or row.blocked_ms < 25


def test_all_start_together_whatever_their_position_and_after_starts_later(runtime):
    for name, flags in (("A", {"position": 5}), ("B", {"position": -5}), ("C", {"after": ["A"]})):

        @runtime.provider(name, **flags)
        async def get():
            await asyncio.sleep(0.05)

    report = runtime.compose("hi").report
    assert report["A"].start_ms < 40
    assert report["B"].start_ms < 40
    assert report["C"].start_ms >= 45
    assert report["C"].ms < 95
    assert 95 <= report.total_ms < 1_000


def test_a_failed_one_has_its_time_too(runtime):
    @runtime.provider("BAD")
    async def bad():
        await asyncio.sleep(0.02)
        raise ValueError("broken")

    row = runtime.compose("hi").report["BAD"]
    assert row.ms >= 15
    assert row.blocked_ms < 15
