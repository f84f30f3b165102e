"""A state for an action to read, which notes what is read of it.

It is a `State` in every way code asks of one. ``values`` is a dict, with the same objects in it; edits reach
the state behind it. Attribute chains through ``data`` are views, as they always are, and ``[...]`` gives the
very object that was stored, from which on nothing is noted.
"""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any

from agentctx_nb.record import is_the_text
from agentctx_nb.state import State
from agentctx_nb.usage.read_recorder import NOBODY, THE_CALLER, THE_TEXT, ReadNotes
from agentctx_nb.usage.watched_data import WatchedView
from agentctx_nb.usage.watched_values import WatchedValues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from agentctx_nb.templates import Prompt
    from agentctx_nb.usage.read_recorder import Path, ReadRecorder

__all__ = ["read_rows", "reading", "unwatched"]


@contextmanager
def reading(recorder: ReadRecorder, reader: str, state: State) -> Iterator[State]:
    """Give ``state`` as one that notes what is read of it, and count that for ``reader`` at the end."""
    seen = unwatched(state)
    if not isinstance(seen, State):  # whatever somebody's own handler takes for one
        yield state
        return
    notes = ReadNotes()
    try:
        yield _WatchedState(seen, notes)
    finally:
        recorder.add(reader, read_rows(notes, seen))


def unwatched(state: State) -> State:
    """Return the state behind one that notes what is read of it, or ``state`` itself."""
    return state.seen if isinstance(state, _WatchedState) else state


def read_rows(notes: ReadNotes, state: State) -> list[tuple[Path, str]]:
    """Return what was noted with the provider that wrote each."""
    record = state.record
    written = [
        (name, values) for name, (_, values, _) in zip(record.names, record.parts, strict=True) if values
    ]
    written.reverse()  # the later wins
    rows = [(path, _writer(path, written)) for path in notes.found()]
    return rows + [(path, NOBODY) for path in notes.not_found()]


def _writer(path: Path, written: Sequence[tuple[str, Mapping[Any, Any]]]) -> str:
    kind = path[0]
    if kind == "data":
        return path[2] if len(path) > 2 else ""
    if kind == "text" or is_the_text(path[1]):
        return THE_TEXT
    try:
        for name, values in written:
            if path[1] in values:
                return name
    except Exception:  # noqa: BLE001, S110  a key of theirs that cannot be compared has no writer to be told
        pass
    return THE_CALLER


class _WatchedState(State):
    """Notes in front of ``seen``: text, values and data are noted, everything else is simply asked of it."""

    __slots__ = ("notes", "seen", "watched")
    __qualname__ = "State"  # it prints as what it is to its reader

    notes: ReadNotes
    seen: State
    watched: WatchedValues | None

    def __init__(self, seen: State, notes: ReadNotes) -> None:
        for name, value in (("seen", seen), ("notes", notes), ("watched", None)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.seen, name)  # the slots of a State, which are empty here

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.seen, name, value)

    @property
    def text(self) -> str:  # type: ignore[override]  # it is set through __setattr__
        self.notes.read(("text",))
        return self.seen.text

    @property
    def values(self) -> WatchedValues:  # type: ignore[override]
        kept = self.seen.values
        if self.watched is None or self.watched.kept is not kept:
            object.__setattr__(self, "watched", WatchedValues(kept, self.notes))
        assert self.watched is not None
        return self.watched

    @property
    def data(self) -> Any:
        return WatchedView(self.seen.data, ("data",), self.notes, self.seen.mask)

    def prompt(
        self, template: str | Callable[[State], str], /, *, missing: str = "empty", **extra: Any
    ) -> Prompt:
        """Render a template with the state behind this one: the template is a reader of its own."""
        return self.seen.prompt(template, missing=missing, **extra)

    def _taken_whole(self) -> State:
        """Return the state behind this one, for a copy: from it all may be read, and nothing is noted."""
        self.values.note_all()
        for whole in ("text", "data"):
            self.notes.read((whole,))
        return self.seen

    def __copy__(self) -> State:
        return copy(self._taken_whole())

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        return deepcopy(self._taken_whole(), memo)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._taken_whole().__reduce__()

    def __str__(self) -> str:
        self.notes.read(("text",))
        return str(self.seen)

    def __repr__(self) -> str:
        return repr(self.seen)
