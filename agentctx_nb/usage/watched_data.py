"""The data of a state as attribute chains that note how far they were followed."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any

from agentctx_nb.names import shown
from agentctx_nb.state import ProviderEntry
from agentctx_nb.views import MISSING, View, view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentctx_nb.usage.read_recorder import Path, ReadNotes

__all__ = ["WatchedView"]

_ABSENT = object()


class WatchedView(View):
    """A `View` that notes each step taken through it; what ``[...]`` gives is the very object that was stored."""

    # Two underscores, as in a `View`: no key of a mapping is called so.
    __slots__ = ("__notes__", "__path__")
    __notes__: ReadNotes
    __path__: Path

    def __init__(
        self, shown: Mapping[str, Any], path: Path, notes: ReadNotes, mask: Callable[[str], str]
    ) -> None:
        super().__init__(shown, mask)
        object.__setattr__(self, "__path__", path)
        object.__setattr__(self, "__notes__", notes)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__shown__.get(name)
        path = (*self.__path__, name)
        if found is None:
            (self.__notes__.read if name in self.__shown__ else self.__notes__.missed)(path)
            return MISSING
        self.__notes__.passed(path)
        return _watched(found, path, self.__notes__, self.__mask__)

    def __getitem__(self, key: str) -> Any:
        path = (*self.__path__, key if isinstance(key, str) else shown(key))
        found = self.__shown__.get(key, _ABSENT)
        if found is _ABSENT:
            self.__notes__.missed(path)
            return self.__shown__[key]  # which says so in its own way
        if isinstance(found, View | ProviderEntry):
            self.__notes__.passed(path)
            return _watched(found, path, self.__notes__, self.__mask__)
        self.__notes__.read(path)
        return found

    def __contains__(self, key: object) -> bool:
        there = key in self.__shown__
        path = (*self.__path__, key if isinstance(key, str) else shown(key))
        (self.__notes__.passed if there else self.__notes__.missed)(path)
        return there

    def __iter__(self) -> Iterator[str]:
        self.__notes__.read(self.__path__)
        return iter(self.__shown__)

    def __repr__(self) -> str:
        self.__notes__.read(self.__path__)
        return super().__repr__()

    def __copy__(self) -> View:
        self.__notes__.read(self.__path__)
        return super().__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        self.__notes__.read(self.__path__)
        return super().__reduce__()


class _WatchedEntry:
    """What one provider left, with the parts of it noted; a `ProviderEntry` in all but its class."""

    __slots__ = ("_entry", "_notes", "_path")

    def __init__(self, entry: ProviderEntry, path: Path, notes: ReadNotes) -> None:
        self._entry = entry
        self._path = path
        self._notes = notes

    @property
    def text(self) -> str:
        self._notes.read((*self._path, "text"))
        return self._entry.text

    @property
    def values(self) -> View:
        return self._part("values", self._entry.raw_values)

    @property
    def data(self) -> View:
        return self._part("data", self._entry.raw_data)

    def _part(self, name: str, shown: Mapping[str, Any]) -> View:
        path = (*self._path, name)
        self._notes.passed(path)
        return WatchedView(shown, path, self._notes, self._entry.mask)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)

    def __getitem__(self, key: str) -> Any:
        found = self._entry[key]
        self._notes.read((*self._path, key))
        return found

    def __eq__(self, other: object) -> bool:
        return self._entry == (other._entry if isinstance(other, _WatchedEntry) else other)

    __hash__ = None  # type: ignore[assignment]  # as that of an entry, whose dicts have none

    def _taken_whole(self) -> ProviderEntry:
        self._notes.read(self._path)
        return self._entry

    def __repr__(self) -> str:
        return repr(self._taken_whole())

    def __copy__(self) -> ProviderEntry:
        return copy(self._taken_whole())

    def __deepcopy__(self, memo: dict[int, Any]) -> ProviderEntry:
        return deepcopy(self._taken_whole(), memo)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._taken_whole().__reduce__()


def _watched(value: Any, path: Path, notes: ReadNotes, mask: Callable[[str], str]) -> Any:
    if isinstance(value, ProviderEntry):
        return _WatchedEntry(value, path, notes)
    if isinstance(value, Mapping):
        return WatchedView(value, path, notes, mask)
    return view(value, mask)
