"""Rendering a template with a note of each name it reads; the names of a template as such a mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.names import shown
from agentctx_nb.usage.read_recorder import ReadNotes
from agentctx_nb.usage.watched_state import read_rows, reading, unwatched
from agentctx_nb.views import View

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from agentctx_nb.state import State
    from agentctx_nb.templates import Prompt
    from agentctx_nb.usage.read_recorder import Path, ReadRecorder

__all__ = ["noted_prompt", "reader_of"]

_PARAMS = re.compile(r"\|([^|{}]*)\|")  # names that a block gives to what it goes through
_LONGEST = 40  # characters of a template that has no name


def noted_prompt(
    recorder: ReadRecorder,
    state: State,
    template: str | Callable[[State], str],
    *,
    extra: Mapping[str, Any],
    missing: str,
) -> Prompt:
    """Render as `render_template` does, and count what the template read of ``state``."""
    from agentctx_nb.templates import render_template

    state = unwatched(state)
    reader = reader_of(template, mask=state.mask)
    if callable(template):
        with reading(recorder, reader, state) as watched:
            template = template(watched)
    if not isinstance(template, str):
        raise DefinitionTypeError(f"a template is a string, not {shown(template)}")
    notes = ReadNotes()
    params = frozenset(" ".join(_PARAMS.findall(template)).split()) if "|" in template else frozenset[str]()

    def watch(names: dict[str, Any]) -> Mapping[str, Any]:
        values: Any = state.values
        has_data = "data" not in extra and not (isinstance(values, Mapping) and "data" in values)
        return _Names(names, notes, {*extra, *params}, has_data=has_data)

    try:
        return render_template(template, state=state, extra=extra, missing=missing, watch=watch)
    finally:
        recorder.add(reader, read_rows(notes, state))


def reader_of(template: str | Callable[[State], str], *, mask: Callable[[str], str] = str) -> str:
    r"""Return what a template is called among the readers: by its name, or by how it begins.

    >>> reader_of("Dear {{name}},\n…")
    "template 'Dear {{name}},'"
    """
    name = getattr(template, "name", None)
    if isinstance(name, str):
        return f"prompt {name}"
    if callable(template):
        return f"template {getattr(template, '__name__', type(template).__name__)}"
    line = next((line.strip() for line in str(template).splitlines() if line.strip()), "")
    if len(line) > _LONGEST:  # a secret that is cut off is no longer found where secrets are hidden
        line = mask(line)
    return f"template {line[:_LONGEST] + '…' * (len(line) > _LONGEST)!r}"


class _Names(Mapping[str, Any]):
    """What stands at the root: values are noted by their key, data by the way to them, ``others`` not."""

    def __init__(
        self, names: dict[str, Any], notes: ReadNotes, others: Collection[str], *, has_data: bool
    ) -> None:
        self._names = names
        self._notes = notes
        self._others = others
        self._has_data = has_data

    def __getitem__(self, key: str) -> Any:
        found = self._names[key]
        if key in self._others:
            return found
        if key == "data" and self._has_data:
            return _Part(found, ("data",), self._notes)
        self._notes.read(("values", key))
        return found

    def __contains__(self, key: object) -> bool:
        there = key in self._names
        if not there and isinstance(key, str) and key and key[0] != "@" and key not in self._others:
            self._notes.missed(("values", key))
        return there

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _Part(Mapping[str, Any]):
    """A mapping somewhere in the data; what is read of it is noted with the way to it."""

    def __init__(self, raw: Mapping[str, Any], path: Path, notes: ReadNotes) -> None:
        self._raw = raw
        self._path = path
        self._notes = notes

    def __getitem__(self, key: str) -> Any:
        found = self._raw[key]
        path = (*self._path, str(key))
        if isinstance(found, View | Mapping):
            self._notes.passed(path)
            return _Part(found, path, self._notes)
        self._notes.read(path)
        return found

    def __contains__(self, key: object) -> bool:
        there = key in self._raw
        if not there:
            self._notes.missed((*self._path, str(key)))
        return there

    def __iter__(self) -> Iterator[str]:
        self._notes.read(self._path)
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)
