"""Whether two values are alike, told safely and in bounded time, whatever the values do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Comparing", "alike"]

MOST_COMPARED = 200_000  # pairs of objects; what is larger is told to be too large
# Told by identity: a metaclass of theirs may raise where a class is hashed or compared.
_PLAIN = frozenset(map(id, (str, int, bool, bytes, type(None), complex)))
_ARRAYS = frozenset(("numpy", "pandas", "polars", "pyarrow"))


def alike(old: Any, new: Any) -> bool | None:
    """Return whether two values are alike; None where there is too much to compare.

    NaN is like NaN, ``1`` is not like ``True`` or ``1.0``, and a list is not like a tuple. Objects without
    an ``__eq__`` of their own are alike where nothing in their reprs tells them apart.

    >>> alike({"a": [float("nan")]}, {"a": [float("nan")]}), alike(1, True)
    (True, False)
    """
    return Comparing().alike(old, new)


class Comparing:
    """A budget of comparisons that several calls share."""

    __slots__ = ("_left",)

    def __init__(self, most: int = MOST_COMPARED) -> None:
        self._left = most

    def alike(self, old: Any, new: Any) -> bool | None:
        """Return what `alike` of this module returns, None also where the budget is used up."""
        seen: set[tuple[int, int]] = set()  # containers may be shared, or hold themselves
        pairs = [(old, new)]
        while pairs:
            one, other = pairs.pop()
            if one is other:
                continue
            self._left -= 1
            if self._left < 0:
                return None
            try:
                inside = _held(one, other)
            except Exception:  # noqa: BLE001  they lie about themselves, or are edited while they are read
                return False
            if inside is True:
                continue
            if inside is False:
                return False
            if (id(one), id(other)) not in seen:
                seen.add((id(one), id(other)))
                if len(inside) > self._left:
                    return None
                pairs.extend(inside)
        return True


def _held(one: Any, other: Any) -> bool | list[tuple[Any, Any]]:
    """Return whether two objects are alike, or the pairs inside of them that have to be."""
    kind: Any = type(one)
    other_kind: Any = type(other)
    for base in (dict, list):  # one that refuses edits holds the same as one that does not
        if issubclass(kind, base) and issubclass(other_kind, base):
            return _pairs(one, other, base)
    if kind is not other_kind:
        return False
    if issubclass(kind, tuple):
        return _pairs(one, other, tuple)
    if id(kind) in _PLAIN:
        return bool(one == other)
    if kind is float:
        return bool(one == other) or (one != one and other != other)  # noqa: PLR0124  only NaN is not itself
    if issubclass(kind, str):
        return str.__str__(one) == str.__str__(other)
    if issubclass(kind, set | frozenset):
        return _same_sets(one, other)
    return _same_objects(one, other, kind)


def _pairs(one: Any, other: Any, base: Any) -> bool | list[tuple[Any, Any]]:
    if base.__len__(one) != base.__len__(other):
        return False
    if base is not dict:
        kinds = _kinds(base.__iter__(one))
        if len(kinds) < 2 and kinds <= _PLAIN and kinds == _kinds(base.__iter__(other)):
            return bool(base.__eq__(one, other))  # at the speed of C, and no method of theirs is called
        return list(zip(base.__iter__(one), base.__iter__(other), strict=True))
    missing = object()
    pairs = []
    for key, value in dict.items(one):
        found = dict.get(other, key, missing)
        if found is missing:
            return False
        pairs.append((value, found))
    return pairs


def _same_sets(one: Any, other: Any) -> bool:
    base = frozenset if isinstance(one, frozenset) else set
    if base.__len__(one) != base.__len__(other):
        return False
    # 1, 1.0 and True are one member; a NaN is none but itself.
    return bool(base.__eq__(one, other)) and _kinds(one) == _kinds(other)


def _kinds(items: Iterable[Any]) -> set[int]:
    return set(map(id, map(type, items)))


def _same_objects(one: Any, other: Any, kind: Any) -> bool:
    library = str(type.__dict__["__module__"].__get__(kind)).partition(".")[0]  # past a metaclass of theirs
    if library in _ARRAYS:
        return _same_arrays(one, other)
    if kind.__eq__ is object.__eq__:
        from agentctx_nb.render.bounds import without_addresses

        return without_addresses(repr(one)) == without_addresses(repr(other))
    return bool(one == other)


def _same_arrays(one: Any, other: Any) -> bool:
    if getattr(one, "shape", None) != getattr(other, "shape", None):
        return False
    if str(getattr(one, "dtype", "")) != str(getattr(other, "dtype", "")):
        return False
    if callable(same := getattr(one, "equals", None)):  # frames and series; NaN is like NaN there
        return bool(same(other))
    if not hasattr(one, "tobytes"):
        return bool(one == other)
    if str(getattr(one, "dtype", "")) == "object":  # its bytes are addresses
        return alike(one.tolist(), other.tolist()) is True
    return bool(one.tobytes() == other.tobytes())
