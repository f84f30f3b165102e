"""Many queries at once: one product of two matrices for each block of rows.

With a threshold the first piece alone (see ``basis``) is multiplied, and pairs of query and row whose bound reaches the
cutoff are followed up. Without one, a bound excludes too little to pay against a product that reads every row once
for all queries, so the whole rows are multiplied.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from agentctx_nb.search.basis import SILENT
from agentctx_nb.search.pairs import part_pairs
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
    pieces = _stacked([projection.scores for projection in projections])
    first = 0
    with one_thread():
        for block in blocks:
            scores = _scores(block, pieces)
            _take(scores, first, bests)
            first += scores.shape[1]


def _stacked(coefficients: Sequence[tuple[Floats, ...]]) -> list[Floats]:
    """Return for each piece the coefficients of all queries, queries x numbers."""
    return [np.stack(parts) for parts in zip(*coefficients, strict=True)]


def _scores(block: PrunedBlock, pieces: Sequence[Floats]) -> Floats:
    """Return the scores of all rows of a block, queries x rows."""
    scores: Floats = pieces[0][:, :-1] @ block.near.at(np.arange(len(block.left))).T
    for part, coefficients in zip(block.parts, pieces[1:], strict=True):
        scores += coefficients @ part.T
    scores[:, block.left == SILENT] = SILENT
    return scores


def _take(scores: Floats, first: int, bests: Sequence[Best]) -> None:
    cuts = np.array([best.cut for best in bests])
    for at in np.flatnonzero(scores.max(axis=1) >= cuts).tolist():
        bests[at].add_from(first, scores[at])


class _Batch:
    """Queries side by side: what `search_many_pruned` multiplies, and where the cutoff of each stands."""

    def __init__(self, projections: Sequence[Projection], bests: Sequence[Best]) -> None:
        self.bests = bests
        self.cuts = np.array([best.cut for best in bests], np.float32)
        self.near = [projection.near for projection in projections]
        self.whole = np.stack([near.whole for near in self.near])
        self.steps = _stacked([projection.steps for projection in projections])
        self.scores = _stacked([projection.scores for projection in projections])

    def hand_out(self, queries: Rows, rows: Rows, scores: Floats) -> None:
        """Give each query's rows to its best; ``queries`` is sorted."""
        edges = [*np.flatnonzero(np.diff(queries, prepend=-1)).tolist(), len(queries)]
        for start, end in pairwise(edges):
            at = int(queries[start])
            self.bests[at].add(rows[start:end], scores[start:end])
            self.cuts[at] = self.bests[
                at
            ].cut  # rounding it to float32 changes far less than the margin it holds


def search_many_pruned(
    blocks: Sequence[PrunedBlock], projections: Sequence[Projection], bests: Sequence[Best], *, few: float
) -> None:
    """Hand each query's best the rows of ``blocks`` (rows 0, 1, 2 and on) that can be answers."""
    batch = _Batch(projections, bests)
    first = 0
    with one_thread():
        for block in blocks:
            queries, columns, bounds = _reaching(block, batch)
            if len(queries) > few * len(bests) * len(block.left):
                _take(_scores(block, batch.scores), first, bests)
                batch.cuts = np.array([best.cut for best in bests], np.float32)
            else:
                _follow(block, first, queries, columns, bounds, batch)
            first += len(block.left)


def _reaching(block: PrunedBlock, batch: _Batch) -> tuple[Rows, Rows, Floats]:
    """Return the queries, the columns and the bounds where the first piece lets a row reach the cutoff."""
    units = np.array([block.near.unit(near) for near in batch.near], np.float32)
    most = np.array([block.near.most(near) for near in batch.near], np.float32)
    sums = np.empty((len(units), len(block.left)), np.float32)
    part_pairs(batch.whole @ block.near.pairs.T, sums)
    # Compared as whole numbers: what a sum must reach lies lower for a row of which more is left.
    wanted = block.left * (-batch.steps[0][:, -1] / units)[:, None]
    wanted += ((batch.cuts - most) / units)[:, None]
    pairs = np.flatnonzero(sums >= wanted)
    queries, columns = np.divmod(pairs, len(block.left))
    bounds = sums.reshape(-1)[pairs] * units[queries] + most[queries]
    return queries, columns, bounds + batch.steps[0][queries, -1] * block.left[columns]


def _follow(
    block: PrunedBlock, first: int, queries: Rows, columns: Rows, bounds: Floats, batch: _Batch
) -> None:
    """Take the answers among pairs of a query and a row of one block."""
    before = bounds
    for part, steps in zip(block.parts, batch.steps[1:], strict=True):
        bounds = bounds + np.vecdot(steps[queries], part.take(columns, axis=0))
        kept = bounds >= batch.cuts[queries]
        queries, columns, bounds, before = queries[kept], columns[kept], bounds[kept], before[kept]
    if len(queries):
        steps = batch.steps[0][queries]
        exact = np.vecdot(steps[:, :-1], block.near.at(columns))
        bounds = bounds - before + exact + steps[:, -1] * block.left[columns]
        batch.hand_out(queries, columns + first, bounds)
