"""A text with its parts marked by who wrote them: by shading, and always by a name in brackets as well."""

from __future__ import annotations

from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from agentctx_nb.names import counted
from agentctx_nb.render.bounds import LIMITS, Mask, cell_text, visible
from agentctx_nb.render.html import Markup, element

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Piece", "as_html", "as_text"]

# Semi-transparent, so that they shade a white page and a black one alike and the text keeps its colour.
_SHADES = (
    "66, 133, 244",
    "251, 140, 0",
    "52, 168, 83",
    "171, 71, 188",
    "0, 172, 193",
    "233, 80, 110",
    "158, 157, 36",
    "141, 110, 99",
)
_PRE = "font-family: monospace; white-space: pre-wrap; overflow-wrap: break-word; margin: 0 0 0.3em; padding: 0.3em 0.7em"
_FEWEST_KEPT = 60  # characters of a part that is cut
_PIECES = (100, 50, 20, 8)  # how many parts, and in all how many characters, until it fits
_CHARACTERS = (LIMITS.text, LIMITS.text // 2, LIMITS.text // 4)


class Piece(NamedTuple):
    """One stretch of a text: its masked ``text``, and its writer with the ``number`` of the legend.

    Number 0 is nobody's: the template's own words, which are not marked. ``said`` stands beside the
    name of a part that is a block of its own.
    """

    number: int
    writer: str
    text: str
    said: str = ""


class _Cut(NamedTuple):
    piece: Piece
    name: str
    text: str


def as_text(pieces: Sequence[Piece], *, mask: Mask, inline: bool) -> tuple[str, str]:
    """Return the marked text, and what to say about what is left out.

    ``inline`` marks stretches of a line; else each part is a block under its name.
    """
    return _fitting(pieces, mask, _inline_text if inline else _block_text)


def as_html(pieces: Sequence[Piece], *, mask: Mask, inline: bool) -> tuple[Markup, str]:
    """Return the marked text as shaded HTML, and what to say about what is left out."""
    shown, said = _fitting(pieces, mask, _inline_html if inline else _block_html)
    return Markup(shown), said


def _fitting(pieces: Sequence[Piece], mask: Mask, write: Callable[[Sequence[_Cut]], str]) -> tuple[str, str]:
    """Write fewer parts, and less of each, until they fit; more is not written than that anyway."""
    shown, said = "", ""
    for most in _PIECES:
        for characters in _CHARACTERS:
            cut = _cut(pieces[:most], characters, mask)
            shown, said = write(cut), _said(pieces, most)
            if len(shown.encode()) <= LIMITS.table_bytes:
                return shown, said
    return shown, said


def _said(pieces: Sequence[Piece], most: int) -> str:
    rest = pieces[most:]
    if not rest:
        return ""
    left_out = counted(sum(len(piece.text) for piece in rest), "character")
    return f"showing {most:,} of {len(pieces):,} parts; the others hold {left_out}"


def _cut(pieces: Sequence[Piece], characters: int, mask: Mask) -> list[_Cut]:
    longest = _longest([len(piece.text) for piece in pieces], characters)
    names = [cell_text(piece.writer, mask=mask, most=60) for piece in pieces]
    return [
        _Cut(piece, name, visible(mask(_without_middle(piece.text, longest))))
        for piece, name in zip(pieces, names, strict=True)
    ]


def _longest(lengths: Sequence[int], most: int) -> int:
    """Return how long each part may be so that all of them together stay within ``most``."""
    ordered = sorted(lengths)
    before = [0, *accumulate(ordered)]
    for place, length in enumerate(ordered):
        left = most - before[place]
        if length * (len(ordered) - place) > left:
            return max(left // (len(ordered) - place), _FEWEST_KEPT)
    return max(ordered, default=0)


def _without_middle(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    head, tail = longest * 2 // 3, longest // 3
    left_out = counted(len(text) - head - tail, "character")
    return f"{text[:head]}\n… {left_out} left out …\n{text[len(text) - tail :]}"


def _inline_text(cut: Sequence[_Cut]) -> str:
    return "".join(f"[{piece.number} {name}: {text}]" if piece.number else text for piece, name, text in cut)


def _block_text(cut: Sequence[_Cut]) -> str:
    lines = []
    for piece, name, text in cut:
        lines.append(f"[{piece.number}] {name}{_beside(piece)}")
        lines += [f"│ {line}" for line in text.split("\n")]
    return "\n".join(lines)


def _inline_html(cut: Sequence[_Cut]) -> str:
    made: list[str] = []
    for piece, name, text in cut:
        if piece.number:
            label = element("strong", f"[{piece.number} {name}:")
            marked = element("span", label, f" {text}", element("strong", "]"), style=_shade(piece.number))
            made.append(marked)
        else:
            made.append(Markup(escape(text)))
    return element("pre", Markup("\n"), *made, style=f"{_PRE}; border: 1px solid rgba(128, 128, 128, 0.4)")


def _block_html(cut: Sequence[_Cut]) -> str:
    return "".join(
        element(
            "pre",
            Markup("\n"),
            element("strong", f"[{piece.number}] {name}"),
            f"{_beside(piece)}\n{text}",
            style=f"{_PRE}; {_shade(piece.number)}",
        )
        for piece, name, text in cut
    )


def _beside(piece: Piece) -> str:
    return f" · {piece.said}" if piece.said else ""


def _shade(number: int) -> str:
    return f"background-color: rgba({_SHADES[(number - 1) % len(_SHADES)]}, 0.25)"
