"""Static HTML that reads on any background, with no script, style sheet, id or outside resource.

`element` is the one gate: what is not already `Markup` is escaped there, and a tag or attribute outside
the short list is refused. The inline styles are those JupyterLab's sanitizer lets through in a notebook
that is not trusted (so no ``currentColor`` mixes, and numbers with a leading zero).
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from agentctx_nb.render.bounds import LIMITS, fitting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentctx_nb.render.grid import Block, Grid

__all__ = ["ATTRIBUTES", "TAGS", "Markup", "element", "fold", "lines", "page", "table"]

TAGS = frozenset(
    {
        "caption",
        "details",
        "div",
        "pre",
        "span",
        "strong",
        "summary",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
    }
)
ATTRIBUTES = frozenset({"class", "open", "scope", "style"})

_RULE = "1px solid rgba(128, 128, 128, 0.4)"
_CELL = "padding: 0.25em 0.7em; vertical-align: top; max-width: 32em"
_LEFT = f"text-align: left; {_CELL}"
_RIGHT = f"text-align: right; {_CELL}"
_WORDS = "; white-space: nowrap"  # of a short cell: "not run" is read as one
_SHORT, _LONG = 16, 20
_SENTENCE = "; min-width: 10em"  # else a table of many columns gives it one word a line
_ROW = f"border-top: {_RULE}"
_TABLE = "border-collapse: collapse; margin: 0.4em 0; overflow-wrap: break-word"
_CAPTION = "caption-side: top; text-align: left; padding: 0.25em 0; font-weight: bold"
_PAGE = "line-height: 1.4"  # inside of widgets it is that of a button
_LINE = "margin: 0.2em 0"
_FOLD = "margin: 0.4em 0"
_SUMMARY = "cursor: pointer; font-weight: bold"
_REMARK = "margin: 0.2em 0 0.4em; opacity: 0.8"
_PRE = f"font-family: monospace; white-space: pre-wrap; overflow-wrap: break-word; margin: 0.4em 0; padding: 0.5em 0.7em; border: {_RULE}"
# Notebooks typeset whatever stands between two dollar signs; prices and tickers do. Both names are
# in use, by different versions of MathJax.
_NO_MATHEMATICS = "tex2jax_ignore mathjax_ignore"


class Markup(str):
    """HTML that `element` made; every other string is data."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str) -> Markup:
    """Return one element; children that are not `Markup`, and all attributes, are escaped.

    An attribute without a value is left out.

    >>> element("td", "<b>", scope="row")
    '<td scope="row">&lt;b&gt;</td>'
    """
    if tag not in TAGS or not ATTRIBUTES.issuperset(attributes):
        raise ValueError(f"<{tag} {' '.join(attributes)}> is not in the markup this package writes")
    opening = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value)
    inside = "".join(child if isinstance(child, Markup) else escape(child) for child in children)
    return Markup(f"<{tag}{opening}>{inside}</{tag}>")


def table(grid: Grid, *, most_bytes: int = LIMITS.table_bytes) -> Markup:
    """Return ``grid`` as a real table, its first column the row headers, remark below, blank columns left out."""
    grid = grid.without_blank_columns()
    styles = [_RIGHT if right else _LEFT for right in grid.numeric]
    rows = list(fitting((_row(row, styles) for row in grid.rows), most_bytes))
    head = [
        element("th", name, scope="col", style=style)
        for name, style in zip(grid.columns, styles, strict=True)
    ]
    parts = [element("caption", grid.title, style=_CAPTION)] if grid.title else []
    parts.append(element("thead", element("tr", *head)))
    parts.append(element("tbody", *map(Markup, rows)))
    whole = element("div", element("table", *parts, style=_TABLE), style="overflow-x: auto")
    return Markup(whole + _remark(grid.remark(rows=len(rows))))


def lines(texts: Sequence[str], *, strong: bool = False) -> Markup:
    """Return lines of prose."""
    return Markup(
        "".join([element("div", element("strong", t) if strong else t, style=_LINE) for t in texts])
    )


def fold(block: Block, *, most_bytes: int = LIMITS.text_bytes) -> Markup:
    """Return a titled text that opens and closes at a click."""
    text = block.within(most_bytes, lambda part: len(escape(part).encode()))
    # The first newline after <pre> is dropped by every reader of HTML: give it one of ours.
    inside = element("pre", Markup("\n"), text, style=_PRE) if text else element("div", "(empty)")
    parts = [element("summary", block.title, style=_SUMMARY), inside, _remark(block.remark(len(text)))]
    return element("details", *parts, style=_FOLD, open="open" if block.open else "")


def page(parts: Sequence[str]) -> Markup:
    """Return the parts of a view as one block; parts that are not `Markup` are escaped."""
    return element("div", *parts, style=_PAGE, **{"class": _NO_MATHEMATICS})


def _row(cells: Sequence[str], styles: Sequence[str]) -> Markup:
    styles = [style + _fit(cell) for cell, style in zip(cells, styles, strict=True)]
    made = [element("th", cells[0], scope="row", style=styles[0])] if cells else []
    made += [element("td", cell, style=style) for cell, style in zip(cells[1:], styles[1:], strict=True)]
    return element("tr", *made, style=_ROW)


def _fit(cell: str) -> str:
    if isinstance(cell, Markup):
        return ""
    if len(cell) > _LONG:
        return _SENTENCE
    return _WORDS if " " in cell and len(cell) <= _SHORT else ""


def _remark(text: str) -> Markup:
    return element("div", text, style=_REMARK) if text else Markup()
