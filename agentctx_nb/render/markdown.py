"""Markdown in which no data can act: tables of plain words and code spans, texts in fences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentctx_nb.render.bounds import LIMITS, fitting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentctx_nb.render.grid import Block, Grid

__all__ = ["fold", "inline", "lines", "page", "table"]

# Words no dialect of Markdown, nor the mathematics notebooks find between dollar signs, gives a meaning:
# letters and digits of any script, underscores and full stops inside of words (but not www.),
# and punctuation that neither starts a list nor links.
_PLAIN = re.compile(
    r"""(?![-+](?!\d))"""
    r"""(?:[^\W_]|(?<=[^\W_])_(?=[^\W_])|(?<![wW])\.|:(?=\ |$)|[ ,;'"()?%+…→×↵-])*"""
)
_TICKS = re.compile(r"`+")
_SLASHES_BEFORE_PIPE = re.compile(r"(\\*)\|")


def inline(text: str) -> str:
    r"""Return one line of data as inert Markdown: itself where it is plain words, else a code span.

    >>> inline("CURRENT_TIME"), inline("<b> | `x`")
    ('CURRENT_TIME', '`` <b> \\| `x` ``')
    """
    text = text.strip()
    if _PLAIN.fullmatch(text):
        return text
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if text[0] == "`" or text[-1] == "`" or len(ticks) > 1 else ""
    return f"{ticks}{pad}{_SLASHES_BEFORE_PIPE.sub(_escaped_pipe, text)}{pad}{ticks}"


def table(grid: Grid, *, most_bytes: int = LIMITS.table_bytes) -> str:
    """Return ``grid`` as a pipe table, title above and remark below, blank columns left out."""
    grid = grid.without_blank_columns()
    rows = list(fitting((_row(row) for row in grid.rows), most_bytes))
    made = [_line(grid.title, strong=True), ""] if grid.title else []
    if grid.columns:
        made += [_row(grid.columns), _row_of(["---:" if right else "---" for right in grid.numeric]), *rows]
    if remark := grid.remark(rows=len(rows)):
        made += ["", _line(remark)]
    return "\n".join(made)


def lines(texts: Sequence[str], *, strong: bool = False) -> str:
    """Return lines of prose, each kept on its own."""
    return "  \n".join([_line(text, strong=strong) for text in texts])


def fold(block: Block, *, most_bytes: int = LIMITS.text_bytes) -> str:
    """Return a titled text in a fence longer than any in it."""
    text = block.within(most_bytes, lambda part: len(part.encode()))
    fence = "`" * max(3, _longest_run(text) + 1)
    parts = [_line(block.title, strong=True), f"{fence}text\n{text}\n{fence}" if text else "(empty)"]
    if remark := block.remark(len(text)):
        parts.append(_line(remark))
    return "\n\n".join(parts)


def page(parts: Sequence[str]) -> str:
    """Return the parts of a view as paragraphs."""
    return "\n\n".join(part for part in parts if part)


def _line(text: str, *, strong: bool = False) -> str:
    shown = inline(text)
    return f"**{shown}**" if strong and shown and "`" not in shown else shown


def _row(cells: Sequence[str]) -> str:
    return _row_of([inline(cell) for cell in cells])


def _row_of(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _longest_run(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)


def _escaped_pipe(match: re.Match[str]) -> str:
    # Writers of tables disagree on a backslash before a pipe; an odd number of them holds with all.
    return match[1] * 2 + r"\|"
