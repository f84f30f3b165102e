"""Find: where a text stands in a state or a prompt, and who put it there."""

from __future__ import annotations

import re
from bisect import bisect_right
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from agentctx_nb.bare import bare_scalar
from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.looking.contents import leaves
from agentctx_nb.looking.found import Found, Place
from agentctx_nb.looking.number_pattern import number_pattern
from agentctx_nb.looking.origins import Stretch, stretches, written_by
from agentctx_nb.names import shown
from agentctx_nb.record import is_the_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentctx_nb.render.covered import Covered
    from agentctx_nb.state import State
    from agentctx_nb.templates import Prompt

__all__ = ["Found", "Place", "find", "find_in_prompt"]

MOST_PLACES = 200
MOST_LEAVES = 200_000  # of the data and values of one state
DEEPEST = 40
_AROUND = 30  # characters of an excerpt on either side
_BYTES = 1_000_000
_LONGEST_KEY = 20_000  # characters of a vendor's key, or of a block that holds a private one
_NAME = 60
_PLACES = re.compile(r"\[[0-9, ]+\]")
_STEP = re.compile(r"[.\[\0]")


def find(state: State, text: str) -> Found:
    """Return where ``text`` stands in a state: its text, values and data.

    A number is found where it stands as a whole, so 72 is in "72 km" and in 72.0, but not in 172; a text of
    digits wherever it stands. What is looked at is what may be shown: a part of a secret is found nowhere, a whole one under its
    label. Upper and lower case differ.

    Raises
    ------
    DefinitionError
        There is nothing to look for.
    """
    search = _Search(text, state.mask)
    composed = state.text if isinstance(state.text, str) else ""
    parts = [Stretch(*span) for span in written_by(state, composed) or [(0, len(composed), "(edited)")]]
    search.stretches(composed, parts, unmarked="text")
    for key, value, _, writer, _ in state.value_rows():
        if not is_the_text(key):
            search.value(writer, key, value)
    entries = state.entries()
    for name, entry in entries:
        for key, value in _pairs(entry.raw_values):
            if not _is_kept(state.values, key, value) and not is_the_text(key):
                search.value(name, key, value, shadowed=True)
    for name, entry in entries:
        search.holder(name, "data", "", entry.raw_data)
    return search.found()


def find_in_prompt(prompt: Prompt, text: str) -> Found:
    """Return where ``text`` stands in a prompt, and which provider's value and which tag put it there."""
    search = _Search(text, prompt.mask)
    search.stretches(str.__str__(prompt), list(stretches(prompt)), unmarked="template")
    return search.found()


