"""Rows as they were appended: a block of them, scaled to unit length when somebody first looks.

An append must cost a copy and a counter. So a block takes rows as they are; ``settle`` scales all new ones at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from agentctx_nb.search.products import Flags, Floats

__all__ = ["RowBlock"]

FEWEST = 32
SAFE_SQUARE = (1e-20, 1e20)  # squared lengths that float32 computes without losing digits


class RowBlock:
    """Up to ``most`` rows of ``dim`` numbers, row after row; room for them is made as they come.

    ``filled`` rows are there and the first ``ready`` of them have unit length. Rows in ``silent`` are never found:
    they are deleted, or they are zero and have no direction.

    >>> block = RowBlock(2, 4096)
    >>> block.take(np.array([[3, 4], [0, 0]], np.float32))
    >>> block.settle()
    >>> block.rows[: block.filled].tolist(), block.silent[:2].tolist()
    ([[0.6000000238418579, 0.800000011920929], [0.0, 0.0]], [False, True])
    """

    __slots__ = ("any_silent", "filled", "most", "ready", "room", "rows", "silent")

    def __init__(self, dim: int, most: int) -> None:
        self.most = most
        self.room = min(FEWEST, most)
        self.rows: Floats = np.empty((self.room, dim), np.float32)
        self.silent: Flags = np.zeros(self.room, np.bool_)
        self.any_silent = False
        self.filled = 0
        self.ready = 0

    def grow(self, least: int) -> None:
        """Make room for ``least`` rows, and some more."""
        room = min(self.most, max(least, 4 * self.room))
        rows = np.empty((room, self.rows.shape[1]), np.float32)
        rows[: self.filled] = self.rows[: self.filled]
        silent = np.zeros(room, np.bool_)
        silent[: self.filled] = self.silent[: self.filled]
        self.rows, self.silent, self.room = rows, silent, room

    def take(self, rows: Floats) -> None:
        """Append ``rows``, n x dim, which must fit below ``most``."""
        end = self.filled + len(rows)
        if end > self.room:
            self.grow(end)
        self.rows[self.filled : end] = rows
        self.filled = end

    def settle(self) -> None:
        """Scale the rows that came since the last time to unit length; what has no length falls silent."""
        if self.ready == self.filled:
            return
        fresh = self.rows[self.ready : self.filled]
        squares = np.einsum("ij,ij->i", fresh, fresh)
        safe = (squares > SAFE_SQUARE[0]) & (squares < SAFE_SQUARE[1])
        with np.errstate(divide="ignore"):  # the rows that are not safe are scaled below
            fresh *= np.where(safe, 1 / np.sqrt(squares), 1)[:, None].astype(np.float32)
        for at in np.flatnonzero(~safe):
            self._scale_carefully(self.ready + int(at))
        self.ready = self.filled

    def _scale_carefully(self, at: int) -> None:
        row = self.rows[at].astype(np.float64)
        largest = np.abs(row).max(initial=0.0)
        if largest == 0:
            self.silence(at)
            return
        row /= largest
        self.rows[at] = row / np.sqrt(row @ row)

    def silence(self, at: int) -> None:
        """Let row ``at`` never be found again."""
        self.silent[at] = True
        self.any_silent = True

    def scores(self, query: Floats, count: int) -> Floats:
        """Return the products of the first ``count`` rows with ``query``; silent rows get -inf.

        Row by row: a product of the whole matrix walks several rows at a time, which is slower unless they are
        in the cache, and its last bits depend on where a row stands.
        """
        scores: Floats = np.vecdot(self.rows[:count], query)
        if self.any_silent:
            scores[self.silent[:count]] = -np.inf
        return scores
