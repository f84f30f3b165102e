from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from agentctx_nb.search.embedder import default_embedder
from agentctx_nb.search.static import TABLE, StaticEmbedder

VOCABULARY = ["[UNK]", "cat", "sat", "mat", "##s", "c", "##a"]
VECTORS = np.array(
    [[0, 0, 0], [127, 0, 0], [0, 127, 0], [0, 0, -127], [10, 10, 0], [1, 1, 1], [1, 1, 1]], np.int8
)
SCALES = np.array([1, 0.5, 1, 2, 1, 1, 1], np.float16)


@pytest.fixture
def toy(tmp_path):
    table = tmp_path / "toy.npz"
    np.savez(
        table,
        vectors=VECTORS,
        scales=SCALES,
        vocabulary=np.frombuffer("\n".join(VOCABULARY).encode(), np.uint8),
    )
    return StaticEmbedder(table, name="toy")


def unit(vector):
    return np.array(vector) / np.linalg.norm(vector)


def test_a_text_is_the_weighted_sum_of_its_tokens_at_unit_length(toy):
    rows = toy.embed(["Cat sat", "cat, cat! CAT mat", "cats"], "document")
    assert rows.dtype == np.float32
    assert rows[0] == pytest.approx(unit([63.5, 127, 0]), abs=1e-6)
    assert rows[1] == pytest.approx(unit([63.5 * 3**0.5, 0, -254]), abs=1e-6)
    assert rows[2] == pytest.approx(unit([63.5 + 10, 10, 0]), abs=1e-6)
    assert (toy.name, toy.dim) == ("toy-3", 3)


def test_a_text_without_words_is_a_row_of_zeros(toy):
    assert not toy.embed(["", "  \n", "?! --"], "query").any()
    assert toy.embed([], "query").shape == (0, 3)


def test_words_of_other_scripts_are_near_words_that_look_alike():
    embedder = default_embedder()
    one, inflected, other = embedder.embed(["библиотека", "библиотеки", "самолёт"], "document")
    assert one @ inflected > 0.6
    assert abs(one @ other) < 0.3
    assert np.linalg.norm(one) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        (
            "How do I undo the last commit?",
            "Revert a change in version control",
            "Bake the bread until brown",
        ),
        ("car", "automobile", "banana"),
        ("delete a file", "remove a document from the disk", "play a song on the piano"),
        ("doctor", "physician in a hospital", "railway station"),
        ("make it run faster", "improve the performance of the program", "colour of the background"),
        ("repair a broken bicycle", "fixing bikes", "the law of contracts"),
    ],
)
def test_meaning_is_found_where_no_word_is_shared(query, right, wrong):
    asked, near, far = default_embedder().embed([query, right, wrong], "document")
    assert asked @ near > asked @ far + 0.1


def test_both_kinds_are_read_alike_and_a_batch_like_single_texts():
    embedder = default_embedder()
    texts = ["reset a password", "", "bake bread", "x" * 500, "reset a password"]
    together = embedder.embed(texts, "query")
    assert (together == embedder.embed(texts, "document")).all()
    assert (together == np.concatenate([embedder.embed([text], "query") for text in texts])).all()


def test_the_same_text_gives_the_same_bytes_in_every_process():
    code = (
        "import hashlib; from agentctx_nb.search.embedder import default_embedder as d;"
        "print(hashlib.sha256(d().embed(['reset a password', 'naïve café', 'слово'], 'query').tobytes()).hexdigest())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(said) == 1


def test_rows_are_the_ones_the_table_was_shipped_with():
    """Changed numbers would make every stored vector wrong without anybody noticing."""
    row = default_embedder().embed(["Where do I change my address?"], "query")[0]
    assert row[:4].tolist() == pytest.approx(SHIPPED, abs=1e-5)


SHIPPED = [0.0139675, 0.0997119, -0.0425796, -0.0977770]


def test_a_very_long_text_and_strange_characters_are_read():
    rows = default_embedder().embed(["word " * 300_000, "\ud800 \x00 🎉", "a" * 100_000], "document")
    assert np.isfinite(rows).all()


def test_the_table_is_small_and_loads_at_once():
    assert TABLE.stat().st_size <= 8_000_000
    assert 64 <= default_embedder().dim <= 256
    spent = []
    for _ in range(3):
        start = time.process_time()
        StaticEmbedder().embed(["warm"], "query")
        spent.append(time.process_time() - start)
    assert min(spent) < 0.2


def test_a_query_is_quick():
    embedder = default_embedder()
    texts = [f"how do I reset the password of account {number} when it is locked" for number in range(200)]
    embedder.embed(texts, "query")
    start = time.process_time()
    for text in texts:
        embedder.embed([text], "query")
    assert (time.process_time() - start) / len(texts) < 0.0005  # five times what it takes


def test_its_origin_and_licence_stand_beside_it():
    said = (TABLE.parent / "PROVENANCE.md").read_text(encoding="utf-8")
    for word in ("all-MiniLM-L6-v2", "Apache-2.0", "WordNet", "left out"):
        assert word in said
    assert "Apache License" in (TABLE.parent / "LICENSE").read_text(encoding="utf-8")
    assert "WordNet" in (TABLE.parent / "NOTICE").read_text(encoding="utf-8")
