"""What a value looks like in a prompt, and a mapping that tells which of its keys were missed."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any
from uuid import UUID

from agentctx_nb.errors import TemplateError, describe
from agentctx_nb.views import Missing, View

__all__ = ["Shown", "as_text", "plain"]

MOST_ROWS = 1000  # of a DataFrame or a Series that stands in a prompt
DEEPEST = 64


class Shown(Mapping[str, Any]):
    """A mapping as a template may read it: values made plain when read, missed keys noted.

    ``path`` is where it stands, for errors; ``missed`` is shared by all that come from one root.
    """

    __slots__ = ("missed", "path", "raw")

    def __init__(self, raw: Mapping[Any, Any], *, path: str = "", missed: list[str] | None = None) -> None:
        self.raw = raw
        self.path = path
        self.missed: list[str] = [] if missed is None else missed

    def __contains__(self, key: object) -> bool:
        if key in self.raw:
            return True
        self.missed.append(f"{self.path}{key}")
        return False

    def __getitem__(self, key: str) -> Any:
        path = f"{self.path}{key}"
        try:
            value = self.raw[key]
        except KeyError:
            raise
        except Exception as exc:
            raise TemplateError(f"{path} cannot be read: {describe(exc)}") from exc
        return plain(value, path=path, missed=self.missed)

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(self.raw)

    def keys(self) -> KeysView[str]:
        """Return none: by way of them the library copies its whole context for every helper it calls."""
        return dict[str, Any]().keys()

    def items(self) -> ItemsView[str, Any]:
        """Return the keys, as strings, with their plain values."""
        return {str(key): self[key] for key in self.raw}.items()


def plain(value: Any, *, path: str, missed: list[str] | None = None, depth: int = 0) -> Any:
    """Return ``value`` as None, a bool, a number, a string, a list of such, or a `Shown`.

    Raises
    ------
    TemplateError
        It is something that has no text of its own; the error names the key.
    """
    if value is None or (isinstance(value, bool | int | float | str) and not isinstance(value, Enum)):
        return str.__str__(value) if isinstance(value, str) else value
    if depth > DEEPEST:
        raise TemplateError(f"{path} is nested too deep, or holds itself; write a value of it instead")
    if isinstance(value, View | Mapping):
        return Shown(value, path=f"{path}.", missed=missed)
    if isinstance(value, Missing):
        return None
    if isinstance(value, list | tuple | AbstractSet):
        items = sorted(value, key=repr) if isinstance(value, AbstractSet) else value
        return [
            plain(item, path=f"{path}.{i}", missed=missed, depth=depth + 1) for i, item in enumerate(items)
        ]
    text = _own_text(value)
    if text is not None:
        return text
    inside = _unpacked(value)
    if inside is not value:
        return plain(inside, path=path, missed=missed, depth=depth + 1)
    kind = "a function" if callable(value) else f"of type {type(value).__name__}"
    raise TemplateError(
        f"{path} is {kind} and cannot stand in a prompt; put its text into the values instead"
    )


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
    if module == "pandas":
        return _from_pandas(value)
    if module == "numpy":
        return value.item() if getattr(value, "ndim", 1) == 0 else value[:MOST_ROWS].tolist()
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
        return value.head(MOST_ROWS).to_dict("records")
    if kind in ("Series", "Index"):
        return value[:MOST_ROWS].tolist()
    return str(value)


def as_text(value: Any) -> str:
    """Return the text of a plain value as Handlebars writes it, but for a dict, which is compact JSON.

    >>> as_text(True), as_text(2.0), as_text([1, None, "a"]), as_text(1e21)
    ('true', '2', '1,,a', '1e+21')
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        return json.dumps(_for_json(value), ensure_ascii=False, separators=(",", ":"))
    if isinstance(value, Sequence):
        return ",".join(as_text(item) for item in value)
    return str(value)


def _for_json(value: Any, depth: int = 0) -> Any:
    if depth > DEEPEST:
        raise TemplateError("a value is nested too deep, or holds itself; write a part of it instead")
    if isinstance(value, Mapping):
        return {str(key): _for_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_for_json(item, depth + 1) for item in value]
    if isinstance(value, float):
        return None if not math.isfinite(value) else int(value) if value.is_integer() else value
    return value


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
