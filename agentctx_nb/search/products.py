"""How large one product may be, and how large everything else is: the sizes a search works in.

OpenBLAS starts a second thread for a product of a matrix and a vector from about 460,000 numbers on, and for
almost every product of two matrices. Where other work shares the cores, its threads wait for each other: the same
product then takes up to ten times longer. So products run inside ``one_thread``; a single query only asks for
products below that size besides, for the sake of a numpy whose OpenBLAS cannot be told.
"""

from __future__ import annotations

import ctypes
import os
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

__all__ = [
    "Flags",
    "Floats",
    "Rows",
    "Sizes",
    "core_is_free",
    "multiply",
    "one_thread",
    "sizes_for",
    "where_set",
]

Floats: TypeAlias = NDArray[np.float32]
Rows: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

LONG = 64  # numbers in a row
EIGHT = 8  # flags in a word
MANY = 150_000  # flags, so many that looking at eight at a time pays


@dataclass(frozen=True, slots=True)
class Sizes:
    """The constants of an index; tests make them small to walk every path with few rows.

    ``block`` rows are encoded together; ``group`` of them (a divisor) share one maximum. Under ``plain`` rows
    nothing is encoded. ``product`` is the most numbers one matrix-vector product reads. The first piece of a row
    has at least ``first`` directions, or more by a multiple of ``step``; ``second`` and ``third`` are the next
    widths, which with two lengths beside them fill whole lines of the processor's cache. At most ``rotated`` coordinates are mixed by a rotation, fitted to at most ``sample`` rows. A search
    encodes up to ``per_search`` waiting blocks, and an append encodes one as soon as more than ``waiting`` wait.
    From ``shared`` rows on, two threads share the first piece if a core is free.

    By measurement: ``gathered`` is the time to follow up one row, in nanoseconds; ``few`` is the share of rows from
    which reading a piece of all of them is faster than gathering it of those that are left, ``few_pairs`` the same of the
    pairs of a row and one of many queries.
    """

    block: int = 8192
    group: int = 256
    plain: int = 8192
    product: int = 450_000
    first: int = 32
    second: int = 30
    third: int = 62
    step: int = 32
    rotated: int = 384
    sample: int = 4096
    per_search: int = 1
    waiting: int = 16
    shared: int = 200_000
    gathered: float = 200.0
    few: float = 0.1
    few_pairs: float = 0.08


def sizes_for(dim: int) -> Sizes:
    """Return the usual sizes: blocks of longer rows hold fewer of them, so that encoding one takes about 20 to 50 ms."""
    block = 8192 if dim <= 384 else 4096 if dim <= 768 else 2048
    return Sizes(block=block, waiting=16 * 8192 // block)


def multiply(rows: Floats, coefficients: Floats, out: Floats, *, product: int = 450_000) -> None:
    """Write ``rows @ coefficients`` to ``out``, in products of at most ``product`` numbers.

    OpenBLAS reads short rows as fast as memory gives them, but not long ones: those are multiplied one by one.
    """
    if rows.shape[1] >= LONG:
        np.vecdot(rows, coefficients, out=out)
        return
    step = max(1, product // rows.shape[1])
    for start in range(0, len(rows), step):
        np.matmul(rows[start : start + step], coefficients, out=out[start : start + step])


def where_set(flags: Flags) -> Rows:
    """Return where ``flags`` are set, few of them: where there are many, they are looked at eight at a time.

    >>> where_set(np.array([False] * 9 + [True] * 2 + [False] * 5)).tolist()
    [9, 10]
    """
    if len(flags) < MANY or len(flags) % EIGHT:
        return flags.nonzero()[0]
    words = flags.view(np.uint64)
    lines = (words != 0).nonzero()[0]
    inside = words.take(lines).view(np.bool_).nonzero()[0]
    found: Rows = lines[inside // EIGHT] * EIGHT + inside % EIGHT
    return found


def core_is_free() -> bool:
    """Return whether a second thread would have a core for itself; on a busy machine it only makes both wait.

    The load counts the thread that asks too, up to 1 where it has searched for a while: hence half a core, not one.
    """
    if not hasattr(os, "getloadavg"):
        return False
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return os.getloadavg()[0] + 0.5 < cores


@cache
def _thread_count() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Return how the OpenBLAS that came with numpy tells and takes its number of threads, if there is one."""
    folder = Path(np.__file__).parent
    for library in sorted(
        [*folder.with_name("numpy.libs").glob("*openblas*"), *folder.glob(".dylibs/*openblas*")]
    ):
        try:
            loaded = ctypes.CDLL(str(library))  # the one numpy has already loaded
        except OSError:
            continue
        for pattern in (
            "scipy_openblas_%s_num_threads64_",
            "scipy_openblas_%s_num_threads",
            "openblas_%s_num_threads",
        ):
            tell, take = (getattr(loaded, pattern % word, None) for word in ("get", "set"))
            if tell is not None and take is not None:
                tell.restype, take.argtypes, take.restype = ctypes.c_int, [ctypes.c_int], None
                return tell, take
    return None


class _OneThread:
    """What `one_thread` returns: the setting is one of the process, so there is one of these."""

    __slots__ = ("_before", "_inside", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before = 1

    def __enter__(self) -> None:
        control = _thread_count()
        with self._lock:
            self._inside += 1
            if self._inside == 1 and control is not None:
                tell, take = control
                self._before = tell()
                if self._before > 1:
                    take(1)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._give_back()

    def _give_back(self) -> None:
        if self._before > 1 and (control := _thread_count()) is not None:
            control[1](self._before)

    def begin_anew(self) -> None:
        """Go on in a forked process, in which no other thread is inside."""
        self._lock = threading.Lock()
        if self._inside:
            self._inside = 0
            self._give_back()


_ONE_THREAD = _OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ONE_THREAD.begin_anew)


def one_thread() -> AbstractContextManager[None]:
    """Keep numpy's OpenBLAS on one thread for the products inside; with another BLAS nothing changes."""
    return _ONE_THREAD
