"""What a person is shown of a State, a Report and a runtime. No timings: the same state, the same bytes."""

from __future__ import annotations

import functools
import inspect
from textwrap import dedent
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from agentctx_nb.names import counted
from agentctx_nb.render.bounds import LIMITS, Mask, cell_text, no_mask, without_addresses
from agentctx_nb.render.page import Fold, Lines, Page
from agentctx_nb.render.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentctx_nb.provider import Provider
    from agentctx_nb.report import Report
    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.state import State

__all__ = [
    "LISTED",
    "listed",
    "more",
    "provider_card",
    "providers_table",
    "report_table",
    "short_name",
    "source_of",
    "state_bundle",
    "state_page",
    "status_lines",
    "unknown_names",
    "values_table",
    "words",
]

_TROUBLE = ("failed", "timed_out", "cancelled")
_NAMED = 5
_NOBODY: Mapping[str, Sequence[str]] = MappingProxyType({})
LISTED = 10
_NAME = 60
_NARROW = 30  # characters of an error that a table of text may have room for


def state_bundle(state: State) -> dict[str, str]:
    """Return the default display of ``state`` by MIME type: text, Markdown and HTML."""
    return state_page(state).bundle()


def state_page(state: State) -> Page:
    """Return what was composed: a summary, why each provider ran or not, what is odd, the text."""
    # A state is the caller's own: its text may have been edited into anything.
    text = state.text if isinstance(state.text, str) else cell_text(state.text, mask=state.mask)
    parts: list[Lines | Table | Fold] = [
        Lines((_summary(state, text),), strong=True),
        report_table(state.report, mask=state.mask, whole="state.report.to_frame()"),
    ]
    parts += [
        Lines(
            tuple(_errors(state.report, state.mask, longer=LIMITS.cell)),
            in_text=tuple(_errors(state.report, state.mask, longer=_NARROW)),
        ),
        Lines(tuple(unknown_names(state.report.unknown, state.mask, state.report.awaited_by))),
        Lines(tuple(_clashes(state.report, state.mask))),
    ]
    parts.append(Fold("composed text", text, whole="state.text"))
    return Page(tuple(parts), mask=state.mask)


def status_lines(state: State) -> tuple[str, ...]:
    """Return the summary of a state, and what is odd about it, without a table and without its text."""
    text = state.text if isinstance(state.text, str) else cell_text(state.text, mask=state.mask)
    errors = _errors(state.report, state.mask, longer=0)
    unknown = unknown_names(state.report.unknown, state.mask, state.report.awaited_by)
    return (_summary(state, text), *errors, *unknown)


def report_table(report: Report, mask: Mask = no_mask, *, whole: str = ".to_frame()") -> Table:
    """Return why each provider ran or did not: those that ran first, in text order."""
    rows = sorted(report, key=lambda row: not row.ran)  # a report is in text order already
    return Table(
        ("provider", "outcome", "reason", "chars", "tokens", "error"),
        tuple(
            [
                (
                    row.provider,
                    words(row.outcome),
                    row.reason,
                    row.chars if row.ran else "",
                    row.tokens if row.ran else "",
                    "" if row.error is None else without_addresses(row.error),
                )
                for row in rows
            ]
        ),
        title="Which providers ran, and why",
        mask=mask,
        whole=whole,
    )


def values_table(state: State) -> Table:
    """Return the merged values: who wrote each and whose value it shadows."""
    return Table(
        ("key", "value", "type", "writer", "shadowed"),
        tuple(
            [
                (key, value, kind, _or_blank(writer), ", ".join(shadowed))
                for key, value, kind, writer, shadowed in state.value_rows()
            ]
        ),
        title="Values",
        mask=state.mask,
        whole="state.values_frame()",
    )


def providers_table(runtime: AgentRuntime, *, include_private: bool = False) -> Table:
    """Return the registered providers and how each is set up; private ones only when asked for."""
    providers = runtime.list_providers(include_private=include_private)
    return Table(
        (
            "provider",
            "kind",
            "position",
            "keywords",
            "after",
            "timeout",
            "ttl",
            "version",
            "origin",
            "description",
        ),
        tuple([_provider_row(runtime, provider) for provider in providers]),
        title="Providers",
        mask=runtime.mask,
    )


