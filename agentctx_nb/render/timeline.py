"""When each provider started and ended, as bars: drawn in table cells, or with ASCII signs in text."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import nlargest
from typing import TYPE_CHECKING, Any, NamedTuple

from agentctx_nb.frames import frame
from agentctx_nb.names import counted
from agentctx_nb.render import html, markdown, text
from agentctx_nb.render.bounds import LIMITS, Mask, cell_text, cut_middle, no_mask
from agentctx_nb.render.grid import Grid
from agentctx_nb.render.table import chosen, forms_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from agentctx_nb.report import ReportRow
    from agentctx_nb.state import State

__all__ = ["Bar", "Timeline", "timeline_of"]

BLOCKING_MS = 10.0  # to hold the event loop for less is no news
MOST_BARS = 40
_NAME = 60
_AFTER = 30
_COLUMNS = ("provider", "outcome", "start_ms", "ms", "blocked_ms", "after")
_HEADINGS = ("provider", "outcome", "start", "ms", "blocked", "after")
_NUMERIC = (False, False, True, True, True, False)
_WIDEST, _NARROWEST = 32, 12  # characters of a bar
_SIGNS = "= ran, # of that held the event loop, - waited for another provider"
_TROUBLE = ("failed", "timed_out", "cancelled")
_SCALE = "width: 16em; margin-top: 0.2em; border-left: 1px solid rgba(128, 128, 128, 0.4); border-right: 1px solid rgba(128, 128, 128, 0.4)"
# Borders: they are printed, and drawn in high contrast, where backgrounds are not. Without a colour it is the text's.
_BAR = "margin-left: {start:.2f}%; width: {wide:.2f}%; min-width: 2px; border-top: 0.8em solid {colour}"
_HELD = "margin-left: {start:.2f}%; width: {wide:.2f}%; min-width: 2px; border-top: 0.25em solid"
_BLUE, _RED, _GREY = "steelblue", "rgb(214, 86, 76)", "rgba(128, 128, 128, 0.8)"


class Bar(NamedTuple):
    """One provider that ran: its name, masked, and its times in milliseconds from the start, as in the report.

    Times are None where it was not run this time: kept, or past the deadline of all before it started.
    ``waited_for`` says whether the composition ended no sooner for its sake.
    """

    provider: str
    outcome: str
    start_ms: float | None
    ms: float | None
    blocked_ms: float | None
    after: tuple[str, ...] = ()
    waited_for: bool = False

    @property
    def end_ms(self) -> float | None:
        """When it ended, from the start of the composition."""
        return None if self.start_ms is None or self.ms is None else self.start_ms + self.ms


@dataclass(frozen=True, slots=True, repr=False)
class Timeline:
    """The bars of one composition, by their start, and what made it slow; shows itself in three forms.

    Attributes
    ----------
    bars
        A `Bar` for each provider that ran. Of more than 40, the longest are shown.
    total_ms
        Wall time of the whole composition.
    waited_for
        The providers whose ends the composition waited for, in order: the one that ended last, before it
        the one it needed through ``after=`` that ended last, and so on.
    longest
        The one of these that took longest, or None.
    blocking
        The provider that held the event loop longest, where that is 10 ms or more, or None.
    skipped
        How many registered providers did not run.
    """

    bars: tuple[Bar, ...]
    total_ms: float
    waited_for: tuple[str, ...] = ()
    longest: str | None = None
    blocking: str | None = None
    skipped: int = 0
    mask: Mask = field(default=no_mask, compare=False)

    def __len__(self) -> int:
        return len(self.bars)

    def __repr__(self) -> str:
        return self.to_text()

    def to_text(self, width: int = 100) -> str:
        """Return lines of at most ``width`` terminal cells, the bars drawn in ASCII."""
        bars = self._shown()
        wide = max(_NARROWEST, min(_WIDEST, width // 3))
        lines = text.table(self._grid(bars, [""] * len(bars)), width=width - wide - 2).split("\n")
        if bars:
            scale = self._scale()
            drawn = [f"0 to {_ms(scale)} ms", "─" * wide, *[_signs(bar, scale, wide) for bar in bars]]
            left = max(map(text.text_width, lines[: len(drawn)]))
            for i, bar in enumerate(drawn):
                space = " " * (left - text.text_width(lines[i]) + 2)
                lines[i] = f"{lines[i]}{space}{bar}".rstrip()
            lines.append(_SIGNS)
        return text.page([text.lines(self.sentences()), "\n".join(lines)])

    def to_markdown(self) -> str:
        """Return sentences and a pipe table, the bars drawn in ASCII."""
        bars = self._shown()
        scale = self._scale()
        table = markdown.table(self._grid(bars, [_signs(bar, scale, _WIDEST) for bar in bars]))
        legend = markdown.lines([_SIGNS] if bars else [])
        return markdown.page([markdown.lines(self.sentences()), table, legend])

    def to_html(self) -> str:
        """Return static HTML, the bars drawn as borders of table cells' contents."""
        bars = self._shown()
        scale = self._scale()
        table = html.table(self._grid(bars, [_drawn(bar, scale) for bar in bars]))
        legend = (
            "The thin line below a bar is the time it held the event loop, while async providers stood still."
        )
        return html.page([html.lines(self.sentences()), table, html.lines([legend] if bars else [])])

    def to_frame(self) -> Any:
        """Return all bars as a pandas DataFrame: the fields of `Bar` and ``end_ms``, by provider; secrets masked."""
        columns = [*_COLUMNS, "waited_for", "end_ms"]
        rows = [(*bar, bar.end_ms) for bar in self.bars]
        return frame(rows, columns).set_index("provider")

    def sentences(self) -> list[str]:
        """Say how long it took, for whom it waited, and who held the event loop."""
        said = [f"{counted(len(self.bars), 'provider')} took {_ms(self.total_ms)} ms together."]
        if self.skipped:
            said[0] = said[0][:-1] + f"; {self.skipped:,} did not run."
        times = {bar.provider: bar for bar in self.bars}
        if self.longest is not None:
            path = [f"{_name(name)} ({_ms(times[name].ms)} ms)" for name in self.waited_for[:5]]
            path += ["…"] if len(self.waited_for) > len(path) else []
            most = f", longest for {_name(self.longest)}" if len(path) > 1 else ""
            said.append(f"The composition waited for {', then '.join(path)}{most}.")
        if self.blocking is not None:
            held = _ms(times[self.blocking].blocked_ms)
            said.append(
                f"{_name(self.blocking)} held the event loop for {held} ms; async providers stood still meanwhile."
            )
        elif self.bars:
            said.append(f"No provider held the event loop for {BLOCKING_MS:g} ms or more.")
        return said

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return chosen(forms_of(self), include, exclude)

    def _shown(self) -> list[Bar]:
        if len(self.bars) <= MOST_BARS:
            return list(self.bars)
        longest = nlargest(MOST_BARS, range(len(self.bars)), key=lambda i: self.bars[i].ms or 0.0)
        return [self.bars[i] for i in sorted(longest)]

    def _scale(self) -> float:
        """Return the milliseconds a full bar stands for."""
        return max([self.total_ms, *[bar.end_ms or 0.0 for bar in self.bars]]) or 1.0

    def _grid(self, bars: list[Bar], drawn: list[str]) -> Grid:
        rows = []
        for bar, drawing in zip(bars, drawn, strict=True):
            cells = (
                cut_middle(cell_text(bar.provider, most=LIMITS.line), LIMITS.name),
                bar.outcome,
                _ms(bar.start_ms),
                _ms(bar.ms),
                _ms(bar.blocked_ms),
                cell_text(", ".join(bar.after), mask=self.mask, most=_AFTER),
            )
            rows.append((*cells, drawing))
        return Grid(
            columns=(*_HEADINGS, f"0 to {_ms(self._scale())} ms") if any(drawn) else _HEADINGS,
            rows=tuple(rows if any(drawn) else [row[:-1] for row in rows]),
            numeric=(*_NUMERIC, False) if any(drawn) else _NUMERIC,
            title="",
            note="the longest are shown" if len(bars) < len(self.bars) else "",
            all_rows=len(self.bars),
            all_columns=len(_HEADINGS) + any(drawn),
            whole=".to_frame()",
        )


