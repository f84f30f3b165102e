"""Which of 1,000 dynamic providers with 10 keywords each a message of 2 KB wakes: ours, the peer's helper, a loop.

    python benchmarks/keywords.py [--peers DIR] [--rounds 15]

All three look for a keyword anywhere in the message, as the peer does (``keyword_match="substring"`` here), and must
wake the same number of providers. CPU time, smallest of the rounds, contestants in random order. Ours remembers
words it has seen, so a message of words that are all new is a row of its own.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

from goals import ROUNDS, Row, at_least_one, duration, interruptible, report
from peers import add_peers_option, start

from agentctx_nb import AgentRuntime

if TYPE_CHECKING:
    from collections.abc import Callable

PROVIDERS, KEYWORDS, LETTERS = 1_000, 10, 2_048


def word(generator: random.Random) -> str:
    """Return a made-up word of four to ten letters."""
    syllables = generator.randint(2, 5)
    return "".join(
        generator.choice("bcdfghjklmnpqrstvwxyz") + generator.choice("aeiou") for _ in range(syllables)
    )


def keyword_lists(generator: random.Random) -> list[list[str]]:
    """Return the keywords of each provider; one in five is a phrase of two words."""

    def keyword() -> str:
        return word(generator) + (f" {word(generator)}" if generator.random() < 0.2 else "")

    return [[keyword() for _ in range(KEYWORDS)] for _ in range(PROVIDERS)]


def message(generator: random.Random, lists: list[list[str]]) -> str:
    """Return a message in which three words in a hundred are keywords."""
    words: list[str] = []
    while sum(len(one) + 1 for one in words) < LETTERS:
        chosen = generator.random() < 0.03
        words.append(generator.choice(generator.choice(lists)) if chosen else word(generator))
    return " ".join(words)[:LETTERS]


def runtime_of(lists: list[list[str]]) -> AgentRuntime:
    """Return a runtime with a dynamic provider for each list."""
    runtime = AgentRuntime()
    for number, keywords in enumerate(lists):
        runtime.register_provider(
            {
                "name": f"P{number:04d}",
                "get": lambda: None,
                "dynamic": True,
                "relevance_keywords": keywords,
                "keyword_match": "substring",
            }
        )
    return runtime


def looped(lists: list[list[str]]) -> Callable[[str], int]:
    """Return the loop one would write by hand."""
    lowered = [[keyword.lower() for keyword in keywords] for keywords in lists]

    def woken(text: str) -> int:
        small = text.lower()
        return sum(any(keyword in small for keyword in keywords) for keywords in lowered)

    return woken


def seconds(woken: Callable[[str], int], text: str, *, repeat: int = 1) -> float:
    """Return the CPU seconds of one call."""
    begun = time.process_time()
    for _ in range(repeat):
        woken(text)
    return (time.process_time() - begun) / repeat


def same(hits: dict[str, int]) -> None:
    """End the benchmark where contestants disagree about whom the message wakes."""
    if len(set(hits.values())) != 1:
        sys.exit(f"the contestants do not wake the same providers: {hits}")


def main() -> None:
    """Measure, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_peers_option(parser)
    parser.add_argument("--rounds", type=at_least_one, default=15, help=ROUNDS)
    chosen = parser.parse_args()
    generator = random.Random(1)
    lists = keyword_lists(generator)
    text = message(generator, lists)
    runtime, loop = runtime_of(lists), looped(lists)
    ours: Callable[[str], int] = lambda asked: len(runtime.match(asked).woken)  # noqa: E731  one of a list
    question: dict[str, Any] = {"keywords": lists, "text": text, "repeat": 5}
    begun = time.process_time()
    hits = {"ours": ours(text)}  # builds the index, and meets the words
    built = time.process_time() - begun
    hits["loop"] = loop(text)
    workers = start(chosen.peers, "node")
    hits |= {key: worker.ask(question)["hits"] for key, worker in workers.items()}
    same(hits)
    runs: dict[str, Callable[[], float]] = {
        "ours": lambda: seconds(ours, text, repeat=20),
        "loop": lambda: seconds(loop, text, repeat=3),
    }
    if "node" in workers:
        runs["node"] = lambda: float(workers["node"].ask(question)["cpu"]) / 1e9
    times: dict[str, list[float]] = {key: [] for key in (*runs, "ours, new words", "loop, new words")}
    for _ in range(chosen.rounds):
        for key in generator.sample(sorted(runs), len(runs)):
            times[key].append(runs[key]())
        fresh = message(generator, lists)
        times["ours, new words"].append(seconds(ours, fresh))
        times["loop, new words"].append(seconds(loop, fresh))
    what = f"{PROVIDERS:,} dynamic providers × {KEYWORDS} keywords, message of 2 KB, {hits['ours']} woken"
    rows = [row(what, times, "ours", "loop", "a loop with `in`")]
    if "node" in workers:
        name = f"validateActionKeywords of {workers['node'].name}"
        rows.insert(0, row(what, times, "ours", "node", name, goals=(0.05, 0.01)))
        workers["node"].end()
    rows.append(
        row(
            "the same, a message of new words each time",
            times,
            "ours, new words",
            "loop, new words",
            "a loop with `in`",
        )
    )
    report("keywords", rows, versions=f"index built and words met in {duration(built)}")


def row(
    what: str,
    times: dict[str, list[float]],
    ours: str,
    theirs: str,
    name: str,
    goals: tuple[float | None, float | None] = (None, None),
) -> Row:
    """Return the row for two contestants."""
    low, high = min(times[ours]), min(times[theirs])
    middle = statistics.median(our / their for our, their in zip(times[ours], times[theirs], strict=True))
    note = f"median of {len(times[ours])} rounds {middle:.3f}"
    must, aim = goals
    return Row(what, duration(low), f"{name} {duration(high)}", low / high, "×", must, aim, note=note)


if __name__ == "__main__":
    interruptible(main)
