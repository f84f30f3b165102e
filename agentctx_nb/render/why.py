"""Why each provider ran or not, what came of it, when and how much: all of it for code, few columns for the eye."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentctx_nb.render.bounds import cut, without_addresses
from agentctx_nb.render.page import Lines, Page
from agentctx_nb.render.table import Table
from agentctx_nb.render.views import LISTED, more, short_name, words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from agentctx_nb.render.bounds import Mask
    from agentctx_nb.report import ReportRow
    from agentctx_nb.state import State

__all__ = ["Why", "why_of"]

_SKIPPED = "skipped: "
_KEYS = 3  # keys of the values of one provider
_KEY = 16
_ERRORS = 30
_ERROR = 300


@dataclass(frozen=True, slots=True, repr=False)
class Why(Table):
    """A row with every fact for each provider; shown with what a person reads, errors in full below.

    ``known`` maps each provider to its row in the report.
    """

    known: Mapping[str, ReportRow] = field(default_factory=dict, compare=False)

    def to_text(self, width: int | None = None) -> str:
        """Return lines for a terminal, the table at most ``width`` cells wide; by default the view's own."""
        return self._page(width).to_text()

    def to_markdown(self) -> str:
        """Return a pipe table and lines in which no data acts as Markdown."""
        return self._page().to_markdown()

    def to_html(self) -> str:
        """Return static HTML without script, ids or outside resources."""
        return self._page().to_html()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return self._page()._repr_mimebundle_(include, exclude)

    def page(self) -> Page:
        """Return the view: one table, then each error on a line of its own."""
        return self._page()

    def _page(self, width: int | None = None) -> Page:
        rows = [self.known[row[0]] for row in self.rows]
        shown = Table(
            ("provider", "outcome", "reason", "ms", "start", "blocked", "chars", "tokens", "values"),
            tuple([_seen(row, self.mask) for row in rows]),
            title=self.title,
            note=self.note,
            mask=self.mask,
            whole=self.whole,
            width=width or self.width,
        )
        return Page((shown, Lines(tuple(_errors(rows, self.mask)))), mask=self.mask)


def why_of(state: State) -> Why:
    """Return all that is known of each provider of ``state``: those that ran first, in text order.

    Times are in ms, those of this very composition: ``start`` from its beginning, ``blocked`` how long the
    event loop was held.
    """
    report = state.report
    rows = sorted(report, key=lambda row: not row.ran)  # a report is in text order already
    return Why(
        (
            "provider",
            "run",
            "outcome",
            "reason",
            "keyword",
            "ms",
            "start",
            "blocked",
            "chars",
            "tokens",
            "values",
            "error",
        ),
        tuple([_facts(row, state.mask) for row in rows]),
        title="Why each provider ran or not, and what it cost",
        note=f"times in ms, {_rounded(report.total_ms)} in all; tokens counted by {report.token_counter}",
        mask=state.mask,
        whole="state.report.to_frame()",
        width=120,
        known={row.provider: row for row in rows},
    )


def _facts(row: ReportRow, mask: Mask) -> tuple[Any, ...]:
    return (
        row.provider,
        "run" if row.ran else "not run",
        words(row.outcome),
        row.reason,
        "" if row.keyword is None else row.keyword,
        *[_rounded(ms) for ms in (row.ms, row.start_ms, row.blocked_ms)],
        *[count if row.ran else "" for count in (row.chars, row.tokens)],
        ", ".join(
            [short_name(key, mask) for key in row.value_keys[:LISTED]] + more(len(row.value_keys), "keys")
        ),
        "" if row.error is None else without_addresses(row.error),
    )


def _seen(row: ReportRow, mask: Mask) -> tuple[Any, ...]:
    """Return what is said once only: an outcome tells that it ran, a reason which keyword woke it."""
    by_keyword = row.keyword is None or row.reason.startswith("keyword ")
    keys = [cut(short_name(key, mask), _KEY) for key in row.value_keys[:_KEYS]]
    rest = len(row.value_keys) - len(keys)
    return (
        row.provider,
        words(row.outcome) if row.ran else "not run",
        row.reason.removeprefix(_SKIPPED) + ("" if by_keyword else f", keyword {row.keyword}"),
        *[_rounded(ms) for ms in (row.ms, row.start_ms, row.blocked_ms)],
        *[count if row.ran else "" for count in (row.chars, row.tokens)],
        ", ".join(keys) + (f" and {rest:,} more" if rest else ""),
    )


def _errors(rows: list[ReportRow], mask: Mask) -> list[str]:
    failed = [row for row in rows if row.error is not None]
    said = [
        f"{f'{short_name(row.provider, mask)} {words(row.outcome)} {row.place}'.rstrip()}: "
        f"{cut(without_addresses(row.error or ''), _ERROR)}"
        for row in failed[:_ERRORS]
    ]
    return said + ([f"and {len(failed) - _ERRORS:,} more errors"] if len(failed) > _ERRORS else [])


def _rounded(ms: float | None) -> float | str:
    return "" if ms is None else round(ms, 1)
