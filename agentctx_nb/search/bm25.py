"""BM25: how well the words of a text answer the words of a query, kept up to date text by text.

Our own rather than bm25s, the kept library that comes nearest: bm25s scores a corpus indexed as a whole and has
no way to add or remove a text later, where memories come and go one at a time; and it brings no tokenizer of its
own that reads words as the static table does. What is left to write is this page, in numpy alone.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from agentctx_nb.search.tokenizer import STOP_WORDS, stem, words

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Bm25", "mixed", "terms"]

_SATURATION = 1.5  # k1: how soon more of the same word stops counting
_LENGTH = 0.75  # b: how much a long text is held against it
_VECTOR_SHARE = 0.6  # of the mix: best for questions in whole sentences, and level with a half elsewhere
_LONGEST_TERM = 40  # characters; the rest of a longer word is not looked at
_MOST_WORDS = 20_000  # of one text; what comes after them is not indexed
_MOST_KNOWN = 1 << 17  # words
_MOST_COUNTED = 0xFFFF  # of one word in one text


def terms(text: str) -> list[str]:
    """Return the stems of the words of ``text`` in order, without stop words.

    >>> terms("How do I reset the passwords?")
    ['reset', 'password']
    """
    return [term for term in map(_KNOWN.__getitem__, words(text)[:_MOST_WORDS]) if term]


class _Terms(dict[str, str]):
    """The stems of the words met so far, "" for a stop word: to look one up takes a fifth of what stemming takes."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        term = "" if word in STOP_WORDS else stem(word[:_LONGEST_TERM])
        if len(word) <= _LONGEST_TERM:
            self[word] = term
        return term


_KNOWN = _Terms()


class _Postings:
    """The rows a term stands in, in the order they came, and how often it does in each."""

    __slots__ = ("counts", "rows")

    def __init__(self) -> None:
        self.rows = array("i")
        self.counts = array("H")

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        # Copies: a view would forbid the array to grow for as long as anybody holds it.
        return np.array(self.rows, np.int32), np.array(self.counts, np.uint16)

    def keep(self, alive: NDArray[np.bool_]) -> None:
        rows, counts = self.arrays()
        kept = alive[rows]
        if not kept.all():
            self.rows = array("i", rows[kept].tobytes())
            self.counts = array("H", counts[kept].tobytes())


class Bm25:
    """BM25 over texts known by row number (never reused), each added once and removed at any time.

    Adding costs the words of that text; removing marks its row and tidies a few terms, so that rows already
    gone never make up much of the index; no call rebuilds anything.

    >>> index = Bm25()
    >>> index.add(0, "reset a password"); index.add(1, "bake bread")
    >>> index.scores("passwords", np.arange(2)) > 0
    array([ True, False])
    """

    def __init__(self) -> None:
        self._postings: dict[str, _Postings] = {}
        self._lengths = np.zeros(0, np.float32)  # words by row; a row that is not there has length 0
        self._distinct = np.zeros(0, np.int32)  # different terms by row
        self._alive = np.zeros(0, np.bool_)
        self._texts = 0
        self._words = 0.0
        self._to_tidy: list[str] = []

    def __len__(self) -> int:
        """Return the number of texts that can be found."""
        return self._texts

    def add(self, row: int, text: str) -> None:
        """Index ``text`` as row number ``row``; a ValueError where that row has been used."""
        self._make_room(row)
        if self._lengths[row]:
            raise ValueError(f"row {row} has been used; every text takes a new row")
        counts: dict[str, int] = {}
        found = terms(text)
        for term in found:
            counts[term] = counts.get(term, 0) + 1
        for term, count in counts.items():
            postings = self._postings.get(term)
            if postings is None:
                postings = self._postings[term] = _Postings()
            postings.rows.append(row)
            postings.counts.append(min(count, _MOST_COUNTED))
        self._lengths[row] = max(len(found), 1)
        self._distinct[row] = len(counts)
        self._alive[row] = True
        self._texts += 1
        self._words += self._lengths[row]

    def remove(self, row: int) -> None:
        """Forget the text of ``row``; nothing happens where there is none."""
        if not 0 <= row < len(self._alive) or not self._alive[row]:
            return
        self._alive[row] = False
        self._texts -= 1
        self._words -= self._lengths[row]
        self._tidy(8 * int(self._distinct[row]))

    def scores(self, query: str, rows: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """Return the score of each of ``rows`` for ``query``: 0 where no word is shared or the row is gone."""
        sums = np.zeros(len(self._lengths), np.float32)
        usual = np.float32(self._words / max(self._texts, 1) or 1)
        asked: dict[str, int] = {}
        for term in terms(query):
            asked[term] = asked.get(term, 0) + 1
        for term, times in asked.items():
            postings = self._postings.get(term)
            if postings is None:
                continue
            found, counts = postings.arrays()
            there = self._alive[found]
            if not there.all():
                found, counts = found[there], counts[there]
            rare = np.float32(times * np.log1p((self._texts - len(found) + 0.5) / (len(found) + 0.5)))
            often = counts.astype(np.float32)
            against = (1 - _LENGTH) + _LENGTH / usual * self._lengths[found]
            sums[found] += rare * often / (often + _SATURATION * against)
        wanted = np.asarray(rows, np.intp)
        known = wanted < len(sums)
        if known.all():
            return sums[wanted]
        return np.where(known, sums[np.where(known, wanted, 0)] if len(sums) else 0, 0).astype(np.float32)

    def _make_room(self, row: int) -> None:
        if row >= len(self._lengths):
            more = max(row + 1, 2 * len(self._lengths), 1024) - len(self._lengths)
            self._lengths = np.concatenate([self._lengths, np.zeros(more, np.float32)])
            self._distinct = np.concatenate([self._distinct, np.zeros(more, np.int32)])
            self._alive = np.concatenate([self._alive, np.zeros(more, np.bool_)])

    def _tidy(self, work: int) -> None:
        """Take rows that are gone out of the next terms, about ``work`` postings' worth of them.

        Eight postings looked at for each one that goes: a round through the whole index is over before an
        eighth of it has been removed.
        """
        while work > 0 and self._postings:
            if not self._to_tidy:
                self._to_tidy = list(self._postings)
            term = self._to_tidy.pop()
            postings = self._postings.get(term)
            if postings is None:
                continue
            work -= len(postings.rows) + 1
            postings.keep(self._alive)
            if not postings.rows:
                del self._postings[term]


def mixed(cosines: NDArray[np.floating[Any]], bm25_scores: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Return one score from both, each taken as distance from its mean in standard deviations.

    Both belong to the same candidates, in the same order; a score that tells none apart has no say.
    """
    share = np.float32(_VECTOR_SHARE)
    return share * _standard(cosines) + (1 - share) * _standard(bm25_scores)


def _standard(values: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    values = np.asarray(values, np.float32)
    if not values.size:
        return values
    centred = values - values.mean(dtype=np.float64).astype(np.float32)
    spread = float(np.sqrt(np.mean(np.square(centred, dtype=np.float64))))
    return centred / np.float32(spread) if spread > 1e-9 else np.zeros_like(centred)
