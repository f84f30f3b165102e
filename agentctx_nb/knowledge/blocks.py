"""What every reader makes of a file: blocks in reading order, each under its headings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Block", "Document", "HeadingPath", "UnreadableError"]


class UnreadableError(ValueError):
    """A file holds nothing that can be read; the message is the reason, as the report gives it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, list item, fence, table or definition.

    Parameters
    ----------
    text
        As it stands in the file; of a ``whole`` block without ``head`` and ``tail``.
    line
        Its first line in the file (in the cell or on the page where there is one), from 1.
    headings
        The headings above it, the outermost first; a heading's own is the last.
    kind
        ``whole`` is code or a table: cut only where it fits nowhere, and then between lines.
    head, tail
        Lines repeated around every part: the fence of a code block, the first rows of a table.
    under
        The line of the class a method stands in, put above it where it is not there already.
    page, cell
        The page of a PDF, the cell of a notebook, from 1.
    """

    text: str
    line: int
    headings: tuple[str, ...] = ()
    kind: Literal["text", "heading", "whole"] = "text"
    head: str = ""
    tail: str = ""
    under: str = ""
    page: int | None = None
    cell: int | None = None

    @property
    def full(self) -> str:
        """The block with its head and tail."""
        return "\n".join([part for part in (self.head, self.text, self.tail) if part])


@dataclass(frozen=True, slots=True)
class Document:
    """The blocks of a file, and what the report should say of how it was read."""

    blocks: tuple[Block, ...]
    note: str = ""


class HeadingPath:
    """The headings one stands under while a text is read from top to bottom.

    >>> path = HeadingPath()
    >>> path.enter(1, "Guide"), path.enter(3, "Linux"), path.enter(2, "Use")
    (('Guide',), ('Guide', 'Linux'), ('Guide', 'Use'))
    """

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """Pass a heading and return the path it opens."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, title))
        return self.path

    def copy(self) -> HeadingPath:
        """Return another one that stands at the same place."""
        other = HeadingPath()
        other._open = list(self._open)
        return other

    @property
    def path(self) -> tuple[str, ...]:
        """The titles, the outermost first."""
        return tuple([title for _, title in self._open])
