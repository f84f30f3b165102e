"""Vectors as users hand them over: checked, and made float32 without losing very long or very short ones."""

from __future__ import annotations

import math
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from agentctx_nb import errors

if TYPE_CHECKING:
    from agentctx_nb.search.products import Flags, Floats

__all__ = ["as_count", "as_flags", "as_query", "as_rows", "as_threshold", "as_vector", "whole_number"]

STEP = 4096
MOST = 2**40  # rows


def as_vector(value: Any, dim: int) -> Floats:
    """Return ``value`` as ``dim`` float32 numbers; not of unit length, but in its direction.

    >>> as_vector([3e200, 0], 2).tolist()
    [1.0, 0.0]
    >>> as_vector([1.0], 2)
    Traceback (most recent call last):
    agentctx_nb.errors.DefinitionError: a vector of 2 numbers is expected, not of 1
    """
    array = _numbers(value)
    if array.ndim != 1:
        raise errors.DefinitionError(
            f"a vector of {dim} numbers is expected, not an array of shape {array.shape}"
        )
    if len(array) != dim:
        raise errors.DefinitionError(f"a vector of {dim} numbers is expected, not of {len(array)}")
    safe: Floats = _safe(array[None])[0]
    return safe


def as_rows(value: Any, dim: int) -> Floats:
    """Return ``value`` as n x ``dim`` float32 numbers, each row in its direction."""
    array = _numbers(value)
    if array.ndim == 1 and not len(array):
        array = array.reshape(0, dim)
    if array.ndim != 2:
        raise errors.DefinitionError(
            f"rows of {dim} numbers are expected (n x {dim}), not an array of shape {array.shape}"
        )
    if array.shape[1] != dim:
        raise errors.DefinitionError(f"rows of {dim} numbers are expected, not of {array.shape[1]}")
    if array.dtype == np.float32:
        for start in range(0, len(array), STEP):
            _refuse_what_is_not_finite(array[start : start + STEP], start)
        return array
    rows = np.empty(array.shape, np.float32)
    for start in range(0, len(array), STEP):
        rows[start : start + STEP] = _safe(array[start : start + STEP], start)
    return rows


def as_query(value: Any, dim: int) -> Floats | None:
    """Return ``value`` with unit length, or None where it has no direction."""
    if type(value) is np.ndarray and value.dtype == np.float32 and value.shape == (dim,):
        given: Floats = value
        span = math.sqrt(np.vdot(given, given))  # which, unlike dot, does not warn where that is too much
        if 1e-10 < span < 1e10:  # which says that all its numbers are finite
            return given / np.float32(span)
    vector = as_vector(value, dim)
    largest = np.abs(vector).max(initial=0.0)
    if largest == 0:
        return None
    vector = vector / largest  # so that no square is too large or too small
    unit: Floats = vector / np.linalg.norm(vector)
    return unit


def as_flags(value: Any, most: int, appended: int) -> Flags:
    """Return ``value`` as ``most`` truth values; rows past its end, appended meanwhile, are not allowed."""
    flags = np.asarray(value)
    if flags.shape == (0,):
        flags = flags.astype(np.bool_)
    if flags.dtype != np.bool_ or flags.ndim != 1:
        raise errors.DefinitionError(
            f"allowed must hold a truth value for each row, not an array of {flags.dtype} of shape {flags.shape}"
        )
    if len(flags) > appended:
        raise errors.DefinitionError(
            f"allowed holds {len(flags)} values, but only {appended} rows were appended"
        )
    if len(flags) < most:
        return np.concatenate([flags, np.zeros(most - len(flags), np.bool_)])
    return flags[:most]


def as_count(value: Any) -> int | None:
    """Return ``value`` where it is a number of rows, or None for all of them."""
    if value is None:
        return None
    count = whole_number(value, "count")
    if count < 0:
        raise errors.DefinitionError(f"count must be 0 or more, not {count}")
    return min(count, MOST)


def as_threshold(value: Any) -> float | None:
    """Return ``value`` where it is a number, or None; what no cosine reaches, or every one, as what is near to them.

    >>> as_threshold(10**400), as_threshold(0.75)
    (2.0, 0.75)
    """
    if value is None:
        return None
    try:
        threshold = float(min(max(value, -2.0), 2.0))
    except (TypeError, ValueError, ArithmeticError):
        raise errors.DefinitionError(
            f"threshold must be a number, as 0.75, not {type(value).__name__}"
        ) from None
    if math.isnan(threshold):
        raise errors.DefinitionError("threshold must be a number, not NaN")
    return threshold


def whole_number(value: Any, what: str) -> int:
    """Return ``value`` as an int where it is one, however it is written; ``what`` names it in the error."""
    try:
        return index(value)
    except TypeError:
        raise errors.DefinitionError(f"{what} must be a whole number, not {type(value).__name__}") from None


def _numbers(value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
        if array.dtype == np.float32:
            return array
        if array.dtype.kind == "c":
            raise TypeError("real ones, not complex")
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise errors.DefinitionError(f"a vector must hold numbers: {error}") from None


def _safe(rows: np.ndarray, first: int = 0) -> Floats:
    """Return ``rows`` as float32, scaled so that the largest number of each is 1 where float32 could not hold it."""
    _refuse_what_is_not_finite(rows, first)
    if rows.dtype == np.float32:
        return rows
    largest = np.abs(rows).max(axis=1, initial=0.0)
    return (rows / np.where(largest > 0, largest, 1)[:, None]).astype(np.float32)


def _refuse_what_is_not_finite(rows: np.ndarray, first: int) -> None:
    if np.isfinite(rows).all():
        return
    row, column = (int(place[0]) for place in np.nonzero(~np.isfinite(rows)))
    raise errors.DefinitionError(
        f"a vector must hold {rows.shape[1]} finite numbers: number {column} of row {first + row} is {rows[row, column]}"
    )
