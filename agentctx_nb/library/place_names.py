"""Cut a message into words and read the name of a place from one of them on, whatever stands before it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from agentctx_nb.library.place_words import (
    ADJECTIVES,
    AFTER_THE,
    COMMANDS,
    CONDITIONS,
    GENERIC,
    LEADS,
    PARTICLES,
    STOPS,
)
from agentctx_nb.library.regions import STATES, is_region

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["PlaceName", "Word", "cut", "ends_name", "read_name"]

_MOST_WORDS = 5
_TOKEN = re.compile(
    r"(?:[^\W\d_]\.){2,}"  # D.C.
    r"|\b(?:St|Ste|Mt|Ft|Pt)\.(?=\s)"
    r"|[^\W_]+(?:[-'][^\W_]+)*"
    r"|[^\w\s]|\n"
)
_ING_PLACES = frozenset(("beijing", "chongqing", "darjeeling", "kunming", "nanjing", "reading", "worthing"))
_WITH_ARTICLE = frozenset(("hague", "dalles", "woodlands"))  # "The Hague" is its name, "the Bronx" is not
_ON_WATER = frozenset(("avon", "main", "sea", "spey", "thames", "trent", "tyne"))
_AFTER_POSSESSIVE = CONDITIONS | ADJECTIVES
_BEFORE_OF = frozenset(("bay", "cape", "gulf", "isle", "isles", "port", "strait"))
_AFTER_AND = frozenset(("barbuda", "herzegovina", "nevis", "tobago", "wear"))


class Word(NamedTuple):
    """A word or a mark of a message; ``plain`` is folded and has no possessive ending."""

    text: str
    plain: str
    start: int
    end: int
    possessive: bool

    @property
    def is_word(self) -> bool:
        """Whether it is a word or a number, not a mark."""
        return self.text[0].isalnum()

    @property
    def capital(self) -> bool:
        """Whether it starts as a name does; in a script without capitals every word does."""
        first = self.text[2:3] if self.text[:2] in {"d'", "l'"} else self.text[:1]
        return first.isalpha() and not first.islower()


class PlaceName(NamedTuple):
    """A name as written, whether capitals showed it to be one, and the number of the word after it."""

    text: str
    capital: bool
    after: int


def cut(text: str) -> Iterator[Word]:
    """Yield the words and marks of ``text``.

    >>> [word.plain for word in cut("What's Berlin's weather?")]
    ["what's", 'berlin', 'weather', '?']
    """
    for found in _TOKEN.finditer(text):
        plain = found[0].casefold()
        possessive = plain.endswith("'s") and plain not in COMMANDS  # "what's" is none
        yield Word(found[0], plain[:-2] if possessive else plain, found.start(), found.end(), possessive)


def ends_name(words: Sequence[Word], at: int) -> bool:
    """Tell whether a name may end before the word number ``at``."""
    return at >= len(words) or not words[at].text[0].isalpha() or words[at].plain in STOPS


def read_name(text: str, words: Sequence[Word], start: int, *, shouted: bool) -> PlaceName | None:
    """Return the place named from the word number ``start`` on, with its regions, or None.

    ``shouted`` says that the text is all capitals, so that they tell nothing.
    """
    article = start < len(words) and words[start].plain == "the"
    at = _past_leads(words, start + article)
    if at >= len(words) or not words[at].text[0].isalpha():
        return None
    first = words[at]
    capital = first.capital and not shouted
    if first.plain in STOPS and not (article and first.plain in AFTER_THE):
        return None
    end = _end_of_name(words, at) if capital else _end_of_run(words, at)
    name = " ".join(word.plain for word in words[at:end])
    last = words[end - 1]
    if (
        name in GENERIC
        or name[1:].isdigit()
        or (not capital and not _may_be_place(name, first.plain, article=article))
    ):
        return None
    if last.possessive and not (end < len(words) and words[end].plain in _AFTER_POSSESSIVE):
        return None  # somebody's garden
    begin = start if article and first.plain in _WITH_ARTICLE else at
    stop = last.end
    if last.possessive:
        stop -= 2
    else:
        end, stop = _with_regions(words, end, stop)
    return PlaceName(" ".join(text[words[begin].start : stop].split()), capital, end)


def _past_leads(words: Sequence[Word], at: int) -> int:
    """Return where the name starts behind words such as "downtown" and "the city of", or a postal code."""
    if at + 1 < len(words) and words[at].text.isdigit() and words[at + 1].capital:
        at += 1
    while at + 1 < len(words) and words[at].text in LEADS and words[at + 1].is_word:
        at += 1
    if at + 2 < len(words) and words[at].text in {"city", "town", "village"} and words[at + 1].text == "of":
        at += 2
    return at


def _may_be_place(name: str, first: str, *, article: bool) -> bool:
    """Tell whether a name in small letters can be one."""
    if article or name in AFTER_THE:
        return name in AFTER_THE
    if name.endswith("ing") and name not in _ING_PLACES:  # for hiking
        return False
    return len(name) > 2 and first not in GENERIC


def _end_of_name(words: Sequence[Word], at: int) -> int:
    """Return the end of a name in capitals that starts at ``at``."""
    end = at + 1
    while end < len(words) and end - at < _MOST_WORDS and not words[end - 1].possessive:
        word, following = words[end], words[end + 1] if end + 1 < len(words) else None
        if word.capital and word.plain not in STOPS:
            end += 1
        elif following is not None and following.capital and _joins(word.plain, following.plain):
            end += 2
        else:
            break
    return end


def _joins(word: str, following: str) -> bool:
    """Tell whether ``word`` makes one name of the two beside it: "Rio de Janeiro"."""
    if following in STOPS and following not in _AFTER_AND:
        return False
    if word in {"on", "am"}:
        return following in _ON_WATER
    if word == "and":
        return following in _AFTER_AND
    return word in PARTICLES or word in {"of", "the", "upon"}


def _end_of_run(words: Sequence[Word], at: int) -> int:
    """Return the end of a name in small letters: where words begin that belong to no name."""
    end = at + 1
    while end < len(words) and end - at < _MOST_WORDS - 1 and not words[end - 1].possessive:
        word, following = words[end].plain, words[end + 1].plain if end + 1 < len(words) else ""
        inside = (
            (word == "of" and words[end - 1].plain in _BEFORE_OF and following not in STOPS)
            or (word == "and" and following in _AFTER_AND)
            or (word in {"upon", "on"} and following in _ON_WATER)
        )
        if not words[end].text[0].isalpha() or (word in STOPS and not inside):
            break
        end += 1
    return end


def _with_regions(words: Sequence[Word], end: int, stop: int) -> tuple[int, int]:
    """Return where the place ends with the countries and states named after its comma."""
    while end + 1 < len(words) and words[end].text == ",":
        for length in (3, 2, 1):
            region = words[end + 1 : end + 1 + length]
            text = " ".join(word.text for word in region)
            small = text in STATES and text not in {"hi", "me", "ok"} and ends_name(words, end + 2)
            if len(region) == length and (is_region(text) or small):
                end, stop = end + 1 + length, region[-1].end
                break
        else:
            break
    return end, stop
