"""Many queries at once: one product of two matrices for each block of rows.

With a threshold the first piece alone (see ``basis``) is multiplied, and pairs of query and row whose bound reaches the
cutoff are followed up. Without one, a bound excludes too little to pay against a product that reads every row once
for all queries, so the whole rows are multiplied.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from agentctx_nb.search.products import Floats, Rows, one_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentctx_nb.search.basis import Projection
    from agentctx_nb.search.best import Best
    from agentctx_nb.search.pruning import PrunedBlock
    from agentctx_nb.search.rows import RowBlock

__all__ = ["search_many_all", "search_many_pruned", "search_many_rows"]


def search_many_rows(block: RowBlock, first: int, count: int, queries: Floats, bests: Sequence[Best]) -> None:
    """Hand each query's best the first ``count`` rows of ``block``, which start at row ``first``."""
    with one_thread():
        scores = queries @ block.rows[:count].T
    if block.any_silent:
        scores[:, block.silent[:count]] = -np.inf
    _take(scores, first, bests)


def search_many_all(
    blocks: Sequence[PrunedBlock], projections: Sequence[Projection], bests: Sequence[Best]
) -> None:
    """Hand each query's best all rows of ``blocks``, which start at row 0."""
    pieces = [
        np.stack(parts) for parts in zip(*(projection.scores for projection in projections), strict=True)
    ]
    first = 0
    with one_thread():
        for block in blocks:
            scores = _products(block, 0, pieces[0])
            for number in range(1, len(pieces)):
                scores += _products(block, number, pieces[number])
            _take(scores, first, bests)
            first += scores.shape[1]


def _products(block: PrunedBlock, number: int, coefficients: Floats) -> Floats:
    """Return the products of piece ``number`` of all rows with the coefficients of each query, queries x rows."""
    part = block.parts[number]
    products: Floats = coefficients @ (part if block.basis.pieces[number].lying else part.T)
    return products


def _take(scores: Floats, first: int, bests: Sequence[Best]) -> None:
    cuts = np.array([best.cut for best in bests])
    for at in np.flatnonzero(scores.max(axis=1) >= cuts).tolist():
        bests[at].add_from(first, scores[at])


def search_many_pruned(
    blocks: Sequence[PrunedBlock], projections: Sequence[Projection], bests: Sequence[Best], *, few: float
) -> None:
    """Hand each query's best the rows of ``blocks`` (rows 0, 1, 2 and on) that can be answers."""
    steps = [np.stack(parts) for parts in zip(*(projection.steps for projection in projections), strict=True)]
    cuts = np.array([best.cut for best in bests], np.float32)
    first = 0
    with one_thread():
        for block in blocks:
            bounds = _products(block, 0, steps[0])
            _follow(block, first, bounds, steps, bests, cuts, few=few)
            first += bounds.shape[1]


def _follow(
    block: PrunedBlock,
    first: int,
    bounds: Floats,
    steps: Sequence[Floats],
    bests: Sequence[Best],
    cuts: Floats,
    *,
    few: float,
) -> None:
    """Take the answers among the rows of one block; ``cuts`` rises with those of ``bests``."""
    pairs = np.flatnonzero((bounds >= cuts[:, None]).reshape(-1))
    done = 1
    while len(pairs) > few * bounds.size and done < len(steps):
        bounds += _products(block, done, steps[done])
        pairs = np.flatnonzero((bounds >= cuts[:, None]).reshape(-1))
        done += 1
    if not len(pairs):
        return
    reached = bounds.reshape(-1)[pairs]
    queries, columns = np.divmod(pairs, bounds.shape[1])
    for number in range(done, len(steps)):
        lying = block.basis.pieces[number].lying
        part = (
            block.parts[number].take(columns, axis=1).T
            if lying
            else block.parts[number].take(columns, axis=0)
        )
        reached = reached + np.einsum("ij,ij->i", steps[number][queries], part)
        kept = reached >= cuts[queries]
        queries, columns, reached = queries[kept], columns[kept], reached[kept]
    _hand_out(queries, columns + first, reached, bests, cuts)


def _hand_out(queries: Rows, rows: Rows, scores: Floats, bests: Sequence[Best], cuts: Floats) -> None:
    """Give each query's rows to its best; ``queries`` is sorted."""
    edges = [*np.flatnonzero(np.diff(queries, prepend=-1)).tolist(), len(queries)]
    for start, end in pairwise(edges):
        at = int(queries[start])
        bests[at].add(rows[start:end], scores[start:end])
        cuts[at] = bests[at].cut  # rounding it to float32 changes far less than the margin it holds
