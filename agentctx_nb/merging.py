"""Merging the values of all providers where the keys of one cannot be compared: that one fails, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import ResultError, describe
from agentctx_nb.record import NO_PART

if TYPE_CHECKING:
    from agentctx_nb.record import Record

__all__ = ["merge_carefully"]

_PLAIN = frozenset((str, int, float, bool, bytes, type(None)))


def merge_carefully(record: Record) -> dict[Any, Any]:
    """Return the merged values of ``record``; a provider whose keys break the merging becomes a failed one."""
    parts = record.parts
    hostile = [i for i, part in enumerate(parts) if not all(type(key) in _PLAIN for key in part[1])]
    # Those with plain keys come first, as they are to blame for nothing; "providers" is our own.
    known: dict[Any, Any] = {"providers": ""}
    for i in [*(set(range(len(parts))) - set(hostile)), *hostile]:
        known = _with(known, record, i)
    values: dict[Any, Any] = {}
    for i in range(len(parts)):
        values = _with(values, record, i)
    return values


def _with(values: dict[Any, Any], record: Record, i: int) -> dict[Any, Any]:
    written = record.parts[i][1]
    try:
        return values | written  # a new one: an error half way leaves the old one as it was
    except Exception as exc:  # noqa: BLE001  whatever comparing their keys raises
        error = ResultError(f"a key of its values cannot be compared with another: {describe(exc)}")
        error.__cause__ = exc
        record.errors[i] = error
        record.parts[i] = NO_PART
        return values
