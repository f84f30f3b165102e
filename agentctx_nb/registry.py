"""The ordered providers of a runtime: replaced in place, numbered, seen by a composition as a snapshot."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import CycleError, UnknownProviderError, nearest_names
from agentctx_nb.history import History
from agentctx_nb.provider import Call, Provider, caller

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentctx_nb.keywords import KeywordIndex

__all__ = ["CELL", "Registered", "Registry", "Snapshot", "find_cycle"]

CELL = "cell"  # the origin of what a cell magic registers, which says itself what is odd about it


# Written out, as a few others that come with every import: Python compiles a NamedTuple anew each time.
class Registered:
    """A provider in its place.

    ``version`` counts the registrations under this name, ``slot`` is its place in the order of first
    registration, ``origin`` says which cell or module it came from, ``call`` is what runs it.
    """

    __slots__ = ("call", "name", "origin", "provider", "slot", "version")

    def __init__(self, provider: Provider, version: int, slot: int, origin: str | None, call: Call) -> None:
        self.name = provider.name
        self.provider = provider
        self.version = version
        self.slot = slot
        self.origin = origin
        self.call = call


class Snapshot:
    """The registry at one moment: entries in text order, and what was worked out about them.

    ``plans`` is the one thing that grows, bounded by who fills it: the selections already made from
    these entries, thrown away with the snapshot when the registry changes.
    """

    __slots__ = ("by_name", "entries", "plans")

    def __init__(self, entries: tuple[Registered, ...], by_name: Mapping[str, Registered]) -> None:
        self.entries = entries
        self.by_name = by_name
        self.plans: dict[Any, Any] = {}


class Registry:
    """Providers by name; safe to change from any thread, also while a composition runs.

    ``has_keywords`` says whether any provider can be woken by a word at all.
    """

    def __init__(self) -> None:
        self._entries: dict[str, Registered] = {}
        self._versions: dict[str, int] = {}  # kept after a provider is gone: its cached results are too
        self._history = History()
        self._slots = 0
        self._snapshot: Snapshot | None = None
        self.has_keywords = False
        self._lock = threading.RLock()

    def register(self, provider: Provider, *, origin: str | None = None) -> Registered:
        """Add ``provider``, or put it where the one of the same name stood.

        Raises
        ------
        CycleError
            It would wait, through ``after=``, for itself.
        """
        with self._lock:
            if provider.after:  # one that waits for nothing closes no cycle
                waits = {name: entry.provider.after for name, entry in self._entries.items()}
                cycle = find_cycle({**waits, provider.name: provider.after}, start=provider.name)
                if cycle:
                    raise CycleError(cycle)
            before = self._entries.get(provider.name)
            if before is None:
                self._slots += 1
            else:
                self._history.keep(before)
            version = self._versions.get(provider.name, 0) + 1
            slot = before.slot if before else self._slots
            entry = Registered(provider, version, slot, origin, caller(provider.get, of=provider.name))
            self._versions[provider.name] = version
            self._entries[provider.name] = entry
            if self.has_keywords:
                self._index.remove(provider.name)
            if provider.dynamic and not provider.private and provider.relevance_keywords:
                self._index.add(provider.name, provider.relevance_keywords, mode=provider.keyword_match)
            self.has_keywords = "_index" in self.__dict__ and bool(self._index)
            self._snapshot = None
            return entry

    def unregister(self, name: str) -> bool:
        """Remove the provider; say whether there was one."""
        with self._lock:
            removed = self._entries.pop(name, None)
            if removed is None:
                return False
            if self.has_keywords:
                self._index.remove(name)
                self.has_keywords = bool(self._index)
            self._snapshot = None
            self._history.keep(removed)
            return True

    def earlier(self, name: str) -> tuple[Registered, ...]:
        """Return what stood under ``name`` before, oldest first: of a removed provider, its last version too.

        Only the last versions of a name are kept. Registering the ``provider`` of one again restores it.
        """
        with self._lock:
            return self._history.of(name)

    def snapshot(self) -> Snapshot:
        """Return the entries as they are now, ordered by position, then by first registration."""
        snapshot = self._snapshot
        if snapshot is not None:
            return snapshot
        with self._lock:
            entries = sorted(self._entries.values(), key=lambda e: (e.provider.position, e.slot))
            snapshot = self._snapshot = Snapshot(tuple(entries), dict(self._entries))
            return snapshot

    def __getitem__(self, name: str) -> Registered:
        """Return the entry of ``name``; raise `UnknownProviderError` with near names if there is none."""
        entry = self._entries.get(name)
        if entry is None:
            public = [known for known, entry in list(self._entries.items()) if not entry.provider.private]
            raise UnknownProviderError(name, nearest_names(name, self._entries), public)
        return entry

    def read_index(self, read: Callable[[KeywordIndex], Any]) -> Any:
        """Return ``read(index)`` while nobody changes the keyword index."""
        with self._lock:
            return read(self._index)

    @cached_property
    def _index(self) -> KeywordIndex:
        from agentctx_nb.keywords import KeywordIndex  # where no provider has any, nothing is imported

        return KeywordIndex()


def find_cycle(waits: Mapping[str, tuple[str, ...]], *, start: str) -> tuple[str, ...] | None:
    """Return the names on a way from ``start`` back to itself, or None.

    >>> find_cycle({"A": ("B",), "B": ("A",)}, start="A")
    ('A', 'B', 'A')
    """
    came_from: dict[str, str] = {}
    open_names = [start]
    while open_names:
        name = open_names.pop()
        for needed in waits.get(name, ()):
            if needed == start:
                path = [start]
                while name != start:
                    path.append(name)
                    name = came_from[name]
                return (start, *reversed(path))
            if needed not in came_from:
                came_from[needed] = name
                open_names.append(needed)
    return None
