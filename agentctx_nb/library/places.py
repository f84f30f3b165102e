"""Find the place a message about the weather speaks of, by the words around it.

Three readings are tried, the surest first: a preposition before the place ("in Oslo", "forecast for Rome"), the
word for weather beside it ("London weather", "Tokyo's forecast"), and the place as the subject of the sentence
("Is Dublin rainy?"). There is no list of places: what cannot be one is known instead.
"""

from __future__ import annotations

import re
import unicodedata

from agentctx_nb.library.place_names import PlaceName, cut, ends_name, read_name
from agentctx_nb.library.place_words import (
    ADJECTIVES,
    AFTER_GOING_TO,
    AFTER_NOUN,
    COMMANDS,
    CONDITIONS,
    EXPECTING,
    NOUNS,
    PARTICLES,
    STOPS,
    TIMES,
    TRAVEL,
    UNITS,
)
from agentctx_nb.library.regions import STATES, is_region

__all__ = ["find_place"]

_MOST_READ = 2_000  # characters of a message; a place named later is rarely the one that is meant
_MOST_BEFORE = 7  # words; "Seattle, Washington, USA weather" has five and its commas
_NEEDS_CAPITAL = 4
_SMALL_LETTERS = 3  # what they cost beside a place with a capital

_POSTCODE = re.compile(
    r"\b(?:\d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}|[A-Z]\d[A-Z]\s?\d[A-Z]\d|\d{4}\s[A-Z]{2})\b",
    re.IGNORECASE,
)
_BEFORE_POSTCODE = NOUNS | {"in", "for", "at", "near", "around", "zip", "code", "zipcode", "postcode", ":"}
_BETWEEN = ADJECTIVES | TIMES
_ASKING = _BETWEEN | COMMANDS | NOUNS
_NEAR = frozenset(("in", "near", "around", "inside", "within", "across", "throughout", "outside"))
_WITH_CAPITAL = frozenset(("on", "over", "of", "to", "through", "visiting", "reaching"))


def find_place(text: str | None) -> str | None:
    """Return the first place ``text`` names, as it is written there, or None.

    >>> find_place("what should I wear in Oslo tonight?")
    'Oslo'
    >>> find_place("is it raining in são paulo right now")
    'são paulo'
    >>> find_place("weather for Portland, OR tomorrow")
    'Portland, OR'
    >>> find_place("Will it rain in the morning?") is None
    True
    """
    if not text:
        return None
    read = _Reading(unicodedata.normalize("NFC", text[:_MOST_READ]).replace("\u2019", "'"))
    return read.postcode() or read.after_preposition() or read.beside_noun() or read.as_subject()


class _Reading:
    """One message, cut into words, read in one way after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = list(cut(text))
        self.shouted = text.isupper() and sum(word.is_word for word in self.words) > 2

    def postcode(self) -> str | None:
        """Return a postal code that stands where a place would."""
        for found in _POSTCODE.finditer(self.text):
            before = [word for word in self.words if word.end <= found.start()]
            after = [word for word in self.words if word.start >= found.end()]
            if after and (after[0].plain in UNITS or not ends_name(after, 0)):
                continue
            if not before or before[-1].plain in _BEFORE_POSTCODE or (after and after[0].plain in NOUNS):
                return found[0]
        return None

    def after_preposition(self) -> str | None:
        """Return the likeliest of the places that follow a preposition."""
        best: tuple[int, str] | None = None
        for at in range(len(self.words) - 1):
            cost = self._cost(at)
            found = None if cost is None else self._name(at + 1)
            if cost is None or found is None or (cost >= _NEEDS_CAPITAL and not found.capital):
                continue
            cost += 0 if found.capital else _SMALL_LETTERS
            if best is None or cost < best[0]:
                best = cost, found.text
        return best[1] if best else None

    def _cost(self, at: int) -> int | None:
        """Return how doubtful a place after this word is."""
        word, before = self.words[at].plain, self.words[at - 1].plain if at else ""
        if word in _NEAR or (word in {"for", "of"} and before in NOUNS):
            return 0
        if word == "at":
            return 1
        if word == "about":
            return 2 if before in {"what", "how"} else None
        if word == "for":
            return 2 if before in {"like", "be", "look", "looking"} else _NEEDS_CAPITAL
        if word == "to" and before in TRAVEL and self.words[at + 1].plain not in AFTER_GOING_TO:
            return 2
        return _NEEDS_CAPITAL + 1 if word in _WITH_CAPITAL else None

    def beside_noun(self) -> str | None:
        """Return the place right after or right before a word for the weather."""
        for at, word in enumerate(self.words):
            if word.plain in NOUNS:
                found = self._after_noun(at) or self._before_noun(at)
                if found:
                    return found
        return None

    def _after_noun(self, at: int) -> str | None:
        if not self._only_commands(at):
            return None
        marked = at + 1 < len(self.words) and self.words[at + 1].text in {":", "-", "–"}
        found = self._name(at + 2 if marked else at + 1)
        if found is None or found.text.casefold() in AFTER_NOUN or not ends_name(self.words, found.after):
            return None
        return found.text

    def _before_noun(self, at: int) -> str | None:
        end = at
        while end and self.words[end - 1].plain in _BETWEEN:
            end -= 1
        start = end
        while start and end - start < _MOST_BEFORE and self._may_belong(start - 1):
            start -= 1
        for first in range(start, end):
            found = self._name(first)
            if found and found.after == end and (found.capital or self._only_commands(first)):
                return found.text
        return None

    def _may_belong(self, at: int) -> bool:
        """Tell whether the word may be part of a place that is read from its end."""
        word = self.words[at]
        if word.text == ",":
            following = self.words[at + 1].text
            return is_region(following) or following in STATES
        if not word.text[0].isalpha():
            return False
        return (
            word.plain not in STOPS or word.plain in PARTICLES or (at > 0 and self.words[at - 1].text == ",")
        )

    def as_subject(self) -> str | None:
        """Return the place a question about the weather is put to: "Is Dublin rainy?"."""
        for at, word in enumerate(self.words[:-1]):
            if word.plain not in {"is", "are", "will", "does", "has", "was", "did", "can"}:
                continue
            found = self._name(at + 1)
            if found is None:
                continue
            following = self.words[found.after].plain if found.after < len(self.words) else ""
            asked_how = (
                at >= 2 and self.words[at - 2].plain == "how" and self.words[at - 1].plain in CONDITIONS
            )
            if asked_how and ends_name(self.words, found.after):
                return found.text
            if following in CONDITIONS:
                return found.text
            about_weather = any(other.plain in CONDITIONS for other in self.words)
            if found.capital and following in EXPECTING and about_weather:
                return found.text
        return None

    def _only_commands(self, end: int) -> bool:
        """Tell whether the sentence up to ``end`` holds nothing but words of asking."""
        for word in reversed(self.words[:end]):
            if word.text in {".", "?", "!", "\n"}:
                return True
            if word.is_word and word.plain not in _ASKING:
                return False
        return True

    def _name(self, start: int) -> PlaceName | None:
        return read_name(self.text, self.words, start, shouted=self.shouted)
