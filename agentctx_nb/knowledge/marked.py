"""Reader of Markdown.

Which lines are a heading and which only look like one (in a fence, in HTML, under a list) is settled by
markdown-it-py: CommonMark's block rules in 100 kB without dependencies of weight, where a splitter of
our own would be wrong on real files.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from agentctx_nb.knowledge.blocks import Block, HeadingPath
from agentctx_nb.knowledge.plain import paragraphs

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["read_markdown"]

_LEAVES = {
    "code_block": "whole",
    "fence": "whole",
    "heading_open": "text",
    "hr": "text",
    "html_block": "whole",
    "paragraph_open": "text",
    "table_open": "whole",
}
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_FENCE = re.compile(r"\s{0,3}(?:`{3,}|~{3,})")


def read_markdown(
    text: str, *, path: HeadingPath | None = None, first: int = 1, cell: int | None = None
) -> list[Block]:
    """Return the blocks of a Markdown text.

    ``path`` holds the headings it stands under, for a text in several pieces; ``first`` is the number
    of its first line.
    """
    path = HeadingPath() if path is None else path
    front = _FRONT_MATTER.match(text) if cell is None else None
    blocks: list[Block] = []
    if front:
        inside = front[0].rstrip("\n").split("\n")[1:-1]
        if "".join(inside).strip():
            blocks.append(Block("\n".join(inside), first + 1, kind="whole"))
        first += front[0].count("\n")
        text = text[front.end() :]
    lines = text.split("\n")
    done = 0
    tokens = _parser().parse(text)
    for place, token in enumerate(tokens):
        kind = _LEAVES.get(token.type)
        if kind is None or token.map is None or token.map[0] < done:
            continue
        start, end = token.map
        # What no rule made a block of, such as an empty list item.
        blocks += _loose(lines[done:start], first=first + done, path=path, cell=cell)
        while end > start and not lines[end - 1].strip():
            end -= 1
        done = max(end, start)
        part = lines[start:end]
        if not "".join(part).strip():
            continue
        if token.type == "heading_open" and token.level == 0:
            title = " ".join(tokens[place + 1].content.split())
            headings = path.enter(int(token.tag[1]), title)
            blocks.append(Block("\n".join(part), first + start, headings, "heading", cell=cell))
        else:
            blocks.append(_block(token.type, part, first + start, path.path, cell))
    return [*blocks, *_loose(lines[done:], first=first + done, path=path, cell=cell)]


def _block(kind: str, part: Sequence[str], line: int, headings: tuple[str, ...], cell: int | None) -> Block:
    head, tail, body = [], [], list(part)
    if kind == "fence" and _FENCE.match(body[0]):
        head, body = body[:1], body[1:]
        if body and body[-1].strip() and not body[-1].strip().strip("`~"):
            tail, body = body[-1:], body[:-1]
    elif kind == "table_open" and len(body) > 2:
        head, body = body[:2], body[2:]
    whole: Any = _LEAVES[kind]
    head_text, tail_text = "\n".join(head), "\n".join(tail)
    return Block("\n".join(body), line, headings, whole, head_text, tail_text, cell=cell)


def _loose(lines: Sequence[str], *, first: int, path: HeadingPath, cell: int | None) -> list[Block]:
    return [Block("\n".join(run), line, path.path, cell=cell) for line, run in paragraphs(lines, first=first)]


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])  # emphasis and links stay as they are written
    parser.disable("reference")  # link definitions are text to us, and many of them take it long
    return parser
