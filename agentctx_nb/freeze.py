"""Copies of plain containers: one to keep, one that refuses edits.

Dicts, lists, tuples, sets, deques and bytearrays are copied all the way down, however deep, and so are
this package's own memories, contents and entities. The copy to keep also copies a dataclass that is
compared by value. Whatever else they hold (a client, a DataFrame, an array, a lock, an object of the
user's own class) stays the very object it was, and so does what will not be copied.
"""

from __future__ import annotations

from collections import deque
from copy import copy
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["FrozenDeque", "FrozenDict", "FrozenList", "copy_containers", "freeze", "is_value", "thawed"]

# Told by identity: a metaclass of theirs may raise where a class is hashed or compared.
_PLAIN = frozenset(map(id, (str, int, float, bool, type(None), bytes)))
_DEEPEST_TUPLES = 100  # tuples directly inside each other; only they have to be made from the inside out


def copy_containers(value: Any) -> Any:
    """Return ``value`` with every plain container in it copied and every leaf shared.

    >>> rows = {"rows": [1, 2]}
    >>> copy = copy_containers(rows)
    >>> copy["rows"].append(3); rows
    {'rows': [1, 2]}
    """
    return _Copying(frozen=False).of(value)


def freeze(value: Any) -> Any:
    """Return a copy like `copy_containers` whose containers raise when they are edited."""
    if type(value) is dict and _all_plain(value):  # nearly every message
        return FrozenDict(value)
    return _Copying(frozen=True).of(value)


def _all_plain(value: dict[Any, Any]) -> bool:
    for held in value.values():  # noqa: SIM110  a generator would cost more than the loop
        if id(type(held)) not in _PLAIN:
            return False
    return True


def is_value(kind: type) -> bool:
    """Whether ``kind`` is a dataclass whose objects are equal when their fields are."""
    parameters = kind.__dict__.get("__dataclass_params__")  # not inherited by what is none itself
    return parameters is not None and parameters.eq


