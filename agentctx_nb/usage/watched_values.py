"""The values of a state as a dict that notes which of them are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from agentctx_nb.names import shown

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_values
    from collections.abc import Iterator

    from agentctx_nb.usage.read_recorder import Path, ReadNotes

__all__ = ["WatchedValues"]


class WatchedValues(dict[str, Any]):
    """A dict with the values of a state; what is edited in it is edited there."""

    __slots__ = ("kept", "notes")

    def __init__(self, kept: dict[str, Any], notes: ReadNotes) -> None:
        super().__init__(kept)
        self.kept = kept
        self.notes = notes

    def _note(self, key: Any) -> None:
        (self.notes.read if dict.__contains__(self, key) else self.notes.missed)(_path(key))

    def note_all(self) -> None:
        """Note every key, for one who takes all values at once."""
        for key in dict.keys(self):
            self.notes.read(_path(key))

    def __getitem__(self, key: str) -> Any:
        self._note(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value, noting that it was asked for."""
        self._note(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self._note(key)
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()  # without this, dict(values) would read past all of the above

    def items(self) -> dict_items[str, Any]:
        """Return all pairs, noting every key."""
        self.note_all()
        return super().items()

    def values(self) -> dict_values[str, Any]:
        """Return all values, noting every key."""
        self.note_all()
        return super().values()

    def copy(self) -> dict[str, Any]:
        """Return a plain dict, noting every key."""
        self.note_all()
        return super().copy()

    def __or__(self, other: Any) -> Any:
        self.note_all()
        return super().__or__(other)

    def __ror__(self, other: Any) -> Any:
        self.note_all()
        return super().__ror__(other)

    def __eq__(self, other: object) -> bool:
        self.note_all()
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        self.note_all()
        return super().__ne__(other)

    __hash__ = None  # as that of any dict

    def __repr__(self) -> str:
        self.note_all()
        return super().__repr__()

    def __setitem__(self, key: str, value: Any) -> None:
        self.kept[key] = value
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        del self.kept[key]
        super().__delitem__(key)

    def update(self, *given: Any, **named: Any) -> None:
        """Edit this dict and the one behind it."""
        self.kept.update(*given, **named)
        super().update(self.kept)

    def __ior__(self, other: Any) -> Self:  # type: ignore[override]
        self.update(other)
        return self

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value, set here and behind if it was not there."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str, *default: Any) -> Any:
        """Remove the key here and behind, and return its value."""
        self._note(key)
        self.kept.pop(key, *default)
        return super().pop(key, *default)

    def popitem(self) -> tuple[str, Any]:
        """Remove the last pair here and behind, and return it."""
        key = self.kept.popitem()[0]
        self._note(key)
        return key, super().pop(key)

    def clear(self) -> None:
        """Empty this dict and the one behind it."""
        self.kept.clear()
        super().clear()

    def __reduce__(self) -> tuple[Any, ...]:
        self.note_all()  # copies and pickles are made by way of this
        return dict, (dict(self.kept),)


def _path(key: Any) -> Path:
    return ("values", key if isinstance(key, str) else shown(key))
