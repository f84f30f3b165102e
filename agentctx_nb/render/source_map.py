"""SourceMap: a composed text, or a prompt, with the part of each provider marked, and what each costs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from agentctx_nb.looking.origins import stretches, written_by
from agentctx_nb.names import counted
from agentctx_nb.render import html, markdown, text
from agentctx_nb.render.bounds import LIMITS, Mask, cell_text, no_mask
from agentctx_nb.render.covered import cover
from agentctx_nb.render.grid import block_of
from agentctx_nb.render.marked import Piece, as_html, as_text
from agentctx_nb.render.table import Table, chosen, forms_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import pandas as pd

    from agentctx_nb.state import State
    from agentctx_nb.templates import Prompt

__all__ = ["SourceMap", "prompt_map", "text_map"]

_LEGEND = "Part by part"
_EDITED = "(edited)"
_OWN_WORDS = "template"


@dataclass(frozen=True, slots=True, repr=False)
class SourceMap:
    """A text in pieces and the legend to it; iterating gives the rows of the legend as dicts.

    ``inline`` is true for a prompt, in which providers write inside of lines.
    """

    pieces: tuple[Piece, ...]
    legend: Table
    inline: bool
    title: str
    mask: Mask = field(default=no_mask, compare=False)

    def __repr__(self) -> str:
        return self.to_text()

    def __len__(self) -> int:
        return len(self.legend)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.legend)

    def to_text(self) -> str:
        """Return the marked text and the legend for a terminal."""
        shown, said = self._marked()
        return text.page([self._title(), shown or "(no text)", said, self.legend.to_text()])

    def to_markdown(self) -> str:
        """Return the same in a fence, with the legend as a pipe table."""
        shown, said = self._marked()
        block = block_of(self._title(), shown, mask=no_mask, whole="", most=len(shown))
        remark = markdown.lines([said]) if said else ""
        return markdown.page(
            [markdown.fold(block, most_bytes=len(shown.encode())), remark, self.legend.to_markdown()]
        )

    def to_html(self) -> str:
        """Return the text shaded part by part, without script, ids or outside resources."""
        shown, said = as_html(self.pieces, mask=self.mask, inline=self.inline)
        parts = [html.lines([self._title()], strong=True)]
        parts.append(shown if self.pieces else html.lines(["(no text)"]))
        parts += [html.lines([said])] if said else []
        return html.page([*parts, html.table(self.legend.grid())])

    def to_frame(self) -> pd.DataFrame:
        """Return the legend as a DataFrame."""
        return self.legend.to_frame()

    def _title(self) -> str:
        return cell_text(self.title, mask=self.mask, most=LIMITS.line)

    def _marked(self) -> tuple[str, str]:
        return as_text(self.pieces, mask=self.mask, inline=self.inline)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return chosen(forms_of(self), include, exclude)


def text_map(state: State) -> SourceMap:
    """Return the map of a state's text: a block for each provider, in order."""
    composed = state.text if isinstance(state.text, str) else cell_text(state.text, mask=state.mask)
    spans = written_by(state, composed)
    tokens = {row.provider: row.tokens for row in state.report}
    counter = state.report.token_counter
    if spans is None:
        spans = [(0, len(composed), _EDITED)]
        counter, counts = _count([composed])
    else:
        counts = [tokens.get(writer, 0) for _, _, writer in spans]
    total = sum(counts)
    covered = cover(composed, state.mask)
    pieces, rows = [], []
    for number, ((start, end, writer), cost) in enumerate(zip(spans, counts, strict=True), 1):
        share = _share(cost, total)
        said = f"{counted(cost, 'token')}, {share} %" if total else ""
        shown = covered.text[covered.place(start) : covered.place(end)]
        pieces.append(Piece(number, writer, shown, said))
        rows.append((writer, number, end - start, cost, share))
    legend = Table(
        ("provider", "part", "chars", "tokens", "share %"),
        tuple(rows),
        title=_LEGEND,
        note="the text was edited after it was composed, so nobody knows its parts"
        if spans and spans[0][2] == _EDITED
        else _silent(state),
        mask=state.mask,
    )
    title = _sum(len(spans), len(composed), total, counter)
    return SourceMap(tuple(pieces), legend, inline=False, title=title, mask=state.mask)


class _Source(NamedTuple):
    writer: str
    tag: str


def prompt_map(prompt: Prompt) -> SourceMap:
    """Return the map of a rendered prompt: each stretch a tag wrote, with the tag and the provider."""
    composed = str.__str__(prompt)
    covered = cover(composed, prompt.mask)
    numbers: dict[_Source, int] = {}
    texts: dict[_Source, list[str]] = {}
    pieces = []
    for start, end, writer, tag, _ in stretches(prompt):
        joint = writer == _OWN_WORDS and composed[start:end].isspace()
        source = _Source(writer, "" if joint else tag)
        number = numbers.setdefault(source, len(numbers) + 1) if source.tag else 0
        texts.setdefault(source, []).append(composed[start:end])
        pieces.append(Piece(number, writer, covered.text[covered.place(start) : covered.place(end)]))
    counter, counts = _count(["".join(written) for written in texts.values()])
    total = sum(counts)
    rows = [
        (
            source.writer,
            numbers.get(source, ""),
            source.tag,
            len(written),
            sum(map(len, written)),
            cost,
            _share(cost, total),
        )
        for (source, written), cost in zip(texts.items(), counts, strict=True)
    ]
    missing = ", ".join(prompt.missing)
    legend = Table(
        ("provider", "part", "tag", "times", "chars", "tokens", "share %"),
        tuple(rows),
        title=_LEGEND,
        note=f"nobody wrote {missing}" if missing else "",
        mask=prompt.mask,
    )
    title = _sum(len(numbers), len(composed), total, counter)
    return SourceMap(tuple(pieces), legend, inline=True, title=title, mask=prompt.mask)


def _count(texts: Sequence[str]) -> tuple[str, list[int]]:
    from agentctx_nb.tokens import best_counter

    counter, count = best_counter()
    return counter, [count(written) for written in texts]


def _share(cost: int, total: int) -> float | str:
    return round(100 * cost / total, 1) if total else ""


def _sum(parts: int, characters: int, tokens: int, counter: str) -> str:
    about = "about " if counter == "estimate" else ""
    said = f"Who wrote the text: {counted(parts, 'part')}, {counted(characters, 'character')}"
    return f"{said}, {about}{counted(tokens, 'token')} ({counter})"


def _silent(state: State) -> str:
    """Return who ran and wrote nothing, those that failed apart."""
    silent = [entry for _, entry in state.entries() if not entry.text or entry.text.isspace()]
    failed = len([entry for entry in silent if entry.error is not None])
    said = (
        [f"{counted(len(silent) - failed, 'provider')} ran and gave no text"] if len(silent) > failed else []
    )
    said += [f"{counted(failed, 'provider')} failed"] if failed else []
    return "; ".join(said)
