"""Texts into words, words into stems, and words into the pieces of a fixed vocabulary (WordPiece).

One set of rules for BM25, the static table and MiniLM: what one of them reads as a word the others do too.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["STOP_WORDS", "WordPiece", "stem", "words"]

# Python's ``\s`` would also split at control characters, which the models' own tokenizer drops.
_RUN = re.compile("[^\t\n\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_ASCII_PIECE = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
# Chinese and Japanese are written without spaces: each of their characters counts as a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_ASCII_SYMBOLS = frozenset("$+<=>^`|~")  # punctuation to the models, symbols to Unicode
_IDEOGRAPHS = (
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0002a6df"),
    ("\U0002a700", "\U0002ceaf"),
    ("\U0002f800", "\U0002fa1f"),
)
_LONGEST_WORD = 100  # characters; the models read a longer one as unknown
_CACHED_RUNS = 50_000

# Endings a word loses, first that fits; at least three letters stay.
_ENDINGS = (
    "ization", "isation", "ations", "ation", "ingly", "ments", "ment", "ness", "ings", "edly", "ing", "ers", "er",
    "ed", "es", "ly", "s", "e",
)  # fmt: skip

STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "me",
        "my",
        "no",
        "nor",
        "not",
        "of",
        "on",
        "or",
        "our",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "too",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)


def words(text: str) -> list[str]:
    """Return the words of ``text``: lower case, without accents, split at everything but letters and digits.

    >>> words("Où est le PRE-commit_hook?")
    ['ou', 'est', 'le', 'pre', 'commit', 'hook']
    """
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return _WORD.findall(text.lower())


def stem(word: str) -> str:
    """Return ``word`` without its commonest English endings; what it returns need not be a word.

    >>> [stem(word) for word in ("queries", "query", "caching", "cache", "caches", "class", "classes", "status")]
    ['query', 'query', 'cach', 'cach', 'cach', 'class', 'class', 'status']
    """
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if len(word) > 4 and word.endswith(("ies", "ied")):
        return word[:-3] + "y"
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            root = word[: len(word) - len(ending)]
            if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
                return root[:-1]  # stopping, stopped
            return root
    return word


class WordPiece:
    """Cuts text into the pieces of a vocabulary as BERT's uncased tokenizer does, longest piece first.

    ``vocabulary`` lists the pieces in the order of their numbers; a piece that goes on inside a word starts
    with ``##``.

    >>> WordPiece(["[UNK]", "token", "##izer", "."]).numbers("Tokenizer.", limit=8)
    [1, 2, 3]
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown = self._numbers["[UNK]"]
        self._runs: dict[str, tuple[int, ...]] = {}

    def number(self, piece: str) -> int:
        """Return the number of ``piece``; KeyError when the vocabulary has no such piece."""
        return self._numbers[piece]

    def numbers(self, text: str, *, limit: int) -> list[int]:
        """Return the numbers of the first ``limit`` pieces of ``text``, without reading further than needed."""
        found: list[int] = []
        for match in _RUN.finditer(text):
            run = match[0]
            pieces = self._runs.get(run)
            if pieces is None:
                short = len(run) <= _LONGEST_WORD
                run = run if short else run[: limit * _LONGEST_WORD]
                pieces = tuple(number for part in _parts(run) for number in self.pieces(part))
                if short and len(self._runs) < _CACHED_RUNS:
                    self._runs[run] = pieces
            found += pieces
            if len(found) >= limit:
                return found[:limit]
        return found

    def pieces(self, word: str) -> list[int]:
        """Return the numbers of the pieces of one lower-case word: the longest at its start, and so on."""
        whole = self._numbers.get(word)
        if whole is not None:
            return [whole]
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._numbers.get(mark + word[start:end])
                if number is not None:
                    break
            else:
                return [self._unknown]
            found.append(number)
            start = end
        return found


def _parts(run: str) -> Iterator[str]:
    """Yield the words and single punctuation marks of a text without blanks, the way BERT's tokenizer does."""
    if run.isascii() and run.isprintable():
        yield from _ASCII_PIECE.findall(run.lower())
        return
    word: list[str] = []
    for character in unicodedata.normalize("NFD", run.lower()):
        category = unicodedata.category(character)
        if category == "Mn" or category[0] == "C" or character == "\ufffd":
            continue
        if category[0] == "P" or character in _ASCII_SYMBOLS or _is_ideograph(character):
            if word:
                yield "".join(word)
                word.clear()
            yield character
        else:
            word.append(character)
    if word:
        yield "".join(word)


def _is_ideograph(character: str) -> bool:
    return any(first <= character <= last for first, last in _IDEOGRAPHS)
