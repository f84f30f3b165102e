"""Pages that are broken on purpose: their text is read, in time that grows as they do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agentctx_nb.knowledge.hypertext import read_html
from agentctx_nb.knowledge.tags import attributes_of, pieces

ROOT = Path(__file__).parents[2]

# What of it nothing closes, over and over, and a ">" at the very end.
HOSTILE = [
    "<![if >", "<![", "<a ", "<a<", '<a b="', "<a b='\"", '<a b=">" ', "<a b=\"'>", "<a =", "<!--", "<!-- >", "<![CDATA[>", "<!", "<?x",
    "</a ", "<", "<script", "<style>", "<title>x", "<textarea>", "<svg>", "<table><tr><td>x", "<pre>", "&#9", "&amp",
    "<script></scrip", "<nav role=navigation ", "<li>",
]  # fmt: skip

# Those a reader that follows every opening to the end takes minutes for, when there are many.
WORST = ["<![if >", "<![CDATA[>", '<a b=">" ']

READS_ALL = """
from agentctx_nb.knowledge.hypertext import read_html
from tests.knowledge.test_hypertext import HOSTILE, WORST

for part in HOSTILE:
    size = 1_500_000 if part in WORST else 50_000
    for end in ("", "'>"):
        read_html(part * (size // len(part)) + end)
"""


def test_pages_nobody_closed_are_read_in_time():
    command = [sys.executable, "-c", READS_ALL]
    done = subprocess.run(command, cwd=ROOT, timeout=300, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def told(page):
    return "\n".join(block.text for block in read_html(page))


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p title='a > b'>kept</p>", "kept"),
        ('<p title="it\'s">kept', "kept"),
        ("<p title=it's>kept</p>", "kept"),
        ("<p don't>kept</p>", "kept"),
        ('<p title = "a > b" class=x>kept', "kept"),
        ('<p title="never closed>kept</p>', "kept"),
        ('<a href="x>gone</a><a href="y">kept', "kept"),
        ("<p>1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("a <3 b <- c", "a <3 b <- c"),
        ("<p>kept <!-- gone > gone --> too", "kept too"),
        ("<!--> kept <!---> too", "kept too"),
        ("kept <!-- kept > too", "kept <!-- kept > too"),
        ("<!doctype html><?xml version='1.0'?></ gone>kept", "kept"),
        ("<![CDATA[ gone > gone ]]>kept", "kept"),
        ("<script>if (a < b) '</scripted>' </SCRIPT >kept", "kept"),
        ("<script/>kept", "kept"),
        ("<textarea><p>gone</textarea>kept", "kept"),
        ("<title>A <b> tag</title>", "# A <b> tag"),
        ("<title>A <b>tag</b>", "# A tag"),
        ("&lt;b&gt; &amp;amp; caf&eacute; &#x1F600; &notit;", "<b> &amp; café 😀 ¬it;"),
        (f"&#{'9' * 5000}; &#{'0' * 5000}65; &#x{'f' * 5000}; &#x{'0' * 5000}41;", "� A � A"),
        ("&#0; &#55296; &#1114112;", "� � �"),
    ],
)
def test_what_a_person_reads_of_a_broken_page(page, text):
    assert told(page) == text


def test_a_quote_that_hides_every_end_hides_no_text():
    page = '<a b=">" ' * 3 + "<p>kept</p>"
    assert "kept" in told(page)


def test_lines_are_those_of_the_file():
    page = "\n<p\ntitle='\n'>\n\none\n<!--\n\n-->two</p>\n<script>\n\n</script>\n<p>three"
    assert [(block.text, block.line) for block in read_html(page)] == [("one two", 6), ("three", 13)]


def test_the_text_of_a_page_is_looked_at_once_whatever_the_order_of_its_parts():
    given = list(pieces("<b>x</b>" * 3))
    assert [piece.kind for piece in given] == ["start", "text", "end"] * 3


def test_only_the_role_itself_makes_navigation():
    assert told("<div role = Navigation>kept</div><div title='role=navigation'>too</div>") == "kept\ntoo"
    assert told("<div class=a ROLE='navigation' x>gone</div>kept") == "kept"
    assert attributes_of(" a = 'b' c d=e/f g=\"\" a=2 h=&amp; /") == {
        "a": "b",
        "c": "",
        "d": "e/f",
        "g": "",
        "h": "&",
    }
