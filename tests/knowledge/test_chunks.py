"""Blocks to chunks: bounded, nothing lost, each under its heading."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentctx_nb.knowledge.blocks import Block
from agentctx_nb.knowledge.chunks import split
from agentctx_nb.knowledge.readers import read


def cut(name, text, chunk_chars=120, overlap_chars=0):
    return split(read(name, text.encode()).blocks, chunk_chars=chunk_chars, overlap_chars=overlap_chars)


def test_a_section_begins_a_chunk_and_a_heading_without_text_joins_the_next():
    chunks = cut("a.md", "# Guide\n\n## Install\n\nRun it.\n\n## Use\n\nCall it.\n")
    assert [(c.line, c.headings, c.text) for c in chunks] == [
        (1, ("Guide", "Install"), "# Guide\n\n## Install\n\nRun it."),
        (7, ("Guide", "Use"), "## Use\n\nCall it."),
    ]


def test_a_heading_with_nothing_under_it_is_not_lost():
    assert [c.text for c in cut("a.md", "# A\n# B\n\nb\n\n## C\n")] == ["# A", "# B\n\nb", "## C"]


def test_paragraphs_share_a_chunk_as_long_as_they_fit_and_the_heading_is_repeated():
    text = "## Use\n\n" + "\n\n".join(f"{letter * 40}" for letter in "abcd")
    chunks = cut("a.md", text)
    assert [c.text for c in chunks] == [
        f"## Use\n\n{'a' * 40}\n\n{'b' * 40}", f"## Use\n\n{'c' * 40}\n\n{'d' * 40}"
    ]  # fmt: skip
    assert [c.line for c in chunks] == [1, 7]


def test_a_fence_and_a_table_that_fit_are_whole():
    fence = "```py\n" + "x = 1\n" * 15 + "```"
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 9
    chunks = cut("a.md", f"# T\n\n{'word ' * 12}\n\n{fence}\n\n{'word ' * 12}\n\n{table}")
    assert any(fence in c.text for c in chunks)
    assert any(table.rstrip() in c.text for c in chunks)


def test_a_fence_that_is_too_long_is_cut_between_lines_and_every_part_is_a_fence():
    lines = [f"value_{i} = {i}" for i in range(40)]
    chunks = cut("a.md", "# T\n\n```py\n" + "\n".join(lines) + "\n```\n\nafter")
    parts = [c for c in chunks if "```" in c.text]
    assert len(parts) > 3
    assert all("```py\n" in c.text and "\n```" in c.text for c in parts)
    assert [line for c in parts for line in c.text.split("\n") if line.startswith("value")] == lines
    assert all(c.line == 4 + int(c.text.split("value_")[1].split(" ")[0]) for c in parts[1:])


def test_a_long_table_repeats_its_first_rows():
    chunks = cut("a.md", "| a | b |\n|---|---|\n" + "".join(f"| {i} | x |\n" for i in range(60)))
    assert all(c.text.startswith("| a | b |\n|---|---|\n| ") for c in chunks)


def test_a_long_paragraph_is_cut_at_sentences_and_its_parts_overlap():
    text = " ".join(f"This is sentence number {i}." for i in range(30))
    chunks = cut("a.txt", text, overlap_chars=30)
    assert all(c.text.endswith(".") for c in chunks)
    for one, other in pairwise(chunks):
        shared = other.text.split(".")[0]
        assert shared in one.text
        assert 0 < len(shared) <= 30


def test_the_parts_of_a_long_paragraph_know_their_lines():
    text = "\n\n" + "\n".join(f"{i} is the number of this line" for i in range(3, 40))
    for chunk in cut("a.txt", text):
        assert chunk.line == int(chunk.text.split()[0])


def test_a_method_is_put_under_its_class():
    chunks = cut("a.py", "class Shop:\n    '''Sells.'''\n\n    def buy(self):\n        return 1\n")
    assert [c.text for c in chunks] == [
        "class Shop:\n    '''Sells.'''", "class Shop:\n    def buy(self):\n        return 1"
    ]  # fmt: skip


def test_pages_and_sections_do_not_mix():
    blocks = [Block("one", 1, page=1), Block("two", 1, page=2), Block("three", 2, page=2)]
    chunks = split(blocks, chunk_chars=100)
    assert [(c.page, c.text) for c in chunks] == [(1, "one"), (2, "two\nthree")]


def test_what_no_store_takes_is_replaced():
    assert split([Block("a\ud800b\x00c", 1)], chunk_chars=100)[0].text == "a\ufffdb\ufffdc"


@pytest.mark.parametrize(
    "text", ["x" * 5_000_000, "wörd " * 1_000_000, "\n" * 5_000_000 + "a", "あ。" * 1_500_000]
)
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html"])
def test_a_line_of_megabytes_takes_no_long_time(text, name):
    start = time.process_time()
    chunks = cut(name, text, chunk_chars=1000, overlap_chars=100)
    assert time.process_time() - start < 20
    assert max(len(c.text) for c in chunks) <= 1000
    assert sum(len(c.text) for c in chunks) >= len(text.strip()) * 0.9


def test_a_letter_is_not_parted_from_its_accents():
    chunks = cut("a.txt", "e\u0301" * 400, chunk_chars=101)
    assert all(c.text.startswith("e") and c.text.endswith("\u0301") for c in chunks)


line = st.text(st.sampled_from("ab #-*`|>.\t1=~<e\u0301東。"), max_size=60)
document = st.lists(line, max_size=40).map("\n".join)


@given(
    document, st.sampled_from(["a.md", "a.rst", "a.txt", "a.py", "a.html"]), st.sampled_from([100, 137, 400])
)
def test_no_chunk_is_too_long_and_no_word_is_lost(text, name, size):
    blocks = read(name, text.encode()).blocks
    for overlap in (0, size // 4):
        chunks = split(blocks, chunk_chars=size, overlap_chars=overlap)
        assert all(0 < len(c.text) <= size and c.text.strip() for c in chunks)
        assert all(c.text == c.text.strip("\n").rstrip() for c in chunks)
        words = {word for block in blocks for word in block.full.split() if len(word) < 20}
        found = " ".join(c.text for c in chunks)
        assert all(word in found for word in words)


@given(document, st.sampled_from(["a.md", "a.rst", "a.txt"]))
def test_blocks_hold_every_line_and_know_its_number(text, name):
    lines = text.split("\n")
    blocks = read(name, text.encode()).blocks
    for block in blocks:
        for number, said in enumerate(block.full.split("\n"), block.line):
            assert said == lines[number - 1]
    words = sum(len(line.split()) for line in lines)
    rulers = 2 if lines[0].startswith("---") else 0  # of front matter
    assert words - rulers <= sum(len(block.full.split()) for block in blocks) <= words
