"""Some rows only: gathered from the blocks they are in, as they are or multiplied in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentctx_nb.search.pairs import rows_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentctx_nb.search.basis import Projection
    from agentctx_nb.search.pairs import Shelf
    from agentctx_nb.search.products import Floats, Rows, Sizes
    from agentctx_nb.search.pruning import PrunedBlock
    from agentctx_nb.search.rows import RowBlock

__all__ = ["by_block", "products_at", "scores_at", "vectors_of"]


def scores_at(blocks: Sequence[PrunedBlock], rows: Rows, projection: Projection, sizes: Sizes) -> Floats:
    """Return the scores of ``rows`` (ascending, 0 being the first of ``blocks``)."""
    scores = np.zeros(len(rows), np.float32)
    for number, coefficients in enumerate(projection.scores):
        scores += products_at(blocks, rows, number, coefficients, sizes)
    return scores


def products_at(
    blocks: Sequence[PrunedBlock], rows: Rows, number: int, coefficients: Floats, sizes: Sizes
) -> Floats:
    """Return the products of piece ``number`` of ``rows`` (one at least, ascending, 0 being the first of ``blocks``)."""
    products: Floats
    if number == 1:
        shelves, numbers = _by_shelf(blocks, rows, sizes.block)
        found = np.empty((len(rows), len(coefficients)), np.float32)
        for shelf, start, end in shelves:  # mode "raise" would buffer
            shelf.second.take(numbers[start:end], axis=0, out=found[start:end], mode="clip")
        products = found @ coefficients
        return products
    places, columns = by_block(blocks, rows, sizes.block)
    if number:
        found = np.empty((len(rows), len(coefficients)), np.float32)
        for block, start, end in places:
            block.parts[number - 1].take(columns[start:end], axis=0, out=found[start:end], mode="clip")
        products = found @ coefficients
        return products
    left = np.empty(len(rows), np.float32)
    for block, start, end in places:
        block.left.take(columns[start:end], out=left[start:end], mode="clip")
    near = rows_at([(block.near, start, end) for block, start, end in places], columns)
    products = near @ coefficients[:-1]
    products += left * coefficients[-1]
    return products


def by_block(
    blocks: Sequence[PrunedBlock], rows: Rows, size: int
) -> tuple[list[tuple[PrunedBlock, int, int]], Rows]:
    """Return each block that ``rows`` (ascending) are in, from where to where in ``rows`` that is, and their columns."""
    edges = rows.searchsorted(np.arange(0, (len(blocks) + 1) * size, size)).tolist()
    places = zip(blocks, edges, edges[1:], strict=False)
    return [place for place in places if place[1] < place[2]], rows % size


def _by_shelf(
    blocks: Sequence[PrunedBlock], rows: Rows, size: int
) -> tuple[list[tuple[Shelf, int, int]], Rows]:
    """Return each shelf that ``rows`` (ascending) are on, from where to where in ``rows`` that is, and their places."""
    places = rows + blocks[0].place * size
    shelves = []
    at = start = edge = 0
    while start < len(rows):
        shelf = blocks[at].shelf
        at += len(shelf.pairs) - blocks[at].place
        past = edge + len(shelf.pairs) * size
        end = int(places.searchsorted(past))
        places[start:end] -= edge
        shelves.append((shelf, start, end))
        start, edge = end, past
    return shelves, places


def vectors_of(
    rows: Rows, pruned: Sequence[PrunedBlock], plain: Sequence[tuple[int, RowBlock, int]], size: int
) -> Floats:
    """Return the vectors of ``rows``, wherever each of them is kept."""
    parts: dict[int, Floats] = {}
    numbers, columns = np.divmod(rows, size)
    for number in np.unique(numbers).tolist():
        at = columns[numbers == number]
        if number < len(pruned):
            parts[number] = pruned[number].vectors(at)
        else:
            parts[number] = plain[number - len(pruned)][1].rows[at]
    found = np.empty((len(rows), next(iter(parts.values())).shape[1]), np.float32)
    for number, part in parts.items():
        found[numbers == number] = part
    return found
