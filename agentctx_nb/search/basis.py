"""Principal directions: the rotation that gathers most of a vector's length in its first few numbers.

A rotation changes no product, so rows may be kept rotated only. What it buys: with a row cut into a first piece and
a rest, ``query · row <= query_first · row_first + |query_rest| |row_rest|`` (Cauchy-Schwarz), and in principal
directions the rest is short, so the first piece alone tells of nearly every row that it cannot be an answer.

A row is cut into up to four pieces. Beside its directions, each piece holds the length of the row that is left after
it, and but for the first, of what was left before it. So the product of the first piece with the right coefficients is
a bound of the score, and adding the product of the next piece takes back what that bound allowed for and makes it the
next bound; nothing is left after the last piece, and the last bound is the score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from agentctx_nb.search.pairs import LONGEST, WholeQuery, whole_query
from agentctx_nb.search.products import Floats, Sizes, one_thread

__all__ = ["SILENT", "Basis", "Piece", "Projection", "fit"]

Places: TypeAlias = NDArray[np.intp]

SILENT = np.float32(-1e25)  # the length left of a row that must never be found
LEAST_LEFT = 1e-5  # so that SILENT outweighs everything, whatever the query

READ = 0.1  # nanoseconds for a direction of a row in the first piece, by measurement
USUAL_THRESHOLD = 0.75
MOST_FIRST = (
    0.375  # of the directions are in the first piece: where nothing can be excluded it is read slowest
)


@dataclass(frozen=True, slots=True)
class Piece:
    """Directions ``start`` to ``end`` of each row."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Basis:
    """An orthogonal rotation of ``dim`` coordinates, and the ``pieces`` its directions are cut into.

    ``order`` puts the coordinates that carry most first; ``rotation`` mixes as many of them as it is wide.
    ``centre`` is the mean of the rotated rows it was fitted to.
    """

    dim: int
    order: Places
    rotation: Floats
    pieces: tuple[Piece, ...]
    centre: Floats

    def rotate(self, rows: Floats) -> Floats:
        """Return ``rows`` (n x dim, or one) in principal directions."""
        mixed = len(self.rotation)
        if mixed == self.dim:
            turned: Floats = rows @ self.rotation
            return turned
        ordered = rows[..., self.order]
        return np.concatenate([ordered[..., :mixed] @ self.rotation, ordered[..., mixed:]], axis=-1)

    def back(self, rotated: Floats) -> Floats:
        """Return rows as they were before ``rotate``, but for rounding."""
        mixed = len(self.rotation)
        rows = np.empty_like(rotated)
        if mixed == self.dim:
            return np.matmul(rotated, self.rotation.T, out=rows)
        rows[..., self.order[:mixed]] = rotated[..., :mixed] @ self.rotation.T
        rows[..., self.order[mixed:]] = rotated[..., mixed:]
        return rows

    def project(self, query: Floats) -> Projection:
        """Return the coefficients of a query of unit length for each piece."""
        rotated = self.rotate(query)
        exact = rotated.astype(np.float64)
        first = self.pieces[0].end
        steps = []
        before = 0.0
        for piece in self.pieces:
            rest = exact[piece.end :]
            left = max(LEAST_LEFT, math.sqrt(rest.dot(rest))) if len(rest) else 1.0
            step = np.empty(piece.end - piece.start + (1 if piece.end == first else 2), np.float32)
            step[0] = -before  # the first piece has nothing before it, and writes over this
            step[piece.start - piece.end - 1 : -1] = rotated[piece.start : piece.end]
            step[-1] = before = left
            steps.append(step)
        near = whole_query(rotated[:first], self.centre[:first])
        return Projection(rotated, tuple(steps), near)


@dataclass(frozen=True, slots=True)
class Projection:
    """A query in principal directions.

    ``steps[0]`` times the first piece gives bounds, ``steps[n]`` times piece ``n`` turns those into the next ones.
    ``near`` is the query in the directions of the first piece, for the quick bound in whole numbers (see ``pairs``).
    """

    rotated: Floats
    steps: tuple[Floats, ...]
    near: WholeQuery

    @property
    def scores(self) -> tuple[Floats, ...]:
        """Coefficients for each piece: the sum of the products with them is the score."""
        scores = tuple(step.copy() for step in self.steps)
        for before, after in pairwise(scores):
            before[-1] = after[0] = 0
        return scores


def fit(rows: Floats, sizes: Sizes) -> Basis:
    """Return the principal directions of ``rows``, n x dim of unit length, and the best places to cut them."""
    dim = rows.shape[1]
    if len(rows) > sizes.sample:
        rows = rows[:: -(-len(rows) // sizes.sample)]
    order: Places = np.arange(dim)
    if dim > sizes.rotated:  # the time a rotation takes grows with the third power of what it mixes
        order = np.argsort(-np.einsum("ij,ij->j", rows, rows), kind="stable")
    mixed = rows[:, order[: sizes.rotated]] if dim > sizes.rotated else rows
    with one_thread():
        _, directions = np.linalg.eigh((mixed.T @ mixed).astype(np.float64))
        rotation = np.ascontiguousarray(directions[:, ::-1], np.float32)
        basis = Basis(dim, order, rotation, (), np.zeros(dim, np.float32))
        rotated = basis.rotate(rows)
        centre = rotated.mean(axis=0, dtype=np.float64).astype(np.float32)
        pieces = _pieces(rotated, centre, sizes)
    return Basis(dim, order, rotation, pieces, centre)


def _pieces(rows: Floats, centre: Floats, sizes: Sizes) -> tuple[Piece, ...]:
    """Cut the directions of ``rows`` where a search with the usual threshold has least to do.

    Such a search reads the first piece in order and follows up the rows whose bound reaches the cutoff. How many that
    are is counted on ``rows`` themselves, with some of them as queries.
    """
    dim: int = rows.shape[1]
    queries = rows[:: max(1, len(rows) // 32)]
    cheapest = float("inf")
    first = dim
    most = max(sizes.first, int(dim * MOST_FIRST))
    for place in range(sizes.first, min(dim - sizes.second, most + 1), sizes.step):
        read = READ * place
        if read >= cheapest:
            break
        bounds = rows[:, :place] @ queries[:, :place].T
        bounds += np.linalg.norm(rows[:, place:], axis=1)[:, None] * np.linalg.norm(
            queries[:, place:], axis=1
        )
        bounds += _rounding(rows[:, :place] - centre[:place]) * np.linalg.norm(queries[:, :place], axis=1)
        cost = read + sizes.gathered * float((bounds >= USUAL_THRESHOLD).mean())
        if cost < cheapest:
            cheapest, first = cost, place
    ends = [first]
    for width in (sizes.second, sizes.third):
        if ends[-1] + width < dim:
            ends.append(ends[-1] + width)
    if ends[-1] < dim:
        ends.append(dim)
    return tuple(Piece(start, end) for start, end in pairwise([0, *ends]))


def _rounding(rows: Floats) -> float:
    """Return about how much a product of ``rows`` and a query of length 1 changes by rounding both to whole numbers."""
    longest = float(np.linalg.norm(rows, axis=1).max())
    return 2 * longest * math.sqrt(rows.shape[1] / 12) / LONGEST
