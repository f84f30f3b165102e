"""Numbers and moments of numpy as the plain values a person means by them: numpy 2 writes ``np.float64(1.5)``.

Nothing here imports numpy: what is of it brings what is asked of it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["bare", "bare_scalar"]

_DEEPEST = 40
# Told by identity: a metaclass of theirs may raise where a class is hashed or compared.
_OPENED = frozenset(map(id, (list, tuple, dict, set, frozenset)))


def bare_scalar(value: Any) -> Any:
    """Return what a scalar of numpy, or an array without dimensions, says, of Python's own types.

    Anything else comes back as it is. A ``float32`` becomes the shortest number that says the same, so 0.1
    stays 0.1; a moment finer than microseconds becomes its ISO 8601 text; ``NaT`` becomes None.
    """
    kind: Any = type(value)
    if kind.__module__ != "numpy" or getattr(value, "shape", None) != ():
        return value
    letter = value.dtype.kind
    if letter == "f":
        return float(value) if value.dtype.itemsize == 8 else float(str(value))
    if letter == "c":
        return complex(value)
    if letter in "Mm":
        return _time(value)
    return value.item()


def bare(value: Any) -> Any:
    """Return ``value`` with such scalars made plain down through plain containers, for its repr.

    >>> bare([1, {"a": (2.5,)}])
    [1, {'a': (2.5,)}]
    """
    return _bare(value, set(), 0)


def _bare(value: Any, around: set[int], depth: int) -> Any:
    kind = type(value)
    if id(kind) not in _OPENED:
        try:
            return bare_scalar(value)
        except Exception:  # noqa: BLE001  its class lies; the others are shown all the same
            return value
    if id(value) in around or depth > _DEEPEST:
        return value
    around = {*around, id(value)}
    if kind is dict:
        return {bare_scalar(key): _bare(item, around, depth + 1) for key, item in value.items()}
    return kind([_bare(item, around, depth + 1) for item in value])


def _time(value: Any) -> Any:
    """Return a moment or a span as ``datetime`` has it; one that it has not, as numpy writes it."""
    item = value.item()
    if not isinstance(item, int):
        return item
    unit = value.dtype.str.partition("[")[2]
    if unit in ("", "Y]", "M]"):
        return str(value)
    coarse = value.astype(f"{value.dtype.kind}8[us]")
    found = coarse.item()
    return str(value) if isinstance(found, int) or coarse != value else found
