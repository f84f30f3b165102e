"""What each reader makes of its kind of file, good and broken."""

from __future__ import annotations

import json
import sys
import warnings

import pytest

from agentctx_nb.errors import MissingExtraError
from agentctx_nb.knowledge.blocks import UnreadableError
from agentctx_nb.knowledge.readers import is_known, read


def blocks(name, text, **options):
    data = text if isinstance(text, bytes) else text.encode()
    return [(b.kind, b.line, b.headings, b.full) for b in read(name, data, **options).blocks]


def paths(name, text):
    return [(b.headings, b.text) for b in read(name, text.encode()).blocks if b.kind == "heading"]


def test_markdown_headings_of_both_kinds_nest():
    text = "Guide\n=====\n\nIntro.\n\n### Deep ###\nx\n\nUse\n---\n"
    assert [path for path, _ in paths("a.md", text)] == [("Guide",), ("Guide", "Deep"), ("Guide", "Use")]


@pytest.mark.parametrize(
    "hidden",
    [
        "```sh\n# no heading\n```",
        "~~~~\n# no\n~~~\n# no\n~~~~",
        "    # no heading",
        "- item\n\n  ```\n  # no heading\n  ```",
        "<pre>\n# no heading\n</pre>",
        "<!--\n# no heading\n-->",
        "> ```\n> # no\n> ```",
        "> # quoted",
        "- # in a list",
        "```\n# never closed",
    ],
)
def test_a_heading_inside_code_or_html_is_none(hidden):
    text = f"# Top\n\n{hidden}\n"
    assert [path for path, _ in paths("a.md", text)] == [("Top",)]
    assert all(
        line.strip(" >") in "\n".join(b[3] for b in blocks("a.md", text)) for line in hidden.split("\n")
    )


def test_a_fence_keeps_its_ends_apart_from_its_body():
    (block,) = read("a.md", b"```python\nx = 1\n\ny = 2\n```\n").blocks
    assert (block.head, block.text, block.tail, block.kind) == ("```python", "x = 1\n\ny = 2", "```", "whole")


def test_a_table_keeps_its_first_rows_apart():
    (block,) = read("a.md", b"| a | b |\n|---|---|\n| 1 | 2 |\n").blocks
    assert (block.head, block.text) == ("| a | b |\n|---|---|", "| 1 | 2 |")


def test_definitions_of_links_are_kept_as_they_are():
    assert [b[3] for b in blocks("a.md", "[a]: http://x\n[b]: http://y 'title'\n\nSee [a].\n")] == [
        "[a]: http://x\n[b]: http://y 'title'", "See [a]."
    ]  # fmt: skip


def test_front_matter_is_one_block_and_no_heading():
    text = "---\ntitle: Tea\n# comment\n---\n\n# Top\n"
    assert blocks("a.md", text) == [
        ("whole", 2, (), "title: Tea\n# comment"),
        ("heading", 6, ("Top",), "# Top"),
    ]


def test_the_lines_of_nested_lists_stay_as_they_are():
    text = "- a\n  - b\n\n    more of b\n  - c\n-\n1. d\n"
    found = blocks("a.md", text)
    assert "\n".join(b[3] for b in found) == text.replace("\n\n", "\n").rstrip()
    assert [b[1] for b in found] == [1, 2, 4, 5, 6, 7]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system_count_alike(ends):
    text = ends.join(["# A", "", "one", "two", "", "## B", "", "\tthree"])
    assert [(b[1], b[3]) for b in blocks("a.md", text)] == [
        (1, "# A"), (3, "one\ntwo"), (6, "## B"), (8, "\tthree"),
    ]  # fmt: skip


def test_paragraphs_of_a_text_and_characters_that_are_no_line_ends():
    assert blocks("a.txt", "\n\none\u2028still\n \t\ntwo\x0cx\n") == [
        ("text", 3, (), "one\u2028still"),
        ("text", 5, (), "two\x0cx"),
    ]


def test_restructured_titles_nest_in_the_order_of_their_styles():
    text = "=====\nGuide\n=====\n\nIntro.\n\nUse\n---\n\nText::\n\n    Not a title\n    -----------\n\n    more\n\nEnd\n---\n"
    assert [path for path, _ in paths("a.rst", text)] == [("Guide",), ("Guide", "Use"), ("Guide", "End")]
    assert (
        "whole",
        10,
        ("Guide", "Use"),
        "Text::\n\n    Not a title\n    -----------\n\n    more",
    ) in blocks("a.rst", text)


def test_restructured_tables_and_transitions_are_no_titles():
    text = "=====  =====\na      b\n=====  =====\n1      2\n=====  =====\n\n-----\n\n+---+\n| a |\n+---+\n"
    assert paths("a.rst", text) == []
    assert [b[0] for b in blocks("a.rst", text)] == ["whole", "text", "whole"]


