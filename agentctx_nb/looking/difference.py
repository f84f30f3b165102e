"""What changed between two states: text, values, providers, tokens and time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentctx_nb.edited import as_found
from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.looking.comparing import Comparing
from agentctx_nb.looking.text_changes import ADDED, CHANGED, MOVED, REMOVED, line_changes
from agentctx_nb.names import shown
from agentctx_nb.record import is_the_text
from agentctx_nb.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from agentctx_nb.render.page import Page
    from agentctx_nb.render.table import Table
    from agentctx_nb.report import ReportRow
    from agentctx_nb.state import ProviderEntry

__all__ = ["Difference", "difference"]

_THE_TEXT = "(the text)"
_LONGEST_ERROR = 300
_FAILED = ("failed", "timed_out", "cancelled")


@dataclass(frozen=True, slots=True, repr=False)
class Difference:
    """What changed between two states; false where nothing did, or nothing but the time it took.

    Attributes
    ----------
    lines
        A table of provider, change ("added", "removed", "moved", "changed") and line.
    values
        A table of key, change, old, new and writer.
    providers
        A table of the providers that changed: how, and their tokens and milliseconds before and after. A
        result that came from a cache this time is no change, nor is another reason not to run.
    tokens, chars, ms
        Of the whole, as (before, after).
    not_compared
        What is too large to be compared, or was when its turn came; it counts as unchanged.

    >>> old, new = State(text="It rains.", values={"mm": 3}), State(text="It is dry.", values={"mm": 0})
    >>> print(old.diff(new).summary)
    text: 1 line added, 1 line removed; values: mm changed; 0 tokens; 0.0 ms
    >>> bool(old.diff(old))
    False
    """

    lines: Table
    values: Table
    providers: Table
    tokens: tuple[int, int]
    chars: tuple[int, int]
    ms: tuple[float, float]
    not_compared: tuple[str, ...] = ()
    mask: Callable[[str], str] = field(default=str, compare=False)

    def __bool__(self) -> bool:
        return bool(len(self.lines) or len(self.values) or len(self.providers))

    @property
    def summary(self) -> str:
        """Say what changed in one line, secrets masked."""
        from agentctx_nb.render.difference_view import summary

        return summary(self)

    def page(self) -> Page:
        """Return the view as `to_text` and `to_markdown` write it."""
        from agentctx_nb.render.difference_view import page_of

        return page_of(self)

    def __repr__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """Return the view for a terminal."""
        return self.page().to_text()

    def to_markdown(self) -> str:
        """Return the view as Markdown in which no data acts."""
        return self.page().to_markdown()

    def to_html(self) -> str:
        """Return the view as static HTML, what was added and removed told in words and colours."""
        from agentctx_nb.render.difference_view import html_of

        return html_of(self)

    def to_frame(self) -> Any:
        """Return everything that changed as a pandas DataFrame: part, name, change, old, new; secrets masked."""
        from agentctx_nb.render.difference_view import frame_of

        return frame_of(self)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        from agentctx_nb.render.difference_view import bundle_of
        from agentctx_nb.render.table import chosen

        return chosen(bundle_of(self), include, exclude)


def difference(old: State, new: State) -> Difference:
    """Return what changed from ``old`` to ``new``; both are read and neither is changed.

    Raises
    ------
    DefinitionTypeError
        One of them is no state.
    """
    for state in (old, new):
        if not isinstance(state, State):
            raise DefinitionTypeError(f"a state is compared with another state, not with {shown(state)}")
    from agentctx_nb.render.table import Table

    mask = new.mask if old.mask is new.mask else lambda text: new.mask(old.mask(text))
    comparing = Comparing()
    large: list[str] = []
    lines = _text_changes(old, new, mask)
    values = _value_changes(old, new, comparing, large)
    moved = {change.provider for change in lines if change.change == MOVED}
    providers = _provider_changes(old, new, comparing, large, moved)
    return Difference(
        lines=Table(("provider", "change", "line"), tuple(lines), mask=mask),
        values=Table(("key", "change", "old", "new", "writer"), tuple(values), mask=mask),
        providers=Table(
            ("provider", "change", "tokens_before", "tokens_after", "ms_before", "ms_after"),
            tuple(providers),
            mask=mask,
        ),
        tokens=(_tokens(old), _tokens(new)),
        chars=(len(_text(old)), len(_text(new))),
        ms=(old.report.total_ms, new.report.total_ms),
        not_compared=tuple(large),
        mask=mask,
    )


def _text(state: State) -> str:
    return state.text if isinstance(state.text, str) else shown(state.text)  # it is its owner's to edit


def _text_changes(old: State, new: State, mask: Callable[[str], str]) -> list[Any]:
    before, after = _text(old), _text(new)
    if before == after:
        return []
    parts, others = _parts(old), _parts(new)
    if parts is None or others is None:
        parts, others = [(_THE_TEXT, before)], [(_THE_TEXT, after)]
    return line_changes(parts, others, mask)


def _parts(state: State) -> list[tuple[str, str]] | None:
    """Return what each provider gave to the text; None where the text is not made of that any more."""
    parts = [(name, entry.text) for name, entry in state.entries() if entry.text and not entry.text.isspace()]
    return parts if "\n".join([text for _, text in parts]) == state.text else None


def _value_changes(old: State, new: State, comparing: Comparing, large: list[str]) -> list[tuple[Any, ...]]:
    missing = object()
    held = [
        state.values if isinstance(state.values, dict) else as_found(state.values) for state in (old, new)
    ]
    rows = [row for row in new.value_rows() if not is_the_text(row[0])]
    writers = _writers(rows)
    found: list[tuple[Any, ...]] = []
    for key, value, _, writer, _ in old.value_rows():
        if is_the_text(key):
            continue
        now = _get(held[1], key, missing)
        if now is missing:
            found.append((key, REMOVED, value, "", writer))
        elif (same := comparing.alike(value, now)) is False:
            found.append((key, CHANGED, value, now, _get(writers, key, "")))
        elif same is None:
            large.append(f"value {shown(key)}")
    found += [
        (key, ADDED, "", value, writer)
        for key, value, _, writer, _ in rows
        if _get(held[0], key, missing) is missing
    ]
    return found


def _writers(rows: list[Any]) -> dict[Any, str]:
    try:
        return {key: writer for key, _, _, writer, _ in rows}
    except Exception:  # noqa: BLE001  keys of theirs that cannot be found again
        return {}


def _get(values: Mapping[Any, Any], key: Any, default: Any) -> Any:
    try:
        return values.get(key, default)
    except Exception:  # noqa: BLE001  a key of theirs that cannot be found again
        return default


def _provider_changes(
    old: State, new: State, comparing: Comparing, large: list[str], moved: Collection[str]
) -> list[tuple[Any, ...]]:
    before, after = {row.provider: row for row in old.report}, {row.provider: row for row in new.report}
    entries = dict(old.entries()), dict(new.entries())
    found = []
    for name in {**after, **before}:
        was, now = before.get(name), after.get(name)
        said = _status(was, now)
        if name in entries[0] and name in entries[1]:
            said += _content(name, entries[0][name], entries[1][name], comparing, large)
            said += [MOVED] if name in moved else []
        if said:
            found.append((name, "; ".join(said), *_numbers(was, now, "tokens"), *_numbers(was, now, "ms")))
    return found


def _status(was: ReportRow | None, now: ReportRow | None) -> list[str]:
    """Return in words how running changed, and nothing where it did not run in either."""
    from agentctx_nb.render.bounds import cut, without_addresses

    if now is None or not now.ran:
        if was is None or not was.ran:
            return []
        return [
            f"no longer runs ({'not registered' if now is None else now.reason.removeprefix('skipped: ')})"
        ]
    if was is None or not was.ran:
        trouble = f", {_words(now.outcome)}" if now.outcome in _FAILED else ""
        return [f"{'new' if was is None else 'runs now'} ({now.reason}{trouble})"]
    said = []
    outcomes = {was.outcome, now.outcome}
    if len(outcomes) > 1 and ("cached" not in outcomes or outcomes.intersection(_FAILED)):
        said.append(f"{_words(was.outcome)} → {_words(now.outcome)}")
    if now.error is not None and now.error != was.error:
        error = without_addresses(now.error)
        if error != without_addresses(was.error or ""):
            said.append(f"error: {cut(error, _LONGEST_ERROR)}")  # masked in the report already
    if was.reason != now.reason:
        said.append(f"{was.reason} → {now.reason}")
    return said


def _content(
    name: str, was: ProviderEntry, now: ProviderEntry, comparing: Comparing, large: list[str]
) -> list[str]:
    said = ["text changed"] if was.text != now.text else []
    for part, one, other in (
        ("values", was.raw_values, now.raw_values),
        ("data", was.raw_data, now.raw_data),
    ):
        same = comparing.alike(one, other)
        if same is False:
            said.append(f"{part} changed")
        elif same is None:
            large.append(f"{part} of {name}")
    return said


def _numbers(was: ReportRow | None, now: ReportRow | None, column: str) -> list[Any]:
    numbers = [getattr(row, column) if row is not None and row.ran else None for row in (was, now)]
    return ["" if n is None else round(n, 1) for n in numbers]


def _tokens(state: State) -> int:
    return sum(row.tokens for row in state.report)


def _words(outcome: str) -> str:
    return outcome.replace("_", " ")
