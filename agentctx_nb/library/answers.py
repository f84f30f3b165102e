"""Reading what a service answered: its numbers are numbers, or its answer is a failed one that says what is wrong."""

from __future__ import annotations

import math
from typing import TypeGuard

__all__ = ["is_number"]

_LARGEST = 1e300  # so that what is calculated with one stays finite, and a line shows it in bounds


def is_number(value: object, *, largest: float = _LARGEST) -> TypeGuard[float]:
    """Whether ``value`` is a finite number, from ``-largest`` to ``largest``.

    >>> is_number(3), is_number("3"), is_number(True), is_number(float("nan")), is_number(10**400)
    (True, False, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -largest <= value <= largest and not math.isnan(value)
