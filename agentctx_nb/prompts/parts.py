"""A prompt as the parts it is made of, each with its writer, so that one can ask what moving a part would change."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentctx_nb.state import State

__all__ = [
    "FIXED",
    "Part",
    "PromptParts",
    "Stretch",
    "break_between",
    "changes_between",
    "prompt_of",
    "same_start",
]

THE_TEXT = "(the text)"
FIXED = frozenset(("template", "extra", "(the caller)", THE_TEXT))  # writers that are no providers


class Part(NamedTuple):
    """A text and who wrote it; ``nth`` counts the tags of one writer in a template, -1 is no tag."""

    writer: str
    nth: int
    text: str

    @property
    def key(self) -> tuple[str, int]:
        """What stays the same of it from prompt to prompt: its place, not its text."""
        return self.writer, self.nth


class Stretch(NamedTuple):
    """Part of a prompt: one text, or, as a group, those of providers joined by newlines, which may change places."""

    parts: tuple[Part, ...]
    is_group: bool


class PromptParts(NamedTuple):
    """A whole prompt."""

    stretches: tuple[Stretch, ...]

    def flat(self) -> list[Part]:
        """Return all parts in order."""
        return [part for stretch in self.stretches for part in stretch.parts]

    def text(self, late: Mapping[tuple[str, int], int] | None = None) -> str:
        """Return the prompt with the parts in ``late`` behind the others, those of a lower rank first."""
        late = late or {}
        out: list[str] = []
        tail: list[Part] = []
        for stretch in self.stretches:
            if stretch.is_group:
                parts = sorted(stretch.parts, key=lambda part: late.get(part.key, 0))
                out.append("\n".join([part.text for part in parts]))
            else:
                part = stretch.parts[0]
                if part.key in late:
                    tail.append(part)
                else:
                    out.append(part.text)
        tail.sort(key=lambda part: late[part.key])
        return "".join([*out, *[part.text for part in tail]])


def prompt_of(state: State, template: str | Callable[[State], str] | None) -> PromptParts:
    """Return the parts of the composed text, or of ``template`` rendered with ``state``."""
    composed = state.text
    parts = [Part(name, -1, composed[start:end]) for start, end, name in state.spans]
    inside = Stretch(tuple(parts), is_group=True)
    if template is None:
        return PromptParts((inside,))
    prompt = state.prompt(template)
    text = str(prompt)
    first = {THE_TEXT, *[part.writer for part in inside.parts[:1]]}
    stretches: list[Stretch] = []
    tags: Counter[str] = Counter()
    done = 0
    for start, end, writer in prompt.spans:
        if start >= done and inside.parts and writer in first and text.startswith(composed, start):
            stretches.append(inside)
            done = start + len(composed)
        if done < end:
            part = Part(writer, tags[writer], text[max(start, done) : end])
            stretches.append(Stretch((part,), is_group=False))
            tags[writer] += 1
            done = end
    return PromptParts(tuple(stretches))


def same_start(old: str, new: str) -> int:
    """Return how many characters two texts have in common at their start."""
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def break_between(old: PromptParts, new: PromptParts) -> tuple[str, str] | None:
    """Return where two prompts first differ, and how; None where they are the same."""
    if old.text() == new.text():
        return None
    before, after = old.flat(), new.flat()
    place = next((i for i, (one, two) in enumerate(zip(before, after, strict=False)) if one != two), None)
    if place is None:
        place = min(len(before), len(after))
        return (after[place].writer, "came in") if len(after) > place else (before[place].writer, "left")
    was, now = before[place], after[place]
    if was.key == now.key:
        return now.writer, "text changed"
    if now.key not in {part.key for part in before}:
        return now.writer, "came in"
    if was.key not in {part.key for part in after}:
        return was.writer, "left"
    return now.writer, "moved"


def changes_between(prompts: Sequence[PromptParts]) -> Counter[tuple[str, int]]:
    """Count how often each part of a provider was another one than before, or there, or gone."""
    changes: Counter[tuple[str, int]] = Counter()
    for old, new in pairwise(prompts):
        before, after = old.flat(), new.flat()
        changed = set(before) ^ set(after)
        changes.update(dict.fromkeys(part.key for part in [*before, *after] if part in changed).keys())
    return Counter({key: times for key, times in changes.items() if key[0] not in FIXED})
