"""The runtime's logger: object first or message first, on the standard ``logging`` underneath."""

from __future__ import annotations

import logging
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionError, describe, did_you_mean
from agentctx_nb.log_fields import hidden, read_call, shown_value
from agentctx_nb.log_records import RecentRecords
from agentctx_nb.names import shown
from agentctx_nb.tracebacks import traceback_of
from agentctx_nb.views import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["RuntimeLogger"]

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "fatal": logging.CRITICAL,
}
_TAKEN = frozenset((*vars(logging.makeLogRecord({})), "message", "asctime", "fields"))


class RuntimeLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger that takes fields, an exception or a message first, and hides secrets.

    ``logger.error({"provider": "WEATHER"}, "fetch failed")``, ``logger.error(exc, "fetch failed")`` and
    ``logger.error("fetch failed: %s", reason, provider="WEATHER")`` all work. Fields end up in the text
    as ``key=value`` and on the record as ``record.fields``. Levels and handlers are those of the logger
    ``agentctx_nb.<name>``; none is added here. The last 1,000 records are kept for `to_frame`, children's
    included; what is below the logger's level (``WARNING`` where nobody set one) is not.

    Parameters
    ----------
    mask
        What to run every text through before a handler sees it.
    fields
        Put on every record, before a record's own.
    recent
        Where records are kept; a logger without one starts its own.

    >>> logger = RuntimeLogger("doctest")
    >>> logger.error({"provider": "WEATHER"}, "fetch failed")
    >>> [(record.level, record.message, record.fields) for record in logger.recent]
    [('ERROR', 'fetch failed', {'provider': 'WEATHER'})]
    """

    def __init__(
        self,
        name: str,
        *,
        mask: Callable[[str], str] = str,
        fields: Mapping[str, Any] | None = None,
        recent: RecentRecords | None = None,
    ) -> None:
        super().__init__(logging.getLogger(f"agentctx_nb.{name}"), {})
        self.recent = RecentRecords() if recent is None else recent
        self._runtime_name = name
        self._mask = mask
        self._fields = dict(fields or {})

    def child(self, bound: Mapping[str, Any] | None = None, /, **fields: Any) -> RuntimeLogger:
        """Return a logger that puts ``fields`` on every record as well."""
        return RuntimeLogger(
            self._runtime_name,
            mask=self._mask,
            fields={**self._fields, **(bound or {}), **fields},
            recent=self.recent,
        )

    def to_frame(self) -> Any:
        """Return the most recent records as a pandas DataFrame, oldest first; secrets masked."""
        return self.recent.to_frame(self._mask)

    def log(self, *args: Any, **fields: Any) -> None:
        """Log at a level that comes first, a number or a name such as ``"info"``; see the class for the rest.

        ``exc_info``, ``stack_info``, ``stacklevel`` and ``extra`` are those of the standard library; any
        other keyword is a field.
        """
        level = args[0] if args else fields.pop("level", None)
        self._call(_level(level), args[1:], fields)

    def debug(self, *args: Any, **fields: Any) -> None:
        """Log what only somebody looking for a mistake wants to know."""
        self._call(logging.DEBUG, args, fields)

    def info(self, *args: Any, **fields: Any) -> None:
        """Log what happened as it should."""
        self._call(logging.INFO, args, fields)

    def warning(self, *args: Any, **fields: Any) -> None:
        """Log what is odd."""
        self._call(logging.WARNING, args, fields)

    def warn(self, *args: Any, **fields: Any) -> None:
        """Log at the level of ``warning``."""
        self._call(logging.WARNING, args, fields)

    def error(self, *args: Any, **fields: Any) -> None:
        """Log what went wrong."""
        self._call(logging.ERROR, args, fields)

    def exception(self, *args: Any, **fields: Any) -> None:
        """Log what went wrong, with the exception that is being handled."""
        self._call(logging.ERROR, args, {"exc_info": True, **fields})

    def critical(self, *args: Any, **fields: Any) -> None:
        """Log what nothing can go on after."""
        self._call(logging.CRITICAL, args, fields)

    def fatal(self, *args: Any, **fields: Any) -> None:
        """Log at the level of ``critical``."""
        self._call(logging.CRITICAL, args, fields)

    def _call(self, level: int, args: tuple[Any, ...], fields: dict[str, Any]) -> None:
        if not self.isEnabledFor(level):
            return
        try:
            self._write(level, args, fields)
        except Exception as exc:  # noqa: BLE001  a log call never breaks what it reports on
            self._complain("a call", exc)

    def _write(self, level: int, args: tuple[Any, ...], fields: dict[str, Any]) -> None:
        first = args[0] if args else fields.pop("msg", "")  # the name the standard library gives it
        exc_info = fields.pop("exc_info", None)
        if exc_info is None and isinstance(first, BaseException):
            exc_info = first
        stack_info, depth = fields.pop("stack_info", False), fields.pop("stacklevel", 1)
        extra = hidden(fields.pop("extra", None), self._mask)
        message, given = read_call(first, args[1:])
        message = printable(message, self._mask)
        fields = hidden({**self._fields, **given, **fields}, self._mask)
        parts = [message] if message else []
        parts += [f"{name}={shown_value(value)}" for name, value in fields.items()]
        # Values and message may hold percent signs: nothing is left to be formatted later.
        said = printable(" ".join(parts), str)
        # Past this frame, that of the level's own method, and the one before it.
        steps = (depth if isinstance(depth, int) else 1) + 3
        file, line, function, stack = self.logger.findCaller(bool(stack_info), steps)
        record = self.logger.makeRecord(
            self.logger.name,
            level,
            file,
            line,
            said,
            (),
            None,
            function,
            {
                **{name: value for name, value in _extras(extra).items() if name not in _TAKEN},
                "fields": fields,
            },
            self._mask(stack) if stack else None,
        )
        self._attach(record, exc_info)
        self.recent.keep(record, message, fields)
        try:
            self.logger.handle(record)
        except Exception as exc:  # noqa: BLE001  it is told in other words than a call that cannot be read
            self._complain("a handler or filter", exc)

    def _attach(self, record: logging.LogRecord, exc_info: Any) -> None:
        """Give ``record`` its traceback, as text alone when the exception holds a secret."""
        if not exc_info:
            return
        if isinstance(exc_info, BaseException):
            exc_info = (type(exc_info), exc_info, traceback_of(exc_info))
        elif not isinstance(exc_info, tuple) or len(exc_info) != 3:
            exc_info = sys.exc_info()
        if not isinstance(exc_info[1], BaseException):
            return
        try:
            text = "".join(traceback.format_exception(*exc_info)).rstrip("\n")
        except Exception as exc:  # noqa: BLE001  its class, or what it holds, may be anything
            said = f"{describe(exc_info[1])} (its traceback cannot be shown: {type(exc).__name__})"
            record.exc_text = printable(said, self._mask)
            return
        record.exc_text = printable(text, self._mask)
        if record.exc_text == text:  # else a handler that formats on its own would write what is hidden
            record.exc_info = exc_info

    def _complain(self, what: str, error: Exception) -> None:
        """Say that a record was not written where the standard library would, on stderr."""
        if logging.raiseExceptions and sys.stderr is not None:
            said = printable(f"{what} of the logger {self.logger.name} failed: {describe(error)}", self._mask)
            with suppress(Exception):
                sys.stderr.write(said + "\n")


def _level(level: Any) -> int:
    if isinstance(level, int):
        return level
    number = _LEVELS.get(level.lower()) if isinstance(level, str) else None
    if number is None:
        known = did_you_mean(str(level), _LEVELS) or "; use one of " + ", ".join(_LEVELS)
        raise DefinitionError(f"there is no log level {shown(level)}{known}")
    return number


def _extras(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {} if given is None else {"extra": given}
