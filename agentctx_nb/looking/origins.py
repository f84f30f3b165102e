"""Who wrote which characters of a composed text, and of a prompt."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentctx_nb.state import State
    from agentctx_nb.templates import Prompt

__all__ = ["Stretch", "stretches", "written_by"]


class Stretch(NamedTuple):
    """Characters of a prompt with one writer; ``tag`` and its ``line`` are "" and 0 for the template's words."""

    start: int
    end: int
    writer: str
    tag: str = ""
    line: int = 0


def written_by(state: State, text: object) -> list[tuple[int, int, str]] | None:
    """Return (start, end, provider) for each part of ``text`` if it is what ``state`` composed, else None.

    A state is its owner's: a text that was edited has no parts any more.
    """
    if not isinstance(text, str):
        return None
    spans = state.spans
    parts = [entry.text for _, entry in state.entries() if entry.text and not entry.text.isspace()]
    if len(text) != (spans[-1][1] if spans else 0):
        return None
    composed = all(text.startswith(part, start) for (start, _, _), part in zip(spans, parts, strict=True))
    return spans if composed else None


def stretches(prompt: Prompt) -> Iterator[Stretch]:
    """Yield the stretches of a prompt in order, each with its writer and the tag that put it there."""
    starts = [start for start, _, _, _ in prompt.tags]
    spans = prompt.spans or [(0, len(prompt), "template")] * bool(prompt)  # one that nobody rendered
    for start, end, writer in spans:
        at = start
        for tag_start, tag_end, tag, line in prompt.tags[max(bisect_right(starts, start) - 1, 0) :]:
            if tag_start >= end:
                break
            if tag_end <= at:
                continue
            if tag_start > at:  # words of the template around a tag of nobody's
                yield Stretch(at, tag_start, writer)
            at = max(at, tag_start)
            yield Stretch(at, min(tag_end, end), writer, tag, line)
            at = min(tag_end, end)
        if at < end:
            yield Stretch(at, end, writer)
