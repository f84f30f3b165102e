from __future__ import annotations

import re

import pytest

from agentctx_nb.render import Lines, Page, html, markdown, text
from agentctx_nb.render.grid import block_of
from agentctx_nb.render.table import Table
from tests.hostile import MASKED, SECRET, TEXTS, mask, problems

WRITERS = {"text/plain": text, "text/markdown": markdown, "text/html": html}


def written(writer, given, **options):
    return writer.page([writer.fold(block_of("title", given, mask=mask, whole="state.text", **options))])


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("label", TEXTS)
def test_a_text_of_several_lines_is_harmless(label, kind):
    form = written(WRITERS[kind], TEXTS[label])
    assert problems(form, kind) == []
    assert len(form.encode()) < 40_000


@pytest.mark.parametrize("kind", WRITERS)
def test_a_text_that_is_cut_says_so(kind):
    form = written(WRITERS[kind], "a" * 5_000_000)
    assert "showing about 10,000 of 5,000,000 characters; state.text has all" in form


@pytest.mark.parametrize("kind", WRITERS)
def test_a_text_that_fits_says_nothing(kind):
    assert "showing" not in written(WRITERS[kind], "a" * 9_999)


@pytest.mark.parametrize("kind", WRITERS)
def test_a_secret_across_the_cut_of_a_text_is_masked_whole(kind):
    form = written(WRITERS[kind], "a" * (10_000 - len(MASKED)) + SECRET + "b" * 50)
    assert MASKED in form
    assert problems(form, kind) == []


@pytest.mark.parametrize("kind", WRITERS)
def test_an_empty_text_is_called_empty(kind):
    assert "(empty)" in written(WRITERS[kind], "")


def test_a_text_is_never_changed_inside_of_its_fence():
    given = "# head\n```\n| a |\n$x$ <b>"
    assert f"````text\n{given}\n````" in written(markdown, given)


def test_the_first_newline_of_a_text_survives_a_reader_of_html():
    assert re.search(r"<pre [^>]*>\n\n\nfirst</pre>", written(html, "\n\nfirst"))


def test_a_fold_is_open_or_closed_as_asked():
    assert re.search(r'<details [^>]*open="open">', written(html, "x"))
    assert "open=" not in written(html, "x", shown_open=False)


def test_columns_line_up_with_wide_and_combining_characters():
    rows = [("東京", "x"), ("Oslo", "x"), ("👩\u200d💻", "x"), ("e\u0301", "x"), ("☀\ufe0f", "x")]
    assert Table(("city", "sky"), rows).to_text().splitlines()[2:] == [
        "東京  x",
        "Oslo  x",
        "👩\u200d💻    x",
        "e\u0301     x",
        "☀\ufe0f    x",
    ]


@pytest.mark.parametrize("width", [20, 40, 100])
def test_no_line_of_a_table_is_wider_than_asked(width):
    table = Table(("a", "b", "c"), [("w" * 500, "東京の天気は" * 30, "x"), ("short", "y", "z" * 90)])
    assert max(map(text.text_width, table.to_text(width=width).splitlines())) <= width


def test_the_widest_column_gives_way_first():
    shown = Table(("provider", "reason"), [("WEATHER", "long " * 40)]).to_text(width=40)
    assert "WEATHER" in shown
    assert shown.endswith("…")


def test_columns_of_the_same_width_share_what_there_is():
    rows = [("k" * 59, "v" * 59, "int", "FACTS")]
    heading, _, row = Table(("key", "value", "type", "writer"), rows).to_text(width=80).splitlines()
    assert row == f"{'k' * 31}…  {'v' * 31}…  int   FACTS"
    assert heading.index("value") == 34


def test_a_narrow_column_keeps_its_width_and_the_widest_gets_the_rest():
    row = Table(("a", "b", "c"), [("a" * 10, "b" * 30, "c" * 200)]).to_text(width=64).splitlines()[2]
    assert row == f"{'a' * 10}  {'b' * 25}  {'c' * 24}…".replace("b" * 25, f"{'b' * 24}…")


def test_columns_that_hold_nothing_are_left_out_of_every_form():
    table = Table(("provider", "error", "chars"), [("A", "", 1), ("B", "", 0)])
    for form in table._repr_mimebundle_().values():
        assert "error" not in form
        assert "chars" in form
    assert "error" in table.to_frame()


def test_a_short_cell_is_not_broken_and_a_long_one_may_be():
    shown = Table(("a", "b"), [("x", "not run"), ("y", "dynamic, no keyword in message")]).to_html()
    assert re.search(r"white-space: nowrap[^>]*>not run", shown)
    assert re.search(r"min-width: 10em[^>]*>dynamic", shown)
    assert shown.count("nowrap") == 1


