"""Some rows only: gathered from the blocks they are in, as they are or multiplied in one go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentctx_nb.search.pairs import taken_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentctx_nb.search.basis import Projection
    from agentctx_nb.search.pairs import Shelf
    from agentctx_nb.search.products import Floats, Rows, Sizes
    from agentctx_nb.search.pruning import PrunedBlock
    from agentctx_nb.search.rows import RowBlock

    Place = tuple[Shelf, int, int]

__all__ = ["by_shelf", "products_at", "scores_at", "vectors_of"]


def scores_at(blocks: Sequence[PrunedBlock], rows: Rows, projection: Projection, sizes: Sizes) -> Floats:
    """Return the scores of ``rows`` (ascending, 0 being the first of ``blocks``)."""
    scores = np.zeros(len(rows), np.float32)
    for number, coefficients in enumerate(projection.scores):
        scores += products_at(blocks, rows, number, coefficients, sizes)
    return scores


@np.errstate(
    invalid="ignore"
)  # for a few rows BLAS also multiplies what happens to lie behind them in memory
def products_at(
    blocks: Sequence[PrunedBlock], rows: Rows, number: int, coefficients: Floats, sizes: Sizes
) -> Floats:
    """Return the products of piece ``number`` of ``rows`` (one at least, ascending, 0 being the first of ``blocks``)."""
    found: Floats
    if number > 1:
        places, columns = _by_block(blocks, rows, sizes.block)
        parts = [(block.parts[number - 1], start, end) for block, start, end in places]
        found = _taken(parts, columns) @ coefficients
        return found
    shelves, numbers = by_shelf(blocks, rows, sizes.block)
    if number == 1:
        found = _taken([(shelf.second, start, end) for shelf, start, end in shelves], numbers) @ coefficients
        return found
    found = _first_pieces(blocks[0], shelves, numbers, sizes.block) @ coefficients[:-1]
    left = [(shelf.left.reshape(-1), start, end) for shelf, start, end in shelves]
    found += _taken(left, numbers) * coefficients[-1]
    return found


def _taken(places: Sequence[tuple[np.ndarray, int, int]], at: Rows) -> np.ndarray:
    """Return the lines ``at[start:end]`` of each array, which are all alike, one behind the other."""
    array = places[0][0]
    found = np.empty((len(at), *array.shape[1:]), array.dtype)
    for lines, start, end in places:  # mode "raise" would buffer
        lines.take(at[start:end], axis=0, out=found[start:end], mode="clip")
    return found


def _first_pieces(block: PrunedBlock, shelves: Sequence[Place], numbers: Rows, size: int) -> Floats:
    """Return the first pieces of rows on ``shelves``, as they were but for rounding; ``block`` is any of theirs."""
    half, width = block.near.pairs.shape
    held, columns = np.divmod(numbers, size)
    later = columns >= half
    lines = numbers - half * (held + later)
    both = _taken([(shelf.pairs.reshape(-1, width), start, end) for shelf, start, end in shelves], lines)
    rest = _taken([(shelf.rest, start, end) for shelf, start, end in shelves], numbers)
    units = _taken([(shelf.units, start, end) for shelf, start, end in shelves], held)
    return taken_apart(both, rest, later, units[:, None], block.near.centre)


def _by_block(
    blocks: Sequence[PrunedBlock], rows: Rows, size: int
) -> tuple[list[tuple[PrunedBlock, int, int]], Rows]:
    """Return each block that ``rows`` (ascending) are in, from where to where in ``rows`` that is, and their columns."""
    edges = rows.searchsorted(np.arange(0, (len(blocks) + 1) * size, size)).tolist()
    places = zip(blocks, edges, edges[1:], strict=False)
    return [place for place in places if place[1] < place[2]], rows % size


def by_shelf(blocks: Sequence[PrunedBlock], rows: Rows, size: int) -> tuple[list[Place], Rows]:
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
