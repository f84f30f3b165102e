"""What two messages or results have to share to be the same: something hashable that holds it all."""

from __future__ import annotations

from collections import deque
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from agentctx_nb.freeze import is_value

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["sameness"]

MOST_COMPARED = 100_000  # objects of one message; containers shared a hundred times over would be endless
# Libraries whose objects cannot be edited and tell all of themselves in their repr.
_TOLD_BY_REPR = frozenset({"datetime", "decimal", "fractions", "pathlib", "uuid", "zoneinfo"})
_PLAIN = frozenset((str, int, bool, bytes, type(None)))


def sameness(value: Any) -> Hashable:
    """Return something equal and hashable for values that no provider can tell apart, and only for those.

    >>> sameness({"a": [1]}) == sameness({"a": [1]}), sameness({1: "a"}) == sameness({"1": "a"})
    (True, False)

    Raises
    ------
    TypeError
        It holds an object that might be edited in place without a trace, or more than can be compared.
    RecursionError
        It is nested too deep, or in itself.
    """
    return _Comparing().of(value)


class _Comparing:
    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MOST_COMPARED

    def of(self, value: Any) -> Hashable:
        kind = type(value)
        self._left -= 1
        if self._left < 0:
            raise TypeError("there is too much to compare")
        if kind in _PLAIN:
            return kind, value  # the kind as well, so that 1 and True are two
        if isinstance(value, dict):
            return dict, frozenset((self.of(k), self.of(v)) for k, v in dict.items(value))
        if isinstance(value, list):
            return list, *map(self.of, list.__iter__(value))
        if isinstance(value, tuple):
            return kind, *map(self.of, tuple.__iter__(value))
        if isinstance(value, float):
            return kind, float.hex(value)  # 0.0 and -0.0 are two, and NaN is NaN
        if isinstance(value, Enum):
            return kind, value.name
        if isinstance(value, str):
            return kind, str.__str__(value)
        if isinstance(value, set | frozenset):
            return set, frozenset(map(self.of, value))
        if isinstance(value, deque):
            return deque, value.maxlen, *map(self.of, deque.__iter__(value))
        if isinstance(value, bytearray):
            return kind, bytes(value)
        if kind.__module__.partition(".")[0] in _TOLD_BY_REPR:
            return kind, repr(value)
        return self._of_object(value, kind)

    def _of_object(self, value: Any, kind: type) -> Hashable:
        ours = getattr(kind, "_sealed_type", None)
        if ours is None and not is_value(kind):
            raise TypeError(f"{kind.__name__} may be edited in place")
        held = (
            {field.name: getattr(value, field.name) for field in fields(value)} if is_dataclass(kind) else {}
        )
        held |= getattr(value, "__dict__", {})
        return ours or kind, self.of(held)
