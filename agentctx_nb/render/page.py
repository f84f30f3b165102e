"""Page: lines, tables and foldable texts one below the other, in three forms."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from agentctx_nb.render import html, markdown, text
from agentctx_nb.render.bounds import LIMITS, Mask, cell_text, no_mask
from agentctx_nb.render.grid import Block, Grid, block_of
from agentctx_nb.render.table import Table, chosen

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["Fold", "Lines", "Page"]


@dataclass(frozen=True, slots=True)
class Lines:
    """Sentences, each on a line of its own; plain text, which has less room in its tables, may say others instead."""

    texts: tuple[str, ...]
    strong: bool = False
    in_text: tuple[str, ...] | None = None


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
        return self._written(text, self.read())

    def to_markdown(self) -> str:
        """Return the view as Markdown in which no data acts."""
        return self._written(markdown, self.read())

    def to_html(self) -> str:
        """Return the view as static HTML without script, ids or outside resources."""
        return self._written(html, self.read())

    def bundle(self, read: Sequence[Grid | Block | Lines] | None = None) -> dict[str, str]:
        """Return all three forms by MIME type; ``read`` is what `read` gave, where it was asked already."""
        read = self.read() if read is None else read
        return {
            "text/plain": self._written(text, read),
            "text/markdown": self._written(markdown, read),
            "text/html": self._written(html, read),
        }

    def read(self) -> list[Grid | Block | Lines]:
        """Return what each part shows, as the writers of the three forms take it.

        Once for all three: a repr may take its time, or tell something else when it is asked again.
        """
        return [self._read(part) for part in self.parts]

    def _read(self, part: Part) -> Grid | Block | Lines:
        if isinstance(part, Table):
            return part.grid()
        if isinstance(part, Fold):
            title = cell_text(part.title, mask=self.mask)
            return block_of(title, part.text, mask=self.mask, whole=part.whole, shown_open=part.open)
        return replace(
            part,
            texts=self._shown(part.texts),
            in_text=None if part.in_text is None else self._shown(part.in_text),
        )

    def _shown(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple([cell_text(said, mask=self.mask, most=LIMITS.line) for said in texts])

    def _written(self, writer: _Writer, read: Sequence[Grid | Block | Lines]) -> str:
        made = []
        for part in read:
            if isinstance(part, Grid):
                made.append(writer.table(part))
            elif isinstance(part, Block):
                made.append(writer.fold(part))
            elif writer is text and part.in_text is not None:
                made.append(writer.lines(part.in_text, strong=part.strong))
            else:
                made.append(writer.lines(part.texts, strong=part.strong))
        return writer.page(made)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return chosen(self.bundle(), include, exclude)
