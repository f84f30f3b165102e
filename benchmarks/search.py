"""The vector index beside faiss, hnswlib and numpy, in one run: a table of ratios.

    python benchmarks/search.py [--rows 100000 | 1000000] [--vectors FILE.npy] [--without-hnswlib]

The vectors are those of real sentences, if wordllama is installed and there is text enough: sentences out of the
docstrings of installed Python packages and the documentation under /usr/share/doc, without repeats, 256 numbers each.
Otherwise they are made: 400 clusters of falling size around a common mean, with a falling spectrum. ``--vectors`` takes
unit rows of a file instead. Queries are rows that are not in the index. Every engine runs on one thread of its own
(ours takes a second one for more than 200,000 rows if a core is free), engines take turns query by query, and a ratio
is that of their median times by the clock; that of their median CPU times stands beside it, in which a second thread
counts for itself. With ``taskset -c 0`` all of them have one core. A peer that is not installed is left out, saying so.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
import tracemalloc
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ[_name] = "1"  # read once, when the libraries are loaded

import numpy as np  # noqa: E402
from goals import Row, interruptible, keep  # noqa: E402
from workers.vectors import DIM, QUERIES, made_vectors, peer, real_vectors  # noqa: E402

from agentctx_nb.search.index import VectorIndex  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    Search = Callable[[np.ndarray], Any]


FEWEST_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table; ``goals`` are what must and what should be reached at this number of rows."""

    what: str
    ours: str
    theirs: str
    reached: str
    goals: tuple[str, str]
    note: str = ""

    def row(self) -> Row:
        """Return it for the table of all benchmarks."""
        number, _, unit = self.reached.partition(" ")
        must, aim = (float(goal.split()[0]) if goal else None for goal in self.goals)
        what = f"vectors: {self.what}"
        return Row(what, self.ours, self.theirs, float(number), unit, must, aim, unit == "×", self.note)


@dataclass(frozen=True, slots=True)
class Times:
    """Medians, in milliseconds."""

    clock: float
    cpu: float


def take_turns(contestants: dict[str, Search], queries: np.ndarray, *, rounds: int = 1) -> dict[str, Times]:
    """Return the median times of each, which take turns in random order."""
    random = np.random.default_rng(0)
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for run in contestants.values():
        run(queries[0])
    for _ in range(rounds):
        for query in queries:
            for name in random.permutation(list(contestants)).tolist():
                clock, cpu = time.perf_counter(), time.process_time()
                contestants[name](query)
                spent[name].append((time.perf_counter() - clock, time.process_time() - cpu))
    return {
        name: Times(*(1000 * statistics.median(kind) for kind in zip(*times, strict=True)))
        for name, times in spent.items()
    }


def plain(rows: np.ndarray, count: int) -> Search:
    """Return a search with ``X @ q`` and ``argpartition``."""

    def search(query: np.ndarray) -> np.ndarray:
        scores = rows @ query
        best = np.argpartition(scores, len(scores) - count)[len(scores) - count :]
        found: np.ndarray = best[np.argsort(-scores[best])]
        return found

    return search


def compared(
    what: str, times: dict[str, Times], theirs: str, goals: tuple[str, str] = ("", ""), note: str = ""
) -> Line:
    """Return the line for our time beside that of ``theirs``."""
    ours, other = times["ours"], times[theirs]
    reached = f"{other.clock / ours.clock:.2f} ×"
    note = f"{other.cpu / ours.cpu:.2f} × in CPU time{'; ' if note else ''}{note}"
    return Line(what, f"{ours.clock:.2f} ms", f"{theirs} {other.clock:.2f} ms", reached, goals, note)


def wrong_answers(
    index: VectorIndex, rows: np.ndarray, queries: np.ndarray, count: int, threshold: float | None
) -> int:
    """Return for how many queries the scores differ from a full scan's by more than rounding."""
    wrong = 0
    for query in queries:
        scores = rows @ query
        best = np.sort(scores[np.argpartition(scores, len(scores) - count)[len(scores) - count :]])[::-1]
        found = index.search(query, count=count, threshold=threshold)[1]
        sure = best if threshold is None else best[best >= threshold + 3e-6]
        right = len(sure) <= len(found) and np.allclose(found, best[: len(found)], atol=3e-6, rtol=0)
        wrong += not right
    return wrong


