"""The runtime's logger: object first or message first, on the standard ``logging`` underneath."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from agentctx_nb.errors import DefinitionError, describe, did_you_mean, traceback_of

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


class RuntimeLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger that takes fields, an exception or a message first, and hides secrets.

    ``logger.error({"provider": "WEATHER"}, "fetch failed")``, ``logger.error(exc, "fetch failed")`` and
    ``logger.error("fetch failed: %s", reason, provider="WEATHER")`` all work. Fields end up in the text
    as ``key=value`` and on the record as ``record.fields``. Levels and handlers are those of the logger
    ``agentctx_nb.<name>``; none is added here.

    Parameters
    ----------
    mask
        What to run every text through before a handler sees it.
    fields
        Put on every record, before a record's own.
    """

    def __init__(
        self,
        name: str,
        *,
        mask: Callable[[str], str] = str,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(logging.getLogger(f"agentctx_nb.{name}"), {})
        self._runtime_name = name
        self._mask = mask
        self._fields = dict(fields or {})

    def child(self, bound: Mapping[str, Any] | None = None, /, **fields: Any) -> RuntimeLogger:
        """Return a logger that puts ``fields`` on every record as well."""
        return RuntimeLogger(
            self._runtime_name, mask=self._mask, fields={**self._fields, **(bound or {}), **fields}
        )

    def log(
        self,
        level: int | str,
        msg: object,
        *args: object,
        exc_info: Any = None,
        stack_info: bool = False,
        stacklevel: int = 1,
        extra: Mapping[str, object] | None = None,
        **fields: object,
    ) -> None:
        """Log at ``level``, a number or a name such as ``"info"``; see the class for the rest."""
        number = _level(level)
        if not self.isEnabledFor(number):
            return
        if exc_info is None and isinstance(msg, BaseException):
            exc_info = msg
        message, given = _read(msg, args)
        fields = _hidden({**self._fields, **given, **fields}, self._mask)
        parts = [self._mask(message)] if message else []
        parts += [f"{name}={_shown(value)}" for name, value in fields.items()]
        # Values and message may hold percent signs and braces, so nothing is left to be formatted later.
        file, line, function, stack = self.logger.findCaller(stack_info, stacklevel + 1)
        record = self.logger.makeRecord(
            self.logger.name,
            number,
            file,
            line,
            " ".join(parts),
            (),
            None,
            function,
            {**(_hidden(extra, self._mask) if extra else {}), "fields": fields},
            self._mask(stack) if stack else None,
        )
        self._attach(record, exc_info)
        try:
            self.logger.handle(record)
        except Exception as exc:  # noqa: BLE001  a log call never breaks what it reports on
            self._complain(exc)

    def warn(self, msg: object, *args: Any, **fields: Any) -> None:
        """Log at the level of ``warning``."""
        self._below(logging.WARNING, msg, args, fields)

    def fatal(self, msg: object, *args: Any, **fields: Any) -> None:
        """Log at the level of ``critical``."""
        self._below(logging.CRITICAL, msg, args, fields)

    def _below(self, level: int, msg: object, args: tuple[Any, ...], fields: dict[str, Any]) -> None:
        depth = fields.pop("stacklevel", 1) + 2  # past this frame and its caller's
        self.log(level, msg, *args, stacklevel=depth, **fields)

    def _attach(self, record: logging.LogRecord, exc_info: Any) -> None:
        """Give ``record`` its traceback, as text alone when the exception holds a secret."""
        if not exc_info:
            return
        if isinstance(exc_info, BaseException):
            exc_info = (type(exc_info), exc_info, traceback_of(exc_info))
        elif not isinstance(exc_info, tuple):
            exc_info = sys.exc_info()
        if exc_info[1] is None:
            return
        try:
            text = "".join(traceback.format_exception(*exc_info)).rstrip("\n")
        except Exception as exc:  # noqa: BLE001  its class, or what it holds, may be anything
            record.exc_text = self._mask(
                f"{describe(exc_info[1])} (its traceback cannot be shown: {type(exc).__name__})"
            )
            return
        record.exc_text = self._mask(text)
        if record.exc_text == text:  # else a handler that formats on its own would write the secret
            record.exc_info = exc_info

    def _complain(self, error: Exception) -> None:
        """Say that a handler failed where the standard library would, on stderr."""
        if logging.raiseExceptions and sys.stderr is not None:
            said = self._mask(
                f"a handler or filter of the logger {self.logger.name} failed: {describe(error)}"
            )
            with suppress(Exception):
                sys.stderr.write(said + "\n")


def _level(level: int | str) -> int:
    if isinstance(level, int):
        return level
    number = _LEVELS.get(level.lower())
    if number is None:
        known = did_you_mean(level, _LEVELS) or "; use one of " + ", ".join(_LEVELS)
        raise DefinitionError(f"there is no log level {level!r}{known}")
    return number


def _read(first: object, args: tuple[object, ...]) -> tuple[str, Mapping[str, Any]]:
    """Return the message and the fields of a call, whichever of them came first."""
    if isinstance(first, Mapping):
        message, fields = args[:1], {str(name): value for name, value in first.items()}
        args = args[1:]
    elif isinstance(first, BaseException):
        message, fields, args = args[:1], {"error": first}, args[1:]
    else:
        message, fields = (first,), {}
        if len(args) == 1 and isinstance(args[0], Mapping) and "%" not in str(first):
            fields, args = {str(name): value for name, value in args[0].items()}, ()
    return _formatted(str(message[0]) if message else "", args), fields


def _formatted(message: str, args: tuple[object, ...]) -> str:
    if not args:
        return message
    try:
        return message % (args[0] if len(args) == 1 and isinstance(args[0], Mapping) else args)
    except (TypeError, ValueError, KeyError):  # a log call never breaks what it reports on
        return " ".join([message, *map(_shown, args)])


def _hidden(value: Any, mask: Callable[[str], str]) -> Any:
    """Return a copy of ``value`` in which no secret is written, down through plain containers."""
    if isinstance(value, str):
        return mask(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        return {_hidden(key, mask): _hidden(item, mask) for key, item in value.items()}
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(_hidden(item, mask) for item in value)
    shown = _shown(value)
    hidden = mask(shown)
    return value if hidden == shown else hidden


def _shown(value: object) -> str:
    if isinstance(value, BaseException):
        value = describe(value)
    try:
        return repr(value)
    except KeyboardInterrupt:  # the user's own
        raise
    except BaseException:  # noqa: BLE001  whatever a repr raises, the record is worth more
        return f"<{type(value).__name__} that cannot be shown>"
