"""Many keywords, one pass: which of them begin at given places of a piece of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["KeywordMode", "Lookup", "Pattern"]

KeywordMode: TypeAlias = Literal["word", "prefix", "substring"]

_HEAD = 3  # characters looked up before any longer slice is cut out
_LONGEST_ANCHOR = 64


class Pattern(NamedTuple):
    """One folded form of the keyword ``number``; it is looked up by its ``anchor``, a part of it."""

    number: int
    mode: KeywordMode
    form: str
    anchor: str

    @classmethod
    def of(cls, number: int, form: str, mode: KeywordMode) -> Pattern:
        """Return the pattern with the anchor that is rarest: the longest chunk between spaces.

        It is cut to a length that bounds what a look-up at one place of a hostile text can cost.
        """
        anchor = max(form.split(" "), key=len) if " " in form else form
        return cls(number, mode, form, anchor[:_LONGEST_ANCHOR])


class Lookup:
    """Patterns by their anchors, to be found at places in a text in time that does not grow with them."""

    __slots__ = ("_heads", "_patterns", "_sizes")

    def __init__(self) -> None:
        self._patterns: dict[str, dict[Pattern, None]] = {}
        # Head -> length -> how many anchors begin with that head and have that length.
        self._heads: dict[str, dict[int, int]] = {}
        self._sizes: dict[int, int] = {}

    def add(self, pattern: Pattern) -> None:
        """Take ``pattern`` in."""
        anchor = pattern.anchor
        if (patterns := self._patterns.get(anchor)) is not None:
            patterns[pattern] = None
            return
        self._patterns[anchor] = {pattern: None}
        head = anchor[:_HEAD]
        if (lengths := self._heads.get(head)) is None:
            lengths = self._heads[head] = {}
            self._sizes[len(head)] = self._sizes.get(len(head), 0) + 1
        lengths[len(anchor)] = lengths.get(len(anchor), 0) + 1

    def remove(self, pattern: Pattern) -> None:
        """Let go of a ``pattern`` that was added."""
        anchor = pattern.anchor
        patterns = self._patterns[anchor]
        del patterns[pattern]
        if patterns:
            return
        del self._patterns[anchor]
        head = anchor[:_HEAD]
        _one_less(lengths := self._heads[head], len(anchor))
        if not lengths:
            del self._heads[head]
            _one_less(self._sizes, len(head))

    def find(self, text: str, places: Iterable[int]) -> Iterator[tuple[int, Iterable[Pattern]]]:
        """Yield (end, patterns) for every anchor that begins at one of ``places`` in ``text``."""
        heads, patterns, sizes = self._heads, self._patterns, tuple(self._sizes)
        for place in places:
            for size in sizes:
                for length in heads.get(text[place : place + size], ()):
                    anchor = text[place : place + length]
                    if (found := patterns.get(anchor)) is not None:
                        # Near the end of the text a slice is shorter than it was asked to be.
                        yield place + len(anchor), found


def _one_less(counts: dict[int, int], key: int) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