class _Copying:
    """One copy being made.

    Each container is copied shallowly when it is met, and what it holds is exchanged for copies later:
    so the depth of the data is no depth of calls, and a container that holds itself is no trouble.
    """

    __slots__ = ("_frozen", "_seen", "_tuples", "_unfinished")

    def __init__(self, *, frozen: bool) -> None:
        self._frozen = frozen
        self._seen: dict[int, Any] = {}
        self._tuples = 0
        self._unfinished: list[tuple[Callable[[Any, Any, Any], None], Any, Iterable[tuple[Any, Any]]]] = []

    def of(self, value: Any) -> Any:
        copied = self._begin(value)
        while self._unfinished:
            put, into, held = self._unfinished.pop()
            for key, item in held:
                new = self._begin(item)
                if new is not item:
                    put(into, key, new)
        return copied

    def _begin(self, value: Any) -> Any:
        kind = type(value)
        if id(kind) in _PLAIN:
            return value
        if id(value) in self._seen:  # the same container again, or a cycle
            return self._seen[id(value)]
        try:
            copied = self._begin_kind(value, kind)
        except Exception:  # noqa: BLE001  a kind that will not be copied is a leaf
            copied = value
        if copied is not value:
            self._seen[id(value)] = copied
        return copied

    def _begin_kind(self, value: Any, kind: type) -> Any:
        frozen = self._frozen
        if issubclass(kind, dict):
            items = list(dict.items(value))
            made: Any = FrozenDict(items) if frozen else _own_kind(value, kind, FrozenDict, dict, items)
            return self._later(dict.__setitem__, made, items)
        if issubclass(kind, list):
            held = list.copy(value)
            made = FrozenList(held) if frozen else _own_kind(value, kind, FrozenList, list, held)
            return self._later(list.__setitem__, made, enumerate(held))
        if issubclass(kind, tuple):
            return self._tuple(value, kind)
        if issubclass(kind, set):
            return frozenset(value) if frozen else copy(value)
        if issubclass(kind, bytearray):
            return bytes(value) if frozen else copy(value)
        if issubclass(kind, deque):
            return self._deque(value, kind)
        sealed = getattr(kind, "_sealed_type", None)
        if isinstance(sealed, type):
            return self._ours(value, kind, sealed)
        if not frozen and is_value(kind):
            return self._dataclass(value, kind)
        return value

    def _later(
        self, put: Callable[[Any, Any, Any], None], copied: Any, held: Iterable[tuple[Any, Any]]
    ) -> Any:
        self._unfinished.append((put, copied, held))
        return copied

    def _tuple(self, value: Any, kind: type[Any]) -> Any:
        if self._tuples >= _DEEPEST_TUPLES:
            return value
        self._tuples += 1
        try:
            held = [self._begin(item) for item in tuple.__iter__(value)]
        finally:
            self._tuples -= 1
        if all(new is item for new, item in zip(held, tuple.__iter__(value), strict=True)):
            return value
        made: Any = tuple.__new__(kind, held)
        if kind is not tuple and hasattr(value, "__dict__"):
            vars(made).update(vars(value))
        return made

    def _deque(self, value: Any, kind: type) -> Any:
        held = [*deque.__iter__(value)]
        if self._frozen:
            made: Any = FrozenDeque(held, value.maxlen)
        elif kind is deque or kind is FrozenDeque:
            made = deque(held, value.maxlen)
        else:
            made = _same_kind(copy(value), kind)
        return self._later(deque.__setitem__, made, enumerate(held))

    def _ours(self, value: Any, kind: type, sealed: type) -> Any:
        """Copy a memory, a content or an entity: sealed, or open whatever it was."""
        target: Any = sealed if self._frozen else sealed.__base__ if kind is sealed else kind
        made = object.__new__(target)
        if hasattr(value, "__dict__"):
            object.__setattr__(made, "__dict__", self._begin(vars(value)))
        held = _fields_of(value) if is_dataclass(kind) else []
        for name, item in held:
            object.__setattr__(made, name, item)
        return self._later(object.__setattr__, made, held)

    def _dataclass(self, value: Any, kind: type) -> Any:
        held = _fields_of(value)
        if hasattr(value, "__dict__") and not vars(value).keys() <= dict(held).keys():
            return value  # it keeps something beside its fields, such as a cached property
        return self._later(object.__setattr__, _same_kind(copy(value), kind), held)


def _fields_of(value: Any) -> list[tuple[str, Any]]:
    return [(field.name, getattr(value, field.name)) for field in fields(value) if hasattr(value, field.name)]


def _own_kind(value: Any, kind: type, frozen: type, plain: type, held: Any) -> Any:
    return plain(held) if kind is plain or kind is frozen else _same_kind(copy(value), kind)


def _same_kind(copied: Any, kind: type) -> Any:
    if type(copied) is not kind:
        raise TypeError(f"a copy of {kind.__name__} is {type(copied).__name__}")
    return copied


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError("a provider sees the message and the state read-only; edit a copy of this instead")


def _itself(value: Any) -> Any:
    return value


def thawed(self: Any, _protocol: object) -> tuple[Callable[[Any], Any], tuple[Any]]:
    """Reduce what refuses edits to an ordinary copy of it: for `copy`, `copy.deepcopy` and `pickle`."""
    return _itself, (copy_containers(self),)


class FrozenDict(dict[Any, Any]):
    """A dict that is read like any other and refuses every edit; a copy of it can be edited."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse
    __reduce_ex__ = thawed
    copy = copy_containers


class FrozenList(list[Any]):
    """A list that is read like any other and refuses every edit; a copy of it can be edited."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse
    __reduce_ex__ = thawed
    copy = copy_containers


class FrozenDeque(deque[Any]):
    """A deque that is read like any other and refuses every edit; a copy of it can be edited."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = appendleft = clear = extend = extendleft = insert = _refuse
    pop = popleft = remove = reverse = rotate = _refuse
    __reduce_ex__ = thawed
    __copy__ = copy = copy_containers
