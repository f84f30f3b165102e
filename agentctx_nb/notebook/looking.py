"""``%provider NAME``: one provider, its last outcome, its earlier versions, and one of them put back."""

from __future__ import annotations

import ast
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import UnknownProviderError
from agentctx_nb.names import counted
from agentctx_nb.notebook.mistakes import ArgumentError
from agentctx_nb.provider import Provider

if TYPE_CHECKING:
    from agentctx_nb.notebook.session import LastComposition
    from agentctx_nb.registry import Registered
    from agentctx_nb.render.page import Page
    from agentctx_nb.render.table import Table
    from agentctx_nb.runtime import AgentRuntime

__all__ = ["card", "history", "remove", "roll_back"]

COMPARED = tuple([field.name for field in fields(Provider) if field.name not in {"name", "get"}])


def card(runtime: AgentRuntime, name: str, last: LastComposition | None) -> Page:
    """Return a provider with its source and what came of it in the last composition."""
    from agentctx_nb.render.page import Lines
    from agentctx_nb.render.views import provider_card

    page = provider_card(runtime, name)
    said = Lines((_last_outcome(runtime.registered(name), last),))
    return replace(page, parts=(*page.parts[:1], said, *page.parts[1:]))


def history(runtime: AgentRuntime, name: str) -> Table:
    """Return the versions of a provider that are still kept, newest first, and what each changed."""
    from agentctx_nb.render.table import Table

    versions = _versions(runtime, name)
    rows = []
    for place, entry in enumerate(versions):
        newer = versions[place + 1] if place + 1 < len(versions) else None
        older = versions[place - 1] if place else None
        rows.append(
            (
                entry.version,
                _fate(runtime, entry, newer),
                entry.origin or "",
                _first_line(entry.provider.get),
                _again(versions[:place], entry) or _changed(older, entry),
            )
        )
    return Table(
        ("version", "use", "origin", "first line", "changed"),
        tuple(reversed(rows)),
        title=f"History of {name}",
        note=f"%provider {name} --rollback N puts version N back" if len(rows) > 1 else "",
        mask=runtime.mask,
    )


def roll_back(runtime: AgentRuntime, name: str, version: float) -> str:
    """Register an earlier version again and return the sentence that says so."""
    versions = {entry.version: entry for entry in _versions(runtime, name)}
    found = versions.get(version)  # type: ignore[call-overload]  # a float that is no whole number is no key
    if found is None:
        kept = ", ".join(map(str, versions))
        raise ArgumentError(
            f"no version {version:g} of {name} is kept; %provider {name} --history lists {kept}"
        )
    if _current(runtime, name) is found:
        raise ArgumentError(f"version {version:g} of {name} is the one that is registered")
    runtime.register_provider(found.provider, origin=found.origin)
    now = runtime.registered(name).version
    return runtime.mask(f"rolled {name} back to v{found.version}, now v{now}")


def remove(runtime: AgentRuntime, name: str) -> str:
    """Unregister a provider and return the sentence that says so, and how it comes back."""
    from agentctx_nb.render.views import listed

    version = runtime.registered(name).version
    runtime.unregister_provider(name)
    waiting = [other.name for other in runtime.list_providers(include_private=True) if name in other.after]
    waits = f"; after= of {listed(waiting, runtime.mask)} still names it" if waiting else ""
    return runtime.mask(f"removed {name}{waits}; %provider {name} --rollback {version} puts it back")


def _versions(runtime: AgentRuntime, name: str) -> list[Registered]:
    """Return the versions under ``name``, oldest first; raise `UnknownProviderError` if there never was one."""
    earlier = runtime.registry.earlier(name)
    current = _current(runtime, name)
    if current is None and not earlier:
        runtime.registered(name)  # says what is near
    return [*earlier, *([] if current is None else [current])]


def _current(runtime: AgentRuntime, name: str) -> Registered | None:
    try:
        return runtime.registered(name)
    except UnknownProviderError:
        return None


def _last_outcome(entry: Registered, last: LastComposition | None) -> str:
    if last is None:
        return "last outcome: none yet, nothing was composed by a magic"
    if entry.name not in last.registered:
        return "last outcome: none yet, it was registered after the last composition"
    row = last.state.report[entry.name]
    then = last.registered[entry.name].version
    of = "" if then == entry.version else f" of v{then}"
    said = f"last outcome{of}: {row.outcome.replace('_', ' ')} ({row.reason})"
    if row.error is not None:
        return ", ".join([part for part in (said, row.error, row.place) if part])
    return f"{said}, {counted(row.chars, 'character')}, {counted(row.tokens, 'token')}" if row.ran else said


def _fate(runtime: AgentRuntime, entry: Registered, newer: Registered | None) -> str:
    if newer is not None:
        return f"replaced by v{newer.version}"
    return "in use" if _current(runtime, entry.name) is entry else "removed"


def _again(earlier: list[Registered], entry: Registered) -> str:
    """Return of which earlier version this is the very provider, put back; empty where of none."""
    same = [one.version for one in earlier if one.provider is entry.provider]
    return f"back to v{same[0]}" if same else ""


def _changed(older: Registered | None, entry: Registered) -> str:
    if older is None:
        return ""
    changed = [
        field for field in COMPARED if getattr(older.provider, field) != getattr(entry.provider, field)
    ]
    if _code(older.provider.get) != _code(entry.provider.get):
        changed.append("code")
    return ", ".join(changed) or "nothing"


def _code(get: Any) -> Any:
    """Return what two functions have in common that do the same: their source without comments, or themselves."""
    parsed = _parsed(get)
    return get if parsed is None else ast.dump(parsed)


def _first_line(get: Any) -> str:
    """Return the first line of a function's own code, below its head and its docstring."""
    from agentctx_nb.render.views import source_of

    parsed = _parsed(get)
    lines = source_of(get).split("\n")
    if (
        parsed is not None
        and parsed.body
        and isinstance(parsed.body[0], ast.FunctionDef | ast.AsyncFunctionDef)
    ):
        body = parsed.body[0].body
        if ast.get_docstring(parsed.body[0]) is not None and len(body) > 1:
            body = body[1:]
        return lines[body[0].lineno - 1].strip()
    return lines[0].strip()


def _parsed(get: Any) -> ast.Module | None:
    from agentctx_nb.render.views import source_of

    try:
        return ast.parse(source_of(get))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
