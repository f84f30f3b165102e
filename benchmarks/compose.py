"""What one composition costs beside ``asyncio.gather`` over the same providers, measured in one run.

    python benchmarks/compose.py [--rounds 15]

``gather`` is bare: it selects nothing, isolates nothing, merges nothing and reports nothing. CPU time where providers
answer at once or suspend, wall time where they wait; each builds its text and its key anew; the medians of rounds in
which the two take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

from goals import ROUNDS, Row, at_least_one, duration, interruptible, report

from agentctx_nb import AgentRuntime, Memory

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    Get = Callable[[Any, Memory, Any], Awaitable[dict[str, Any]]]
    Clock = Callable[[], float]

MUST = {100: 1 / 3}


def trivial(number: int) -> Get:
    """Return a provider that answers at once."""

    async def get(_runtime: Any, _message: Memory, _state: Any) -> dict[str, Any]:
        return {"text": f"fact {number}", "values": {f"key{number}": number}, "data": {"number": number}}

    return get


def sleeping(number: int, seconds: float) -> Get:
    """Return a provider that waits; 0 s let the event loop turn once."""
    answer = trivial(number)

    async def get(runtime: Any, message: Memory, state: Any) -> dict[str, Any]:
        await asyncio.sleep(seconds)
        return await answer(runtime, message, state)

    return get


def contestants(gets: Sequence[Get]) -> tuple[Callable[[], Awaitable[Any]], Callable[[], Awaitable[Any]]]:
    """Return our compose and a bare gather over the same functions."""
    runtime = AgentRuntime()
    for number, get in enumerate(gets):
        runtime.register_provider({"name": f"PROVIDER_{number}", "get": get})
    message = Memory("What is new?")

    async def compose() -> Any:
        return await runtime.compose_state(message)

    async def gather() -> Any:
        return await asyncio.gather(*[get(runtime, message, None) for get in gets])

    return compose, gather


async def interleaved(gets: Sequence[Get], *, clock: Clock, calls: int, rounds: int) -> tuple[float, float]:
    """Return the median seconds of one call, for compose and for gather, taken in turns."""
    pair = contestants(gets)
    state = await pair[0]()
    if len(state.data.providers) != len(gets) or len(state.text.splitlines()) != len(gets):
        sys.exit("compose did not run every provider; its time would mean nothing")
    await pair[1]()
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds):
        for which in (0, 1) if turn % 2 else (1, 0):
            gc.collect()
            start = clock()
            for _ in range(calls):
                await pair[which]()
            times[which].append((clock() - start) / calls)
    return statistics.median(times[0]), statistics.median(times[1])


def row(what: str, times: tuple[float, float], must: float | None = None) -> Row:
    """Return one line of the comparison."""
    ours, theirs = times
    return Row(what, duration(ours), f"asyncio.gather {duration(theirs)}", ours / theirs, "×", must)


def main() -> None:
    """Measure, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=at_least_one, default=15, help=ROUNDS)
    rounds = parser.parse_args().rounds
    rows = []
    for count, calls in ((1, 2000), (10, 1000), (100, 200), (1000, 20)):
        gets = [trivial(number) for number in range(count)]
        times = asyncio.run(interleaved(gets, clock=time.process_time, calls=calls, rounds=rounds))
        rows.append(
            row(f"{count:,} provider{'s' * (count > 1)} beside bare gather, CPU", times, MUST.get(count))
        )
    gets = [sleeping(number, 0) for number in range(100)]
    times = asyncio.run(interleaved(gets, clock=time.process_time, calls=50, rounds=rounds))
    rows.append(row("100 providers that suspend once beside bare gather, CPU", times))
    gets = [sleeping(number, 0.010) for number in range(100)]
    times = asyncio.run(interleaved(gets, clock=time.perf_counter, calls=5, rounds=rounds))
    rows.append(row("100 providers that wait 10 ms beside bare gather, wall", times))
    report("compose", rows)


if __name__ == "__main__":
    interruptible(main)
