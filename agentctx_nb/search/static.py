"""The default embedder: one vector a word piece, learned once from a sentence model, summed over a text.

Nothing is downloaded and nothing but numpy is needed. Where the table in ``data/`` comes from, and under which
licence, stands in ``data/PROVENANCE.md``; ``scripts/distill_static.py`` makes it.
"""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from agentctx_nb.search.tokenizer import STOP_WORDS, WordPiece, words

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["StaticEmbedder", "StaticTokens"]

TABLE = Path(__file__).parent / "data" / "static.npz"
_MOST_WORDS = 4096  # of one text; what comes after them is not read
_CACHED_WORDS = 50_000
_LONGEST_WORD = 100  # characters; what follows in a longer one, a key or a data URL, says nothing


class StaticTokens:
    """Text -> (numbers of the table's rows, how much each counts); unknown words apart, as they are written.

    A token counts by the square root of how often it stands there, so that no word takes over a long text.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._wordpiece = WordPiece(vocabulary)
        self._unknown = self._wordpiece.number("[UNK]")
        self._known: dict[str, tuple[int, ...]] = {}

    def count(self, text: str) -> tuple[list[int], list[float], list[str]]:
        """Return the token numbers of ``text``, the weight of each, and the words no piece fits."""
        counts: dict[int, int] = {}
        unknown: list[str] = []
        found = words(text)[:_MOST_WORDS]
        # Without them questions come nearer to their answers; a text of nothing else keeps them.
        telling = [word for word in found if word not in STOP_WORDS] or found
        for word in telling:
            pieces = self._known.get(word)
            if pieces is None:
                cut = self._wordpiece.pieces(word)
                pieces = () if self._unknown in cut else tuple(cut)
                if len(self._known) < _CACHED_WORDS:
                    self._known[word] = pieces
            for number in pieces:
                counts[number] = counts.get(number, 0) + 1
            if not pieces:
                unknown.append(word)
        return list(counts), [math.sqrt(count) for count in counts.values()], unknown


class StaticEmbedder:
    """Vectors from a table of token vectors in a file; the same text gives the same vector everywhere.

    The table holds ``vectors`` (int8, tokens x numbers), ``scales`` (what each of its rows is multiplied by, the
    token's weight included) and ``vocabulary`` (the tokens in UTF-8, one a line).
    """

    def __init__(self, table: str | os.PathLike[str] = TABLE, *, name: str = "static-minilm") -> None:
        with np.load(table, allow_pickle=False) as stored:
            self._vectors: NDArray[np.int8] = stored["vectors"]
            self._scales: NDArray[np.float32] = stored["scales"].astype(np.float32)
            vocabulary = stored["vocabulary"].tobytes().decode("utf-8").split("\n")
        self._tokens = StaticTokens(vocabulary)
        self.dim = int(self._vectors.shape[1])
        self.name = f"{name}-{self.dim}"
        self.default_threshold = (
            0.4  # keeps two right answers in three or more, and a random pair in a hundred
        )
        # An unknown word is as loud as a rare word of the table.
        loudness = self._scales * np.linalg.norm(self._vectors.astype(np.float32), axis=1)
        self._unknown_scale = np.float32(np.percentile(loudness, 75) / math.sqrt(self.dim))

    def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"] = "document"
    ) -> NDArray[np.float32]:
        """Return one row of unit length a text, of zeros for a text without words; both kinds are read alike."""
        rows = np.zeros((len(texts), self.dim), np.float32)
        for place, text in enumerate(texts):
            numbers, weights, unknown = self._tokens.count(text)
            row = rows[place]
            if numbers:
                scaled = self._scales[numbers] * np.asarray(weights, np.float32)
                np.matmul(scaled, self._vectors[numbers].astype(np.float32), out=row)
            for word in unknown:
                np.add(row, self._unknown_scale * _signs_of(word, self.dim), out=row)
            length = np.linalg.norm(row)
            if length > 0:
                np.divide(row, length, out=row)
        return rows


def _signs_of(word: str, dim: int) -> NDArray[np.float32]:
    """Return a vector for a word of another script: near those of words that share three letters in a row."""
    marked = f"<{word[:_LONGEST_WORD]}>"
    vector = np.zeros(dim, np.float32)
    count = max(len(marked) - 2, 1)
    for start in range(count):
        drawn = hashlib.shake_128(marked[start : start + 3].encode("utf-8", "replace")).digest((dim + 7) // 8)
        vector += np.unpackbits(np.frombuffer(drawn, np.uint8))[:dim].astype(np.float32) * 2 - 1
    vector /= math.sqrt(count)
    return vector
