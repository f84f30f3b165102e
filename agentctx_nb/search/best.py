"""The best rows so far: what a score must reach to matter, and the order of the answers.

Scores that differ by less than float32 rounding are looked at again in float64, so that rows that are equal have
equal scores and stand in the order of their numbers, wherever each of them is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentctx_nb.search.products import Floats, Rows

__all__ = ["Best"]

LOWEST = -2.0  # below every cosine and above what silent rows get
NEAR = 2e-6  # scores closer than this may be equal
SAME = 1e-6  # rows and float64 scores closer than this are equal
MOST_AGAIN = 4096  # scores looked at again; beyond that many, equal rows of one block still have equal scores


class Best:
    """The ``count`` best rows (all with None) of at least ``threshold`` (any with None).

    ``cut`` is the score below which a row cannot be an answer; bounds are compared with it. It lies ``margin``, the
    rounding of a product, below the threshold or the count-th best score, and rises as scores come in.

    >>> best = Best(count=2, threshold=None, margin=1e-5)
    >>> best.add(np.arange(3), np.array([0.5, 0.9, 0.7], np.float32))
    >>> round(best.cut, 4)
    0.7
    >>> best.answers(np.zeros(2, np.float32), lambda rows: np.zeros((len(rows), 2), np.float32))[0].tolist()
    [1, 2]
    """

    __slots__ = ("count", "cut", "leaders", "margin", "rows", "scores", "threshold")

    def __init__(self, *, count: int | None, threshold: float | None, margin: float) -> None:
        self.count = count
        self.threshold = threshold
        self.margin = margin + NEAR
        self.cut = LOWEST if threshold is None else max(LOWEST, threshold - self.margin)
        self.leaders: Floats = np.empty(0, np.float32)
        self.rows: list[Rows] = []
        self.scores: list[Floats] = []

    @property
    def open(self) -> bool:
        """Whether nothing is known yet that a row must reach."""
        return self.cut <= LOWEST

    def raise_cut(self, scores: Floats) -> None:
        """Learn that different rows with ``scores`` exist, without taking them as answers yet."""
        count = self.count
        if count is not None and 0 < count <= len(scores):
            reached = float(np.partition(scores, len(scores) - count)[len(scores) - count])
            self.cut = max(self.cut, reached - self.margin)

    def add(self, rows: Rows, scores: Floats) -> None:
        """Take ``rows``, none of which came before, where their ``scores`` reach the cut."""
        kept = scores >= self.cut
        if not kept.all():
            rows, scores = rows[kept], scores[kept]
        if not len(rows):
            return
        if self.count is not None:
            leaders = scores if not len(self.leaders) else np.concatenate([self.leaders, scores])
            if len(leaders) > self.count:
                leaders = np.partition(leaders, len(leaders) - self.count)[len(leaders) - self.count :]
            self.leaders = leaders
            self.raise_cut(leaders)
            if len(scores) > 4 * self.count:
                kept = scores >= self.cut
                rows, scores = rows[kept], scores[kept]
        self.rows.append(rows)
        self.scores.append(scores)

    def add_from(self, first: int, scores: Floats) -> None:
        """Take the rows from number ``first`` on that have ``scores``."""
        at = (scores >= self.cut).nonzero()[0]
        if len(at):
            self.add(at + first, scores[at])

    def answers(self, query: Floats, vectors: Callable[[Rows], Floats]) -> tuple[Rows, Floats]:
        """Return rows and scores, best first, equal ones by row; ``vectors`` gives the vectors of rows."""
        if not self.rows:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        rows = self.rows[0] if len(self.rows) == 1 else np.concatenate(self.rows)
        scores = self.scores[0] if len(self.scores) == 1 else np.concatenate(self.scores)
        kept = scores >= self.cut
        rows, scores = rows[kept], np.minimum(scores[kept], np.float32(1))
        order = np.lexsort((rows, -scores))
        rows, scores = rows[order], scores[order]
        near = scores[:-1] - scores[1:] < NEAR
        if near.any():
            rows, scores = _again(rows, scores, near, query, vectors)
        if self.threshold is not None:
            reached = int(np.count_nonzero(scores >= self.threshold))
            rows, scores = rows[:reached], scores[:reached]
        if self.count is not None:
            rows, scores = rows[: self.count], scores[: self.count]
        return rows, scores


def _again(
    rows: Rows, scores: Floats, near: np.ndarray, query: Floats, vectors: Callable[[Rows], Floats]
) -> tuple[Rows, Floats]:
    """Order ``rows`` again after a closer look at scores that have a ``near`` neighbour."""
    touched = np.zeros(len(rows), np.bool_)
    touched[:-1] |= near
    touched[1:] |= near
    at = np.flatnonzero(touched)
    if len(at) > MOST_AGAIN:
        return rows, scores
    found = vectors(rows[at]).astype(np.float64)
    exact = found @ query.astype(np.float64)
    order = np.lexsort((rows[at], -exact))
    found, exact, again = found[order], exact[order], rows[at][order]
    same = (exact[:-1] - exact[1:] < SAME) & (np.abs(found[:-1] - found[1:]).max(axis=1, initial=0.0) < SAME)
    first = np.concatenate([[True], ~same])
    exact = exact[first][np.cumsum(first) - 1]
    rows, scores = rows.copy(), scores.copy()
    # At most 1 before they are put in order: what only rounding lifts above it is equal.
    rows[at], scores[at] = again, np.minimum(exact, 1)
    order = np.lexsort((rows, -scores))
    return rows[order], scores[order]