def whole_table(rows: np.ndarray, queries: np.ndarray, faiss: Any) -> list[Line]:
    """Return the lines for searches over all rows."""
    large = len(rows) >= 1_000_000
    index = VectorIndex(DIM)
    index.append_many(rows)
    for _ in range(100 + len(rows) // 10_000):  # until every block has its sign codes
        index.search(queries[0], count=10, approximate=True)
    others: dict[str, Search] = {"numpy X @ q": plain(rows, 3)}
    if faiss is not None:
        flat = faiss.IndexFlatIP(DIM)
        flat.add(rows)
        others["faiss IndexFlatIP"] = lambda query: flat.search(query[None], 3)
    lines: list[Line] = []
    cases: list[tuple[str, Search, tuple[str, str], str]] = []
    goals = ("4.0 ×", "5 ×") if large else ("3.0 ×", "4 ×")
    wrong = wrong_answers(index, rows, queries, 3, 0.75) + wrong_answers(index, rows, queries, 3, None)
    exact = f"{wrong} of {2 * len(queries)} answers differ from a full scan's"
    cases.append(
        ("threshold .75, k=3", lambda query: index.search(query, count=3, threshold=0.75), goals, exact)
    )
    goals = ("1.5 ×", "2.5 ×") if large else ("", "")
    cases.append(("no threshold, k=3", lambda query: index.search(query, count=3), goals, exact))
    hits = 0
    for query in queries:
        least = index.search(query, count=10)[1][-1] - 3e-6
        hits += int((index.search(query, count=10, approximate=True)[1] >= least).sum())
    recall = f"recall@10 {hits / 10 / len(queries):.3f}"
    nearly: Search = lambda query: index.search(query, count=10, approximate=True)  # noqa: E731  one of a list
    cases.append(("approximate, k=10", nearly, ("6 ×", "7 ×"), recall))
    for what, search, wanted, note in cases:
        times = take_turns({"ours": search, **others}, queries)
        lines.extend(
            compared(what, times, theirs, wanted if theirs.startswith("faiss") else ("", ""), note)
            for theirs in others
        )
    lines.append(batch_line(index, rows, queries, large=large))
    return lines


def batch_line(index: VectorIndex, rows: np.ndarray, queries: np.ndarray, *, large: bool) -> Line:
    """Return the line for 64 queries at once."""

    def gemm(_query: np.ndarray) -> None:
        scores = queries @ rows.T
        for line in scores:
            best = np.argpartition(line, len(line) - 3)[len(line) - 3 :]
            best[np.argsort(-line[best])]

    together: Search = lambda _query: index.search_many(queries, count=3, threshold=0.75)  # noqa: E731
    times = take_turns({"ours": together, "numpy GEMM": gemm}, queries[:3])
    goals = ("4 ×", "6 ×") if large else ("", "")
    return compared(f"{len(queries)} queries at once, threshold .75, k=3", times, "numpy GEMM", goals)


def room_lines(rows: np.ndarray, queries: np.ndarray, faiss: Any, hnswlib: Any) -> list[Line]:
    """Return the lines for a room that holds a hundredth of the rows: an index of its own, or a filter."""
    inside = np.random.default_rng(1).random(len(rows)) < 0.01
    index = VectorIndex(DIM)
    index.append_many(rows[inside])
    for query in queries[:4]:
        index.search(query, count=3)
    contestants: dict[str, Search] = {"ours": lambda query: index.search(query, count=3, threshold=0.75)}
    goals = {"faiss with a selector": ("8 ×", "9 ×") if len(rows) >= 1_000_000 else ("", "")}
    goals["hnswlib with a filter"] = ("50 ×", "70 ×") if len(rows) < 1_000_000 else ("", "")
    if faiss is not None:
        flat = faiss.IndexFlatIP(DIM)
        flat.add(rows)
        bits = np.packbits(inside, bitorder="little")
        only = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits))
        contestants["faiss with a selector"] = lambda query: flat.search(query[None], 3, params=only)
    if hnswlib is not None:
        graph = hnswlib.Index("ip", DIM)
        graph.init_index(len(rows), M=16, ef_construction=100)
        graph.add_items(rows, num_threads=2)
        graph.set_ef(64)
        graph.set_num_threads(1)
        allowed = inside.tolist()
        contestants["hnswlib with a filter"] = lambda query: graph.knn_query(
            query, 3, filter=allowed.__getitem__
        )
    times = take_turns(contestants, queries)
    return [
        compared("a room of 1 %, threshold .75, k=3", times, theirs, goals[theirs])
        for theirs in contestants
        if theirs != "ours"
    ]


