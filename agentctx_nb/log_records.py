"""The most recent records of a runtime's logger, kept to be looked at in a notebook."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import describe
from agentctx_nb.log_fields import shown_value

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator

__all__ = ["MOST_KEPT", "RecentRecord", "RecentRecords"]

MOST_KEPT = 1_000
_LONGEST = 10_000  # characters kept of a message, a field or a traceback
_ADDRESS = r" at 0x[0-9a-fA-F]+"
_PLAIN = (bool, int, float, type(None))


class RecentRecord:
    """One log call, masked; ``created`` is in seconds since the epoch, ``exception`` a traceback or empty."""

    # Written out: a NamedTuple would be compiled at every start of an interpreter.
    __slots__ = ("created", "exception", "fields", "level", "message")

    def __init__(
        self, created: float, level: str, message: str, fields: dict[str, Any], exception: str
    ) -> None:
        self.created = created
        self.level = level
        self.message = message
        self.fields = fields
        self.exception = exception


class RecentRecords:
    """The last 1,000 records of one logger and its children, oldest first; no object of a field is kept."""

    def __init__(self) -> None:
        self._kept: deque[RecentRecord] = deque(maxlen=MOST_KEPT)

    def __iter__(self) -> Iterator[RecentRecord]:
        return iter(list(self._kept))

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, record: logging.LogRecord, message: str, fields: dict[str, Any]) -> None:
        """Keep what ``record`` says; ``message`` and ``fields`` are masked already."""
        plain = {name: _plain(value) for name, value in fields.items()}
        trace = (record.exc_text or "")[:_LONGEST]
        self._kept.append(RecentRecord(record.created, record.levelname, message[:_LONGEST], plain, trace))

    def to_frame(self, mask: Callable[[str], str]) -> Any:
        """Return the records as a pandas DataFrame: ``time`` (UTC), level, message, fields, exception."""
        import pandas as pd

        from agentctx_nb.frames import frame

        rows = self.rows(mask)
        made = frame(rows, ["time", "level", "message", "fields", "exception"])
        made["time"] = pd.to_datetime([row[0] for row in rows], unit="s", utc=True)
        return made

    def rows(self, mask: Callable[[str], str]) -> list[tuple[Any, ...]]:
        """Return what `to_frame` holds, row by row, the time in seconds since the epoch.

        It is masked once more: a secret may have been set after it was logged.
        """
        from agentctx_nb.render.masked import masked_copy

        rows = [
            (record.created, record.level, record.message, record.fields, record.exception) for record in self
        ]
        return [(created, *(masked_copy(part, mask=mask) for part in row)) for created, *row in rows]


def _plain(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, BaseException):
        value = describe(value)
    text = value if isinstance(value, str) else re.sub(_ADDRESS, "", shown_value(value))
    return text[:_LONGEST]
