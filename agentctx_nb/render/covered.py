"""A text with its secrets covered, and where each place of it went: no part of a text is cut before this."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentctx_nb.render.bounds import Mask

__all__ = ["Covered", "cover"]

# What a mask puts over a secret; nobody can tell where one of two that touch ends, so they are one.
_LABEL = re.compile(r"(?:\[secret(?: [^\[\]\n]{1,80})?\]|\*\*\*)+")


@dataclass(frozen=True, slots=True)
class Covered:
    """The masked ``text``; ``labels`` holds (start, end, masked start, masked end) of each secret in it.

    >>> told = cover("key s3cret, thanks", lambda text: text.replace("s3cret", "***"))
    >>> told.text, told.place(10), told.text[told.place(10):]
    ('key ***, thanks', 7, ', thanks')
    """

    text: str
    labels: tuple[tuple[int, int, int, int], ...] = ()

    def place(self, at: int) -> int:
        """Return where the place ``at`` of the text went; one inside a secret went behind its label."""
        before = bisect_left(self.labels, at, key=lambda label: label[0])
        if not before:
            return at
        _, end, _, shown_end = self.labels[before - 1]
        return shown_end + max(at - end, 0)

    def origin(self, shown: int) -> int:
        """Return the place of the text that ``shown``, a place of the masked one, came from."""
        before = bisect_left(self.labels, shown, key=lambda label: label[2])
        if not before:
            return shown
        start, end, _, shown_end = self.labels[before - 1]
        return start if shown < shown_end else end + shown - shown_end


def cover(text: str, mask: Mask) -> Covered:
    """Mask ``text`` as a whole and line both up: what stands between two labels is the same in both.

    Only the masked text is ever shown, so a mask that writes no label costs the parts their places,
    and no secret its cover.
    """
    shown = mask(text)
    if shown == text:
        return Covered(text)
    labels = list(_LABEL.finditer(shown))
    first = labels[0].start() if labels else 0
    if not labels or text[:first] != shown[:first]:
        return Covered(shown, ((0, len(text), 0, len(shown)),))
    found: list[tuple[int, int, int, int]] = []
    ahead = first  # the place of the text that the next label stands at
    for label, following in zip(labels, [*labels[1:], None], strict=True):
        between = shown[label.end() : following.start() if following else len(shown)]
        if text.startswith(label[0] + between, ahead):  # the text's own words
            ahead += len(label[0]) + len(between)
            continue
        end = text.find(between, ahead + 1) if following else len(text) - len(between)
        if end <= ahead:
            found.append((ahead, len(text), label.start(), len(shown)))
            break
        found.append((ahead, end, label.start(), label.end()))
        ahead = end + len(between)
    return Covered(shown, tuple(found))
