"""The vector index: rows by cosine, every answer that of a full scan, in plain numpy.

Rows wait as they came until there are enough of them for pruning to pay; then blocks of them are encoded, two a
search, so that no call has to rebuild anything at length. What is not encoded yet is multiplied as it is.
"""

from __future__ import annotations

import os
import threading
import weakref
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from agentctx_nb import errors
from agentctx_nb.search.basis import Basis, fit
from agentctx_nb.search.batch import search_many_all, search_many_pruned, search_many_rows
from agentctx_nb.search.best import Best
from agentctx_nb.search.gather import vectors_of
from agentctx_nb.search.products import Flags, Floats, Rows, Sizes, one_thread, sizes_for
from agentctx_nb.search.pruning import PrunedBlock, search_all, search_pruned
from agentctx_nb.search.rows import RowBlock
from agentctx_nb.search.signs import Signs, search_signs, signs_for
from agentctx_nb.search.vectors import (
    as_count,
    as_flags,
    as_query,
    as_rows,
    as_threshold,
    as_vector,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["VectorIndex"]

FLOAT32 = np.dtype(np.float32)
LOSSES = 3  # searches of one kind that pruning did not help, before it is given up ...
PAUSE = 32  # ... for so many searches
QUERIES = 256  # searched together; more would only take more memory
TRIES = 3  # searches that a delete may disturb before deletes wait for one

Answer = TypeVar("Answer")

_INDEXES: weakref.WeakSet[VectorIndex] = weakref.WeakSet()


def _after_fork() -> None:
    for index in list(_INDEXES):
        index.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class VectorIndex:
    """Vectors of ``dim`` numbers, found by cosine: exactly, or nearly with ``approximate=True``.

    Rows are numbered from 0 as they are appended, and a number is never used twice. Every method may be called
    from any thread; a search sees all rows whose append had returned before it.

    >>> index = VectorIndex(2)
    >>> index.append([3.0, 4.0]), index.append([0.0, 2.0]), index.append([-1.0, 0.0])
    (0, 1, 2)
    >>> rows, scores = index.search([0.0, 1.0], threshold=0.5)
    >>> rows.tolist(), scores.round(2).tolist()
    ([1, 0], [1.0, 0.800000011920929])
    """

    def __init__(self, dim: int, *, sizes: Sizes | None = None) -> None:
        dim = whole_number(dim, "the dimension of an index")
        if dim < 1:
            raise errors.DefinitionError(f"an index needs at least 1 dimension, not {dim}")
        self.dim = dim
        self._sizes = sizes if sizes is not None else sizes_for(dim)
        self._margin = dim * 1.2e-7 + 4e-6  # at most what float32 products of unit vectors are wrong by
        self._shape = (dim,)
        self._probe = np.full(dim, 1e-20, np.float32)  # a product with it is finite where every number is
        self._lock = threading.Lock()
        self._pruned: list[PrunedBlock] = []
        self._waiting: list[RowBlock] = []
        self._tail = RowBlock(dim, self._sizes.block)
        self._count = 0
        self._deleted: set[int] = set()
        self._deletes = 0  # deletes that have begun, by which a search knows that one came in between
        self._no_deletes = threading.Lock()
        self._basis: Basis | None = None
        self._signs: Signs | None = None
        self._losses: dict[float | None, int] = {}
        _INDEXES.add(self)

    def __reduce__(self) -> str:
        raise errors.DefinitionTypeError(
            "a VectorIndex is neither copied nor pickled; append its rows to another"
        )

    def __len__(self) -> int:
        return self._count - len(self._deleted)

    def append(self, vector: Any) -> int:
        """Take a copy of ``vector`` (``dim`` numbers of any length) and return its row number."""
        if (
            type(vector) is np.ndarray
            and vector.dtype is FLOAT32
            and vector.shape == self._shape
            and isfinite(np.vdot(vector, self._probe))  # which, unlike dot, warns of nothing
        ):
            with self._lock:
                tail = self._tail
                at = tail.filled
                if at == tail.room:
                    tail = self._make_room()
                    at = tail.filled
                tail.rows[at] = vector
                tail.filled = at + 1
                row = self._count
                self._count = row + 1
                return row
        with self._lock:
            return self._append(as_vector(vector, self.dim)[None]).start

    def append_many(self, vectors: Any) -> range:
        """Take copies of ``vectors``, n x ``dim``, all or none of them, and return their row numbers."""
        rows = as_rows(vectors, self.dim)
        with self._lock:
            if (
                self._basis is None
                and self._count + len(rows) >= self._sizes.plain
                and len(rows) >= self._sizes.block
            ):
                sample = RowBlock(self.dim, self._sizes.sample)
                sample.take(rows[:: -(-len(rows) // self._sizes.sample)])
                sample.settle()
                self._basis = fit(sample.rows[: sample.filled], self._sizes)
            first = self._count
            try:
                return self._append(rows)
            except BaseException:
                self._count_again()
                for row in range(first, self._count):
                    self._silence(row)
                raise

    def _count_again(self) -> None:
        full = len(self._pruned) + len(self._waiting)
        self._count = full * self._sizes.block + self._tail.filled

    def begin_anew(self) -> None:
        """Go on in a process forked while a thread, which is not in it, was at work here."""
        self._lock, self._no_deletes = threading.Lock(), threading.Lock()
        self._count_again()

    def _append(self, rows: Floats) -> range:
        first = self._count
        taken = 0
        while taken < len(rows):
            if self._tail.filled == self._sizes.block:
                self._make_room()
                if self._basis is not None and len(rows) > 1:
                    self._encode(1 + len(self._waiting))
            some = min(self._sizes.block - self._tail.filled, len(rows) - taken)
            self._tail.take(rows[taken : taken + some])
            taken += some
            self._count += some
        return range(first, self._count)

    def _make_room(self) -> RowBlock:
        """Return a tail with room for one more row at least."""
        tail = self._tail
        if tail.filled < self._sizes.block:
            tail.grow(tail.filled + 1)
            return tail
        tail.settle()
        fresh = RowBlock(self.dim, self._sizes.block)
        # No call between these two, after which Ctrl-C could leave the block in both places.
        self._waiting += [tail]
        self._tail = fresh
        if len(self._waiting) > self._sizes.waiting:
            self._encode(1)
        return self._tail

    def _encode(self, most: int) -> None:
        """Encode up to ``most`` waiting blocks; where there is no basis yet, fit one and leave it at that."""
        sizes = self._sizes
        if self._basis is None:
            step = -(-len(self._waiting) * sizes.block // sizes.sample)
            self._basis = fit(np.concatenate([block.rows[::step] for block in self._waiting]), sizes)
            return
        for _ in range(min(most, len(self._waiting))):
            block = self._waiting[0]
            before = self._pruned[-1] if self._pruned else None
            encoded = PrunedBlock(block.rows, block.silent, self._basis, before)
            # No call between these two, after which Ctrl-C could leave the block in both lists.
            self._pruned += [encoded]
            del self._waiting[0]

    def delete(self, row: int) -> None:
        """Let ``row`` never be found again; its number stays taken. A row may be deleted twice."""
        with self._no_deletes, self._lock:
            self._silence(row)

    def _silence(self, row: int) -> None:
        block, at = self._locate(row)
        self._deletes += 1
        block.silence(at)
        self._deleted.add(row)

    def vector(self, row: int) -> Floats:
        """Return a copy of ``row`` with unit length (zeros where it was zero), but for float32 rounding."""
        with self._lock:
            block, at = self._locate(row)
            if row in self._deleted:
                raise errors.DefinitionError(f"row {row} has been deleted")
            if isinstance(block, PrunedBlock):
                found: Floats = block.vectors(np.array([at]))[0]
            else:
                block.settle()
                found = block.rows[at].copy()
            return found

    def _locate(self, row: int) -> tuple[PrunedBlock | RowBlock, int]:
        row = whole_number(row, "a row")
        if not 0 <= row < self._count:
            raise errors.DefinitionError(f"there is no row {row}: rows 0 to {self._count - 1} were appended")
        number, at = divmod(row, self._sizes.block)
        if number < len(self._pruned):
            return self._pruned[number], at
        number -= len(self._pruned)
        return (self._waiting[number] if number < len(self._waiting) else self._tail), at

    def _snapshot(self) -> tuple[list[PrunedBlock], list[tuple[int, RowBlock, int]], Basis | None]:
        """Return the encoded blocks, then (first row, block, rows) of the others: all that is there now."""
        with self._lock:
            if self._waiting and self._count >= self._sizes.plain:
                self._encode(self._sizes.per_search)
            plain = []
            first = len(self._pruned) * self._sizes.block
            self._tail.settle()
            for block in (*self._waiting, self._tail):
                if block.filled:
                    plain.append((first, block, block.filled))
                    first += block.filled
            return list(self._pruned), plain, self._basis

    def search(
        self,
        query: Any,
        *,
        count: int | None = None,
        threshold: float | None = None,
        allowed: Any = None,
        approximate: bool = False,
    ) -> tuple[Rows, Floats]:
        """Return row numbers and cosines, best first and equal ones by row.

        Up to ``count`` rows (all with None) whose cosine is at least ``threshold`` (any with None); of these only
        rows that ``allowed`` (one truth value for each row ever appended) lets through. Zero vectors and deleted
        rows are never found. ``approximate`` may miss a few rows and is about twice as fast where no threshold
        helps; without ``count`` it changes nothing.
        """
        unit = as_query(query, self.dim)
        count, threshold = as_count(count), as_threshold(threshold)
        if unit is None or count == 0:
            return self._nothing()

        def once() -> tuple[Rows, Floats]:
            best = Best(count=count, threshold=threshold, margin=self._margin)
            return self._search(unit, best, allowed, approximate=approximate and count is not None)

        return self._undisturbed(once)

    def _undisturbed(self, search: Callable[[], Answer]) -> Answer:
        """Return what ``search`` finds where no row is deleted while it looks.

        A row that raises the cutoff and then falls silent would leave an answer without it and without those below.
        """
        for _ in range(TRIES):
            before = self._deletes
            found = search()
            if before == self._deletes:
                return found
        with self._no_deletes:
            return search()

    def _search(self, unit: Floats, best: Best, allowed: Any, *, approximate: bool) -> tuple[Rows, Floats]:
        pruned, plain, basis = self._snapshot()
        flags = None
        if allowed is not None:
            total = plain[-1][0] + plain[-1][2] if plain else len(pruned) * self._sizes.block
            flags = as_flags(allowed, total, self._count)
        for first, block, filled in plain:
            scores = block.scores(unit, filled)
            if flags is not None:
                scores[~flags[first : first + filled]] = -np.inf
            best.add_from(first, scores)
        if basis is not None and pruned:
            flags = None if flags is None else flags[: len(pruned) * self._sizes.block]
            with one_thread():
                self._search_pruned(pruned, basis, unit, best, flags, approximate=approximate)
        return best.answers(unit, lambda rows: vectors_of(rows, pruned, plain, self._sizes.block))

    def _search_pruned(
        self,
        blocks: list[PrunedBlock],
        basis: Basis,
        unit: Floats,
        best: Best,
        allowed: Flags | None,
        *,
        approximate: bool,
    ) -> None:
        projection = basis.project(unit)
        first = 0
        if approximate:
            coded = self._with_codes(blocks, basis)
            first = len(coded) * self._sizes.block
            if coded and self._signs is not None:
                few = None if allowed is None else allowed[:first]
                search_signs(coded, projection, best, self._signs, self._sizes, allowed=few)
            blocks = blocks[len(coded) :]
            allowed = None if allowed is None else allowed[first:]
            if not blocks:
                return
        kind = None if best.threshold is None else round(best.threshold, 1)
        losses = self._losses.get(kind, 0)
        if losses >= LOSSES:
            self._losses[kind] = losses + 1 if losses < LOSSES + PAUSE else LOSSES - 1
            search_all(blocks, projection, best, self._sizes, first=first, allowed=allowed)
            return
        paid = search_pruned(blocks, projection, best, self._sizes, first=first, allowed=allowed)
        self._losses[kind] = 0 if paid else losses + 1

    def _with_codes(self, blocks: list[PrunedBlock], basis: Basis) -> list[PrunedBlock]:
        """Return the leading blocks that have sign codes, after giving them to a few more."""
        coded = next((at for at, block in enumerate(blocks) if block.codes is None), len(blocks))
        more = blocks[coded : coded + 2 * self._sizes.per_search]
        if more:
            with self._lock:
                if self._signs is None:
                    self._signs = signs_for(basis)
                for block in more:
                    self._signs.encode(block, self._sizes.block)
        return blocks[: coded + len(more)]

    def search_many(
        self, queries: Any, *, count: int | None = None, threshold: float | None = None
    ) -> list[tuple[Rows, Floats]]:
        """Return what ``search`` returns for each of ``queries``, n x ``dim``, in a fraction of the time."""
        units = as_rows(queries, self.dim)
        count, threshold = as_count(count), as_threshold(threshold)
        block = RowBlock(self.dim, max(1, len(units)))
        block.take(units)
        block.settle()
        answers = [self._nothing() for _ in units]
        live = np.flatnonzero(~block.silent[: block.filled]).tolist() if count != 0 else []
        if live:
            units = block.rows[live]

            def once() -> list[tuple[Rows, Floats]]:
                found: list[tuple[Rows, Floats]] = []
                for start in range(0, len(units), QUERIES):
                    some = units[start : start + QUERIES]
                    bests = [Best(count=count, threshold=threshold, margin=self._margin) for _ in some]
                    found += self._search_many(some, bests)
                return found

            for at, answer in zip(live, self._undisturbed(once), strict=True):
                answers[at] = answer
        return answers

    def _search_many(self, units: Floats, bests: list[Best]) -> list[tuple[Rows, Floats]]:
        pruned, plain, basis = self._snapshot()
        for first, rows, filled in plain:
            search_many_rows(rows, first, filled, units, bests)
        if basis is not None and pruned:
            projections = [basis.project(unit) for unit in units]
            if bests[0].threshold is None:
                search_many_all(pruned, projections, bests)
            else:
                search_many_pruned(pruned, projections, bests, few=self._sizes.few_pairs)
        return [
            best.answers(unit, lambda rows: vectors_of(rows, pruned, plain, self._sizes.block))
            for best, unit in zip(bests, units, strict=True)
        ]

    @staticmethod
    def _nothing() -> tuple[Rows, Floats]:
        return np.empty(0, np.int64), np.empty(0, np.float32)
