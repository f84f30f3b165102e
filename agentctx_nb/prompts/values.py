"""What a value looks like in a prompt, and a mapping that tells which of its keys were missed."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from agentctx_nb.bare import bare_scalar
from agentctx_nb.errors import TemplateError, describe
from agentctx_nb.prompts.room import Room, check_rounds
from agentctx_nb.tracebacks import theirs
from agentctx_nb.views import Missing, View

__all__ = ["Items", "Lookups", "Shown", "as_text", "item_of", "plain"]

_PLAIN: dict[type, Callable[[Any], Any]] = {str: str.__str__, bool: bool, int: int.__pos__}
MOST_ROWS = 1000  # of a DataFrame or a Series that stands in a prompt
DEEPEST = 64


class _NotANumber(float):
    """NaN as JavaScript has it: false in a condition, which the library tells by comparing with an empty text."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return other == ""

    def __hash__(self) -> int:
        return 0


_NAN = _NotANumber("nan")


class Lookups:
    """What one rendering looked up last: ``last`` is its path where it was there, else empty.

    ``here`` is the path of the mapping that the helper called last stands in. It also keeps what was
    unpacked, so that a table read in every round of a block is unpacked once.
    """

    __slots__ = ("_once", "here", "last")

    def __init__(self) -> None:
        self.last = self.here = ""
        self._once: dict[int, tuple[Any, Any]] = {}

    def once(self, value: Any, make: Callable[[Any], Any]) -> Any:
        """Return ``make(value)``, the same for the same object, which is held so that its identity stays its own."""
        kept = self._once.get(id(value))
        if kept is None:
            kept = self._once[id(value)] = (value, make(value))
        return kept[1]


class Shown(Mapping[str, Any]):
    """A mapping as a template may read it: values made plain when read, and each look-up noted.

    ``path`` is where it stands, with a dot at its end; ``seen`` is shared by all that come from one root.
    """

    __slots__ = ("path", "raw", "seen")

    def __init__(self, raw: Mapping[Any, Any], *, path: str = "", seen: Lookups | None = None) -> None:
        self.raw = raw
        self.path = path
        self.seen = Lookups() if seen is None else seen

    def __contains__(self, key: object) -> bool:
        there = key in self.raw
        self.seen.last = f"{self.path}{key}" if there else ""
        return there

    def __getitem__(self, key: str) -> Any:
        try:
            value = self.raw[key]
        except KeyError:
            raise
        except Exception as exc:  # noqa: BLE001  whatever a mapping of theirs raises
            raise TemplateError(f"{self.path}{key} cannot be read: {describe(exc)}") from theirs(exc)
        return value if type(value) is str else plain(value, path=f"{self.path}{key}", seen=self.seen)

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)

    def keys(self) -> KeysView[str]:
        """Return none: by way of them the library copies the context of a block for every helper it calls.

        Which is also how a helper learns where it is: by a copy of nothing it could not tell.
        """
        self.seen.here = self.path
        return dict[str, Any]().keys()

    def items(self) -> ItemsView[str, Any]:
        """Return the keys, as strings, with their plain values."""
        check_rounds(len(self.raw))
        return {str(key): self[key] for key in self.raw}.items()


class Items(Sequence[Any]):
    """A list as a template may read it: each item made plain when it is read, and no sooner."""

    __slots__ = ("path", "raw", "seen")

    def __init__(self, raw: Sequence[Any], *, path: str, seen: Lookups) -> None:
        self.raw = raw
        self.path = path
        self.seen = seen

    def __getitem__(self, place: Any) -> Any:
        return plain(self.raw[place], path=f"{self.path}{place}", seen=self.seen)

    def __iter__(self) -> Iterator[Any]:
        check_rounds(len(self.raw))
        for i, item in enumerate(self.raw):
            yield plain(item, path=f"{self.path}{i}", seen=self.seen)

    def __len__(self) -> int:
        return len(self.raw)


def item_of(collection: Any, name: str) -> Any:
    """Return what stands under a name in a mapping, or at a place in a list or a text, and note the look-up."""
    if isinstance(collection, Mapping):
        there = name in collection  # asked first, which notes it
        return collection[name] if there else None
    if not isinstance(collection, str | Items):
        return None
    place = int(name) if name.isdecimal() and len(name) < 10 else len(collection)
    there = name == "length" or (place < len(collection) and name == str(place))
    if isinstance(collection, Items):
        collection.seen.last = f"{collection.path}{name}" if there else ""
    if not there:
        return None
    return len(collection) if name == "length" else collection[place]