class _Search:
    """One search under way, over masked texts only."""

    def __init__(self, text: Any, mask: Callable[[str], str]) -> None:
        text = bare_scalar(text)
        is_number = isinstance(text, int | float) and not isinstance(text, bool)
        if is_number:
            text = _written(text)[0]
        if not isinstance(text, str):
            raise DefinitionTypeError(f"find looks for a text or a number, not for {shown(text)}")
        self._needle = mask(str.__str__(text))
        if not self._needle:
            raise DefinitionError("find needs a text to look for, not an empty one")
        self._is_label = self._needle != text
        as_number = is_number and not self._is_label
        self._number = number_pattern(self._needle) if as_number else None
        self._mask = mask
        self._names: dict[str, str] = {}
        self._places: list[Place] = []
        self._left = MOST_LEAVES
        self._complete = True

    def found(self) -> Found:
        return Found(self._needle, tuple(self._places), self._complete, self._mask)

    def stretches(self, text: str, parts: list[Stretch], *, unmarked: str) -> None:
        """Look through a text; ``unmarked`` is where a part stands that no tag put there."""
        from agentctx_nb.render.covered import cover

        covered = cover(text, self._mask)
        starts = [covered.place(part.start) for part in parts]
        line, counted_to = 1, 0
        for at in self._places_in(covered.text):
            if len(self._places) >= MOST_PLACES:
                self._complete = False
                return
            origin = covered.origin(at)
            line += text.count("\n", counted_to, origin)
            counted_to = origin
            # The first stretch that holds any of it; parts that went into one label stand at its place too.
            part = parts[max(bisect_right(starts, at) - 1, 0)]
            self._add(
                part.writer, "tag" if part.tag else unmarked, part.tag, line, self._excerpt(covered, at)
            )

    def value(self, writer: str, key: Any, value: Any, *, shadowed: bool = False) -> None:
        """Look at a value's key, and at what it holds."""
        name = self._name(key) + (" (shadowed)" if shadowed else "")
        if type(key) is str and self._first(self._mask(key)) >= 0:
            self._add(writer, "value", name, None, f"key {self._name(key)}")
        self.holder(writer, "value", name, value)

    def holder(self, writer: str, where: str, above: str, value: Any) -> None:
        """Look at everything a value holds, keys of mappings included."""
        keys: set[str] = set()
        for leaf in islice(leaves(value, name=self._name, deepest=DEEPEST, once=True), self._left):
            self._left -= 1
            if len(self._places) >= MOST_PLACES:
                break
            joint = "." if above and leaf.path and not leaf.path.startswith("[") else ""
            path = f"{above}{joint}{leaf.path}"
            if (key := self._key_in(leaf.path)) and key not in keys:
                keys.add(key)
                self._add(writer, where, f"{above}{joint}{key}", None, f"key {key}")
            if not leaf.cycle and (said := self._holds(leaf.value)):
                self._add(writer, where, path, None, said)
        if self._left <= 0 or len(self._places) >= MOST_PLACES:
            self._complete = False

    def _first(self, text: str) -> int:
        return next(self._places_in(text), -1)

    def _places_in(self, text: str) -> Iterator[int]:
        if self._number is not None:
            return (found.start() for found in self._number.finditer(text))
        return _places_of(self._needle, text)

    def _key_in(self, path: str) -> str:
        """Return the path up to the first key that holds the text, else nothing."""
        names = _PLACES.sub(lambda place: "\0" * len(place[0]), path)  # places in lists are no keys
        if self._number is not None and "." not in self._needle:
            names = names.replace(".", "\0")  # a full stop between two keys is not that of a number
        at = self._first(names)
        if at < 0:
            return ""
        end = _STEP.search(names, at + len(self._needle))
        return path[: end.start()] if end else path

    def _holds(self, value: Any) -> str:
        """Return the excerpt of a value that holds the text, else nothing."""
        from agentctx_nb.render.covered import Covered

        for written in _written(value):
            if not self._is_label and self._needle not in written:  # masks take their time
                continue
            masked = self._mask(written)
            if isinstance(value, bytes | bytearray) and len(value) > _BYTES:
                # What was cut off may be a part of a secret: so much is left out as one may be long.
                masked = masked[: -max(_LONGEST_KEY, getattr(self._mask, "longest", 0))]
            at = self._first(masked)
            if at >= 0:
                return self._excerpt(Covered(masked), at)
        return ""

    def _excerpt(self, covered: Covered, at: int) -> str:
        """Return the characters around ``at``, of its own line."""
        text, behind = covered.text, at + min(len(self._needle), 2 * _AROUND)
        first = text.rfind("\n", 0, at) + 1
        last = text.find("\n", behind)
        last = len(text) if last < 0 else last
        start, end = max(at - _AROUND, first), min(behind + _AROUND, last)
        return f"{'…' * (start > first)}{text[start:end].strip()}{'…' * (end < last)}"

    def _name(self, key: Any) -> str:
        from agentctx_nb.render.bounds import cell_text

        if type(key) is not str:
            return cell_text(key, mask=self._mask, most=_NAME)
        if key not in self._names:  # the same few keys stand in row after row
            self._names[key] = cell_text(key, mask=self._mask, most=_NAME)
        return self._names[key]

    def _add(self, provider: str, where: str, path: str, line: int | None, excerpt: str) -> None:
        from agentctx_nb.render.bounds import visible

        name, path = self._name(provider), self._mask(path)
        self._places.append(Place(name, where, visible(path), line, visible(self._mask(excerpt))))


def _places_of(needle: str, text: str) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + len(needle))


def _written(value: Any) -> tuple[str, ...]:
    """Return how a value may be written in a prompt, without running code of its own."""
    from agentctx_nb.prompts.values import as_text

    try:
        value = bare_scalar(value)
    except Exception:  # noqa: BLE001  a subclass of theirs
        return ()
    kind = type(value)
    if issubclass(kind, str):
        return (str.__str__(value),)
    if kind is bytes or kind is bytearray:
        return (bytes(value[:_BYTES]).decode("utf-8", "replace"),)
    try:
        if kind is int or kind is float or kind is bool:
            return as_text(value), str(value)
        if kind is datetime or (kind.__module__.startswith("pandas.") and issubclass(kind, datetime)):
            return value.isoformat(), str(value)
        if kind.__module__ in ("datetime", "decimal", "uuid", "enum"):
            return (str(value),)
    except Exception:  # noqa: BLE001  an int of more digits than Python writes
        return ()
    return ()


def _pairs(values: Any) -> list[tuple[Any, Any]]:
    try:
        return list(dict.items(values) if isinstance(values, dict) else values.items())
    except Exception:  # noqa: BLE001  a mapping of theirs that will not tell
        return []


def _is_kept(values: Any, key: Any, value: Any) -> bool:
    try:
        return values.get(key) is value
    except Exception:  # noqa: BLE001  a key of theirs that cannot be looked up
        return True