def test_what_a_literal_holds_is_one_block_however_many_paragraphs_it_has():
    text = "Code::\n\n" + "    x\n \t\n" * 20_000 + "end\n"
    made = blocks("a.rst", text)
    assert [(kind, line) for kind, line, *_ in made] == [("whole", 1), ("text", 40_003)]
    assert made[0][3] == "Code::" + "\n\n    x" * 20_000


def test_html_gives_what_a_person_reads():
    text = """<!doctype html><html><head><title>Page</title><style>p{}</style><script>var x = "<p>no</p>"</script>
</head><body><nav><h2>Menu</h2><ul><li>Home</ul></nav>
<h1>Guide &amp; more</h1>
<p>One
two<br>three <b>bold</b>
<ul><li>a<li><p>b</p></ul>
<pre>x = 1

y &lt; 2</pre>
<table><tr><th>k<th>v<tr><td>1<td>2</table>
<div role="navigation"><div>away</div></div><p>End"""
    assert blocks("a.html", text) == [
        ("heading", 3, ("Guide & more",), "# Guide & more"),
        ("text", 4, ("Guide & more",), "One two\nthree bold"),
        ("text", 6, ("Guide & more",), "- a"),
        ("text", 6, ("Guide & more",), "- b"),
        ("whole", 7, ("Guide & more",), "```\nx = 1\n\ny < 2\n```"),
        ("whole", 10, ("Guide & more",), "k | v\n1 | 2"),
        ("text", 11, ("Guide & more",), "End"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<nav>menu<p>kept</p>",
        "<p>kept<script>alert(1)",
        "<table><tr><td>kept",
        "<div><div><p>kept</b></i></div></div></div></table></nav>",
        "kept",
        "<pre>kept",
        "<p>kept <p <p",
        "<nav><div><nav>away</nav></div>away</nav>kept",
        "<svg><text>away</text></svg>kept<template>away</template>",
        "<p>kept</p><style>p { color: red",
    ],
)
def test_html_that_nobody_closes_keeps_its_text(text):
    said = "\n".join(b[3] for b in blocks("a.html", text))
    assert "kept" in said
    assert not {"alert", "away", "color"} & set(said.replace("(", " ").split())


def test_a_menu_leaves_no_trace_in_the_headings():
    text = "<h1>Top</h1><nav><h1>Menu</h1><h2>Sub</h2></nav><p>x"
    assert blocks("a.html", text)[-1][2] == ("Top",)


def test_the_title_of_a_page_stands_for_a_missing_heading():
    assert blocks("a.html", "<title>Tea</title><h2>Pots</h2>x") == [
        ("heading", 1, ("Tea",), "# Tea"),
        ("heading", 1, ("Tea", "Pots"), "## Pots"),
        ("text", 1, ("Tea", "Pots"), "x"),
    ]


def notebook(*cells, **more):
    return json.dumps({"cells": list(cells), "nbformat": 4, **more})


def cell(kind, source, **more):
    return {"cell_type": kind, "source": source, **more}


def test_cells_of_a_notebook_share_their_headings():
    text = notebook(
        cell("markdown", ["# Top\n", "words"]),
        cell("code", "\nx = 1", outputs=[{"output_type": "stream", "text": ["said\n"]}]),
        cell("markdown", "## Sub"),
        cell("raw", "raw"),
        cell("code", ""),
    )
    document = read("a.ipynb", text.encode())
    assert [(b.cell, b.line, b.headings, b.full) for b in document.blocks] == [
        (1, 1, ("Top",), "# Top"),
        (1, 2, ("Top",), "words"),
        (2, 2, ("Top",), "```python\nx = 1\n```"),
        (3, 1, ("Top", "Sub"), "## Sub"),
        (4, 1, ("Top", "Sub"), "raw"),
    ]
    assert "said" in "".join(b[3] for b in blocks("a.ipynb", text, outputs=True))


def test_a_notebook_of_format_three_is_read():
    text = json.dumps({"worksheets": [{"cells": [
        {"cell_type": "heading", "level": 2, "source": "Top"}, {"cell_type": "code", "input": "x"}
    ]}]})  # fmt: skip
    assert [b[3] for b in blocks("a.ipynb", text)] == ["## Top", "```python\nx\n```"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "no notebook: Expecting property name enclosed in double quotes in line 1"),
        ("[]", "no notebook: it has no list of cells"),
        ('{"cells": 3}', "no notebook: it has no list of cells"),
        ("", "no notebook: Expecting value in line 1"),
        ("[" * 100_000, "no notebook: "),
        ('{"cells": ' + "9" * 5000 + "}", "no notebook: it holds a number that is too long"),
    ],
)
def test_a_broken_notebook_says_why(text, reason):
    with pytest.raises(UnreadableError, match=reason.replace("[", r"\[")):
        read("a.ipynb", text.encode())


