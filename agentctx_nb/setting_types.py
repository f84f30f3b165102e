"""A setting as the type its reader asks for: text of an environment becomes a number, a list, a path."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Number
from typing import TYPE_CHECKING, Any, get_args, get_origin

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["as_type", "type_name"]

_LISTS = (list, tuple, set, frozenset)


def as_type(value: Any, wanted: Any) -> Any:
    """Return ``value`` as ``wanted``.

    ``int``, ``float``, ``str``, ``bool`` (exactly ``"true"`` and ``"false"``), ``list`` and ``list[T]``
    (texts between commas; ``tuple``, ``set`` and ``frozenset`` alike, as ``tuple[T, ...]`` too), ``dict`` (JSON), ``Path``, an ``Enum``
    by value or by name; any other callable is called with it.

    Raises
    ------
    ValueError, TypeError
        It is no such thing; or whatever a callable of the caller's raises.

    >>> as_type("8080", int), as_type("a, b,", list), as_type("1,2", list[int]), as_type("true", bool)
    (8080, ['a', 'b'], [1, 2], True)
    """
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin in _LISTS and (len(arguments) == 1 or (origin is tuple and arguments[1:] == (...,))):
        return origin([as_type(each, arguments[0]) for each in _as_list(value)])
    return _reader(wanted)(value)


def type_name(wanted: Any) -> str:
    """Return what an error calls the type ``wanted``.

    >>> type_name(int), type_name(list[int])
    ('int', 'list[int]')
    """
    origin = get_origin(wanted)
    if origin in _LISTS:
        items = ["..." if each is ... else type_name(each) for each in get_args(wanted)]
        return f"{origin.__name__}[{', '.join(items)}]"
    name = getattr(wanted, "__name__", None)
    return name if isinstance(name, str) else type(wanted).__name__


def _reader(wanted: Any) -> Callable[[Any], Any]:
    from enum import Enum
    from pathlib import PurePath

    known: dict[Any, Callable[[Any], Any]] = {
        bool: _as_bool,
        int: _as_int,
        float: _as_float,
        str: _as_str,
        list: _as_list,
        dict: _as_dict,
    }
    if wanted in known:
        return known[wanted]
    if wanted in _LISTS:
        return lambda value: wanted(_as_list(value))
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return lambda value: _as_member(value, wanted)
    if isinstance(wanted, type) and issubclass(wanted, PurePath):
        return lambda value: value if isinstance(value, wanted) else wanted(value)
    return wanted  # type: ignore[no-any-return]  # whatever can be called: `Settings.get` has looked


def _as_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in ("true", "false"):
        return value == "true"
    raise ValueError('a bool is written "true" or "false"')


def _as_int(value: Any) -> int:
    if type(value).__name__.startswith("bool"):  # numpy's own as well
        raise TypeError
    number = int(value)
    if number != value and isinstance(value, Number):  # of 1.9 it would be a part
        raise TypeError
    return number


def _as_float(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    return float(value)


def _as_str(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes | bytearray | Mapping | list | tuple | set | frozenset):
        raise TypeError
    return str(value)


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [part for part in (each.strip() for each in value.split(",")) if part]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    raise TypeError


def _as_dict(value: Any) -> dict[Any, Any]:
    import json

    read = value
    if isinstance(value, str):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            read = None
    if not isinstance(read, Mapping):
        raise ValueError('a dict is written as JSON, such as {"units": "metric"}')  # noqa: TRY004  as the others
    return dict(read)


def _as_member(value: Any, wanted: Any) -> Any:
    for member in wanted:
        if value is member or value == member.value or str(value) == str(member.value):
            return member
    for member in wanted:
        if isinstance(value, str) and value.casefold() == member.name.casefold():
            return member
    raise ValueError("one of " + ", ".join(str(member.value) for member in wanted))
