"""What composing 100 providers costs with what users turn on, beside the same 100 without it: in one run.

    python benchmarks/options.py [--rounds 11]

CPU time of the process, both sides in turns, the smallest block of all rounds; the last column says how the providers
ended and has the median over the rounds of the same ratio. There are no goals: the rows are there to tell what an option
costs. Lines of the log, which one that fails leaves, are written nowhere. It takes about 20 seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import logging
import random
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from compose import contestants, sleeping, trivial
from goals import ROUNDS, Row, at_least_one, duration, interruptible, report

from agentctx_nb import AgentRuntime, Content, Memory, State

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    Get = Callable[..., Any]

COUNT = 100
ENOUGH = 0.010  # seconds of CPU a block is made of
PLAIN = f"{COUNT} plain"


class Side(NamedTuple):
    """What is timed, and what makes the argument of each call before the clock starts."""

    call: Callable[[Any], Awaitable[Any]]
    before: Callable[[], Awaitable[Any]]


@dataclass
class Case:
    """One option; ``state`` is composed once, to see that the option did what it says."""

    what: str
    ours: Side
    beside: Side
    state: Callable[[], Awaitable[State]]
    named: str = PLAIN
    times: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    ended: str = ""


# --- the providers -------------------------------------------------------------------------------------------


def failing() -> Get:
    """Return a provider that fails."""

    async def get() -> None:
        raise ValueError("the source did not answer")

    return get


def plain_def(number: int) -> Callable[[], dict[str, Any]]:
    """Return a ``def`` provider that answers at once."""

    def get() -> dict[str, Any]:
        return {"text": f"fact {number}", "values": {f"key{number}": number}, "data": {"number": number}}

    return get


def saying(text: str, *, new: bool) -> Get:
    """Return a provider that answers with a text, with one as long that was never there before where it is ``new``."""

    async def get() -> str:
        return f"{next(_numbers):010d}{text[10:]}" if new else text

    return get


def registered(
    gets: Sequence[Get], options: Callable[[int], dict[str, Any]] = lambda _number: {}
) -> AgentRuntime:
    """Return a runtime with these providers, each with its options."""
    runtime = AgentRuntime()
    for number, get in enumerate(gets):
        runtime.register_provider({"name": f"PROVIDER_{number}", "get": get, **options(number)})
    return runtime


# --- the two sides -------------------------------------------------------------------------------------------

_numbers = itertools.count()


async def new_message() -> Memory:
    """Return a message whose text was not composed before."""
    return Memory(room_id="room", content=Content(text=f"What is new in number {next(_numbers)}?"))


def always(message: Memory) -> Callable[[], Awaitable[Memory]]:
    """Return what gives the same message each time."""

    async def same() -> Memory:
        return message

    return same


def composing(runtime: AgentRuntime, before: Callable[[], Awaitable[Memory]] = new_message) -> Side:
    """Return the side that composes."""
    return Side(runtime.compose_state, before)


PLAIN_SIDE = composing(registered([trivial(number) for number in range(COUNT)]))


def option(
    what: str,
    options: Callable[[int], dict[str, Any]] = lambda _number: {},
    *,
    gets: Sequence[Get] | None = None,
    before: Callable[[], Awaitable[Memory]] = new_message,
) -> Case:
    """Return the case of an option, or of a message, beside 100 plain providers."""
    ours = composing(
        registered([trivial(number) for number in range(COUNT)] if gets is None else gets, options), before
    )

    async def once() -> State:
        await ours.call(await before())
        composed: State = await ours.call(await before())
        return composed

    return Case(what, ours, PLAIN_SIDE, once)


def with_failures(failures: int) -> Case:
    """Return the case of so many that fail."""
    gets = [failing() if number < failures else trivial(number) for number in range(COUNT)]
    return option(f"{failures} of them failing", gets=gets)


def waking(providers: int) -> Case:
    """Return the case of dynamic providers of which a message wakes ten."""

    def options(number: int) -> dict[str, Any]:
        return {
            "dynamic": True,
            "relevance_keywords": [f"topic{number}", f"subject{number}", f"theme{number}"],
        }

    words = " and ".join(f"topic{number * providers // 10}" for number in range(10))
    message = Memory(content=Content(text=f"What is new about {words}?"))
    gets = [trivial(number) for number in range(providers)]
    return option(f"{providers} dynamic ones, of which ten wake", options, gets=gets, before=always(message))


def in_threads() -> Case:
    """Return the case of ``def`` providers, beside threads without us."""
    gets = [plain_def(number) for number in range(COUNT)]
    case = option("`def` providers, which return at once", gets=gets)

    async def threads(_message: Any) -> Any:
        return await asyncio.gather(*[asyncio.to_thread(get) for get in gets])

    case.beside, case.named = Side(threads, new_message), "`to_thread`, gathered"
    return case


def waiting() -> Case:
    """Return the case of providers that wait, beside gather."""
    compose, gather = contestants([sleeping(number, 0.010) for number in range(COUNT)])

    async def composed(_message: Any) -> Any:
        return await compose()

    async def gathered(_message: Any) -> Any:
        return await gather()

    ours, bare = Side(composed, new_message), Side(gathered, new_message)
    return Case("each waits 10 ms", ours, bare, compose, "`asyncio.gather`")


def reading(characters: int, *, new: bool = True) -> Case:
    """Return the case of the report that is read afterwards; what composing takes is not in it."""
    texts = [f"fact {number} of what is new in the room; ".ljust(20, ".") for number in range(COUNT)]
    texts = [(text * (characters // len(text) + 1))[:characters] for text in texts]
    composed = composing(registered([saying(text, new=new) for text in texts]))

    async def once() -> State:
        found: State = await composed.call(await new_message())
        return found

    async def rows(of: State) -> int:
        return len(of.report.rows)

    what = f"the report read afterwards, {'new' if new else 'the same'} texts of {characters:,} characters"
    return Case(what, Side(rows, once), PLAIN_SIDE, once)


def cases() -> list[Case]:
    """Return all of them."""
    nested = Memory(
        content=Content(text="What is new?"),
        metadata={"rows": [{"number": number, "name": f"row {number}"} for number in range(500)]},
    )
    same = Memory(content=Content(text="What is new?"))
    return [
        option("`timeout=5` on each", lambda _number: {"timeout": 5}),
        option("`timeout=5` on one", lambda number: {"timeout": 5} if number == 0 else {}),
        option("`ttl=60` on each, all kept", lambda _number: {"ttl": 60}, before=always(same)),
        option("`ttl=60` on each, none kept yet", lambda _number: {"ttl": 60}),
        option("`after=` on one", lambda number: {"after": ["PROVIDER_0"]} if number == COUNT - 1 else {}),
        with_failures(1),
        with_failures(20),
        in_threads(),
        waiting(),
        waking(100),
        waking(300),
        option("a message with 500 small dicts in its metadata", before=always(nested)),
        *(reading(characters) for characters in (20, 2_000, 20_000)),
        reading(2_000, new=False),
    ]


# --- measuring -----------------------------------------------------------------------------------------------


async def block(side: Side, calls: int) -> float:
    """Return the CPU seconds of one of so many calls."""
    given = [await side.before() for _ in range(calls)]
    gc.collect()
    begun = time.process_time()
    for one in given:
        await side.call(one)
    return (time.process_time() - begun) / calls


async def calls_of(side: Side) -> int:
    """Return how many calls fill a block."""
    await block(side, 2)
    return max(1, min(200, round(ENOUGH / await block(side, 2))))


async def measure(case: Case, *, rounds: int) -> None:
    """Fill in how it ended, and the seconds of both sides in each round."""
    ended = Counter(row.outcome for row in (await case.state()).report)
    case.ended = ", ".join(f"{count} {outcome}" for outcome, count in ended.most_common())
    sides = [
        (side, await calls_of(side), times)
        for side, times in zip((case.ours, case.beside), case.times, strict=True)
    ]
    for _ in range(rounds):
        for side, calls, times in random.sample(sides, 2):
            times.append(await block(side, calls))


def row(case: Case) -> Row:
    """Return the line of one case."""
    ours, beside = map(min, case.times)
    middle = statistics.median(our / their for our, their in zip(*case.times, strict=True))
    note = f"{case.ended}; median of {len(case.times[0])} rounds {middle:.2f}"
    return Row(case.what, duration(ours), f"{case.named} {duration(beside)}", ours / beside, "×", note=note)


async def measured(rounds: int) -> list[Row]:
    """Return the lines of all cases."""
    found = cases()
    for case in found:
        await measure(case, rounds=rounds)
    return [row(case) for case in found]


def main() -> None:
    """Measure, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=at_least_one, default=11, help=ROUNDS)
    rounds = parser.parse_args().rounds
    logging.getLogger("agentctx_nb").addHandler(logging.NullHandler())
    report("options", asyncio.run(measured(rounds)))


if __name__ == "__main__":
    interruptible(main)
