"""Reading what providers left as attribute chains that never fail, as ``?.`` does in TypeScript."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, Final, NoReturn, TypeVar

from agentctx_nb.bare import bare
from agentctx_nb.names import kind_name

__all__ = ["MISSING", "ListView", "MaskedDict", "Missing", "View", "printable", "printed", "view"]

K = TypeVar("K")
V = TypeVar("V")

_LONGEST_PRINTED = 2_000  # characters
_DEEPEST_LIST = 5


class Missing:
    """What is not there: false, empty, equal to None, and so is everything read from it.

    >>> MISSING.data.preferences == None, bool(MISSING), f"[{MISSING}]"
    (True, False, '[]')
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: object) -> NoReturn:
        raise KeyError(key)

    def get(self, key: object, default: Any = None) -> Any:
        """Return ``default``: nothing is there."""
        return default

    def __bool__(self) -> bool:
        return False

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __contains__(self, key: object) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Missing)

    def __hash__(self) -> int:
        return hash(None)

    def __str__(self) -> str:
        return ""

    def __format__(self, spec: str) -> str:
        return ""  # also where the format was meant for a number

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


class View(MutableMapping[str, Any]):
    """A mapping read by key or by attribute; it writes through to the mapping it shows.

    An attribute that is not there, or is None, gives `MISSING`; ``[...]`` gives the very object that was stored and
    raises `KeyError`. A key named like a method of dicts (``items``) is read by ``[...]`` only. A mapping in
    it, or in a list in it, is a view as well; any other object is handed out as it is, a number with the
    attributes of a number.

    >>> city = View({"place": {"name": "Bergen"}, "days": [{"sky": "grey"}]})
    >>> city.place.name, city.country.name == None, city.days[0].sky
    ('Bergen', True, 'grey')
    """

    # An attribute that begins with two underscores is never a key, so no key reads these.
    __slots__ = ("__mask__", "__shown__")
    __mask__: Callable[[str], str]
    __shown__: Any

    def __init__(self, shown: Mapping[str, Any], mask: Callable[[str], str] = str) -> None:
        object.__setattr__(self, "__shown__", shown)
        object.__setattr__(self, "__mask__", mask)  # what hides secrets when a view is printed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__shown__.get(name)
        return MISSING if found is None else view(found, self.__mask__)  # null?.x is undefined, too

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __getitem__(self, key: str) -> Any:
        return self.__shown__[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.__shown__[key] = value

    def __delitem__(self, key: str) -> None:
        del self.__shown__[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__shown__)

    def __len__(self) -> int:
        return len(self.__shown__)

    def __contains__(self, key: object) -> bool:
        return key in self.__shown__

    def __eq__(self, other: object) -> bool:
        return bool(self.__shown__ == (other.__shown__ if isinstance(other, View) else other))

    __hash__ = None  # type: ignore[assignment]  # it can be edited

    def __repr__(self) -> str:
        return printed(self.__shown__, self.__mask__)

    def __copy__(self) -> View:
        return View(copy.copy(self.__shown__), self.__mask__)

    def __reduce__(self) -> tuple[Any, ...]:
        return View, (self.__shown__, self.__mask__)


class ListView(MutableSequence[Any]):
    """A list, or tuple, that holds mappings: its items are read as views, edits go to the list it shows.

    >>> rows = ListView([{"day": "Monday"}, {"day": "Tuesday"}])
    >>> rows[1].day, [row.sky == None for row in rows], rows == [{"day": "Monday"}, {"day": "Tuesday"}]
    ('Tuesday', [True, True], True)
    """

    __slots__ = ("_items", "_mask")

    def __init__(self, items: Sequence[Any], mask: Callable[[str], str] = str) -> None:
        self._items: Any = items
        self._mask = mask

    def __getitem__(self, place: Any) -> Any:
        found = self._items[place]
        return MISSING if found is None else view(found, self._mask)

    def __setitem__(self, place: Any, value: Any) -> None:
        self._items[place] = value

    def __delitem__(self, place: Any) -> None:
        del self._items[place]

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def insert(self, index: int, value: Any) -> None:
        """Put ``value`` into the list before ``index``."""
        self._items.insert(index, value)

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self._items, *other]

    def __radd__(self, other: Iterable[Any]) -> list[Any]:
        return [*other, *self._items]

    def __eq__(self, other: object) -> bool:
        return bool(self._items == (other._items if isinstance(other, ListView) else other))

    __hash__ = None  # type: ignore[assignment]  # it can be edited

    def __repr__(self) -> str:
        return printed(self._items, self._mask)

    def __copy__(self) -> ListView:
        return ListView(copy.copy(self._items), self._mask)

    def __reduce__(self) -> tuple[Any, ...]:
        return ListView, (self._items, self._mask)


