"""Two rows in one number: a product with one query that tells of two rows at once.

Sums of whole numbers are exact in float32 up to 2**24. So rows are rounded to whole numbers and two of them are
added up, the second ``APART`` times; the product of that with a query of whole numbers is the product of the query
with the first row plus ``APART`` times that with the second, and both can be read off it. Half the memory is read
and half the products are made. No sum on the way can grow too large: by Cauchy-Schwarz it is at most the product of
the two lengths, and those are kept to ``LONGEST``.

What rounding took away is kept beside, in 16 bits, so that a row can be read as precisely as it was written.
"""

from __future__ import annotations

import math
import mmap
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from agentctx_nb.search.products import Flags, Floats, Rows

__all__ = [
    "LONGEST",
    "ExactQuery",
    "PairedRows",
    "Shelf",
    "WholeQuery",
    "aligned",
    "exact_query",
    "mapped",
    "part_pairs",
    "taken_apart",
    "whole_query",
]

APART = 5800.0  # more than twice LONGEST², and LONGEST² * (APART + 1) is below 2**24
LONGEST = math.sqrt(2880)
SHORTEST = 1e-3  # rows that are all shorter are not made longer than these
NOTHING = 1e-7  # the length of what is rounded off a unit vector anyway
FINE = 65536  # the steps that ``rest`` divides a whole number into
AT_ONCE = 1024  # rows: what stays in the processor's cache between two steps
FLOAT = 4  # bytes in a number
LINE = 16  # numbers in a line of the processor's cache
PAGE = 524_288  # numbers in a large page

FEW_WHOLE = np.float32(1 / APART)


@dataclass(frozen=True, slots=True)
class WholeQuery:
    """A query, or its first numbers, as ``whole`` numbers of the ``scale``-th part of 1.

    Rounding moved it by ``off``, its length was ``length``; ``at_centre`` is its product with the centre of the rows.
    """

    whole: Floats
    scale: float
    off: float
    length: float
    at_centre: float


def whole_query(query: Floats, centre: Floats) -> WholeQuery:
    """Return ``query`` in whole numbers, for rows around ``centre``."""
    length = math.sqrt(query.dot(query))
    whole, scale = _whole(query, max(length, SHORTEST))
    off = whole / np.float32(scale) - query
    return WholeQuery(whole, scale, math.sqrt(off.dot(off)), length, float(query.dot(centre)))


@dataclass(frozen=True, slots=True)
class ExactQuery:
    """A query as a sum of queries in whole numbers, ``parts @ wholes``: each holds what the one before rounded off."""

    numbers: Floats
    wholes: Floats
    parts: Floats


def exact_query(query: Floats) -> ExactQuery:
    """Return ``query`` in as many queries in whole numbers as it takes for float32."""
    wholes: list[Floats] = []
    parts: list[float] = []
    left = query
    while not wholes or np.linalg.norm(left) > NOTHING:
        whole, scale = _whole(left, max(_longest(left), NOTHING))
        wholes.append(whole)
        parts.append(1 / scale)
        left = left - whole * np.float32(1 / scale)
    return ExactQuery(query, np.stack(wholes), np.array(parts, np.float32))


class Shelf:
    """Room for what a search reads of ``blocks`` blocks, side by side.

    That is the first pieces, as ``pairs`` of ``half`` lines of ``width`` numbers each, with their ``rest`` and ``units``
    (what 1 in them stands for); the lengths ``left``; the ``second`` pieces, a row a line; and, where there are any, the
    ``codes`` of their signs, blocks x words x rows. What lies in one stretch, in large pages, is read a fifth faster than in one for each block.
    """

    __slots__ = ("codes", "left", "pairs", "rest", "second", "units")

    def __init__(self, blocks: int, half: int, width: int, second: int = 0) -> None:
        self.pairs: Floats = mapped(blocks * half * width).reshape(blocks, half, width)
        self.rest: NDArray[np.int16] = mapped(blocks * half * width).view(np.int16).reshape(-1, width)
        self.units: Floats = np.ones(blocks, np.float32)
        self.codes: NDArray[np.uint64] | None = None
        self.second: Floats = mapped(blocks * half * 2 * second).reshape(blocks * half * 2, second)
        self.left: Floats = aligned(blocks * half * 2).reshape(blocks, half * 2)


def aligned(size: int) -> Floats:
    """Return room for ``size`` numbers that starts with a line of the processor's cache."""
    room = np.empty(size + LINE, np.float32)
    start = -room.ctypes.data // room.itemsize % LINE
    return room[start : start + size]


