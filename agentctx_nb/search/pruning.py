"""Certified pruning: the answers of a full scan, from reading a part of each row.

Blocks of rows are kept in principal directions and in pieces (see ``basis``), the first of them two rows to a number
(see ``pairs``). A search multiplies the query with the first piece of every block, which bounds every score from
above; rows whose bound is below the cutoff are out. The cutoff is the threshold or, once higher, the count-th best
score seen. What is left is gathered and goes through the next piece, and so on; what rounding to whole numbers
changed is made good in the end. No answer is approximate: a bound is wrong by rounding of float32 at most, and the
cutoff lies by more than that below what an answer must reach.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from agentctx_nb.search.basis import SILENT, Basis, Projection
from agentctx_nb.search.gather import products_at, scores_at
from agentctx_nb.search.pairs import (
    ExactQuery,
    PairedRows,
    Shelf,
    aligned,
    exact_query,
    part_pairs,
)
from agentctx_nb.search.products import (
    Flags,
    Floats,
    Rows,
    Sizes,
    core_is_free,
    multiply,
    one_thread,
    where_set,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentctx_nb.search.best import Best

__all__ = ["PrunedBlock", "add_where_reached", "search_all", "search_pruned"]

WORTH_AIMING = 30_000  # rows left to look at that cost more than raising the cutoff first
TOGETHER = 8  # blocks bounded at once: what stays in the processor's cache between two steps
GATHERED = 65_536  # rows gathered at once


class PrunedBlock:
    """A full block of rows, an even number, in the directions of ``basis``.

    ``near`` holds the first piece and ``left`` how long each row is beyond it; ``parts`` holds an array for each
    other piece, a row a line. What is read most of them is at ``place`` of a ``shelf``, behind that of ``before``
    while there is room.
    """

    __slots__ = ("any_silent", "basis", "codes", "left", "near", "parts", "place", "shelf")

    shelf: Shelf
    place: int

    def __init__(self, rows: Floats, silent: Flags, basis: Basis, before: PrunedBlock | None = None) -> None:
        self.basis = basis
        self.codes: np.ndarray | None = None  # the sign codes of approximate search, see ``signs``
        with one_thread():
            rotated = basis.rotate(rows)
        left = np.zeros((len(basis.pieces) + 1, len(rows)), np.float32)
        for number, piece in reversed([*enumerate(basis.pieces)][1:]):
            part = rotated[:, piece.start : piece.end]
            left[number] = left[number + 1] + np.einsum("ij,ij->i", part, part)
        left = np.sqrt(left)
        left[1:, silent] = SILENT
        self.any_silent = bool(silent.any())
        first = basis.pieces[0].end
        half = len(rows) // 2
        second, *others = [piece.end - piece.start + 2 for piece in basis.pieces[1:]] or [0]
        # The place follows from the block before, so that one whose making is interrupted leaves no gap.
        if before is not None and before.place + 1 < len(before.shelf.pairs):
            self.shelf, self.place = before.shelf, before.place + 1
        else:  # a small index does not reserve much more than it holds
            self.shelf, self.place = Shelf(TOGETHER if before else TOGETHER // 2, half, first, second), 0
        self.left = self.shelf.left[self.place]
        here = slice(len(rows) * self.place, len(rows) * (self.place + 1))
        widths = [2 * width for width in others]
        # One array for all else: large enough for large pages.
        parts = np.split(aligned(sum(widths) * half), np.cumsum(widths)[:-1] * half)[: len(others)]
        if second:
            parts.insert(0, self.shelf.second[here])
        pairs, rest = self.shelf.pairs[self.place], self.shelf.rest[here]
        self.near = PairedRows(rotated[:, :first], basis.centre[:first], pairs, rest)
        self.shelf.units[self.place] = 1 / self.near.scale
        self.left[:] = left[1]
        self.parts: list[Floats] = []
        for number, (piece, memory) in enumerate(zip(basis.pieces[1:], parts, strict=True), start=1):
            part = memory.reshape(len(rows), -1)
            part[:, 0] = left[number]
            part[:, 1:-1] = rotated[:, piece.start : piece.end]
            part[:, -1] = left[number + 1]
            self.parts.append(part)

    def silence(self, column: int) -> None:
        """Let a row never be found again."""
        self.left[column] = SILENT
        self.any_silent = True

    def rotated(self, columns: Rows) -> Floats:
        """Return rows in principal directions, n x dim."""
        parts = [part.take(columns, axis=0)[:, 1:-1] for part in self.parts]
        return np.concatenate([self.near.at(columns), *parts], axis=1)

    def vectors(self, columns: Rows) -> Floats:
        """Return rows as they were appended, n x dim of unit length, but for rounding; silent ones as zeros."""
        rows = self.basis.back(self.rotated(columns))
        rows[self.left[columns] == SILENT] = 0
        return rows

    def scores(self, near: ExactQuery, others: Sequence[Floats], *, product: int) -> Floats:
        """Return the scores of all rows: the query is ``near`` for the first piece, ``others`` for those after it."""
        scores, more = np.empty((2, len(self.left)), np.float32)
        self.near.products(near, scores)
        for part, coefficients in zip(self.parts, others, strict=True):
            multiply(part, coefficients, more, product=product)
            scores += more
        scores[self.left == SILENT] = SILENT
        return scores


def search_pruned(
    blocks: Sequence[PrunedBlock],
    projection: Projection,
    best: Best,
    sizes: Sizes,
    *,
    first: int = 0,
    allowed: Flags | None = None,
) -> bool:
    """Hand ``best`` every row of ``blocks`` that can be an answer; return whether that took little reading.

    The blocks hold the rows from number ``first`` on; ``allowed`` says for each of these whether it may be found.
    """
    if best.open and not best.count:
        search_all(blocks, projection, best, sizes, first=first, allowed=allowed)
        return False
    bounds = _Bounds(blocks, projection, sizes)
    if allowed is not None:
        np.copyto(bounds.numbers, -np.inf, where=~allowed.reshape(bounds.numbers.shape))
    if best.open:
        _aim(blocks, projection, best, bounds, sizes)
    reaching = bounds.reaching(best.cut)
    reached = np.count_nonzero(reaching)
    if best.count and reached > min(WORTH_AIMING, len(reaching) // 4):
        _aim(blocks, projection, best, bounds, sizes)
        reaching = bounds.reaching(best.cut)
        reached = np.count_nonzero(reaching)
    before, done = bounds, 1
    more = np.empty(sizes.block, np.float32)
    while reached > sizes.few * len(reaching):
        if done >= len(projection.steps) - 1:  # nearly all of each row has been read for many rows
            search_all(blocks, projection, best, sizes, first=first, allowed=allowed)
            return False
        if done == 1:
            bounds = before.in_scores()
        for number in np.flatnonzero(reaching.reshape(bounds.numbers.shape).any(axis=1)).tolist():
            multiply(blocks[number].parts[done - 1], projection.steps[done], more, product=sizes.product)
            bounds.numbers[number] += more
        done += 1
        if best.count:
            _aim(blocks, projection, best, bounds, sizes)
        reaching = bounds.reaching(best.cut)
        reached = np.count_nonzero(reaching)
    rows = where_set(reaching)
    for start in range(0, len(rows), GATHERED):
        some = rows[start : start + GATHERED]
        of_first = before.at(some)
        mine = of_first if before is bounds else bounds.at(some)
        add_where_reached(
            blocks, some, mine, projection, best, sizes, first=first, before=of_first, done=done
        )
    return True


class _Bounds:
    """The bounds of all rows, a block a line: ``numbers * units + most``, with one of each for a block.

    So the first ones, which come of whole numbers, need not all be made scores to be compared with one.
    """

    __slots__ = ("most", "numbers", "units")

    def __init__(self, blocks: Sequence[PrunedBlock], projection: Projection, sizes: Sizes) -> None:
        """Bound all rows of ``blocks`` by the first piece."""
        near = projection.near
        self.units = np.array([block.near.unit(near) for block in blocks], np.float32)
        self.most = np.array([block.near.most(near) for block in blocks], np.float32)
        self.numbers = np.empty((len(blocks), sizes.block), np.float32)
        _bound_all(blocks, projection, projection.steps[0][-1] / self.units, self.numbers, sizes)

    def in_scores(self) -> _Bounds:
        """Return the same bounds with 1 and 0 as units and most, in memory of their own."""
        bounds = _Bounds.__new__(_Bounds)
        bounds.units, bounds.most = np.ones_like(self.units), np.zeros_like(self.most)
        bounds.numbers = self.numbers * self.units[:, None] + self.most[:, None]
        return bounds

    def reaching(self, cut: float) -> Flags:
        """Return for all rows, in one line, whether their bound is ``cut`` at least."""
        reached: Flags = self.numbers >= ((cut - self.most) / self.units)[:, None]
        return reached.reshape(-1)

    def at(self, rows: Rows) -> Floats:
        """Return the bounds of ``rows``."""
        lines = rows // self.numbers.shape[1]
        bounds: Floats = self.numbers.reshape(-1)[rows] * self.units[lines] + self.most[lines]
        return bounds

    def peaks(self, size: int) -> Floats:
        """Return the highest bound in every ``size`` rows."""
        groups = self.numbers.reshape(len(self.numbers), -1, size)
        peaks: Floats = groups.max(axis=2) * self.units[:, None] + self.most[:, None]
        return peaks.reshape(-1)


def _bound_all(
    blocks: Sequence[PrunedBlock], projection: Projection, left: Floats, out: Floats, sizes: Sizes
) -> None:
    """Write the first bounds of all rows to ``out``, in whole numbers; a second thread helps where it can and it is long.

    ``left`` holds, for each block, what the length of 1 left of a row adds.
    """

    def work(start: int, end: int) -> None:
        while start < end:
            last = min(end, start + len(blocks[start].shelf.pairs) - blocks[start].place)
            _bound(blocks[start:last], projection.near.whole, left[start:last], out[start:last], sizes)
            start = last

    if len(blocks) * sizes.block < sizes.shared or len(blocks) < 2 or not core_is_free():
        work(0, len(blocks))
        return
    middle = len(blocks) // 2
    done = []

    def help_out() -> None:
        with suppress(MemoryError):
            work(middle, len(blocks))
            done.append(True)

    other = threading.Thread(target=help_out, daemon=True)
    try:
        other.start()
    except RuntimeError:  # there are as many threads as there may be, or the interpreter is about to end
        work(0, len(blocks))
        return
    try:
        work(0, middle)
    finally:
        other.join()  # it writes to memory of ours
    if not done:
        work(middle, len(blocks))


def _bound(blocks: Sequence[PrunedBlock], whole: Floats, left: Floats, out: Floats, sizes: Sizes) -> None:
    """Write the first bounds of ``blocks``, which stand on one shelf, to ``out``."""
    sums = np.empty((len(blocks), sizes.block // 2), np.float32)
    first = blocks[0]
    pairs = first.shelf.pairs[first.place : first.place + len(blocks)]
    multiply(pairs.reshape(-1, len(whole)), whole, sums.reshape(-1), product=sizes.product)
    part_pairs(sums, out)
    more = first.shelf.left[first.place : first.place + len(blocks)] * left[:, None]
    np.add(out, more, out=out)


def _aim(
    blocks: Sequence[PrunedBlock], projection: Projection, best: Best, bounds: _Bounds, sizes: Sizes
) -> None:
    """Raise the cutoff by the scores of a few rows with high bounds, each of another group of rows."""
    assert best.count is not None
    peaks = bounds.peaks(sizes.group)
    wanted = min(len(peaks), 4 + 2 * best.count)
    picked = np.argpartition(peaks, len(peaks) - wanted)[len(peaks) - wanted :]
    picked = picked[peaks[picked] >= best.cut]
    if len(picked) >= best.count:
        groups = bounds.numbers.reshape(-1, sizes.group)
        rows = np.sort(picked * sizes.group + groups[picked].argmax(axis=1))
        best.raise_cut(scores_at(blocks, rows, projection, sizes))


def add_where_reached(
    blocks: Sequence[PrunedBlock],
    rows: Rows,
    bounds: Floats,
    projection: Projection,
    best: Best,
    sizes: Sizes,
    *,
    first: int = 0,
    before: Floats | None = None,
    done: int = 1,
) -> None:
    """Bound ``rows`` (ascending) further, after the first ``done`` pieces gave ``bounds``; hand on what stays.

    ``before`` is the bounds that the first piece gave, where they came of whole numbers.
    """
    start = bounds if before is None else before
    for number in range(done, len(projection.steps)):
        wanted = 4 + 2 * (best.count or 0)
        if best.count and len(rows) > max(WORTH_AIMING, wanted):
            highest = np.sort(np.argpartition(bounds, len(bounds) - wanted)[len(bounds) - wanted :])
            best.raise_cut(scores_at(blocks, rows[highest], projection, sizes))
        rows, bounds, start = _reaching(best.cut, rows, bounds, start)
        if not len(rows):
            return
        bounds = bounds + products_at(blocks, rows, number, projection.steps[number], sizes)
    rows, bounds, start = _reaching(best.cut, rows, bounds, start)
    if before is not None and len(rows):
        bounds = bounds - start + products_at(blocks, rows, 0, projection.steps[0], sizes)
    best.add(rows + first, bounds)


def _reaching(cut: float, rows: Rows, bounds: Floats, start: Floats) -> tuple[Rows, Floats, Floats]:
    kept = bounds >= cut
    return (rows, bounds, start) if kept.all() else (rows[kept], bounds[kept], start[kept])


def search_all(
    blocks: Sequence[PrunedBlock],
    projection: Projection,
    best: Best,
    sizes: Sizes,
    *,
    first: int = 0,
    allowed: Flags | None = None,
) -> None:
    """Hand ``best`` the scores of all rows: what is left to do where bounds exclude nothing."""
    first_piece, *others = projection.scores
    near = exact_query(first_piece[:-1])
    for number, block in enumerate(blocks):
        scores = block.scores(near, others, product=sizes.product)
        start = number * sizes.block
        if allowed is not None:
            np.copyto(scores, SILENT, where=~allowed[start : start + sizes.block])
        best.add_from(first + start, scores)