def provider_card(runtime: AgentRuntime, name: str) -> Page:
    """Return one provider, how it is set up and its source; `UnknownProviderError` if there is none."""
    provider = runtime.get_provider(name)
    entry = runtime.registered(name)
    facts: list[tuple[str, Any]] = [
        ("kind", _kind(provider)),
        ("description", _or_blank(provider.description)),
        ("keywords", ", ".join(provider.relevance_keywords)),
        ("keyword match", provider.keyword_match if provider.relevance_keywords else ""),
        ("position", provider.position),
        ("after", ", ".join(provider.after)),
        ("timeout", _seconds(provider.timeout)),
        ("ttl", _seconds(provider.ttl)),
        ("version", entry.version),
        ("origin", _or_blank(entry.origin)),
    ]
    table = Table(
        ("field", "value"),
        tuple([(field, str(value)) for field, value in facts if value != ""]),
        title=provider.name,
        mask=runtime.mask,
    )
    call = f"inspect.getsource(runtime.get_provider({short_name(provider.name, runtime.mask)!r}).get)"
    return Page((table, Fold("source", source_of(provider.get), whole=call)), mask=runtime.mask)


def _summary(state: State, text: str) -> str:
    rows = state.report.rows
    ran = [row for row in rows if row.ran]
    said = f"composed {len(ran):,} of {counted(len(rows), 'provider')}, {counted(len(text), 'character')}"
    counter = state.report.token_counter
    about = "about " if counter == "estimate" else ""
    said += f", {about}{counted(sum(row.tokens for row in ran), 'token')} ({counter})"
    for outcome in _TROUBLE:
        names = [row.provider for row in rows if row.outcome == outcome]
        if names:
            said += f"; {len(names):,} {words(outcome)}: {listed(names, state.mask)}"
    return said


def _errors(report: Report, mask: Mask, *, longer: int) -> list[str]:
    """Return the errors that a column of ``longer`` characters cuts short, and, of all, where each arose."""
    found = []
    for row in report:
        if row.error is None:
            continue
        long = len(row.error) > longer
        if row.place or long:
            said = f"{short_name(row.provider, mask)} {words(row.outcome)} {row.place}".rstrip()
            found.append(f"{said}: {without_addresses(row.error)}" if long else said)
    return found[:LISTED] + more(len(found), "errors")


def unknown_names(
    unknown: Mapping[str, Sequence[str]], mask: Mask, awaited_by: Mapping[str, Sequence[str]] = _NOBODY
) -> list[str]:
    """Return what to say of names nobody registered, as a `Report` keeps them."""
    said = []
    for name, near in list(unknown.items())[:LISTED]:
        hint = f" (did you mean {' or '.join([short_name(n, mask) for n in near])}?)" if near else ""
        waiting = awaited_by.get(name, ())
        where = f", in after= of {listed(waiting, mask)}" if waiting else ""
        said.append(f"unknown name: {short_name(name, mask)}{where}{hint}")
    return said + more(len(unknown), "unknown names")


def _clashes(report: Report, mask: Mask) -> list[str]:
    found = report.clashes
    said = [
        f"value {short_name(key, mask)}: {short_name(winner, mask)} wins over {short_name(loser, mask)}"
        for key, winner, loser in found[:LISTED]
    ]
    return said + more(len(found), "clashes of values")


def more(count: int, what: str) -> list[str]:
    """Return what to say of those beyond the first few, if there are any."""
    return [f"and {count - LISTED:,} more {what}"] if count > LISTED else []


def listed(names: Sequence[str], mask: Mask) -> str:
    """Return the first few names, and how many there are beside them."""
    shown = ", ".join([short_name(name, mask) for name in names[:_NAMED]])
    return f"{shown} and {len(names) - _NAMED:,} more" if len(names) > _NAMED else shown


def short_name(name: object, mask: Mask) -> str:
    """Return a name as sentences show it."""
    return cell_text(name, mask=mask, most=_NAME)


def _provider_row(runtime: AgentRuntime, provider: Provider) -> tuple[Any, ...]:
    entry = runtime.registered(provider.name)
    return (
        provider.name,
        _kind(provider),
        provider.position,
        ", ".join(provider.relevance_keywords),
        ", ".join(provider.after),
        _or_blank(provider.timeout),
        _or_blank(provider.ttl),
        entry.version,
        _or_blank(entry.origin),
        _or_blank(provider.description),
    )


def _kind(provider: Provider) -> str:
    kinds = [word for word in ("dynamic", "private") if getattr(provider, word)] or ["static"]
    return ", ".join([*kinds, "always runs"] if provider.always_run else kinds)


def words(outcome: str) -> str:
    """Return an outcome in words."""
    return outcome.replace("_", " ")


def _or_blank(value: Any) -> Any:
    return "" if value is None else value


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:g} s"


def source_of(get: Any) -> str:
    """Return the source of a ``get``, or a sentence where Python does not know it."""
    try:
        while isinstance(get, functools.partial):
            get = get.func
        if not (inspect.isroutine(get) or inspect.isclass(get)):
            get = type(get).__call__
        return dedent(inspect.getsource(get)).rstrip()
    except Exception as exc:  # noqa: BLE001  a file that is gone, a builtin, a wrapper that lies
        return f"the source is not available ({type(exc).__name__})"