def mapped(size: int) -> Floats:
    """Return room for ``size`` numbers in large pages where it is large; what is not written yet takes no memory.

    It comes from the system. What numpy's allocator hands out again has been in small pages, and stays so.
    """
    if size < PAGE or not hasattr(mmap, "MAP_ANONYMOUS"):
        return aligned(size)
    memory = mmap.mmap(-1, size * FLOAT, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without large pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, np.float32)


class PairedRows:
    """The first numbers of an even count of rows; row n and row n + half share a line of ``pairs``.

    >>> rows = PairedRows(np.array([[0.5, 0.0], [0.0, 1.0]], np.float32), np.zeros(2, np.float32))
    >>> rows.at(np.array([1, 0])).round(6).tolist()
    [[0.0, 1.0], [0.5, 0.0]]
    """

    __slots__ = ("centre", "longest", "off", "pairs", "rest", "scale")

    def __init__(
        self,
        rows: Floats,
        centre: Floats,
        pairs: Floats | None = None,
        rest: NDArray[np.int16] | None = None,
    ) -> None:
        """Keep ``rows`` in ``pairs``, half as many lines, and ``rest``."""
        half = len(rows) // 2
        self.centre = centre
        exact = rows - centre
        whole, self.scale = _whole(exact, max(_longest(exact), SHORTEST))
        left = exact * np.float32(self.scale) - whole
        self.off = _longest(left) / self.scale
        self.longest = _longest(whole) / self.scale
        self.pairs: Floats = np.empty((half, rows.shape[1]), np.float32) if pairs is None else pairs
        np.multiply(whole[half:], np.float32(APART), out=self.pairs)
        self.pairs += whole[:half]
        self.rest: NDArray[np.int16] = np.empty(rows.shape, np.int16) if rest is None else rest
        left *= FINE
        np.rint(left, out=left)
        np.clip(left, -FINE // 2, FINE // 2 - 1, out=left)
        self.rest[:] = left

    def unit(self, query: WholeQuery) -> float:
        """Return what 1 in a product of whole numbers stands for."""
        return 1 / (self.scale * query.scale)

    def most(self, query: WholeQuery) -> float:
        """Return by how much the product of a row with a query may be above that of the whole numbers."""
        return query.at_centre + query.length * self.off + query.off * self.longest

    def at(self, columns: Rows) -> Floats:
        """Return some rows as they were, but for rounding."""
        half = len(self.pairs)
        later = columns >= half
        both = self.pairs.take(columns - half * later, axis=0)
        unit = np.full((1, 1), 1 / self.scale, np.float32)
        return taken_apart(both, self.rest.take(columns, axis=0), later, unit, self.centre)

    def products(self, query: ExactQuery, out: Floats) -> None:
        """Write the products of all rows with ``query`` to ``out``."""
        half = len(self.pairs)
        sums = self.pairs @ query.wholes.T
        second = np.rint(sums * FEW_WHOLE)
        np.matmul(second, query.parts, out=out[half:])
        np.matmul(sums - second * np.float32(APART), query.parts, out=out[:half])
        fine = query.numbers * np.float32(1 / FINE)
        for start in range(0, len(out), AT_ONCE):
            out[start : start + AT_ONCE] += self.rest[start : start + AT_ONCE].astype(np.float32) @ fine
        out *= np.float32(1 / self.scale)
        out += query.numbers @ self.centre


def taken_apart(both: Floats, rest: NDArray[np.int16], later: Flags, units: Floats, centre: Floats) -> Floats:
    """Return rows as they were, but for rounding: those in ``both``, which is written over, of which it is the first or, where ``later``, the second."""
    second = np.rint(both * FEW_WHOLE)
    both -= second * np.float32(APART)
    np.copyto(both, second, where=later[:, None])
    both += rest * np.float32(1 / FINE)
    both *= units
    both += centre
    return both


def part_pairs(sums: Floats, out: Floats) -> None:
    """Write what ``sums``, products of pairs with a whole query, say of each row to ``out``, twice as wide."""
    half = sums.shape[-1]
    first, second = out[..., :half], out[..., half:]
    np.multiply(sums, FEW_WHOLE, out=second)
    np.rint(second, out=second)
    np.multiply(second, np.float32(APART), out=first)
    np.subtract(sums, first, out=first)


def _whole(rows: Floats, length: float) -> tuple[Floats, float]:
    """Return ``rows`` (or one) of at most ``length``, scaled, in whole numbers none longer than LONGEST; and the scale."""
    scale = LONGEST / length
    while True:
        whole = rows * np.float32(scale)
        np.rint(whole, out=whole)
        longest = _longest(whole)
        if longest <= LONGEST:
            return whole, scale
        scale *= 0.999 * LONGEST / longest


def _longest(rows: Floats) -> float:
    square = rows.dot(rows) if rows.ndim == 1 else np.einsum("ij,ij->i", rows, rows).max(initial=0.0)
    return math.sqrt(square)
