"""What one composition costs, beside ``asyncio.gather`` over the same providers, measured in one run.

    python benchmarks/compose.py

Ratios of interleaved runs are what counts; the absolute times belong to the machine named at the end.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from agentctx_nb import AgentRuntime, Memory

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    Get = Callable[[Any, Memory, Any], Awaitable[dict[str, Any]]]
    Clock = Callable[[], float]

HEAVY = ("pandas", "numpy", "IPython", "traitlets", "ipywidgets")
IMPORT_COST = """
import asyncio, json, sys, time
start = time.process_time()
import agentctx_nb
spent = time.process_time() - start
print(json.dumps([spent * 1000, sorted(set(sys.argv[1:]) & set(sys.modules))]))
"""


def trivial(number: int) -> Get:
    """Return a provider that answers at once."""

    async def get(_runtime: Any, _message: Memory, _state: Any) -> dict[str, Any]:
        return {"text": f"fact {number}", "values": {f"key{number}": number}, "data": {"number": number}}

    return get


def sleeping(number: int) -> Get:
    """Return a provider that waits 10 ms."""
    answer = trivial(number)

    async def get(runtime: Any, message: Memory, state: Any) -> dict[str, Any]:
        await asyncio.sleep(0.010)
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


async def interleaved(
    gets: Sequence[Get], *, clock: Clock, calls: int, rounds: int
) -> tuple[list[float], list[float]]:
    """Return the seconds of one call in each round, for compose and for gather, taken in turns."""
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
    return times


def print_comparison() -> None:
    """Print compose beside gather for trivial and for sleeping providers."""
    print("| providers | clock | compose | gather | compose ÷ gather |")
    print("|---|---|---:|---:|---:|")
    for count, calls in ((1, 2000), (10, 1000), (100, 200), (1000, 20)):
        gets = [trivial(number) for number in range(count)]
        pair = asyncio.run(interleaved(gets, clock=time.process_time, calls=calls, rounds=15))
        ours, theirs = map(statistics.median, pair)
        row(f"{count} that answer at once", "CPU", ours * 1e6, theirs * 1e6, "µs")
    gets = [sleeping(number) for number in range(100)]
    pair = asyncio.run(interleaved(gets, clock=time.perf_counter, calls=5, rounds=21))
    ours, theirs = map(statistics.median, pair)
    row("100 that wait 10 ms", "wall", ours * 1e3, theirs * 1e3, "ms")
    print(f"\nOver the 10 ms: compose {ours * 1e3 - 10:.2f} ms, gather {theirs * 1e3 - 10:.2f} ms.")


def row(what: str, clock: str, ours: float, theirs: float, unit: str) -> None:
    """Print one line of the comparison."""
    print(f"| {what} | {clock} | {ours:.1f} {unit} | {theirs:.1f} {unit} | {ours / theirs:.2f} |")


def print_import_cost(*, runs: int = 15) -> None:
    """Print what importing the package costs over ``import asyncio``, in fresh interpreters."""
    spent, loaded = [], set()
    # A user imports compiled modules, whatever this process was told about writing them.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(runs + 1):
        command = [sys.executable, "-c", IMPORT_COST, *HEAVY]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        milliseconds, heavy = json.loads(done.stdout)
        spent.append(milliseconds)
        loaded |= set(heavy)
    spent = spent[1:]  # the first one may have had to compile them
    print(
        f"import agentctx_nb, over import asyncio: {statistics.median(spent):.1f} ms of CPU"
        f" (median of {runs} fresh interpreters, {min(spent):.1f} to {max(spent):.1f});"
        f" loads {', '.join(sorted(loaded)) or 'none of ' + ', '.join(HEAVY)}"
    )


async def print_growth(*, calls: int = 10_000) -> None:
    """Print how many more objects the collector tracks after ``calls`` compositions."""
    compose, _ = contestants([trivial(number) for number in range(10)])
    for _ in range(200):
        await compose()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(calls):
        await compose()
    gc.collect()
    after = len(gc.get_objects())
    print(f"{calls:,} compositions of 10 providers: {before:,} tracked objects before, {after:,} after")


def main() -> None:
    """Print the three measurements and what they were made on."""
    print_comparison()
    print()
    print_import_cost()
    asyncio.run(print_growth())
    print(
        f"\n{platform.python_implementation()} {platform.python_version()}, {platform.system()} {platform.machine()},"
        f" {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians of interleaved rounds."
        if hasattr(os, "getloadavg")
        else f"\n{platform.python_implementation()} {platform.python_version()}, {platform.system()}"
    )


if __name__ == "__main__":
    main()
