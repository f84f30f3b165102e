"""What a message says, as JSON that reads back equal; what cannot be written so is refused by every store.

Plain values stay plain JSON. A tuple, set, bytes, date, time, Decimal, UUID, numpy number or array, and a dict
with other keys than strings, is written as ``{"$": kind, "is": value}``. Anything else is refused by its place.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode, b64encode
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.names import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["check_writable", "read_json", "write_json"]

_KIND, _IS = "$", "is"
_SCALARS = frozenset((str, int, float, bool, type(None)))
_DEEPEST = 200  # containers in containers; far less than what stops the reader
_NUMPY_KINDS = "biufcmMSU"
_PLAIN_INT = 2**64  # far less than Python refuses to write out


def write_json(value: Any, *, of: str) -> str:
    """Return ``value`` as JSON.

    Raises
    ------
    DefinitionError
        Something in it cannot be written; the message names where it stands, starting at ``of``.

    >>> write_json({"when": date(2026, 1, 1), "tags": ["a"]}, of="metadata")
    '{"when":{"$":"date","is":"2026-01-01"},"tags":["a"]}'
    """
    try:
        return _dumps(_plain(value, of, ()))
    except RecursionError:
        raise DefinitionError(f"{of} is nested too deep to be stored") from None
    except DefinitionError:
        raise
    except ValueError as exc:  # a number of thousands of digits
        raise DefinitionError(f"{of} cannot be stored: {exc}") from exc


def check_writable(given: Mapping[Any, Any], *, of: str) -> None:
    """Raise what `write_json` raises; nearly every message is known to be plain at a glance."""
    for key, value in given.items():
        plain = type(key) is str and type(value) in _SCALARS
        if not plain or (type(value) is int and not -_PLAIN_INT < value < _PLAIN_INT):
            write_json(given, of=of)
            return


def read_json(text: str) -> Any:
    """Return what `write_json` was given.

    >>> read_json('{"when":{"$":"date","is":"2026-01-01"}}')
    {'when': datetime.date(2026, 1, 1)}
    """
    return _decoder.decode(text)


def _dumps(plain: Any) -> str:
    text = _encoder.encode(plain)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a character, as a text cut in the middle has it
        return json.dumps(plain, separators=(",", ":"))
    return text


def _plain(value: Any, place: str, above: tuple[int, ...]) -> Any:
    if type(value) in _SCALARS:
        return value
    if id(value) in above:
        raise DefinitionError(f"{place} holds itself; a store cannot keep that")
    if len(above) > _DEEPEST:
        raise RecursionError
    inside = (*above, id(value))
    if isinstance(value, dict):
        if _KIND not in value and all(isinstance(key, str) for key in value):
            return {
                str.__str__(k): v if type(v) in _SCALARS else _plain(v, f"{place}[{k!r}]", inside)
                for k, v in value.items()
            }
        pairs = [
            [_plain(k, f"a key of {place}", inside), _plain(v, f"{place}[{shown(k)}]", inside)]
            for k, v in value.items()
        ]
        return {_KIND: "dict", _IS: pairs}
    if isinstance(value, list | tuple):
        items = [
            item if type(item) in _SCALARS else _plain(item, f"{place}[{number}]", inside)
            for number, item in enumerate(value)
        ]
        return items if isinstance(value, list) else {_KIND: "tuple", _IS: items}
    if isinstance(value, set | frozenset):
        items = [_plain(item, f"an item of {place}", inside) for item in sorted(value, key=repr)]
        return {_KIND: "frozenset" if isinstance(value, frozenset) else "set", _IS: items}
    return _tagged(value, place)


def _tagged(value: Any, place: str) -> Any:
    kind = type(value)
    write = _WRITERS.get(kind)
    if write is not None:
        return {_KIND: kind.__name__, _IS: write(value)}
    numpy = sys.modules.get("numpy")  # without it loaded nothing is of it
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        array = numpy.asarray(value)
        if array.dtype.kind in _NUMPY_KINDS:
            raw = b64encode(array.tobytes()).decode()
            return {_KIND: "array", _IS: [array.dtype.str, list(array.shape), raw]}
        raise DefinitionTypeError(
            f"{place} is an array of {array.dtype}, which a store cannot keep; give its .tolist()"
        )
    # After numpy, whose float64 and str_ are floats and strings as well.
    for plain in (str, int, float):
        if isinstance(value, plain):
            return str.__str__(value) if plain is str else plain(value)
    if kind.__module__ in {"decimal", "uuid"} and kind.__name__ in {"Decimal", "UUID"}:
        return {_KIND: kind.__name__, _IS: str(value)}
    raise DefinitionTypeError(
        f"{place} is of type {kind.__name__}, which a store cannot keep; give text, numbers, or dicts and lists of them"
    )


def _read(found: dict[str, Any]) -> Any:
    kind = found.get(_KIND)
    return found if kind is None else _READERS[kind](found[_IS])


def _read_array(given: list[Any]) -> Any:
    import numpy as np

    kind, shape, raw = given
    array = np.frombuffer(b64decode(raw), dtype=kind).reshape(shape)
    return array.copy() if shape else array[()]


def _decimal(text: str) -> Any:
    from decimal import Decimal

    return Decimal(text)


def _uuid(text: str) -> Any:
    from uuid import UUID

    return UUID(text)


_WRITERS: dict[type, Callable[[Any], Any]] = {
    bytes: lambda value: b64encode(value).decode(),
    datetime: datetime.isoformat,
    date: date.isoformat,
    time: time.isoformat,
    timedelta: lambda value: [value.days, value.seconds, value.microseconds],
}
_READERS: dict[str, Callable[[Any], Any]] = {
    "array": _read_array,
    "bytes": b64decode,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "Decimal": _decimal,
    "dict": dict,
    "frozenset": frozenset,
    "set": set,
    "time": time.fromisoformat,
    "timedelta": lambda given: timedelta(*given),
    "tuple": tuple,
    "UUID": _uuid,
}
_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_decoder = json.JSONDecoder(object_hook=_read)