def random_line(count: int) -> Line:
    """Return the line for rows in no direction more than in another, where no bound excludes anything."""
    random = np.random.default_rng(2)
    rows = random.standard_normal((count + QUERIES, DIM), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = VectorIndex(DIM)
    index.append_many(rows[:count])
    contestants: dict[str, Search] = {
        "ours": lambda query: index.search(query, count=3),
        "numpy X @ q": plain(rows[:count], 3),
    }
    times = take_turns(contestants, rows[count:])
    return compared(f"{count:,} random vectors, no threshold, k=3", times, "numpy X @ q", ("0.9 ×", "0.95 ×"))


def write_lines(rows: np.ndarray, queries: np.ndarray) -> list[Line]:
    """Return the lines for appends one by one, for the searches right after them, and for memory."""
    few = rows[:100_000]
    spent, longest, slowest = [], 0.0, 0.0
    for _ in range(3):
        index = VectorIndex(DIM)
        append = index.append
        start = time.process_time()
        for row in few:
            append(row)
        spent.append((time.process_time() - start) / len(few))
        for query in [*queries, *queries]:
            start = time.process_time()
            index.search(query, count=3)
            slowest = max(slowest, time.process_time() - start)
        index = VectorIndex(DIM)
        for row in few:
            start = time.perf_counter()
            index.append(row)
            longest = max(longest, time.perf_counter() - start)
    tracemalloc.start()
    index = VectorIndex(DIM)
    index.append_many(few)
    for query in queries:
        index.search(query, count=10, approximate=True)
    # What a shelf is mapped for is not traced, and takes memory as far as it is written.
    blocks = index._pruned  # noqa: SLF001
    large = [(b.shelf.pairs, b.shelf.rest, b.shelf.second, b.shelf.codes) for b in blocks]
    mapped = sum(part.nbytes / len(parts[0]) for parts in large for part in parts if part is not None)
    held = (tracemalloc.get_traced_memory()[0] + mapped) / few.nbytes
    tracemalloc.stop()
    return [
        Line(f"{len(few):,} appends one by one, CPU each", f"{1e6 * statistics.median(spent):.2f} µs", "",
             f"{1e6 * statistics.median(spent):.2f} µs", ("3 µs", "1.5 µs"), f"longest {1e3 * longest:.1f} ms wall"),
        Line("slowest search after that, all it does", f"{1e3 * slowest:.1f} ms", "", f"{1e3 * slowest:.1f} ms",
             ("100 ms", "50 ms"), "fits, encodes and scans; the rebuild alone is less"),
        Line("memory over the rows, sign codes included", f"{held:.3f}", "", f"{held:.3f}", ("1.1", "")),
    ]  # fmt: skip


def main() -> None:
    """Make the vectors, run everything, print the table and what it was made on."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--rows", type=int, default=100_000, help="how many vectors are searched (default: %(default)s)"
    )
    parser.add_argument(
        "--vectors", type=Path, help="unit rows of 256 float32 numbers (.npy), at least 64 more than rows"
    )
    parser.add_argument(
        "--without-hnswlib", action="store_true", help="its index of 1,000,000 rows takes ten minutes"
    )
    chosen = parser.parse_args()
    if chosen.rows < FEWEST_ROWS:
        parser.error(f"--rows is at least {FEWEST_ROWS:,}, not {chosen.rows:,}")
    if chosen.vectors is not None and not chosen.vectors.is_file():
        parser.error(f"--vectors is a file, which {chosen.vectors} is not")
    needed = chosen.rows + QUERIES
    origin = "vectors of real sentences by wordllama"
    if chosen.vectors is not None:
        stored = np.load(chosen.vectors, mmap_mode="r")
        vectors: np.ndarray | None = np.concatenate([stored[: chosen.rows], stored[-QUERIES:]])
        origin = f"vectors from {chosen.vectors.name}"
    else:
        vectors = real_vectors(needed)
    if vectors is None:
        vectors, origin = made_vectors(needed), "synthetic clustered vectors"
    rows, queries = np.ascontiguousarray(vectors[: chosen.rows]), np.ascontiguousarray(vectors[chosen.rows :])
    faiss = peer("faiss")
    hnswlib = None if chosen.without_hnswlib else peer("hnswlib")
    if faiss is not None:
        faiss.omp_set_num_threads(1)
    lines = whole_table(rows, queries, faiss)
    lines += room_lines(rows, queries, faiss, hnswlib)
    lines.append(random_line(min(chosen.rows, 100_000)))
    lines += write_lines(rows, queries)
    print(
        f"\n{len(rows):,} × {DIM}, {origin}, {len(queries)} queries; medians by the clock, engines taking turns\n"
    )
    print("| what | ours | beside | reached | must | aim | |\n|---|---|---|---|---|---|---|")
    for line in lines:
        cells = (line.what, line.ours, line.theirs, line.reached, *line.goals, line.note)
        print(f"| {' | '.join(cells)} |")
    keep("search", [line.row() for line in lines], versions=f"{len(rows):,} × {DIM}, {origin}")
    versions = [f"numpy {np.__version__}"]
    versions += [
        f"{name} {version(name)}" for name in ("faiss-cpu", "hnswlib") if name.split("-")[0] in sys.modules
    ]
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(
        f"\n{', '.join(versions)}, {platform.python_implementation()} {platform.python_version()},"
        f" {platform.system()} {platform.machine()}, {os.cpu_count()} cores{load}"
    )


if __name__ == "__main__":
    interruptible(main)
