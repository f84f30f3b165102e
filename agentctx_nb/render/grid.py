"""What the writers are given: cells and texts that are masked, cut and visible, but not yet escaped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentctx_nb.render.bounds import LIMITS, Mask, masked_start, visible

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NAMES", "Block", "Grid", "block_of"]

# Headings of the columns that hold one name, which is cut in its middle.
NAMES = frozenset({"provider", "writer", "breaks in"})


@dataclass(frozen=True, slots=True)
class Grid:
    """The part of a table that is shown, and how large the whole is."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    title: str
    note: str
    all_rows: int
    all_columns: int
    whole: str
    width: int = 100  # terminal cells of a line of text

    def without_blank_columns(self) -> Grid:
        """Return the grid without the columns that hold nothing: they would take the room of others."""
        kept = [i for i in range(len(self.columns)) if not self.rows or any(row[i] for row in self.rows)]
        return replace(
            self,
            columns=tuple([self.columns[i] for i in kept]),
            rows=tuple([tuple([row[i] for i in kept]) for row in self.rows]),
            numeric=tuple([self.numeric[i] for i in kept]),
            all_columns=self.all_columns - len(self.columns) + len(kept),
        )

    def remark(self, *, rows: int, columns: int | None = None) -> str:
        """Return what to say below the table when ``rows`` and ``columns`` of it were written."""
        shown = len(self.columns) if columns is None else columns
        cuts = []
        if rows < self.all_rows:
            cuts.append(f"{rows:,} of {self.all_rows:,} rows")
        if shown < self.all_columns:
            cuts.append(f"{shown:,} of {self.all_columns:,} columns")
        said = [f"showing {' and '.join(cuts)}; {self.whole} has all"] if cuts else []
        if not self.all_rows:
            said.append("no rows")
        if self.note:
            said.append(self.note)
        return "; ".join(said)


@dataclass(frozen=True, slots=True)
class Block:
    """A titled text of several lines; ``whole`` names where all of it is found."""

    title: str
    text: str
    all_characters: int
    is_cut: bool
    whole: str
    open: bool = True

    def within(self, most: int, size: Callable[[str], int]) -> str:
        """Return as much of the text as ``size`` finds to be at most ``most`` bytes of markup."""
        text = self.text
        while (taken := size(text)) > most:
            text = text[: len(text) * most // taken]
        return text

    def remark(self, shown: int) -> str:
        """Return what to say below the text when ``shown`` characters of it were written."""
        if not self.is_cut and shown == len(self.text):
            return ""
        return f"showing about {shown:,} of {self.all_characters:,} characters; {self.whole} has all"


def block_of(
    title: str, text: str, *, mask: Mask, whole: str, shown_open: bool = True, most: int = LIMITS.text
) -> Block:
    """Return ``text`` masked, cut to ``most`` characters and made visible."""
    masked = masked_start(text, most + 1, mask=mask)
    shown = visible(masked[:most])
    return Block(
        title=title,
        text=shown[:most],
        all_characters=len(text),
        is_cut=len(masked) > most or len(shown) > most,
        whole=whole,
        open=shown_open,
    )
