"""How long it takes to learn 10,000 chunks, where the time goes, and what a second time costs.

    python benchmarks/learn.py [chunks]

The folder is made of words drawn by Zipf's law, a fifth of them in code fences and tables, 20 sections a
file; the embedder is the one that comes with the package.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from goals import Row, at_least_one, interruptible, keep

from agentctx_nb import AgentRuntime
from agentctx_nb.knowledge import Learned, learn
from agentctx_nb.knowledge.chunks import split
from agentctx_nb.knowledge.learn import CHUNK_CHARS, OVERLAP_CHARS
from agentctx_nb.knowledge.readers import read

WANTED = 10_000
SECTIONS = 20
MUST_SECONDS = 60.0


def words(generator: random.Random) -> list[str]:
    """Return a vocabulary of 20,000 made-up words."""
    syllables = ["".join(pair) for pair in itertools.product("bdfgklmnprstvz", "aeiou")]
    return ["".join(generator.choices(syllables, k=generator.randint(1, 4))) for _ in range(20_000)]


def write_folder(root: Path, chunks: int) -> None:
    """Write Markdown files with about ``chunks`` chunks, each section one or two of them."""
    generator = random.Random(0)
    vocabulary = words(generator)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(vocabulary) + 1)))

    def some(count: int) -> str:
        return " ".join(generator.choices(vocabulary, cum_weights=weights, k=count))

    for number in range(max(1, chunks // SECTIONS)):
        parts = [f"# {some(3)}"]
        for _ in range(SECTIONS):
            code = "\n".join(f"{some(1)} = {some(2)}" for _ in range(6))
            parts += [f"## {some(4)}", some(50) + ".", some(60) + ".", f"```python\n{code}\n```"]
        place = root / f"part{number % 10}" / f"page{number:05}.md"
        place.parent.mkdir(exist_ok=True)
        place.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def chunks_of(place: Path) -> list[str]:
    """Return the texts of a file's chunks, of the size that is learned by default."""
    blocks = read(place.name, place.read_bytes()).blocks
    return [chunk.text for chunk in split(blocks, chunk_chars=CHUNK_CHARS, overlap_chars=OVERLAP_CHARS)]


def seconds_of_reading(root: Path) -> float:
    """Return how long it takes to read and cut the folder, alone."""
    start = time.perf_counter()
    for place in sorted(root.rglob("*.md")):
        chunks_of(place)
    return time.perf_counter() - start


def change(root: Path) -> None:
    """Add a line to one file in ten."""
    for place in sorted(root.rglob("*.md"))[::10]:
        place.write_text(place.read_text(encoding="utf-8") + "\nOne line more.\n", encoding="utf-8")


async def seconds_of_embedding(texts: list[str]) -> float:
    """Return how long it takes to embed the texts in batches, alone."""
    async with AgentRuntime() as runtime:
        await runtime.embed("warm up")
        start = time.perf_counter()
        for at in range(0, len(texts), 256):
            await runtime.embed_many(texts[at : at + 256])
        return time.perf_counter() - start


async def timed(runtime: AgentRuntime, root: Path) -> tuple[Learned, float]:
    """Learn the folder and return the result and the seconds."""
    start = time.perf_counter()
    return await learn(runtime, root), time.perf_counter() - start


async def measure(root: Path, store: str | None) -> list[str]:
    """Return one row of the table: the first time, the second, and after a change of one file in ten."""
    async with AgentRuntime(store=store) as runtime:
        await runtime.embed("warm up")
        first, first_seconds = await timed(runtime, root)
        again, again_seconds = await timed(runtime, root)
        if first.counts != {"learned": len(first)} or again.counts != {"unchanged": len(first)}:
            sys.exit(f"not everything was learned once: {first.counts}, then {again.counts}")
        change(root)
        _, changed_seconds = await timed(runtime, root)
        kept = await runtime.get_memories(table_name="documents", room_id=runtime.agent_id)
    name = "SQLite file" if store else "in this process"
    figures = [first_seconds, again_seconds, changed_seconds]
    return [name, f"{first.chunks:,}", f"{len(kept):,}", *(f"{figure:.1f}" for figure in figures)]


async def compared(chunks: int) -> None:
    """Print the table and what it was made on."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "docs"
        root.mkdir()
        write_folder(root, chunks)
        reading = statistics.median(seconds_of_reading(root) for _ in range(3))
        texts = [
            chunk.text
            for place in sorted(root.rglob("*.md"))
            for chunk in split(
                read(place.name, place.read_bytes()).blocks, chunk_chars=1000, overlap_chars=100
            )
        ]
        embedding = await seconds_of_embedding(texts)
        print(f"reading and cutting alone {reading:.1f} s, embedding alone {embedding:.1f} s\n")
        print("| store | chunks | rows after | first time, s | again, s | a tenth changed, s |")
        print("|---|---:|---:|---:|---:|---:|")
        rows = [await measure(root, store) for store in (None, str(Path(folder) / "agent.db"))]
        for row in rows:
            print("| " + " | ".join(row) + " |")
        times = len(texts) / WANTED
        keep(
            "learn",
            [
                Row(
                    f"learning {row[1]} chunks, {row[0]}",
                    f"{row[3]} s",
                    "",
                    float(row[3]),
                    "s",
                    MUST_SECONDS * times,
                )
                for row in rows
            ],
        )
        slow = [row[0] for row in rows if float(row[3]) > MUST_SECONDS * times]
        print(
            f"\nmust: {len(texts):,} chunks in {MUST_SECONDS * times:.0f} s: {'missed: ' + ', '.join(slow) if slow else 'met'}"
        )
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores{load}")


def main() -> None:
    """Measure as many chunks as are asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "chunks",
        type=at_least_one,
        nargs="?",
        default=WANTED,
        help="how many to learn (default: %(default)s)",
    )
    asyncio.run(compared(parser.parse_args().chunks))


if __name__ == "__main__":
    interruptible(main)
