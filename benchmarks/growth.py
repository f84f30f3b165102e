"""How cost grows: with providers, message, keywords, values, memories and states kept; and memory over 100,000 runs.

    python benchmarks/growth.py [--rounds 7] [--without-memory]

Each question is asked at sizes a few times apart, smallest CPU time of the rounds. The slope is that of a straight
line through the upper half of the points of the log-log plot: 1 is in step with the size, 0 does not depend on it.
Nothing may grow faster than its work by more than 0.15, which is what the caches of the processor and noise take: what
is done by hand, in two rows of their own, does so too. The plots, one for each question, are written to build/bench:
growth.png with matplotlib, which `make bench` installs, growth.txt without.

It takes about three minutes, and still more than one with --rounds 1 --without-memory: each call is first repeated
until it is long enough to be timed, and three times 100,000 memories are made. A line a question says how far it is.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import json
import math
import subprocess
import sys
import time
import tracemalloc
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goals import KEPT, ROUNDS, Row, at_least_one, duration, interruptible, report

from agentctx_nb import AgentRuntime

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

SLACK = 0.15
ENOUGH = 0.02  # seconds of CPU a measurement is made of
COMPOSES = (1_000, 10_000, 100_000)
WORDS = [
    f"{first}{second}{third}" for first in "bdfgkl" for second in "aeiou" for third in ("ner", "tis", "mol")
]


@dataclass
class Question:
    """One thing that grows ``by`` a size; the work itself has the power ``work`` of it; ours, or done by hand."""

    what: str
    sizes: tuple[int, ...]
    work: float
    by: str
    prepare: Callable[[int], Awaitable[Callable[[], Awaitable[Any]]]]
    seconds: list[float] = field(default_factory=list)
    ours: bool = True

    def slope(self) -> float:
        """Return the slope of the upper half of the points, by least squares."""
        half = max(3, (len(self.sizes) + 1) // 2)
        points = [
            (math.log(size), math.log(spent)) for size, spent in zip(self.sizes, self.seconds, strict=True)
        ]
        points = points[-half:]
        middle = [sum(part) / half for part in zip(*points, strict=True)]
        over = sum((x - middle[0]) * (y - middle[1]) for x, y in points)
        return float(over / sum((x - middle[0]) ** 2 for x, _ in points))


def trivial(number: int) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Return a provider that answers at once."""

    async def get(_runtime: Any, _message: Any, _state: Any) -> dict[str, Any]:
        return {"text": f"fact {number}", "values": {f"key{number}": number}, "data": {"number": number}}

    return get


def runtime_with(providers: int, **options: Any) -> AgentRuntime:
    """Return a runtime with so many providers."""
    runtime = AgentRuntime()
    for number in range(providers):
        runtime.register_provider({"name": f"P{number:05d}", "get": trivial(number), **options})
    return runtime


async def providers(size: int) -> Callable[[], Awaitable[Any]]:
    """Compose ``size`` providers."""
    runtime = runtime_with(size)
    return lambda: runtime.compose_state("hello")


async def bare(size: int) -> Callable[[], Awaitable[Any]]:
    """Await ``size`` providers one after the other and merge them, which is the least there is to do."""
    gets = [trivial(number) for number in range(size)]

    async def merged() -> Any:
        results = [await get(None, None, None) for get in gets]
        values: dict[str, Any] = {}
        for result in results:
            values |= result["values"]
        return "\n".join([result["text"] for result in results]), values, results

    return merged