def timeline_of(state: State) -> Timeline:
    """Return when each provider of ``state`` started and ended, and what the composition waited for."""
    report, mask = state.report, state.mask
    ran = [row for row in report if row.ran]
    names = {row.provider for row in ran}
    needs = _needs(state, names)
    path = _path(ran, needs)
    waited_for = {row.provider for row in path}
    held = max(ran, key=lambda row: row.blocked_ms or 0.0, default=None)
    bars = [
        Bar(
            mask(row.provider),
            _outcome(row),
            row.start_ms,
            row.ms,
            row.blocked_ms,
            tuple(map(mask, needs.get(row.provider, ()))),
            row.provider in waited_for,
        )
        for row in ran
    ]
    bars.sort(key=lambda bar: -1.0 if bar.start_ms is None else bar.start_ms)
    longest = max(path, key=lambda row: row.ms or 0.0, default=None)
    return Timeline(
        bars=tuple(bars),
        total_ms=report.total_ms,
        waited_for=tuple([mask(row.provider) for row in path]),
        longest=None if longest is None else mask(longest.provider),
        blocking=mask(held.provider) if held and (held.blocked_ms or 0.0) >= BLOCKING_MS else None,
        skipped=len(report) - len(ran),
        mask=mask,
    )


def _signs(bar: Bar, scale: float, wide: int) -> str:
    if bar.start_ms is None or bar.end_ms is None:
        return ""
    each = wide / scale
    start = min(int(bar.start_ms * each), wide - 1)
    end = min(max(start + 1, round(bar.end_ms * each)), wide)
    held = min(round((bar.blocked_ms or 0.0) * each), end - start)
    before = "-" if bar.after else "."
    return before * start + "#" * held + "=" * (end - start - held) + "." * (wide - end)


