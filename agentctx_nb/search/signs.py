"""Approximate search: rows reduced to the signs of random directions, the nearest of them scored in full.

Two rows at a small angle lie on the same side of most hyperplanes. So the number of signs in which a row differs
from the query tells roughly how near it is, at one bit a direction. For the nearest few, each sign is then weighed by
how far the query lies from that hyperplane, which tells it better, and the best of those are bounded and scored like
any others. So a score is always exact; only a row that is none of these can be missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agentctx_nb.search.basis import SILENT
from agentctx_nb.search.gather import by_shelf, products_at
from agentctx_nb.search.pairs import mapped
from agentctx_nb.search.products import Flags, Floats, Rows, Sizes, one_thread, where_set
from agentctx_nb.search.pruning import add_where_reached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentctx_nb.search.basis import Basis, Projection
    from agentctx_nb.search.best import Best
    from agentctx_nb.search.pruning import PrunedBlock

__all__ = ["Signs", "search_signs", "signs_for"]

Words: TypeAlias = NDArray[np.uint64]

FEWEST_BITS, MOST_BITS = 256, 512
SHARE = 0.0009  # of the rows whose signs are weighed ...
LEAST = 900  # ... but at least so many
SCORED = 22  # rows scored for each one that is asked for ...
LEAST_SCORED = 220  # ... but at least so many
SAMPLE = 10_000  # rows that tell how many signs the nearest differ in


@dataclass(frozen=True, slots=True)
class Signs:
    """Random ``directions``, dim x bits, for rows in principal directions, and the ``offsets`` that centre those."""

    directions: Floats
    offsets: Floats

    def encode(self, block: PrunedBlock, size: int) -> None:
        """Give ``block``, of ``size`` rows, its codes: words x rows, 64 signs a word."""
        with one_thread():
            products = block.rotated(np.arange(size)) @ self.directions
        packed = np.packbits(products > self.offsets, axis=1).view(np.uint64).T
        codes = block.shelf.codes
        if codes is None:
            blocks = len(block.shelf.pairs)
            codes = mapped(2 * blocks * packed.size).view(np.uint64).reshape(blocks, *packed.shape)
            block.shelf.codes = codes
        codes[block.place] = packed
        block.codes = codes[block.place]

    def sides(self, projection: Projection) -> Floats:
        """Return how far a query lies from each hyperplane, and by the sign on which side."""
        sides: Floats = projection.rotated @ self.directions - self.offsets
        return sides


def signs_for(basis: Basis) -> Signs:
    """Return random directions, the same ones every time, for rows in the directions of ``basis``.

    They are at right angles to each other where there are not more of them than dimensions.
    """
    bits = min(MOST_BITS, max(FEWEST_BITS, -(-basis.dim // 64) * 64))
    directions = np.random.default_rng(0).standard_normal((basis.dim, bits))
    if basis.dim >= bits:
        with one_thread():
            directions = np.linalg.qr(directions)[0]
    if bits == FEWEST_BITS:
        directions[:, -1] = 0  # 255 signs: how many differ then fits one byte
    return Signs(directions.astype(np.float32), (basis.centre @ directions).astype(np.float32))


def search_signs(
    blocks: Sequence[PrunedBlock],
    projection: Projection,
    best: Best,
    signs: Signs,
    sizes: Sizes,
    *,
    allowed: Flags | None = None,
) -> None:
    """Hand ``best``, which counts, the rows of ``blocks`` whose signs are nearest the query's.

    The blocks have codes and hold the rows 0, 1, 2 and on.
    """
    assert best.count is not None
    sides = signs.sides(projection)
    differ = _differences(blocks, np.packbits(sides > 0).view(np.uint64)[:, None], sizes)
    allowed = _unless_silent(blocks, allowed)
    if allowed is not None:
        np.copyto(differ, np.iinfo(differ.dtype).max, where=~allowed)
    sample = differ[_spread(len(differ))] if len(differ) > SAMPLE else differ
    scored = max(LEAST_SCORED, SCORED * best.count)
    wanted = len(sample) * max(max(LEAST, scored) / len(differ), SHARE)
    limit = int(np.searchsorted(np.bincount(sample).cumsum(), min(len(sample), wanted)))
    near: Rows = where_set(differ <= limit)
    if allowed is not None:
        near = near[allowed[near]]
    if not len(near):
        return
    scored = min(len(near), scored)
    agreement = _weighed(blocks, near, sides, sizes)
    near = np.sort(near[np.argpartition(agreement, len(near) - scored)[len(near) - scored :]])
    bounds = products_at(blocks, near, 0, projection.steps[0], sizes)
    first = np.zeros(len(near), np.bool_)
    first[np.argsort(-bounds)[: 4 + best.count]] = True  # their scores decide about most of the others
    for these in (first, ~first):
        add_where_reached(blocks, near[these], bounds[these], projection, best, sizes)


def _spread(rows: int) -> Rows:
    """Return ``SAMPLE`` of ``rows`` row numbers, one in each stretch at a place by chance.

    Every n-th row would be all of a kind where rows alternate, as questions and answers do.
    """
    step = rows / SAMPLE
    spread: Rows = ((np.arange(SAMPLE) + _chance(SAMPLE)) * step).astype(np.int64)
    return spread


@cache
def _chance(count: int) -> NDArray[np.float64]:
    """Return the same numbers from 0 to 1 every time; made when first asked for, since numpy loads what makes them late."""
    return np.random.default_rng(0).random(count)


def _unless_silent(blocks: Sequence[PrunedBlock], allowed: Flags | None) -> Flags | None:
    """Return ``allowed`` without the silent rows; None where that is all of them."""
    if not any(block.any_silent for block in blocks):
        return allowed
    heard: Flags = np.concatenate([block.left != SILENT for block in blocks])
    return heard if allowed is None else heard & allowed


def _weighed(blocks: Sequence[PrunedBlock], rows: Rows, sides: Floats, sizes: Sizes) -> Floats:
    """Return how well the signs of ``rows`` (ascending) agree with the query, each weighed by its distance."""
    shelves, numbers = by_shelf(blocks, rows, sizes.block)
    held, columns = np.divmod(numbers, sizes.block)
    codes = np.empty((len(rows), len(sides) // 64), np.uint64)
    for shelf, start, end in shelves:
        assert shelf.codes is not None
        codes[start:end] = shelf.codes[held[start:end], :, columns[start:end]]
    weighed: Floats = np.unpackbits(codes.view(np.uint8), axis=1).astype(np.float32) @ sides
    return weighed


def _differences(blocks: Sequence[PrunedBlock], query: Words, sizes: Sizes) -> NDArray[np.unsignedinteger]:
    """Return how many signs of each row differ from the query's."""
    words = len(query)
    dtype = np.uint8 if words * 64 <= FEWEST_BITS else np.uint16
    differ = np.empty((len(blocks), sizes.block), dtype)
    crossed = np.empty((words, sizes.block), np.uint64)
    counted = np.empty((words, sizes.block), np.uint8)
    for number, block in enumerate(blocks):
        assert block.codes is not None
        np.bitwise_xor(block.codes, query, out=crossed)
        np.bitwise_count(crossed, out=counted)
        np.add.reduce(counted, axis=0, dtype=dtype, out=differ[number])
    return differ.reshape(-1)