def test_cells_that_are_not_as_they_should_be_are_passed_over():
    text = notebook(
        3, {}, cell("code", 5), cell("code", ["x", 3], outputs="no"), cell("markdown", "\ud800 y")
    )
    assert [b[3] for b in blocks("a.ipynb", text, outputs=True)] == ["```python\nx\n```", "\ud800 y"]


MODULE = '''"""What it is."""

import os

LIMIT = 3

# Why this is.
@decorated
def first(x):
    """Do it."""

    return x

class Shop:
    """Sells."""

    rate = 2

    def buy(self):
        return 1

    class Inner:
        def deep(self): pass

    async def sell(self):
        return "# no comment"
'''


def test_python_is_cut_at_its_definitions():
    document = read("a.py", MODULE.encode())
    assert [(b.line, b.headings, b.under, b.text.split("\n")[0]) for b in document.blocks] == [
        (1, (), "", '"""What it is."""'),
        (3, (), "", "import os"),
        (5, (), "", "LIMIT = 3"),
        (7, ("first",), "", "# Why this is."),
        (14, ("Shop",), "", "class Shop:"),
        (17, ("Shop",), "class Shop:", "    rate = 2"),
        (19, ("Shop", "buy"), "class Shop:", "    def buy(self):"),
        (22, ("Shop", "Inner"), "class Shop:", "    class Inner:"),
        (23, ("Shop", "Inner", "deep"), "class Shop:\n    class Inner:", "        def deep(self): pass"),
        (25, ("Shop", "sell"), "class Shop:", "    async def sell(self):"),
    ]
    words = " ".join(b.text for b in document.blocks).split()
    assert words == MODULE.split()


@pytest.mark.parametrize(
    "text", ["def f(:\n    x\n", "x = 1\n\tif: y", "(" * 5000, "class A: pass; \x0c def"]
)
def test_invalid_python_is_read_as_text_and_says_so(text):
    document = read("a.py", text.encode())
    assert document.note.startswith("read as plain text: ")
    assert "".join(b.text for b in document.blocks).split() == text.split()


def test_the_warnings_of_foreign_code_stay_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read("a.py", b"x = '\\d'\n").note == ""


def pdf(*pages):
    """A PDF of one line of text a page, written by hand."""
    kids = " ".join(f"{3 + 2 * i} 0 R" for i in range(len(pages)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    for i, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        font = "<< /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * i} 0 R /Resources << /Font {font} >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return out + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


def test_a_pdf_is_read_page_by_page():
    document = read("a.pdf", pdf("Hello there", "Second page"))
    assert [(b.page, b.line, b.text) for b in document.blocks] == [
        (1, 1, "Hello there"),
        (2, 1, "Second page"),
    ]


def test_a_damaged_pdf_and_one_without_text_say_so():
    for data in (b"", b"not a pdf", pdf("x")[:200]):
        with pytest.raises(UnreadableError, match="no PDF that can be read"):
            read("a.pdf", data)
    assert "no text in it" in read("a.pdf", pdf("")).note


def test_without_pypdf_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(MissingExtraError, match=r"agentctx_nb\[pdf\]"):
        read("a.pdf", b"")


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        ("\ufeffnaïve".encode(), "naïve", ""),
        ("naïve".encode("utf-16"), "naïve", ""),
        ("naïve".encode("utf-32"), "naïve", ""),
        ("\ufeffnaïve".encode("utf-16-be"), "naïve", ""),
        ("naïve “so”".encode("cp1252"), "naïve “so”", "no UTF-8; read as Windows-1252"),
        (b"na\xefve\x81", "naïve\x81", "no UTF-8; read as Latin-1"),
    ],
)
def test_encodings_are_found_out(data, text, note):
    document = read("a.txt", data)
    assert ([b.text for b in document.blocks], document.note) == ([text], note)


def test_what_a_file_says_of_its_encoding_is_believed_where_it_holds():
    page = '<meta charset="shift_jis"><p>東京'.encode("shift_jis")
    assert blocks("a.html", page)[0][3] == "東京"
    code = "# -*- coding: koi8-r -*-\nx = 'привет'\n".encode("koi8-r")
    assert "привет" in blocks("a.py", code)[0][3]
    for false in (b'<meta charset="hex"><p>\xe9', b'<meta charset="nonsense"><p>\xe9'):
        assert blocks("a.html", false)[0][3] == "é"


@pytest.mark.parametrize(
    "data", [b"a\x00b", b"\x00\xff", b"\xff\xfe\x00", bytes(range(128, 256)) + bytes(range(1, 32)) * 9]
)
def test_what_is_no_text_is_refused(data):
    with pytest.raises(UnreadableError):
        read("a.txt", data)


def test_the_kinds_that_are_read_by_themselves():
    assert all(map(is_known, ["a.MD", "a.rst", "a.txt", "a.html", "a.ipynb", "a.py", "a.pdf", "README"]))
    assert not any(map(is_known, ["a.png", "a.csv", "Makefile", "a", "md", ".md"]))
