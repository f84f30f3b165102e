"""Reading what providers left as attribute chains that never fail, as ``?.`` does in TypeScript."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, Final, NoReturn

__all__ = ["MISSING", "Missing", "View", "printed", "view"]

_LONGEST_PRINTED = 2_000  # characters


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
    raises `KeyError`. A key named like a method of dicts (``items``) is read by ``[...]`` only.

    >>> city = View({"place": {"name": "Bergen"}})
    >>> city.place.name, city.country.name == None
    ('Bergen', True)
    """

    __slots__ = ("_mask", "_shown")

    def __init__(self, shown: Mapping[str, Any], mask: Callable[[str], str] = str) -> None:
        object.__setattr__(self, "_shown", shown)
        object.__setattr__(self, "_mask", mask)  # what hides secrets when a view is printed

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self._shown.get(name)
        return MISSING if found is None else view(found, self._mask)  # null?.x is undefined, too

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __getitem__(self, key: str) -> Any:
        return self._shown[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._shown[key] = value

    def __delitem__(self, key: str) -> None:
        del self._shown[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._shown)

    def __len__(self) -> int:
        return len(self._shown)

    def __contains__(self, key: object) -> bool:
        return key in self._shown

    def __eq__(self, other: object) -> bool:
        return bool(self._shown == (other._shown if isinstance(other, View) else other))

    __hash__ = None  # type: ignore[assignment]  # it can be edited

    def __repr__(self) -> str:
        return printed(self._shown, self._mask)

    def __reduce__(self) -> tuple[type[View], tuple[Mapping[str, Any]]]:
        return View, (self._shown,)


def view(value: Any, mask: Callable[[str], str] = str) -> Any:
    """Return a mapping as a `View`, and anything else as it is."""
    return View(value, mask) if isinstance(value, Mapping) and not isinstance(value, View) else value


def printed(value: object, mask: Callable[[str], str]) -> str:
    """Return the repr of ``value``, masked, of bounded length, whatever is in it.

    >>> printed({"text": "x" * 10_000}, str)[-8:]
    'xxxxxxx…'
    """
    try:
        text = mask(repr(value))
    except Exception as exc:  # noqa: BLE001  a broken __repr__ inside must not hide that there is something
        return f"<{type(value).__name__} whose repr raises {type(exc).__name__}>"
    return text if len(text) <= _LONGEST_PRINTED else text[:_LONGEST_PRINTED] + "…"
