"""Copies of plain containers: one to keep, one that refuses edits.

Dicts, lists, tuples and sets are copied all the way down; whatever else they hold (a client, a
DataFrame, a lock) stays the very object it was.
"""

from __future__ import annotations

from copy import copy
from typing import Any, NoReturn

__all__ = ["FrozenDict", "FrozenList", "copy_containers", "freeze"]

_PLAIN = frozenset((str, int, float, bool, type(None), bytes))


def copy_containers(value: Any) -> Any:
    """Return ``value`` with every plain container in it copied and every leaf shared.

    >>> rows = {"rows": [1, 2]}
    >>> copy = copy_containers(rows)
    >>> copy["rows"].append(3); rows
    {'rows': [1, 2]}
    """
    return _walk(value, {}, dict, list)


def freeze(value: Any) -> Any:
    """Return a copy like `copy_containers` whose dicts, lists and sets raise when they are edited."""
    if type(value) is dict and _all_plain(value):  # nearly every message
        return FrozenDict(value)
    return _walk(value, {}, FrozenDict, FrozenList)


def _all_plain(value: dict[Any, Any]) -> bool:
    for held in value.values():  # noqa: SIM110  a generator would cost more than the loop
        if type(held) not in _PLAIN:
            return False
    return True


def _walk(value: Any, seen: dict[int, Any], dict_type: type, list_type: type) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return value
    if id(value) in seen:  # the same container again, or a cycle
        return seen[id(value)]
    if kind is dict or kind is FrozenDict:
        copied = seen[id(value)] = dict_type()
        dict.update(copied, {k: _walk(v, seen, dict_type, list_type) for k, v in value.items()})
        return copied
    if kind is list or kind is FrozenList:
        items = seen[id(value)] = list_type()
        list.extend(items, [_walk(v, seen, dict_type, list_type) for v in value])
        return items
    if kind is tuple:
        return tuple([_walk(v, seen, dict_type, list_type) for v in value])
    if kind is set:
        return frozenset(value) if list_type is FrozenList else set(value)
    if issubclass(kind, dict):
        return _walk_kind_of_dict(value, seen, dict_type, list_type)
    return value


def _walk_kind_of_dict(value: Any, seen: dict[int, Any], dict_type: type, list_type: type) -> Any:
    """Copy an OrderedDict, a defaultdict and the like to its own kind, or to what refuses edits."""
    try:
        copied = FrozenDict() if dict_type is FrozenDict else copy(value)
    except Exception:  # noqa: BLE001  a kind that will not be copied is a leaf
        return value
    seen[id(value)] = copied
    dict.update(copied, {k: _walk(v, seen, dict_type, list_type) for k, v in dict.items(value)})
    return copied


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError("a provider sees the message and the state read-only; edit a copy of this instead")


class FrozenDict(dict[Any, Any]):
    """A dict that is read like any other and refuses every edit."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


class FrozenList(list[Any]):
    """A list that is read like any other and refuses every edit."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse
