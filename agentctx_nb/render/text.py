"""Plain text for terminals: columns that line up, also with wide and combining characters."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from agentctx_nb.render.bounds import LIMITS, cut, cut_middle, fitting
from agentctx_nb.render.grid import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from agentctx_nb.render.grid import Block, Grid

__all__ = ["cut_to_width", "fold", "lines", "page", "table", "text_width", "wrapped"]

_GAP = "  "
_NARROWEST = 4
_BESIDE_NAMES = 8
_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"


def text_width(text: str) -> int:
    """Return how many terminal cells ``text`` takes.

    >>> text_width("東京"), text_width("e\u0301"), text_width("👩\u200d💻")
    (4, 1, 2)
    """
    return len(text) if text.isascii() else sum(_cells(text))


def cut_to_width(text: str, width: int) -> str:
    """Return ``text`` in at most ``width`` cells, ending in an ellipsis where some is missing.

    >>> cut_to_width("東京の天気", 6)
    '東京…'
    """
    if text_width(text) <= width:
        return text
    used = end = 0
    for cells in _cells(text):
        if used + cells > width - 1:
            break
        used += cells
        end += 1
    return text[:end] + "…"


def table(grid: Grid, *, width: int | None = None, most_bytes: int = LIMITS.table_bytes) -> str:
    """Return ``grid`` as aligned lines of at most ``width`` cells, by default the grid's own; blank columns left out."""
    width = grid.width if width is None else width
    grid = grid.without_blank_columns()
    wide = [
        max([text_width(name), *(text_width(row[place]) for row in grid.rows)])
        for place, name in enumerate(grid.columns)
    ]
    names = {place for place, name in enumerate(grid.columns) if name in NAMES}
    wide = _shrunk(wide, width, names)
    cells = [_names_cut(grid.columns, row, wide) for row in grid.rows]
    rows = list(fitting((_row(row, wide, grid.numeric) for row in cells), most_bytes))
    made = [cut_to_width(grid.title, width)] if grid.title else []
    if wide:
        made += [_row(grid.columns, wide, grid.numeric), _GAP.join("─" * w for w in wide)]
    made += rows
    if remark := grid.remark(rows=len(rows), columns=len(wide)):
        made += wrapped(remark, max(width, 80))
    return "\n".join(made)


def lines(texts: Sequence[str], *, strong: bool = False) -> str:
    """Return lines of prose; plain text has no way to stress them."""
    del strong
    return "\n".join(texts)


def fold(block: Block, *, most_bytes: int = LIMITS.text_bytes) -> str:
    """Return a titled block of text under a rule."""
    text = block.within(most_bytes, _size)
    parts = [block.title, "─" * min(text_width(block.title), 80), text or "(empty)", block.remark(len(text))]
    return "\n".join(part for part in parts if part)


def page(parts: Sequence[str]) -> str:
    """Return the parts of a view one below the other."""
    return "\n\n".join(part for part in parts if part)


def _size(text: str) -> int:
    return len(text.encode())


def _cells(text: str) -> list[int]:
    cells: list[int] = []
    joined = False
    for char in text:
        if char == _EMOJI_STYLE and cells:  # the sign before it is drawn as a wide emoji
            cells.append(1 if cells[-1] == 1 else 0)
        elif joined or char == _JOINER or unicodedata.category(char) in {"Mn", "Me", "Cf"}:
            cells.append(0)
        else:
            cells.append(2 if unicodedata.east_asian_width(char) in "WF" else 1)
        joined = char == _JOINER
    return cells


def wrapped(text: str, width: int) -> list[str]:
    """Return one line as several of at most ``width`` cells; only a word that is longer is cut.

    >>> wrapped("no file fits this pattern", 14)
    ['no file fits', 'this pattern']
    """
    made: list[str] = []
    for word in text.split(" "):
        if made and text_width(f"{made[-1]} {word}") <= width:
            made[-1] += f" {word}"
        else:
            made.append(cut_to_width(word, width))
    return made


def _shrunk(wide: list[int], width: int, names: AbstractSet[int]) -> list[int]:
    """Return widths that fit: ``names`` and narrow columns keep theirs, wide ones share the rest.

    Names leave the others enough to be read in part. Columns at the end may go.
    """
    wide = [min(w, LIMITS.cell) for w in wide]
    while len(wide) > 1 and sum(min(w, _NARROWEST) for w in wide) + len(_GAP) * (len(wide) - 1) > width:
        wide.pop()
    left = width - len(_GAP) * (len(wide) - 1)
    order = sorted(range(len(wide)), key=lambda place: (place not in names, wide[place]))
    for done, place in enumerate(order):
        share = left // (len(wide) - done)
        if place in names:
            share = max(share, left - sum(min(wide[other], _BESIDE_NAMES) for other in order[done + 1 :]))
        wide[place] = min(wide[place], max(share, _NARROWEST))
        left -= wide[place]
    return wide


def _names_cut(columns: Sequence[str], row: Sequence[str], wide: Sequence[int]) -> list[str]:
    """Return the cells of a row, a provider's name cut in its middle and not at its end."""
    return [
        cut_middle(cell, width) if name in NAMES and text_width(cell) == len(cell) else cell
        for name, cell, width in zip(columns, row, wide, strict=False)
    ]


def _row(cells: Sequence[str], wide: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = []
    for cell, width, right in zip(cells, wide, numeric, strict=False):
        shown = cut_to_width(cut(cell, LIMITS.cell), width)
        space = " " * (width - text_width(shown))
        padded.append(space + shown if right else shown + space)
    return _GAP.join(padded).rstrip()