def _drawn(bar: Bar, scale: float) -> html.Markup:
    if bar.start_ms is None or bar.ms is None:
        return html.Markup()
    each = 100 / scale
    start = min(bar.start_ms * each, 99.0)
    trouble, empty = bar.outcome.replace(" ", "_") in _TROUBLE, bar.outcome == "empty"
    colour = _RED if trouble else _GREY if empty else _BLUE
    wide = min(bar.ms * each, 100 - start)
    parts = [html.element("div", style=_BAR.format(start=start, wide=wide, colour=colour))]
    held = min((bar.blocked_ms or 0.0) * each, wide)
    if held >= 1:
        parts.append(html.element("div", style=_HELD.format(start=start, wide=held)))
    return html.element("div", *parts, style=_SCALE)


def _needs(state: State, names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Map each provider to those it waited for; a state read from a pickle does not know."""
    snapshot = state.record.snapshot
    entries = () if snapshot is None else snapshot.entries
    waits = {
        entry.name: tuple(name for name in entry.provider.after if name in names)
        for entry in entries
        if entry.provider.after and entry.name in names
    }
    return {name: needed for name, needed in waits.items() if needed}


def _path(ran: Iterable[ReportRow], needs: dict[str, tuple[str, ...]]) -> list[ReportRow]:
    rows = {row.provider: row for row in ran if row.start_ms is not None and row.ms is not None}
    path: list[ReportRow] = []
    last = max(rows.values(), key=_end, default=None)
    while last is not None:
        path.append(last)
        needed = [rows[name] for name in needs.get(last.provider, ()) if name in rows]
        last = max(needed, key=_end, default=None)
    return path[::-1]


def _end(row: ReportRow) -> float:
    return (row.start_ms or 0.0) + (row.ms or 0.0)


def _outcome(row: ReportRow) -> str:
    if row.outcome == "cached":
        return "from cache"
    if row.start_ms is None:
        return f"{row.outcome.replace('_', ' ')}, not run"
    return row.outcome.replace("_", " ")


def _name(name: str) -> str:
    return cell_text(name, most=_NAME)


def _ms(ms: float | None) -> str:
    return "" if ms is None else f"{ms:,.0f}" if ms >= 1_000 else f"{ms:,.1f}"
