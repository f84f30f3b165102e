"""What a person is shown of actions: what one did, how it is set up, which there are."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import describe
from agentctx_nb.names import kind_name
from agentctx_nb.render.bounds import LIMITS, cell_text, without_addresses
from agentctx_nb.render.page import Fold, Lines, Page
from agentctx_nb.render.table import Table
from agentctx_nb.render.views import source_of
from agentctx_nb.tracebacks import traceback_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentctx_nb.actions import ActionResult
    from agentctx_nb.runtime import AgentRuntime

__all__ = ["action_card", "actions_table", "result_page", "sentence"]


def sentence(result: ActionResult) -> str:
    """Return in words whether the action worked, and if not, why; not masked."""
    name = result.action or "the action"
    if result.success:
        nothing = not (result.text or result.values or result.data)
        return f"{name} succeeded" + (" and gave nothing back" if nothing else "")
    if result.error is None:
        return f"{name} did not succeed, and gave no reason"
    if isinstance(result.error, str):
        return f"{name} did not succeed: {result.error}"
    return f"{name} failed: {without_addresses(describe(result.error))}"


def result_page(result: ActionResult) -> Page:
    """Return what came of an action: success in words, text, values, data, and the line that failed."""
    parts: list[Lines | Table | Fold] = [Lines((sentence(result),), strong=True)]
    if isinstance(result.error, Exception):
        parts.append(Lines(tuple(_place(result.error))))
    if result.success and result.error is not None:
        said = result.error if isinstance(result.error, str) else describe(result.error)
        parts.append(Lines((f"with an error all the same: {without_addresses(said)}",)))
    if result.text:
        parts.append(Fold("text", result.text, whole="result.text"))
    parts += [
        _table(title, held, result)
        for title, held in (("values", result.values), ("data", result.data))
        if held
    ]
    return Page(tuple(parts), mask=result.mask)


def actions_table(runtime: AgentRuntime) -> Table:
    """Return the registered actions, in the order of first registration."""
    rows = []
    for action in runtime.actions:
        entry = runtime.registered_action(action.name)
        validates = "" if action.validate is None else "yes"
        rows.append((action.name, validates, entry.version, entry.origin or "", action.description or ""))
    note = "" if rows else "%%action NAME makes the cell below it one"
    columns = ("action", "validates", "version", "origin", "description")
    return Table(columns, tuple(rows), title="Actions", note=note, mask=runtime.mask)


def action_card(runtime: AgentRuntime, name: str) -> Page:
    """Return one action, how it is set up and its source; `UnknownActionError` if there is none."""
    entry = runtime.registered_action(name)
    action = entry.thing.action
    facts = [
        ("description", action.description or ""),
        ("version", str(entry.version)),
        ("origin", entry.origin or ""),
    ]
    table = Table(
        ("field", "value"),
        tuple([fact for fact in facts if fact[1]]),
        title=action.name,
        mask=runtime.mask,
    )
    shown = cell_text(action.name, mask=runtime.mask)
    folds = [
        Fold(role, source_of(function), whole=f"inspect.getsource(runtime.get_action({shown!r}).{role})")
        for role, function in (("validate", action.validate), ("handler", action.handler))
        if function is not None
    ]
    return Page((table, *folds), mask=runtime.mask)


def _place(error: Exception) -> list[str]:
    """Return the line of the handler's own code where it failed: the last one in the file of the first."""
    frames = traceback.extract_tb(traceback_of(error))
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    if not own or not own[-1].line:
        return []
    return [f"in line {own[-1].lineno}: {own[-1].line}"]


def _table(title: str, held: Mapping[str, Any], result: ActionResult) -> Table:
    rows = [(cell_text(key, mask=result.mask), value, kind_name(value)) for key, value in _items(held)]
    return Table(("key", "value", "type"), tuple(rows), title=title, mask=result.mask)


def _items(held: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    try:
        return list(held.items())[: LIMITS.rows]
    except Exception as exc:  # noqa: BLE001  a mapping of theirs that will not tell
        return [("", f"its items cannot be read: {type(exc).__name__}")]
