"""A state as it would be had some of its providers given nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentctx_nb.errors import DefinitionTypeError, UnknownProviderError, did_you_mean, nearest_names
from agentctx_nb.freeze import copy_containers
from agentctx_nb.names import shown
from agentctx_nb.provider import Part
from agentctx_nb.record import Record
from agentctx_nb.state import fold

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from agentctx_nb.report import ReportRow
    from agentctx_nb.state import ProviderEntry, State

__all__ = ["without"]

LEFT_OUT = "skipped: left out of this view"


def without(state: State, names: tuple[str, ...]) -> State:
    """Return ``state`` with nothing of ``names`` in it, as `State.without` says."""
    ran = state.entries()
    known = [name for name, _ in ran]
    for name in names:
        if not isinstance(name, str):
            raise DefinitionTypeError(f"without takes names of providers, not {shown(name)}")
        if name not in known:
            raise _did_not_run(name, known, state)
    left = [(name, entry) for name, entry in ran if name not in names]
    old = state.record
    record = Record(
        names=[name for name, _ in left],
        errors={i: entry.error for i, (_, entry) in enumerate(left) if entry.error is not None},
        snapshot=old.snapshot,
        mask=old.mask,
    )
    made = fold(record, [_copied(entry) for _, entry in left])
    clashes = record.clashes_by_provider()
    rows = [_row_without(row, names, clashes) for row in state.report]
    record.settle([entry.outcome for _, entry in left], replace(state.report, rows=tuple(rows)))
    made.mask = state.mask
    return made


def _did_not_run(name: str, known: list[str], state: State) -> UnknownProviderError:
    near = nearest_names(name, known)
    error = UnknownProviderError(state.mask(name), tuple(map(state.mask, near)))
    if name in state.report:
        why = state.report[name].reason.removeprefix("skipped: ")
        error.args = (f"provider {name} did not run here ({why}); there is nothing of it to leave out",)
    else:
        hint = did_you_mean(name, known)
        error.args = (f"no provider that ran here is called {shown(name)}{hint}",)
    error.args = (state.mask(error.args[0]),)
    return error


def _copied(entry: ProviderEntry) -> Part:
    return Part(entry.text, copy_containers(dict(entry.raw_values)), copy_containers(entry.raw_data))


def _row_without(
    row: ReportRow, names: Collection[str], clashes: Mapping[str, list[tuple[str, str, str]]]
) -> ReportRow:
    if row.provider not in names:
        return replace(row, clashes=tuple(clashes.get(row.provider, ()))).placed(row.place)
    return replace(
        row,
        ran=False,
        reason=LEFT_OUT,
        keyword=None,
        outcome="skipped",
        ms=None,
        start_ms=None,
        blocked_ms=None,
        chars=0,
        tokens=0,
        value_keys=(),
        clashes=(),
        error=None,
    )
