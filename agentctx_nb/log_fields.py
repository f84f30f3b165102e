"""What one log call says: its message, its fields, and a copy of them in which no secret is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentctx_nb.bare import bare
from agentctx_nb.errors import describe

__all__ = ["hidden", "read_call", "shown_value"]

_DEEPEST = 10  # levels that hold the next one twice would double what is written


class _Written(str):
    """The repr of an object with a secret covered in it, which is no text to put into quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str.__str__(self)


def read_call(first: object, args: tuple[object, ...]) -> tuple[str, dict[str, Any]]:
    """Return the message and the fields of a call, whichever of them came first.

    >>> read_call({"room": "lobby"}, ("hello",)), read_call("%s left", ("Ada",))
    (('hello', {'room': 'lobby'}), ('Ada left', {}))
    """
    fields: dict[str, Any]
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


def hidden(value: Any, mask: Callable[[str], str]) -> Any:
    """Return a copy of ``value`` in which no secret is written, down through plain containers.

    A container that holds itself has ``"<cycle>"`` in that place.

    >>> hidden({"key": ["k3y"], "n": 1}, lambda text: text.replace("k3y", "***"))
    {'key': ['***'], 'n': 1}
    """
    return _hidden(value, mask, {}, 0)


def shown_value(value: object) -> str:
    """Return the repr of a field's value, an exception in words, whatever either raises."""
    if isinstance(value, BaseException):
        value = describe(value)
    try:
        return repr(bare(value))
    except KeyboardInterrupt:  # the user's own
        raise
    except BaseException:  # noqa: BLE001  whatever a repr raises, the record is worth more
        return f"<{type(value).__name__} that cannot be shown>"


def _hidden(value: Any, mask: Callable[[str], str], known: dict[int, Any], depth: int) -> Any:
    if isinstance(value, str):
        return mask(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Mapping) or type(value) in (list, tuple, set, frozenset):
        if depth >= _DEEPEST:
            return f"<{type(value).__name__} too deep to show>"
        if id(value) not in known:  # copied once: shared levels would double each time
            known[id(value)] = "<cycle>"
            known[id(value)] = _container(value, mask, known, depth + 1)
        return known[id(value)]
    in_words = isinstance(value, BaseException)
    shown = describe(value) if in_words else shown_value(value)
    masked = mask(shown)
    if masked == shown:
        return value if _has_a_repr(value) else _Written(shown)
    return masked if in_words else _Written(masked)


def _has_a_repr(value: Any) -> bool:
    """Tell whether a formatter may write ``value``: an int of 5,000 digits, as many a thing of theirs, raises."""
    try:
        repr(value)
    except KeyboardInterrupt:  # the user's own
        raise
    except BaseException:  # noqa: BLE001  whatever a repr raises
        return False
    return True


def _container(value: Any, mask: Callable[[str], str], known: dict[int, Any], depth: int) -> Any:
    try:
        if isinstance(value, Mapping):
            pairs = list(value.items())
            return {_hidden(k, mask, known, depth): _hidden(v, mask, known, depth) for k, v in pairs}
        return type(value)([_hidden(item, mask, known, depth) for item in list(value)])
    except Exception as exc:  # noqa: BLE001  theirs, or a set of what is no key once masked
        return f"<{type(value).__name__} that cannot be shown: {type(exc).__name__}>"


def _formatted(message: str, args: tuple[object, ...]) -> str:
    if not args:
        return message
    try:
        return message % (args[0] if len(args) == 1 and isinstance(args[0], Mapping) else args)
    except Exception:  # noqa: BLE001  a log call never breaks what it reports on
        return " ".join([message, *map(shown_value, args)])
