"""One contestant of ``peers.py`` that runs in Python: ``python in_python.py ours | elizaos | floor``.

Reads one JSON question a line, answers with one JSON line. It imports nothing of ours but for ``ours``, so that
the interpreter of any peer runs it.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import itertools
import json
import sys
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter_ns, thread_time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

WARM_NS = 400_000_000  # as long as Node's compiler gets
BLOCK_NS = 4_000_000
BLOCKS = 5


class Contestant(NamedTuple):
    """How to make one message, compose it, and tell how many values and lines came out."""

    message: Callable[[], Any]
    compose: Callable[[Any], Awaitable[Any]]
    left: Callable[[Any], tuple[int, int]]


class Kind(NamedTuple):
    """What the providers of one question do: wait so many seconds, if any, and leave data or not."""

    wait: float
    data: bool


def getter(number: int, kind: Kind) -> Callable[[Any, Any, Any], Awaitable[Any]]:
    """Return what is registered as provider ``number``."""
    text, key = f"provider {number} says hello", f"k{number}"

    async def at_once(_runtime: Any, _message: Any, _state: Any) -> dict[str, Any]:
        return {"text": text, "values": {key: number}, "data": {"i": number}}

    async def without_data(_runtime: Any, _message: Any, _state: Any) -> dict[str, Any]:
        return {"text": text, "values": {key: number}}

    async def later(_runtime: Any, _message: Any, _state: Any) -> dict[str, Any]:
        await asyncio.sleep(kind.wait)
        return {"text": text, "values": {key: number}, "data": {"i": number}}

    return later if kind.wait else at_once if kind.data else without_data


def result_getter(
    number: int, kind: Kind, result: Callable[..., Any]
) -> Callable[[Any, Any, Any], Awaitable[Any]]:
    """Return the same for a peer whose results are objects of its own."""
    text, key = f"provider {number} says hello", f"k{number}"

    async def get(_runtime: Any, _message: Any, _state: Any) -> Any:
        if kind.wait:
            await asyncio.sleep(kind.wait)
        return result(text=text, values={key: number}, data={"i": number})

    async def without_data(_runtime: Any, _message: Any, _state: Any) -> Any:
        return result(text=text, values={key: number})

    return get if kind.data else without_data


def names(count: int) -> list[str]:
    """Return the names of the providers, in order."""
    return [f"P{number:04d}" for number in range(count)]


def numbered(values: Any) -> int:
    """Return how many values the providers of the benchmark left."""
    return sum(key[:1] == "k" for key in values)


def ours(count: int, kind: Kind) -> Contestant:
    """Return our runtime with everything on, as it is by default."""
    from agentctx_nb import AgentRuntime, Content, Memory, Provider

    runtime, ids = AgentRuntime(), itertools.count()
    for number, name in enumerate(names(count)):
        runtime.register_provider(Provider(name, getter(number, kind)))
    return Contestant(
        lambda: Memory(id=f"m{next(ids)}", room_id="room", entity_id="user", content=Content(text="hello")),
        runtime.compose_state,
        lambda state: (numbered(state.values), len(state.text.split("\n"))),
    )


def elizaos(count: int, kind: Kind) -> Contestant:
    """Return Python elizaos, used as its documentation does; it needs no database to compose."""
    components = importlib.import_module("elizaos.types.components")
    runtime = importlib.import_module("elizaos.runtime").AgentRuntime()
    memory = importlib.import_module("elizaos.types.memory").Memory
    ids = itertools.count()
    for number, name in enumerate(names(count)):
        get = result_getter(number, kind, components.ProviderResult)
        runtime.register_provider(components.Provider(name=name, get=get))

    def message() -> Any:
        made = memory(id=f"m{next(ids)}", room_id="room")
        made.content.text = "hello"
        return made

    return Contestant(
        message,
        lambda made: runtime.compose_state(made, skip_cache=True),
        lambda state: (numbered(state.values.extra.fields), len(state.text.split("\n"))),
    )


def floor(count: int, kind: Kind) -> Contestant:
    """Return the least Python can do: each provider awaited after the other, merged, nothing guarded."""
    gets = [getter(number, kind) for number in range(count)]
    called = names(count)
    ids = itertools.count()

    async def compose(message: Any) -> tuple[str, dict[str, Any], dict[str, Any]]:
        results = [await get(None, message, None) for get in gets]
        texts = [text for result in results if (text := result.get("text")) and not text.isspace()]
        values: dict[str, Any] = {}
        for result in results:
            if written := result.get("values"):
                values |= written
        values["providers"] = text = "\n".join(texts)
        return text, values, {"providers": dict(zip(called, results, strict=True))}

    return Contestant(
        lambda: next(ids), compose, lambda state: (numbered(state[1]), len(state[0].split("\n")))
    )


CONTESTANTS = {"ours": (ours, "agentctx_nb"), "elizaos": (elizaos, "elizaos"), "floor": (floor, "")}


async def block(contestant: Contestant, calls: int) -> tuple[float, float]:
    """Return the CPU and wall nanoseconds of one call; its messages are made before the clock starts."""
    messages = [contestant.message() for _ in range(calls)]
    compose = contestant.compose
    gc.collect()
    wall, cpu = perf_counter_ns(), thread_time_ns()
    for message in messages:
        await compose(message)
    return (thread_time_ns() - cpu) / calls, (perf_counter_ns() - wall) / calls


async def prepared(contestant: Contestant, count: int) -> None:
    """Compose once and refuse a contestant that did not do the work."""
    values, lines = contestant.left(await contestant.compose(contestant.message()))
    if (values, lines) != (count, count):
        raise RuntimeError(f"{count} providers left {values} values and {lines} lines of text")


async def calls_of(contestant: Contestant) -> int:
    """Warm a contestant up and return how many of its calls fill a block."""
    one = min(await block(contestant, 1))
    end = perf_counter_ns() + WARM_NS
    while perf_counter_ns() < end:
        one = min(one, *await block(contestant, 10 if one < 1e6 else 1))
    return max(1, min(20_000, round(BLOCK_NS / one)))


async def serve(name: str) -> None:
    """Answer questions until there are no more."""
    make, package = CONTESTANTS[name]
    ready: dict[tuple[int, Kind], tuple[Contestant, int]] = {}
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a peer prints is no answer

    def say(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    make(1, Kind(0.0, data=True))  # a peer that is not there ends here
    try:
        release = version(package) if package else ""
    except PackageNotFoundError:
        release = "(a tree)"
    say({"package": f"{package} {release}".strip(), "runs_on": f"Python {sys.version.split()[0]}"})
    for line in sys.stdin:
        question = json.loads(line)
        count, kind = question["count"], Kind(question["wait_ms"] / 1000, question.get("data", True))
        if (count, kind) not in ready:
            contestant = make(count, kind)
            await prepared(contestant, count)
            ready[count, kind] = contestant, 1 if kind.wait else await calls_of(contestant)
        contestant, calls = ready[count, kind]
        times = [await block(contestant, calls) for _ in range(1 if kind.wait else BLOCKS)]
        say({"cpu": min(cpu for cpu, _ in times), "wall": min(wall for _, wall in times)})


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
