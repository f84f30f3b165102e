"""Page: lines, tables and foldable texts one below the other, in three forms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from agentctx_nb.render import html, markdown, text
from agentctx_nb.render.bounds import LIMITS, Mask, cell_text, no_mask
from agentctx_nb.render.grid import Block, block_of
from agentctx_nb.render.table import Table, chosen

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from agentctx_nb.render.grid import Grid

__all__ = ["Fold", "Lines", "Page"]


@dataclass(frozen=True, slots=True)
class Lines:
    """Sentences, each on a line of its own; ``text_only`` ones say what only plain text has no room for."""

    texts: tuple[str, ...]
    strong: bool = False
    text_only: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """A titled text of any length; ``whole`` is what to read to see all of it."""

    title: str
    text: str
    whole: str
    open: bool = True


Part: TypeAlias = "Lines | Fold | Table"


class _Writer(Protocol):
    """What `text`, `markdown` and `html` have in common."""

    def lines(self, texts: Sequence[str], /, *, strong: bool) -> str: ...
    def table(self, grid: Grid, /) -> str: ...
    def fold(self, block: Block, /) -> str: ...
    def page(self, parts: Sequence[str], /) -> str: ...


@dataclass(frozen=True, slots=True, repr=False)
class Page:
    """A view of several parts that shows itself; a table in it brings its own mask.

    >>> Page((Lines(("composed 1 of 1 providers",)), Fold("text", "It rains.", whole="state.text")))
    composed 1 of 1 providers
    <BLANKLINE>
    text
    ────
    It rains.
    """

    parts: tuple[Part, ...]
    mask: Mask = field(default=no_mask, compare=False)

    def __repr__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """Return the view for a terminal."""
        return self._written(text)

    def to_markdown(self) -> str:
        """Return the view as Markdown in which no data acts."""
        return self._written(markdown)

    def to_html(self) -> str:
        """Return the view as static HTML without script, ids or outside resources."""
        return self._written(html)

    def bundle(self) -> dict[str, str]:
        """Return all three forms by MIME type."""
        return {
            "text/plain": self.to_text(),
            "text/markdown": self.to_markdown(),
            "text/html": self.to_html(),
        }

    def _written(self, writer: _Writer) -> str:
        made = []
        for part in self.parts:
            if isinstance(part, Table):
                made.append(writer.table(part.grid()))
            elif isinstance(part, Fold):
                title = cell_text(part.title, mask=self.mask)
                block = block_of(title, part.text, mask=self.mask, whole=part.whole, shown_open=part.open)
                made.append(writer.fold(block))
            elif writer is text or not part.text_only:
                shown = [cell_text(said, mask=self.mask, most=LIMITS.line) for said in part.texts]
                made.append(writer.lines(shown, strong=part.strong))
        return writer.page(made)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return chosen(self.bundle(), include, exclude)
