"""Things registered by name: replaced in place, numbered, and asked for with the near names at hand."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

from agentctx_nb.errors import UnknownNameError, nearest_names

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Numbered", "NumberedEntry"]

T = TypeVar("T")


class NumberedEntry(Generic[T]):
    """A thing in its place: ``version`` counts the registrations of its name, ``origin`` says where it is from."""

    # Written out: a NamedTuple would be compiled at every start of an interpreter.
    __slots__ = ("origin", "thing", "version")

    def __init__(self, thing: T, version: int, origin: str | None) -> None:
        self.thing = thing
        self.version = version
        self.origin = origin


class Numbered(Generic[T]):
    """Things by name, in the order of first registration; safe to change from any thread.

    >>> prompts = Numbered[str](UnknownNameError)
    >>> prompts.register("REPLY", "Hi").version, prompts.register("REPLY", "Hello").version
    (1, 2)
    >>> prompts["REPLY"].thing
    'Hello'
    """

    def __init__(self, unknown: type[UnknownNameError]) -> None:
        self._unknown = unknown
        self._entries: dict[str, NumberedEntry[T]] = {}
        self._versions: dict[str, int] = {}  # kept when a thing goes: one of its name is not the first
        self._lock = threading.Lock()

    def register(self, name: str, thing: T, *, origin: str | None = None) -> NumberedEntry[T]:
        """Add ``thing``, or put it where the one of the same name stood."""
        with self._lock:
            version = self._versions[name] = self._versions.get(name, 0) + 1
            entry = self._entries[name] = NumberedEntry(thing, version, origin)
            return entry

    def unregister(self, name: str) -> bool:
        """Remove what is called ``name``; say whether there was something."""
        with self._lock:
            return self._entries.pop(name, None) is not None

    def find(self, name: str) -> NumberedEntry[T] | None:
        """Return the entry of ``name``, or None."""
        return self._entries.get(name)

    def __getitem__(self, name: str) -> NumberedEntry[T]:
        """Return the entry of ``name``; raise the error of unknown names with the near ones if there is none."""
        entry = self._entries.get(name)
        if entry is None:
            raise self._unknown(name, nearest_names(name, self._entries), list(self._entries))
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter([*self._entries])

    def __len__(self) -> int:
        return len(self._entries)
