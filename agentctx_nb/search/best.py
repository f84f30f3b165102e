"""The best rows so far: what a score must reach to matter, and the order of the answers.

Scores that differ by less than float32 rounding, or lie so close to the threshold, are looked at again in float64.
So rows that are equal have equal scores and stand in the order of their numbers, wherever each of them is kept, and
rounding decides about no threshold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from agentctx_nb.search.products import Floats, Rows

    Doubles = NDArray[np.float64]

__all__ = ["Best"]

TINY = 1e-30  # no row is so short, unless it is zero
LOWEST = -2.0  # below every cosine and above what silent rows get
NEAR = 2e-6  # scores closer than this may be equal
SAME = 1e-6  # float64 scores of equal rows are closer than this ...
BESIDE = 2.5e-6  # ... and so are these rows: encoding moves each by half as much at most
MOST_AGAIN = 4096  # scores compared with each other again, of more only those that a count lets through ...
MOST_COUNTED = 16_384  # ... up to so many; where more are near, equal rows of one block have equal scores
MOST_BESIDE = 16  # rows beside each, on average, that are looked at; nearly equal ones may be without number


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
        if self.count is not None and len(scores) > self.count > 0:
            reaching = int(np.count_nonzero(scores >= scores[self.count - 1] - NEAR))
            rows, scores = rows[:reaching], scores[:reaching]
        again = self._near(scores)
        if len(again):
            for start in range(0, len(again), MOST_COUNTED):
                some = again[start : start + MOST_COUNTED]
                found = vectors(rows[some]).astype(np.float64)
                cosines = _cosines(found, query.astype(np.float64))
                if len(again) <= MOST_COUNTED:
                    _even_out(cosines, found)
                scores[some] = cosines
            order = np.lexsort((rows, -scores))
            rows, scores = rows[order], scores[order]
        if self.threshold is not None:
            reached = int(np.count_nonzero(scores >= self.threshold))
            rows, scores = rows[:reached], scores[:reached]
        if self.count is not None:
            rows, scores = rows[: self.count], scores[: self.count]
        return rows, scores

    def _near(self, scores: Floats) -> Rows:
        """Return where ``scores`` (highest first) are near another one or the threshold."""
        near = np.zeros(len(scores), np.bool_)
        close = scores[:-1] - scores[1:] < NEAR
        near[:-1] = close
        near[1:] |= close
        if np.count_nonzero(near) > (MOST_AGAIN if self.count is None else MOST_COUNTED):
            near[:] = False
        if self.threshold is not None:
            near |= np.abs(scores - np.float32(self.threshold)) < NEAR
        return near.nonzero()[0]


def _cosines(rows: Doubles, query: Doubles) -> Doubles:
    """Return the cosines of ``rows`` with ``query``, at most 1."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows) * query.dot(query))
    cosines: Doubles = np.minimum(rows @ query / np.maximum(lengths, TINY), 1)
    return cosines


def _even_out(cosines: Doubles, rows: Doubles) -> None:
    """Make the ``cosines`` of ``rows`` that are equal but for rounding the same.

    Equal rows lie side by side along any direction. Each row that is still alone takes in those beside it: it, not the
    one before, is what they are compared with, so a chain of rows that each resemble the next does not become one.
    """
    direction = np.cos(np.arange(1, rows.shape[1] + 1))
    along = rows @ (direction / np.sqrt(direction.dot(direction)))
    order = np.argsort(along, kind="stable")
    along = along[order]
    ends = along.searchsorted(along + BESIDE)
    alone = np.ones(len(rows), np.bool_)
    left = MOST_BESIDE * len(rows)
    for at in (ends > np.arange(1, len(rows) + 1)).nonzero()[0].tolist():
        if not alone[at]:
            continue
        beside = at + 1 + alone[at + 1 : ends[at]].nonzero()[0]
        left -= len(beside)
        if left < 0:
            return
        first, others = order[at], order[beside]
        apart = rows[others] - rows[first]
        equal = np.einsum("ij,ij->i", apart, apart) < BESIDE**2
        equal &= np.abs(cosines[others] - cosines[first]) < SAME
        cosines[others[equal]] = cosines[first]
        alone[beside[equal]] = False
