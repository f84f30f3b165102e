"""Readers of plain text and reStructuredText: paragraphs between blank lines, titles by their underlines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from agentctx_nb.knowledge.blocks import Block, HeadingPath

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["paragraphs", "read_restructured", "read_text"]

_RULER = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
_TABLE = re.compile(r"\s*(?:\+[-=]+\+|=+(?:[ \t]+=+)+[ \t]*$)")
_LITERAL = re.compile(r".*::[ \t]*$|\.\. [\w:-]+::")


def read_text(text: str) -> list[Block]:
    """Return the paragraphs of a text."""
    return [Block("\n".join(lines), line) for line, lines in paragraphs(text.split("\n"))]


def paragraphs(lines: Sequence[str], *, first: int = 1) -> Iterator[tuple[int, list[str]]]:
    """Yield the runs of lines that are not blank, each with the number of its first line."""
    run: list[str] = []
    for number, line in enumerate(lines, first):
        if line.strip():
            run.append(line)
        elif run:
            yield number - len(run), run
            run = []
    if run:
        yield first + len(lines) - len(run), run


def read_restructured(text: str) -> list[Block]:
    """Return the blocks of a reStructuredText; a title's level is the order in which its style first came."""
    lines = text.split("\n")
    path, styles = HeadingPath(), list[str]()
    blocks: list[Block] = []
    start = at = 0
    while at < len(lines):
        title = _title(lines, at)
        if title is None:
            at += 1
            continue
        blocks += _body(lines[start:at], first=start + 1, headings=path.path)
        words, style, height = title
        if style not in styles:
            styles.append(style)
        headings = path.enter(styles.index(style), words)
        blocks.append(Block("\n".join(lines[at : at + height]), at + 1, headings, "heading"))
        start = at = at + height
    return [*blocks, *_body(lines[start:], first=start + 1, headings=path.path)]


def _title(lines: Sequence[str], at: int) -> tuple[str, str, int] | None:
    """Return (title, style, lines it takes) where a title begins at ``at``."""
    above, middle, below = [*lines[at : at + 3], "", ""][:3]
    if _RULER.fullmatch(above) and middle.strip() and not _RULER.fullmatch(middle):
        if below.strip() == above.strip() and len(above.strip()) >= len(middle.strip()):
            return middle.strip(), above[0] * 2, 3
        return None
    after_blank = at == 0 or not lines[at - 1].strip()
    if after_blank and above[:1].strip() and _RULER.fullmatch(middle) and not _RULER.fullmatch(above):
        return (above.strip(), middle[0], 2) if len(middle.strip()) >= min(len(above.strip()), 4) else None
    return None


def _body(lines: Sequence[str], *, first: int, headings: tuple[str, ...]) -> list[Block]:
    spans: list[tuple[int, int, Literal["text", "whole"]]] = []  # first line, the one after the last, kind
    opener = False  # the last block ends in what an indented one belongs to
    for line, run in paragraphs(lines, first=first):
        end = line + len(run)
        if opener and run[0][:1].isspace():
            spans[-1] = (spans[-1][0], end, "whole")
            continue
        opener = bool(_LITERAL.match(run[-1]) or _LITERAL.match(run[0]))
        spans.append((line, end, "whole" if _TABLE.match(run[0]) else "text"))
    return [
        Block(
            "\n".join([part if part.strip() else "" for part in lines[start - first : end - first]]),
            start,
            headings,
            kind,
        )
        for start, end, kind in spans
    ]
