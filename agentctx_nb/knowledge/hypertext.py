"""Reader of HTML: what a person reads on the page, as headings, paragraphs, lists, tables and code."""

from __future__ import annotations

import re
from typing import NamedTuple

from agentctx_nb.knowledge.blocks import Block, HeadingPath
from agentctx_nb.knowledge.tags import attributes_of, pieces

__all__ = ["read_html"]

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_DROPPED = {"iframe", "nav", "noscript", "object", "script", "style", "svg", "template", "textarea"}
_NEVER_SHOWN = {"script", "style"}
_BREAKS = {
    "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "head", "header", "hr", "html", "li", "main", "nav", "ol",
    "option", "p", "pre", "section", "select", "summary", "table", "tbody", "tfoot", "thead", "title", "tr", "ul",
    *_HEADINGS,
}  # fmt: skip
_CELLS = {"td", "th"}
_SPACE = re.compile(r"[ \t\n\f\r]+")
_LONGEST_TITLE = 300  # characters; more is a page whose title nobody closed


def read_html(text: str) -> list[Block]:
    """Return the blocks of a page; scripts, styles and navigation are left out."""
    reader = _Reader()
    for piece in pieces(text):
        if piece.kind == "text":
            reader.take(piece.text, piece.line)
        elif piece.kind == "start":
            reader.open(piece.text, piece.attributes)
        else:
            reader.close(piece.text)
    return reader.finish()


class _Dropping(NamedTuple):
    """An element to leave out: it goes when it is closed, so that one nobody closes takes nothing with it."""

    tag: str
    depth: int  # of elements of its name, inside it too
    before: int  # blocks that stand before it
    headings: HeadingPath


class _Reader:
    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._path = HeadingPath()
        self._parts: list[str] = []
        self._line = 0  # of the first word in the parts; 0 while there is none
        self._heading = 0
        self._preformatted = 0
        self._tables = 0
        self._rows: list[str] = []
        self._rows_line = 1
        self._page_title = ""
        self._in_title = False
        self._dropping: _Dropping | None = None

    def open(self, tag: str, attributes: str) -> None:
        """Take the beginning of an element."""
        if tag in _BREAKS:
            self._flush()
            self._in_title = tag == "title"
        if self._dropping is None:
            if tag in _DROPPED or _is_navigation(attributes):
                self._flush()
                self._dropping = _Dropping(tag, 1, len(self._blocks), self._path.copy())
        elif tag == self._dropping.tag:
            self._dropping = self._dropping._replace(depth=self._dropping.depth + 1)
        if tag in _HEADINGS:
            self._heading = int(tag[1])
        elif tag == "pre":
            self._preformatted += 1
        elif tag == "table":
            self._tables += 1
        elif tag == "li":
            self._parts.append("- ")
        elif tag == "br":
            self._parts.append("\n")
        elif tag in _CELLS and self._line:
            self._parts.append(" | ")

    def close(self, tag: str) -> None:
        """Take the end of an element."""
        if tag in _BREAKS:
            self._flush()
            self._in_title = False
        if tag == "pre":
            self._preformatted = max(0, self._preformatted - 1)
        elif tag == "table" and self._tables:
            self._tables -= 1
            self._end_table()
        dropping = self._dropping
        if dropping is not None and tag == dropping.tag:
            self._dropping = dropping._replace(depth=dropping.depth - 1)
            if dropping.depth == 1:
                self._flush()
                del self._blocks[dropping.before :]
                self._path, self._dropping = dropping.headings, None

    def take(self, data: str, line: int) -> None:
        """Take a text that begins in ``line``."""
        if self._dropping is not None and self._dropping.tag in _NEVER_SHOWN:
            return
        if not self._line and data.strip():
            self._line = line + data[: len(data) - len(data.lstrip())].count("\n")
        self._parts.append(data if self._preformatted else _SPACE.sub(" ", data))

    def finish(self) -> list[Block]:
        """Return the blocks, under the title of the page where there is no first heading."""
        self._flush()
        self._tables = 0
        self._end_table()
        title = self._page_title
        if not title or any(b.kind == "heading" and b.text.startswith("# ") for b in self._blocks):
            return self._blocks
        below = [Block(b.text, b.line, (title, *b.headings), b.kind, b.head, b.tail) for b in self._blocks]
        return [Block(f"# {title}", 1, (title,), "heading"), *below]

    def _flush(self) -> None:
        text, line = "".join(self._parts), self._line
        self._parts, self._line = [], 0
        heading, self._heading = self._heading, 0
        if not line:
            if text == "- ":  # the paragraph inside an item comes next
                self._parts.append(text)
            return
        if self._preformatted:
            text = text.strip("\n").rstrip()
        else:
            lines = [_SPACE.sub(" ", part).strip() for part in text.split("\n")]
            text = "\n".join([part for part in lines if part])
        title = " ".join(text.split())
        if self._in_title and len(title) <= _LONGEST_TITLE:
            self._page_title = self._page_title or title
        elif heading:
            headings = self._path.enter(heading, title)
            self._blocks.append(Block(f"{'#' * heading} {title}", line, headings, "heading"))
        elif self._tables:
            self._rows_line = line if not self._rows else self._rows_line
            self._rows.append(text)
        elif self._preformatted:
            self._blocks.append(Block(text, line, self._path.path, "whole", "```", "```"))
        else:
            self._blocks.append(Block(text, line, self._path.path))

    def _end_table(self) -> None:
        if self._rows and not self._tables:
            self._blocks.append(Block("\n".join(self._rows), self._rows_line, self._path.path, "whole"))
            self._rows = []


def _is_navigation(attributes: str) -> bool:
    return "navigation" in attributes and attributes_of(attributes).get("role") == "navigation"
