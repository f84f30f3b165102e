"""Moments in time as a TypeScript agent writes them: milliseconds since the epoch, and ISO 8601 in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["from_milliseconds", "iso", "milliseconds"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def milliseconds(moment: datetime) -> int:
    """Return whole milliseconds since the epoch; a moment without a zone is taken as UTC.

    >>> milliseconds(datetime(2026, 1, 1, 12, tzinfo=UTC))
    1767268800000
    """
    return (_in_utc(moment) - _EPOCH) // timedelta(milliseconds=1)


def from_milliseconds(count: float) -> datetime:
    """Return the moment ``count`` milliseconds after the epoch, in UTC.

    >>> iso(from_milliseconds(1767268800000))
    '2026-01-01T12:00:00.000Z'
    """
    return _EPOCH + timedelta(milliseconds=count)


def iso(moment: datetime) -> str:
    """Return ``moment`` as JavaScript's ``toISOString`` writes it: UTC, three decimals, ``Z``.

    >>> iso(datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC))
    '2026-01-01T12:00:00.123Z'
    """
    return _in_utc(moment).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
