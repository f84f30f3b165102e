"""What a keyword and a message look like to the matcher: folded text, cut into words and signs.

A *word* here is a run of letters, digits, underscores and combining marks. Letters of a script that
writes no spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) and symbols stand alone, each
with the combining marks on it, so there is a word's edge on both sides of them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING
from unicodedata import category, combining, normalize

if TYPE_CHECKING:
    from agentctx_nb.keyword_lookup import KeywordMode

__all__ = ["FoldedMessage", "cut", "fold", "forms", "loosened"]

_APOSTROPHES = (0x60, 0xB4, 0x2BB, 0x2BC, 0x55A, 0x2018, 0x2019, 0x201B, 0xA78C, 0xFF07)
# Unicode's Dash property (the hyphen of ASCII is handled apart), and the zero-width space.
_GAPS = (
    *(0x58A, 0x5BE, 0x1400, 0x1806, 0x200B, *range(0x2010, 0x2016), 0x2053, 0x207B, 0x208B, 0x2212),
    *(0x2E17, 0x2E1A, 0x2E3A, 0x2E3B, 0x2E40, 0x2E5D, 0x301C, 0x3030, 0x30A0, 0xFE31, 0xFE32),
    *(0xFE58, 0xFE63, 0xFF0D, 0x10EAD),
)
# Soft hyphen, directional marks, word joiner, variation selectors, byte order mark: nobody sees them,
# so "rain" pasted from a PDF or an emoji with its colour selector must still be found.
_INVISIBLE = (
    *(0xAD, 0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A)),
    *(*range(0xFE00, 0xFE10), 0xFEFF),
)
_REPLACED = {
    **{chr(code): "'" for code in _APOSTROPHES},
    **{chr(code): " " for code in _GAPS},
    **{chr(code): "" for code in _INVISIBLE},
}
_ODD = re.compile("[" + "".join(map(re.escape, _REPLACED)) + "]")

_JOINERS = "\u200c\u200d"  # they hold one word, or one emoji, together
_UNSPACED = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x19E0, 0x19FF)),  # Thai to Khmer
    *((0x1100, 0x11FF), (0x3130, 0x318F), (0xA960, 0xA97F), (0xAC00, 0xD7FF)),  # Hangul
    *((0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3021, 0x312F), (0x31A0, 0x31FF)),  # radicals, kana, bopomofo
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFF)),  # Han
)

_MOST_MARKS = 30  # as Unicode's stream-safe format has it
_LONG = 1_000

_ASCII_PIECES = re.compile(r"\w+|\W", re.ASCII)
_PIECES = re.compile(r"[wm]+|om*| ")


class FoldedMessage:
    """A message as keywords are compared with it."""

    __slots__ = ("_edges", "_marked", "text")

    def __init__(self, text: str) -> None:
        self.text = fold(text)
        self._marked: str | None = None
        self._edges: list[int] | None = None

    def has(self, form: str, *, mode: str) -> bool:
        """Tell whether the folded ``form`` is in the message, as ``mode`` (word, prefix, substring) wants it.

        Always a search for one string in another, which Python does in linear time whatever they hold.
        """
        if form not in self.text:
            return False
        if mode == "substring":
            return True
        if f" {form} " in f" {self.text} ":  # by far the usual case, and quicker than cutting the text
            return True
        if self._marked is None:
            self._marked = _marked(self.text)
        wanted = _marked(form)
        return (wanted if mode == "word" else wanted[:-1]) in self._marked

    def words_around(self, form: str, *, most: int) -> list[str]:
        """Return the first ``most`` different words, or runs of them, that ``form`` stands inside."""
        if self._edges is None:
            self._edges = list(accumulate(map(len, cut(self.text)), initial=0))
        edges = self._edges
        words: dict[str, None] = {}
        place = self.text.find(form)
        while place >= 0 and len(words) < most:
            start = edges[bisect_right(edges, place) - 1]
            end = edges[bisect_left(edges, place + len(form))]
            words[self.text[start:end]] = None
            place = self.text.find(form, end)
        return list(words)


def fold(text: str) -> str:
    r"""Return ``text`` as it is compared: NFKC, case-folded, every run of spaces and hyphens one space.

    Apostrophes become one, invisible characters go, and so do spaces and hyphens at both ends.

    >>> fold("  HOW\u2013to use\u00a0Ray\u2019s Stra\u00dfe ")
    "how to use ray's strasse"
    """
    if text.isascii():
        text = text.lower().replace("`", "'")
    else:
        text = _ODD.sub(_replacement, text)
        if len(text) > _LONG:
            text = _few_marks(text)
        # Folding can take a text out of its normal form, so it is normalised on both sides.
        text = normalize("NFKC", normalize("NFKC", text).casefold())
        text = _ODD.sub(_replacement, text)
    return " ".join(text.replace("-", " ").split())


def cut(text: str) -> list[str]:
    """Return folded ``text`` in pieces: a word, or one other character with the marks on it.

    >>> cut("c++17 user_id")
    ['c', '+', '+', '17', ' ', 'user_id']
    """
    if text.isascii():
        return _ASCII_PIECES.findall(text)
    kinds = "".join(map(_kind, text))
    return [text[match.start() : match.end()] for match in _PIECES.finditer(kinds)]


def forms(keyword: str) -> tuple[str, ...]:
    """Return the folded ``keyword`` and its plurals, as whole-word matching takes them.

    A last word of two or more characters may add ``s`` (not after an s); ``es`` after s, x, z, ch, sh
    and o; and turn a y after a consonant into ``ies``. A possessive needs nothing here, because an
    apostrophe is the edge of a word anyway.

    >>> forms("stock"), forms("box"), forms("big city"), forms("c++")
    (('stock', 'stocks'), ('box', 'boxs', 'boxes'), ('big city', 'big citys', 'big cities'), ('c++',))
    """
    last = cut(keyword)[-1]
    if len(last) < 2 or last[-1] == "_" or _kind(last[0]) == "o":
        return (keyword,)
    found = [keyword]
    if last[-1] != "s":
        found.append(keyword + "s")
    if last.endswith(("s", "x", "z", "ch", "sh", "o")):
        found.append(keyword + "es")
    elif last[-1] == "y" and len(last) > 2 and last[-2].isalpha() and last[-2] not in "aeiou":
        found.append(keyword[:-1] + "ies")
    return tuple(found)


def loosened(keyword: str, mode: KeywordMode) -> KeywordMode:
    """Return the mode for the folded ``keyword``, which in a script without spaces needs no edge of a word.

    A vowel or tone sign may follow it in the message, as in การ์ตูน, where การ is found.

    >>> loosened("การ", "word"), loosened("wifi การ", "word"), loosened("การ wifi", "word")
    ('substring', 'prefix', 'word')
    """
    if keyword.isascii() or mode == "substring":
        return mode
    if all(char == " " or _is_unspaced(char) for char in keyword):
        return "substring"
    return "prefix" if _is_unspaced(keyword[-1]) else mode


def _is_unspaced(char: str) -> bool:
    """Tell letters and their signs from the symbols and digits of a script without spaces."""
    code = ord(char)
    return any(low <= code <= high for low, high in _UNSPACED) and category(char)[0] in "LM"


def _marked(text: str) -> str:
    """Return ``text`` with a newline, which no folded text has, at every place where a piece may begin."""
    return "\n" + "\n".join(cut(text)) + "\n"


def _replacement(match: re.Match[str]) -> str:
    return _REPLACED[match[0]]


def _few_marks(text: str) -> str:
    """Cut every run of combining marks short: Python sorts a run in quadratic time to normalise it."""
    marks = "".join(sorted(char for char in set(text) if combining(normalize("NFKD", char)[0])))
    if not marks:
        return text
    mark = f"[{re.escape(marks)}]"
    return re.sub(f"({mark}{{{_MOST_MARKS}}}){mark}+", r"\1", text)


@lru_cache(maxsize=8_192)
def _kind(char: str) -> str:
    """Return ``w`` for a part of a word, ``m`` for a mark, a space for itself, ``o`` for all others."""
    if char == " ":
        return char
    if char in _JOINERS or category(char).startswith("M"):
        return "m"
    if char == "_":
        return "w"
    code = ord(char)
    return "w" if char.isalnum() and not any(low <= code <= high for low, high in _UNSPACED) else "o"