def plain(value: Any, *, path: str, seen: Lookups) -> Any:
    """Return ``value`` as None, a bool, a number, a string, `Items` or a `Shown`.

    Raises
    ------
    TemplateError
        It is something that has no text of its own; the error names the key.
    """
    for _ in range(DEEPEST):
        if value is None or type(value) in _PLAIN:
            return value
        if isinstance(value, float) and not isinstance(value, Enum):
            return float.__pos__(value) if float.__eq__(value, value) else _NAN
        if not isinstance(value, Enum):
            for kind, its_own in _PLAIN.items():
                if isinstance(value, kind):  # a kind of text or number that may write itself in its own way
                    return its_own(value)
        if isinstance(value, View | Mapping):
            return Shown(value, path=f"{path}.", seen=seen)
        if isinstance(value, Missing):
            return None
        if isinstance(value, list | tuple):
            return Items(value, path=f"{path}.", seen=seen)
        try:
            if isinstance(value, AbstractSet):
                return Items(seen.once(value, _in_order), path=f"{path}.", seen=seen)
            text = _own_text(value)
            inside = seen.once(value, _unpacked) if text is None else text
        except Exception as exc:  # noqa: BLE001  whatever an object of theirs raises
            raise TemplateError(f"{path} cannot be read: {describe(exc)}") from theirs(exc)
        if inside is value:
            kind_of = "a function" if callable(value) else f"of type {type(value).__name__}"
            raise TemplateError(
                f"{path} is {kind_of} and cannot stand in a prompt; put its text into the values instead"
            )
        value = inside
    raise TemplateError(f"{path} is nested too deep, or holds itself; write a value of it instead")


def _in_order(value: AbstractSet[Any]) -> list[Any]:
    return sorted(value, key=repr)


def _own_text(value: Any) -> str | None:
    """Return the text of what has one that everybody agrees on."""
    if isinstance(value, datetime | date | time):
        # pandas says NaT for no time at all, and calls it a datetime
        return value.isoformat() if value == value else ""  # noqa: PLR0124
    if isinstance(value, Decimal | UUID | PurePath | timedelta):
        return str(value)
    return None


def _unpacked(value: Any) -> Any:
    """Return what an enum member, a dataclass, a model, a scalar or table of numpy and pandas holds."""
    if isinstance(value, Enum):
        return value.value
    module = type(value).__module__.partition(".")[0]
    if type(value).__name__ == "MaskedConstant":  # numpy's for a value that is hidden
        return None
    if module == "pandas":
        return _from_pandas(value)
    if module == "numpy":
        scalar = bare_scalar(value)
        # Item by item and not by tolist, which makes of a float32 0.1 a 0.10000000149011612.
        return scalar if scalar is not value or not getattr(value, "ndim", 0) else list(value[:MOST_ROWS])
    for method in ("to_dict", "model_dump"):
        if callable(getattr(type(value), method, None)):
            return getattr(value, method)()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return value


def _from_pandas(value: Any) -> Any:
    kind = type(value).__name__
    if kind in ("NAType", "NaTType"):
        return None
    if kind == "DataFrame":
        rows = value.head(MOST_ROWS)
        columns = [list(rows.iloc[:, place].array) for place in range(rows.shape[1])]
        return [dict(zip(rows.columns, row, strict=True)) for row in zip(*columns, strict=True)]
    if kind == "MultiIndex":
        return value[:MOST_ROWS].tolist()
    if hasattr(value, "tolist"):  # a Series, an Index, or the array of one: item by item, as with numpy
        return list(getattr(value, "array", value)[:MOST_ROWS])
    return str(value) if kind in ("Interval", "Period") else value


def as_text(value: Any, room: Room | None = None) -> str:
    """Return the text of a plain value as Handlebars writes it, but for a dict, which is compact JSON.

    What it takes is taken from ``room``, while it is written.

    >>> as_text(True), as_text(2.0), as_text([1, None, "a"]), as_text(1e21)
    ('true', '2', '1,,a', '1e+21')
    """
    return _text(value, Room() if room is None else room, 0)


def _text(value: Any, room: Room, depth: int) -> str:
    if isinstance(value, Mapping):
        made = _for_json(value, room, depth)
        return json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, Sequence) and not isinstance(value, str):
        _check_depth(depth)
        texts = []
        for item in value:
            room.show()
            texts.append(_text(item, room, depth + 1))
        room.write(max(0, len(texts) - 1))
        return ",".join(texts)
    text = _scalar(value)
    room.write(len(text))
    return text


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return _number(value) if isinstance(value, float) else str(value)


def _for_json(value: Any, room: Room, depth: int) -> Any:
    room.show()
    if isinstance(value, str):
        room.write(len(value))
    elif isinstance(value, Mapping):
        _check_depth(depth)
        made = {key: _for_json(item, room, depth + 1) for key, item in value.items()}
        room.write(sum(map(len, made)))
        return made
    elif isinstance(value, Sequence):
        _check_depth(depth)
        return [_for_json(item, room, depth + 1) for item in value]
    elif isinstance(value, float):
        return None if not math.isfinite(value) else int(value) if value.is_integer() else value
    return value


def _check_depth(depth: int) -> None:
    if depth > DEEPEST:
        raise TemplateError("a value is nested too deep, or holds itself; write a part of it instead")


def _number(value: float) -> str:
    """Write a float as JavaScript does: no ``.0``, decimals from 1e-6 up to 1e21, else an exponent."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    size = abs(value)
    if size != 0 and not 1e-6 <= size < 1e21:
        digits, _, exponent = repr(value).partition("e")
        return f"{digits.removesuffix('.0')}e{int(exponent):+d}"
    return str(int(value)) if value.is_integer() else format(Decimal(repr(value)), "f")