async def message(size: int) -> Callable[[], Awaitable[Any]]:
    """Look for the keywords of 100 providers in a message of ``size`` characters, and compose."""
    runtime = AgentRuntime()
    for number in range(100):
        keywords = [f"{WORDS[number % len(WORDS)]}{number}x{rank}" for rank in range(10)]
        runtime.register_provider(
            {"name": f"P{number}", "get": trivial(number), "dynamic": True, "relevance_keywords": keywords}
        )
    text = " ".join(WORDS[number % len(WORDS)] + str(number % 1_000) for number in range(size // 7))
    return lambda: runtime.compose_state(text)


async def keywords(size: int) -> Callable[[], Awaitable[Any]]:
    """Look for ``size`` keywords, ten a provider, in a message of 2 KB."""
    runtime = AgentRuntime()
    for number in range(size // 10):
        words = [f"{WORDS[(number + rank) % len(WORDS)]}{number}y{rank}" for rank in range(10)]
        runtime.register_provider(
            {"name": f"P{number}", "get": trivial(number), "dynamic": True, "relevance_keywords": words}
        )
    text = " ".join(WORDS[number % len(WORDS)] + str(number) for number in range(300))

    async def match() -> Any:
        return runtime.match(text)

    return match


async def values(size: int) -> Callable[[], Awaitable[Any]]:
    """Compose one provider that leaves ``size`` values."""
    runtime = AgentRuntime()
    written = {f"key{number}": number for number in range(size)}

    async def get() -> dict[str, Any]:
        return {"text": "many", "values": written}

    runtime.register_provider({"name": "MANY", "get": get})
    return lambda: runtime.compose_state("hello")


async def copied(size: int) -> Callable[[], Awaitable[Any]]:
    """Copy ``size`` values to keep and merge them, which is the least there is to do with them."""
    written = {f"key{number}": number for number in range(size)}

    async def merged() -> Any:
        kept = written.copy()
        values: dict[str, Any] = {}
        values |= kept
        return kept, values

    return merged


async def memories(size: int) -> AgentRuntime:
    """Return a runtime that remembers ``size`` messages of a room, each with a vector."""
    import numpy as np

    runtime = AgentRuntime()
    vectors = np.random.default_rng(0).standard_normal((size, 64)).astype(np.float32)
    rows = [
        {"content": {"text": f"message {number}"}, "roomId": "room", "embedding": vector}
        for number, vector in enumerate(vectors)
    ]
    await runtime.create_memories(rows, "messages")
    return runtime


async def newest(size: int) -> Callable[[], Awaitable[Any]]:
    """Read the ten newest of ``size`` memories."""
    runtime = await memories(size)
    return lambda: runtime.get_memories(table_name="messages", room_id="room", count=10)


async def nearest(size: int) -> Callable[[], Awaitable[Any]]:
    """Find the three nearest of ``size`` memories."""
    runtime = await memories(size)
    asked = [1.0] * 64
    return lambda: runtime.search_memories(
        table_name="messages", room_id="room", embedding=asked, match_count=3
    )


async def remembering(size: int) -> Callable[[], Awaitable[Any]]:
    """Remember one more, beside ``size`` others."""
    runtime = await memories(size)
    return lambda: runtime.create_memory({"content": {"text": "one more"}, "roomId": "room"}, "messages")


async def kept(size: int) -> Callable[[], Awaitable[Any]]:
    """Compose ten providers while ``size`` earlier states are kept."""
    runtime = runtime_with(10)
    states = [await runtime.compose_state(f"message {number}") for number in range(size)]

    async def compose() -> Any:
        return await runtime.compose_state("hello"), len(states)

    return compose


TENS = (10, 30, 100, 300, 1_000, 3_000)
MANY = (*TENS, 10_000, 30_000, 100_000)
QUESTIONS = (
    Question("a composition, by providers", TENS, 1, "providers", providers),
    Question("the same providers awaited and merged by hand", TENS, 1, "providers", bare, ours=False),
    Question(
        "a composition, by characters of the message",
        (1_000, 3_000, 10_000, 30_000, 100_000, 300_000),
        1,
        "characters",
        message,
    ),
    Question(
        "a look for keywords in 2 KB, by keywords",
        (100, 300, 1_000, 3_000, 10_000, 30_000),
        0,
        "keywords",
        keywords,
    ),
    Question("a composition, by values of one provider", MANY, 1, "values", values),
    Question("the same values copied and merged by hand", MANY, 1, "values", copied, ours=False),
    Question("reading the 10 newest, by memories", MANY, 0, "memories", newest),
    Question("finding the 3 nearest, by memories", MANY, 1, "memories", nearest),
    Question("remembering one more, by memories", MANY, 0, "memories", remembering),
    Question("a composition, by states kept", TENS, 0, "states kept", kept),
)


async def block(call: Callable[[], Awaitable[Any]], calls: int) -> float:
    """Return the CPU seconds of so many calls."""
    gc.collect()
    gc.freeze()  # what was made before is not walked again while the clock runs
    begun = time.process_time()
    for _ in range(calls):
        await call()
    spent = time.process_time() - begun
    gc.unfreeze()
    return spent


async def measure(question: Question, *, rounds: int) -> None:
    """Fill in the seconds of one call at each size; the sizes take turns, so that a slow minute is one for all."""
    ready = []
    for size in question.sizes:
        call = await question.prepare(size)
        await call()  # whatever is built once is not what grows with each call
        calls = 1
        while min([await block(call, calls) for _ in range(3)]) < ENOUGH:  # some calls learn, and take longer
            calls *= 2
        ready.append((call, calls))
    found = [[await block(call, calls) / calls for call, calls in ready] for _ in range(rounds)]
    question.seconds = [min(rounds_of_one) for rounds_of_one in zip(*found, strict=True)]


def row(question: Question) -> Row:
    """Return how one thing grows."""
    low, high = question.sizes[0], question.sizes[-1]
    return Row(
        f"{question.what}, {low:,} to {high:,}",
        f"{duration(question.seconds[0])} to {duration(question.seconds[-1])}",
        f"the work: size to the power {question.work:g}",
        question.slope(),
        "slope",
        question.work + SLACK if question.ours else None,
        note=" ".join(duration(spent).replace(" ", "") for spent in question.seconds),
    )


async def remembered_while(composes: tuple[int, ...]) -> list[dict[str, int]]:
    """Return the bytes that Python holds, and that the process has, after so many compositions."""
    runtime = runtime_with(10)
    done, found = 0, []
    for _ in range(200):
        await runtime.compose_state("warm up")
    tracemalloc.start()
    for until in composes:
        for number in range(done, until):
            await runtime.compose_state(f"message {number}")
        done = until
        gc.collect()
        peak = tracemalloc.get_traced_memory()[1]
        found.append({"composes": until, "peak": peak, "resident": most_resident()})
    return found


def most_resident() -> int:
    """Return the most bytes of memory this process ever had, or 0 where the system does not say."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return 0
    lines = status.read_text(encoding="ascii").splitlines()
    return 1_024 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


def memory_row() -> Row:
    """Return how memory grows over many compositions, measured in a process of its own."""
    command = [sys.executable, __file__, "--only-memory"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    first, last = found[0], found[-1]
    note = "most that Python held beyond the start: " + ", ".join(
        f"{at['peak'] / 1e3:,.0f} kB after {at['composes']:,}" for at in found
    )
    return Row(
        f"peak memory of {last['composes']:,} compositions in one process, over that of {first['composes']:,}",
        f"{last['resident'] / 1e6:.1f} MB",
        f"after {first['composes']:,}: {first['resident'] / 1e6:.1f} MB",
        (last["resident"] - first["resident"]) / 1e6,
        "MB",
        1,
        note=note,
    )


def plot(questions: list[Question]) -> str:
    """Write a log-log plot of each, and return the name of their file."""
    KEPT.mkdir(parents=True, exist_ok=True)
    if find_spec("matplotlib") is None:
        (KEPT / "growth.txt").write_text("\n\n".join(map(in_text, questions)) + "\n", encoding="utf-8")
        return "growth.txt (matplotlib is not installed)"
    across = 3
    down = -(-len(questions) // across)
    figure = importlib.import_module("matplotlib.figure").Figure((4 * across, 3 * down), layout="constrained")
    grid = figure.subplots(down, across, sharey=True, squeeze=False)
    for axes in grid.flat[len(questions) :]:
        axes.remove()
    for axes, question in zip(grid.flat, questions, strict=False):
        draw(axes, question)
    figure.supylabel("seconds of CPU")
    figure.savefig(KEPT / "growth.png")
    return "growth.png"


def draw(axes: Any, question: Question) -> None:
    """Draw what was measured, and through its last point, where no fixed price is left, what the work grows by."""
    sizes, last = question.sizes, question.seconds[-1]
    work = [last * (size / sizes[-1]) ** question.work for size in sizes]
    axes.loglog(sizes, work, "--", color="0.6", label=f"the work: {question.work:g}")
    axes.loglog(sizes, question.seconds, "o-", label=f"measured: {abs(question.slope()):.2f}")
    axes.set_title(question.what, fontsize="medium")
    axes.set_xlabel(question.by, fontsize="small")
    axes.grid(color="0.9")
    axes.legend(
        title="slope, upper half of the points", fontsize="small", title_fontsize="small", loc="lower right"
    )


def in_text(question: Question) -> str:
    """Return one line of a log-log plot as text: a star for each point, a decade of cost every ten columns."""
    least = math.floor(math.log10(min(question.seconds)))
    lines = [f"{question.what}: slope of the upper half of the points {question.slope():.2f}"]
    for size, spent in zip(question.sizes, question.seconds, strict=True):
        column = round(10 * (math.log10(spent) - least))
        lines.append(f"{size:>9,} |{' ' * column}*  {duration(spent)}")
    return "\n".join(lines)


def main() -> None:
    """Measure, plot, print the table."""
    said = (__doc__ or "").strip()
    parser = argparse.ArgumentParser(description=said.splitlines()[0], epilog=said.rpartition("\n\n")[2])
    parser.add_argument("--rounds", type=at_least_one, default=7, help=ROUNDS)
    parser.add_argument("--without-memory", action="store_true", help="leave out the 100,000 compositions")
    parser.add_argument("--only-memory", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.only_memory:
        print(json.dumps(asyncio.run(remembered_while(COMPOSES))))
        return
    for number, question in enumerate(QUESTIONS, 1):
        print(f"{number} of {len(QUESTIONS)}: {question.what}", end=" ", file=sys.stderr, flush=True)
        begun = time.perf_counter()
        asyncio.run(measure(question, rounds=chosen.rounds))
        took = time.perf_counter() - begun
        print(f"... slope {abs(question.slope()):.2f}, {took:.0f} s", file=sys.stderr)
    rows = [row(question) for question in QUESTIONS]
    if not chosen.without_memory:
        print("100,000 compositions in a process of their own ...", file=sys.stderr)
        rows.append(memory_row())
    report("growth", rows, versions=f"plot in build/bench/{plot(list(QUESTIONS))}")


if __name__ == "__main__":
    interruptible(main)