def test_a_text_keeps_its_columns_where_a_page_sets_another_font():
    assert re.search(r'<pre style="font-family: monospace; ', written(html, "x"))


@pytest.mark.parametrize(
    "words",
    ["CURRENT_TIME", "keyword 'rain'", "skipped: dynamic, no keyword in message", "-5", "3.5", "天気", "a+b"],
)
def test_plain_words_stay_plain_in_markdown(words):
    assert markdown.inline(words) == words


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("<b>", "`<b>`"),
        ("a|b", r"`a\|b`"),
        (r"a\|b", r"`a\\\|b`"),
        ("`x`", "`` `x` ``"),
        ("__init__", "`__init__`"),
        ("$AAPL", "`$AAPL`"),
        ("https://evil.example", "`https://evil.example`"),
        ("www.evil.example", "`www.evil.example`"),
        ("me@evil.example", "`me@evil.example`"),
        (":smile:", "`:smile:`"),
        ("- item", "`- item`"),
    ],
)
def test_anything_else_is_a_code_span(given, shown):
    assert markdown.inline(given) == shown


def test_a_pipe_splits_no_cell_however_many_backslashes_stand_before_it():
    for slashes in range(6):
        table = Table(("a", "b"), [("x" + "\\" * slashes + "|y", "z")]).to_markdown()
        assert problems(table, "text/markdown") == []


def test_a_tag_or_attribute_outside_of_the_list_is_refused():
    for tag, attributes in (("script", {}), ("div", {"onclick": "x"}), ("td", {"id": "x"})):
        with pytest.raises(ValueError, match="is not in the markup"):
            html.element(tag, **attributes)


def test_sentences_of_a_page_are_masked_before_they_are_cut():
    page = Page((Lines(("x" * 590 + SECRET,), strong=True),), mask=mask)
    for form in page._repr_mimebundle_().values():
        assert "x" * 590 + MASKED in form


def test_only_markup_passes_the_gate_unescaped():
    inner = html.element("strong", "<b>")
    assert html.element("div", inner, "&") == "<div><strong>&lt;b&gt;</strong>&amp;</div>"
    assert html.element("td", style='"><script>') == '<td style="&quot;&gt;&lt;script&gt;"></td>'


def test_the_table_can_be_read_without_seeing_it():
    shown = Table(("provider", "outcome"), [("WEATHER", "failed")], title="Providers").to_html()
    assert re.search(r"<caption [^>]*>Providers</caption>", shown)
    assert re.search(r'<th scope="col" [^>]*>outcome</th>', shown)
    assert re.search(r'<th scope="row" [^>]*>WEATHER</th>', shown)
    assert ">failed</td>" in shown


def test_html_sets_no_colours_of_its_own_and_no_prices_as_formulas():
    shown = Table(("a",), [("$AAPL $TSLA",)]).to_html()
    assert not re.search(r"(?<!-)color:|background", shown)
    assert shown.startswith('<div style="line-height: 1.4" class="tex2jax_ignore mathjax_ignore">')


# What JupyterLab's sanitizer keeps in a notebook that is not trusted, of the properties used here.
_KEPT = {
    "border": r"1px solid rgba\(128, 128, 128, 0\.\d+\)",
    "border-top": r"1px solid rgba\(128, 128, 128, 0\.\d+\)",
    "border-collapse": "collapse|separate",
    "caption-side": "top|bottom",
    "font-family": "monospace",
    "font-weight": "normal|bold",
    "cursor": "pointer",
    "margin": r"(0|\d*\.?\d+em)( (0|\d*\.?\d+em)){0,3}",
    "line-height": r"\d\.?\d*",
    "max-width": r"\d+em",
    "min-width": r"\d+em",
    "opacity": r"0\.\d+",
    "overflow-wrap": "normal|break-word",
    "overflow-x": "visible|hidden|scroll|auto",
    "padding": r"(0|\d*\.?\d+em)( (0|\d*\.?\d+em)){0,3}",
    "text-align": "left|right|center|justify",
    "vertical-align": "top",
    "white-space": "pre-wrap|nowrap",
}


def test_every_inline_style_survives_the_sanitizer_of_untrusted_notebooks():
    shown = Table(
        ("a", "b"), [("x", 1), ("not run", 1), ("a sentence of some length", 2)], title="t", note="n"
    ).to_html() + written(html, "x" * 20_000)
    for style in re.findall(r'style="([^"]*)"', shown):
        for declaration in style.split("; "):
            name, _, value = declaration.partition(": ")
            assert re.fullmatch(_KEPT[name], value), declaration