class MaskedDict(dict[K, V]):
    """A dict that is one in every way, but hides secrets where it is printed."""

    __slots__ = ("mask",)

    def __init__(self, given: Mapping[K, V], mask: Callable[[str], str]) -> None:
        super().__init__(given)
        self.mask = mask

    def __repr__(self) -> str:
        return printed(dict(self), self.mask)

    def __copy__(self) -> MaskedDict[K, V]:
        return MaskedDict(self, self.mask)

    def __reduce__(self) -> tuple[Any, ...]:
        return MaskedDict, (dict(self), self.mask)


def view(value: Any, mask: Callable[[str], str] = str) -> Any:
    """Return a mapping as a `View`, a list that holds mappings as a `ListView`, anything else as it is."""
    try:
        if isinstance(value, Mapping):
            return value if isinstance(value, View) else View(value, mask)
        if _is_list(value) and _holds_mappings(value, _DEEPEST_LIST):
            return ListView(value, mask)
    except Exception:  # noqa: BLE001, S110  its class lies about itself: it is handed out as it is
        pass
    return value


def _is_list(value: Any) -> bool:
    return isinstance(value, list) or type(value) is tuple  # a named tuple has attributes of its own


def _is_mapping(kind: type) -> bool:
    try:
        return issubclass(kind, Mapping)
    except Exception:  # noqa: BLE001  an abstract class hashes what it is asked about
        return False


def _holds_mappings(items: Any, depth: int) -> bool:
    # Each class once, found by its identity: a metaclass of theirs may raise where a class is hashed.
    iterate: Any = list.__iter__ if isinstance(items, list) else tuple.__iter__
    ids = map(id, map(type, iterate(items)))
    kinds = dict(zip(ids, map(type, iterate(items)), strict=False)).values()
    if any(_is_mapping(kind) for kind in kinds):
        return True
    if not depth or not any(issubclass(kind, list) or kind is tuple for kind in kinds):
        return False  # nearly every list, however long: nothing was asked of its items one by one
    return any(_is_list(item) and _holds_mappings(item, depth - 1) for item in items)


def printable(text: str, mask: Callable[[str], str]) -> str:
    r"""Return ``text`` masked, with each character that would act on a terminal or reorder text as its escape.

    >>> printable("failed: B\x1b[31m", str)
    'failed: B\\x1b[31m'
    """
    masked = mask(text)
    if masked.isprintable():  # nearly every one: no view needs to be imported
        return masked
    from agentctx_nb.render.bounds import visible

    return visible(masked)


def printed(value: object, mask: Callable[[str], str]) -> str:
    """Return the repr of ``value``, masked, of bounded length, whatever is in it.

    >>> printed({"text": "x" * 10_000}, str)[-8:]
    'xxxxxxx…'
    """
    from agentctx_nb.render.bounds import masked_start, visible

    try:
        text = masked_start(repr(bare(value)), _LONGEST_PRINTED + 1, mask=mask)
    except Exception as exc:  # noqa: BLE001  a broken __repr__ inside must not hide that there is something
        return f"<{kind_name(value)} whose repr raises {kind_name(exc)}>"
    return visible(text if len(text) <= _LONGEST_PRINTED else text[:_LONGEST_PRINTED] + "…")
