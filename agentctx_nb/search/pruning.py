"""Certified pruning: the answers of a full scan, from reading a part of each row.

Blocks of rows are kept in principal directions and in pieces (see ``basis``). A search multiplies the query with the
first piece of every block, which bounds every score from above; rows whose bound is below the cutoff are out. The
cutoff is the threshold or, once higher, the count-th best score seen. What is left goes through the next piece:
read in order while many rows are left, gathered once they are few. No answer is approximate: a bound is wrong by
rounding at most, and the cutoff lies by more than that below what an answer must reach.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from agentctx_nb.search.basis import READ, SILENT, Basis, Projection
from agentctx_nb.search.products import Flags, Floats, Rows, Sizes, core_is_free, one_thread, scan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentctx_nb.search.best import Best

__all__ = ["PrunedBlock", "add_where_reached", "products_at", "search_all", "search_pruned"]

WORTH_AIMING = 30_000  # rows left to look at that cost more than raising the cutoff first
LYING = 8  # how much longer gathering takes where a row does not stand in one line


class PrunedBlock:
    """A full block of rows in the directions of ``basis``; ``parts`` holds an array for each piece."""

    __slots__ = ("basis", "codes", "parts")

    def __init__(self, rows: Floats, silent: Flags, basis: Basis) -> None:
        self.basis = basis
        self.codes: np.ndarray | None = None  # the sign codes of approximate search, see ``signs``
        self.parts: list[Floats] = []
        with one_thread():
            rotated = basis.rotate(rows)
        left = np.zeros((len(basis.pieces) + 1, len(rows)), np.float32)
        for number, piece in reversed([*enumerate(basis.pieces)][1:]):
            part = rotated[:, piece.start : piece.end]
            left[number] = left[number + 1] + np.einsum("ij,ij->i", part, part)
        left = np.sqrt(left)
        lines = [piece.end - piece.start + 1 + (number > 0) for number, piece in enumerate(basis.pieces)]
        memory = np.empty(sum(lines) * len(rows), np.float32)  # one piece of it: large enough for large pages
        for number, piece in enumerate(basis.pieces):
            mine, memory = np.split(memory, [lines[number] * len(rows)])
            part = mine.reshape((-1, len(rows)) if piece.lying else (len(rows), -1))
            standing = part.T if piece.lying else part
            if number:
                standing[:, 0] = left[number]
            standing[:, number > 0 : -1] = rotated[:, piece.start : piece.end]
            standing[:, -1] = left[number + 1]
            standing[silent, -1] = SILENT
            self.parts.append(part)

    def silence(self, column: int) -> None:
        """Let a row never be found again."""
        for piece, part in zip(self.basis.pieces, self.parts, strict=True):
            standing = part.T if piece.lying else part
            standing[column, -1] = SILENT

    def rotated(self, columns: Rows) -> Floats:
        """Return rows in principal directions, n x dim."""
        rows = np.empty((len(columns), self.basis.dim), np.float32)
        for piece, part in zip(self.basis.pieces, self.parts, strict=True):
            start = 0 if piece.start == 0 else 1
            found = part.take(columns, axis=1).T if piece.lying else part.take(columns, axis=0)
            rows[:, piece.start : piece.end] = found[:, start:-1]
        return rows

    def vectors(self, columns: Rows) -> Floats:
        """Return rows as they were appended, n x dim of unit length, but for rounding."""
        return self.basis.back(self.rotated(columns))

    def read(self, number: int, coefficients: Floats, out: Floats, *, product: int) -> None:
        """Write the products of piece ``number`` of all rows to ``out``."""
        part = self.parts[number]
        scan(coefficients, part if self.basis.pieces[number].lying else part.T, out, product=product)


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
    bounds = np.empty((len(blocks), sizes.block), np.float32)
    _read_all(blocks, projection.steps[0], bounds, sizes)
    if allowed is not None:
        np.copyto(bounds, SILENT, where=~allowed.reshape(bounds.shape))
    flat = bounds.reshape(-1)
    for done, piece in enumerate(blocks[0].basis.pieces[1:], start=1):
        if best.count and best.open:
            _aim(blocks, projection, best, bounds, sizes)
        reaching = flat >= best.cut
        left = np.count_nonzero(reaching)
        if best.count and left > min(WORTH_AIMING, len(flat) // 4):
            _aim(blocks, projection, best, bounds, sizes)
            reaching = flat >= best.cut
            left = np.count_nonzero(reaching)
        gathering = left * sizes.gathered * (LYING if piece.lying else 1)
        if gathering < len(flat) * READ * (piece.end - piece.start):
            rows = np.flatnonzero(reaching)
            add_where_reached(blocks, rows, flat[rows], projection, best, sizes, first=first, done=done)
            return True
        more = np.empty(sizes.block, np.float32)
        for number in np.flatnonzero(reaching.reshape(bounds.shape).any(axis=1)).tolist():
            blocks[number].read(done, projection.steps[done], more, product=sizes.product)
            bounds[number] += more
    best.add_from(first, flat)
    return False


def _read_all(blocks: Sequence[PrunedBlock], coefficients: Floats, out: Floats, sizes: Sizes) -> None:
    """Write the products of the first piece of all rows to ``out``; a second thread helps where it can and it is long."""

    def work(start: int, end: int) -> None:
        for number in range(start, end):
            blocks[number].read(0, coefficients, out[number], product=sizes.product)

    if len(blocks) * sizes.block < sizes.shared or len(blocks) < 2 or not core_is_free():
        work(0, len(blocks))
        return
    middle = len(blocks) // 2
    other = threading.Thread(target=work, args=(middle, len(blocks)), daemon=True)
    other.start()
    work(0, middle)
    other.join()


def _aim(
    blocks: Sequence[PrunedBlock], projection: Projection, best: Best, bounds: Floats, sizes: Sizes
) -> None:
    """Raise the cutoff by the scores of a few rows with high bounds, each of another group of rows."""
    assert best.count is not None
    groups = bounds.reshape(-1, sizes.group)
    peaks = groups.max(axis=1)
    wanted = min(len(peaks), 4 + 2 * best.count)
    picked = np.argpartition(peaks, len(peaks) - wanted)[len(peaks) - wanted :]
    picked = picked[peaks[picked] >= best.cut]
    if len(picked) >= best.count:
        rows = np.sort(picked * sizes.group + groups[picked].argmax(axis=1))
        best.raise_cut(scores_at(blocks, rows, projection, sizes))


def scores_at(blocks: Sequence[PrunedBlock], rows: Rows, projection: Projection, sizes: Sizes) -> Floats:
    """Return the scores of ``rows`` (ascending, 0 being the first of ``blocks``)."""
    scores = np.zeros(len(rows), np.float32)
    for number, coefficients in enumerate(projection.scores):
        scores += products_at(blocks, rows, number, coefficients, sizes)
    return scores


def products_at(
    blocks: Sequence[PrunedBlock], rows: Rows, number: int, coefficients: Floats, sizes: Sizes
) -> Floats:
    """Return the products of piece ``number`` of ``rows`` (ascending, 0 being the first of ``blocks``)."""
    edges = np.searchsorted(rows, np.arange(len(blocks) + 1) * sizes.block).tolist()
    columns = rows % sizes.block
    lying = blocks[0].basis.pieces[number].lying
    width = len(coefficients)
    found = np.empty((width, len(rows)) if lying else (len(rows), width), np.float32)
    start = 0
    for at, end in enumerate(edges[1:]):
        if end > start:
            part = blocks[at].parts[number]
            if lying:
                found[:, start:end] = part.take(columns[start:end], axis=1)
            else:
                part.take(
                    columns[start:end], axis=0, out=found[start:end], mode="clip"
                )  # "raise" would buffer
        start = end
    products: Floats = coefficients @ found if lying else found @ coefficients
    return products


def add_where_reached(
    blocks: Sequence[PrunedBlock],
    rows: Rows,
    bounds: Floats,
    projection: Projection,
    best: Best,
    sizes: Sizes,
    *,
    first: int = 0,
    done: int,
) -> None:
    """Bound ``rows`` (ascending, with ``bounds`` of the first ``done`` pieces) further; hand on what stays."""
    kept = bounds >= (best.cut if done else -np.inf)
    rows, bounds = rows[kept], bounds[kept]
    for number in range(done, len(projection.steps)):
        if not len(rows):
            return
        if best.count and len(rows) > WORTH_AIMING:
            wanted = 4 + 2 * best.count
            highest = np.sort(np.argpartition(bounds, len(bounds) - wanted)[len(bounds) - wanted :])
            best.raise_cut(scores_at(blocks, rows[highest], projection, sizes))
            kept = bounds >= best.cut
            rows, bounds = rows[kept], bounds[kept]
        bounds = bounds + products_at(blocks, rows, number, projection.steps[number], sizes)
        kept = bounds >= best.cut
        rows, bounds = rows[kept], bounds[kept]
    best.add(rows + first, bounds)


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
    scores = np.empty(sizes.block, np.float32)
    more = np.empty(sizes.block, np.float32)
    for number, block in enumerate(blocks):
        block.read(0, projection.scores[0], scores, product=sizes.product)
        for piece in range(1, len(projection.scores)):
            block.read(piece, projection.scores[piece], more, product=sizes.product)
            scores += more
        start = number * sizes.block
        if allowed is not None:
            np.copyto(scores, SILENT, where=~allowed[start : start + sizes.block])
        best.add_from(first + start, scores)
