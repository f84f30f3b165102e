"""What a person is shown of the difference between two states."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentctx_nb.frames import frame
from agentctx_nb.looking.text_changes import ADDED, CHANGED, MOVED, REMOVED
from agentctx_nb.names import counted
from agentctx_nb.render import html
from agentctx_nb.render.bounds import LIMITS, Mask, cell_text, cut, one_line
from agentctx_nb.render.grid import Grid
from agentctx_nb.render.masked import masked_copy
from agentctx_nb.render.page import Fold, Lines, Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentctx_nb.looking.difference import Difference
    from agentctx_nb.render.table import Table

__all__ = ["bundle_of", "frame_of", "html_of", "page_of", "summary"]

_NAMED = 3
_NAME = 40
_CHANGE = 80
_LINE = 300
_AROUND = 40  # characters shown before the place where two long lines begin to differ
_MARKS = {ADDED: "+", REMOVED: "-", MOVED: "~", CHANGED: "~"}
# Seen on white and on black: the words beside them say the same.
_AMBER = "rgba(210, 153, 34, 0.22)"
_TINTS = {
    ADDED: "rgba(46, 160, 67, 0.22)",
    REMOVED: "rgba(248, 81, 73, 0.22)",
    CHANGED: _AMBER,
    MOVED: _AMBER,
}
_TINTED = "white-space: pre-wrap; padding: 0 0.3em; background-color: "


def summary(difference: Difference) -> str:
    """Return in one line what changed, of what the first few are named."""
    said = [_text_summary(difference), _values_summary(difference), _providers_summary(difference)]
    said = [part for part in said if part] or ["nothing changed"]
    before, after = difference.tokens
    gained = f" ({after - before:+,})" if after != before else ""
    said.append(f"{before:,} → {counted(after, 'token')}{gained}" if gained else counted(after, "token"))
    times = [_time(ms) for ms in difference.ms]
    said.append(f"{times[0]} → {times[1]} ms" if times[0] != times[1] else f"{times[1]} ms")
    return cell_text("; ".join(said), mask=difference.mask, most=LIMITS.line)


def page_of(difference: Difference) -> Page:
    """Return the view as text and Markdown show it: changed lines as a diff, then two tables."""
    parts: list[Any] = [Lines((difference.summary,), strong=True)]
    if len(difference.lines):
        shown = _as_diff(difference)
        parts.append(Fold("text", shown, whole="difference.lines.to_frame()"))
    parts += _tables(difference)
    parts += [Lines((remark,)) for remark in _remarks(difference)]
    return Page(tuple(parts), mask=difference.mask)


def bundle_of(difference: Difference) -> dict[str, str]:
    """Return all three forms by MIME type, each value read once for them all."""
    page = page_of(difference)
    read = page.read()
    grids = [part for part in read if isinstance(part, Grid)]
    return {**page.bundle(read), "text/html": html_of(difference, grids)}


def html_of(difference: Difference, grids: Sequence[Grid] | None = None) -> html.Markup:
    """Return the view as HTML; ``grids`` are those of its tables where they were read already."""
    if grids is None:
        grids = [table.grid() for table in _tables(difference)]
    parts = [html.lines([difference.summary], strong=True)]
    if len(difference.lines):
        parts.append(html.table(_lines_grid(difference)))
    parts += [html.table(_tinted(grid)) for grid in grids]
    if remarks := _remarks(difference):
        parts.append(html.lines(remarks))
    return html.page(parts)


def frame_of(difference: Difference) -> Any:
    """Return all that changed as one DataFrame."""
    names = {name: difference.mask(name) for name in {row[0] for row in difference.lines.rows}}
    lines = [  # masked before they were told apart
        ("text", names[name], change, *((line, "") if change == REMOVED else ("", line)))
        for name, change, line in difference.lines.rows
    ]
    rows: list[tuple[Any, ...]] = [("value", *row[:4]) for row in difference.values.rows]
    for name, change, before, after, _, _ in difference.providers.rows:
        rows.append(("provider", name, change, _count(before), _count(after)))
    if difference.tokens[0] != difference.tokens[1]:
        rows.append(("tokens", "(all)", CHANGED, *difference.tokens))
    copied = [tuple(masked_copy(cell, mask=difference.mask) for cell in row) for row in rows]
    return frame([*lines, *copied], ("part", "name", "change", "old", "new"))


def _count(tokens: Any) -> str:
    return "" if tokens == "" else counted(tokens, "token")


# One line ---------------------------------------------------------------------------------


def _text_summary(difference: Difference) -> str:
    counts: dict[str, int] = {}
    for row in difference.lines.rows:
        counts[row[1]] = counts.get(row[1], 0) + 1
    said = [counted(counts[kind], "line") + f" {kind}" for kind in (ADDED, REMOVED) if kind in counts]
    said += [counted(counts[MOVED], "part") + " moved"] if MOVED in counts else []
    said += ["a secret changed"] if CHANGED in counts else []
    names = [name for name in dict.fromkeys(row[0] for row in difference.lines.rows) if name != "(the text)"]
    where = f" ({_listed(names, difference.mask)})" if names else ""
    return f"text: {', '.join(said)}{where}" if said else ""


def _values_summary(difference: Difference) -> str:
    rows = difference.values.rows
    said = [f"{_name(row[0], difference.mask)} {row[1]}" for row in rows[:_NAMED]]
    return f"values: {_and_more(said, len(rows))}" if rows else ""


def _providers_summary(difference: Difference) -> str:
    """Return what the text and the values do not tell already."""
    told = {"text changed", "values changed", MOVED}
    said = []
    for name, change, *_ in difference.providers.rows:
        rest = [part for part in change.split("; ") if part not in told]
        if rest:
            changed = cell_text(_in_brackets("; ".join(rest)), mask=difference.mask, most=_CHANGE)
            said.append(f"{_name(name, difference.mask)} {changed}")
    return f"providers: {_and_more(said[:_NAMED], len(said))}" if said else ""


def _in_brackets(change: str) -> str:
    """Return a change whose further parts stand in brackets: a semicolon parts what the whole line tells."""
    if change.startswith("error: "):  # which may hold any sign
        return f"({change})"
    first, _, rest = change.partition("; ")
    return f"{first} ({rest})" if rest and " → " in first else change


def _and_more(said: Sequence[str], count: int) -> str:
    return ", ".join(said) + (f" and {count - len(said):,} more" if count > len(said) else "")


def _listed(names: Sequence[str], mask: Mask) -> str:
    return _and_more([_name(name, mask) for name in names[:_NAMED]], len(names))


def _name(name: object, mask: Mask) -> str:
    return cell_text(name, mask=mask, most=_NAME)


def _time(ms: float) -> str:
    return f"{ms:,.1f}" if ms < 100 else f"{ms:,.0f}"


def _remarks(difference: Difference) -> list[str]:
    names = difference.not_compared
    return [f"too large to compare: {_listed(names, difference.mask)}"] if names else []


# The parts --------------------------------------------------------------------------------


def _tables(difference: Difference) -> list[Table]:
    tables = [
        replace(difference.values, title="Values", whole="difference.values.to_frame()"),
        replace(difference.providers, title="Providers", whole="difference.providers.to_frame()"),
    ]
    return [table for table in tables if len(table)]


def _as_diff(difference: Difference) -> str:
    made: list[str] = []
    last = None
    for name, change, line in _excerpts(difference.lines.rows[: LIMITS.rows]):
        if name != last:
            made += [""] if made else []
            made.append(_name(name, difference.mask))
        made.append(f"{_MARKS[change]} {cut(line, _LINE)}".rstrip() or _MARKS[change])
        last = name
    if (count := len(difference.lines)) > LIMITS.rows:
        made.append(f"… and {count - LIMITS.rows:,} more")
    return "\n".join(made)


def _lines_grid(difference: Difference) -> Grid:
    rows = [
        (
            _name(name, difference.mask),
            f"{_MARKS[change]} {change}",
            _tint(one_line(cut(line, _LINE)), change),
        )
        for name, change, line in _excerpts(difference.lines.rows[: LIMITS.rows])
    ]
    return Grid(
        columns=("provider", "change", "line"),
        rows=tuple(rows),
        numeric=(False, False, False),
        title="Text",
        note="",
        all_rows=len(difference.lines),
        all_columns=3,
        whole="difference.lines.to_frame()",
    )


def _tint(text: str, change: str) -> str:
    tint = _TINTS.get(change)
    # A blank line has a height, too.
    return html.element("div", text or "\N{NO-BREAK SPACE}", style=_TINTED + tint) if tint else text


def _tinted(grid: Grid) -> Grid:
    """Return the grid of the values with its words coloured; other cells are told by words alone."""
    place = grid.columns.index("change")
    rows = [
        tuple(_tint(cell, cell) if i == place else cell for i, cell in enumerate(row)) for row in grid.rows
    ]
    return replace(grid, rows=tuple(rows))


def _excerpts(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, str, str]]:
    """Yield the changes; of a long line that replaces another, from shortly before where they differ."""
    place = 0
    while place < len(rows):
        removed = _run(rows, place, REMOVED)
        added = _run(rows, place + len(removed), ADDED)
        if removed and len(removed) == len(added) and removed[0][0] == added[0][0]:
            starts = [_start(one[2], other[2]) for one, other in zip(removed, added, strict=True)]
            for run in (removed, added):
                for (name, change, line), start in zip(run, starts, strict=True):
                    yield name, change, f"…{line[start:]}" if start else line
            place += len(removed) + len(added)
        else:
            name, change, line = rows[place]
            yield name, change, line
            place += 1


def _run(rows: Sequence[Sequence[str]], place: int, change: str) -> list[Sequence[str]]:
    run: list[Sequence[str]] = []
    while place < len(rows) and rows[place][1] == change and rows[place][0] == (run or [rows[place]])[0][0]:
        run.append(rows[place])
        place += 1
    return run


def _start(one: str, other: str) -> int:
    if min(len(one), len(other)) <= _LINE:
        return 0
    same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return max(same - _AROUND, 0)
