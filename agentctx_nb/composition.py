"""One composition from message to state: choose, run, fold, tell."""

from __future__ import annotations

import inspect
from time import perf_counter_ns as now_ns
from typing import TYPE_CHECKING, Any, SupportsFloat

from agentctx_nb.driver import refuse_recursion
from agentctx_nb.errors import DefinitionError, DefinitionTypeError, UnknownProviderError, describe
from agentctx_nb.execution import Run
from agentctx_nb.freeze import copy_containers
from agentctx_nb.model import Memory, as_message, seal
from agentctx_nb.names import shown
from agentctx_nb.plan import Plan
from agentctx_nb.provider import Part
from agentctx_nb.record import Record
from agentctx_nb.selection import Decision, Selection, apply_edits, names_of, select, unknown_names
from agentctx_nb.state import EMPTY_STATE, State, dependency_state, fold
from agentctx_nb.threads import end_with_its_thread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentctx_nb.registry import Snapshot
    from agentctx_nb.runtime import AgentRuntime

__all__ = ["compose"]

MOST_PLANS = 256


async def compose(
    runtime: AgentRuntime,
    message: Any,
    *,
    include: Any,
    only: bool,
    strict: bool,
    timeout: float | None,  # noqa: ASYNC109  the caller's deadline for all, not for this coroutine
    skip_cache: bool,
    previous: State | None,
    refresh: Any,
) -> State:
    """Compose as `AgentRuntime.compose_state` says."""
    end_with_its_thread()
    message = seal(as_message(message))
    if timeout is not None:
        timeout = _seconds(timeout)
    snapshot = runtime.registry.snapshot()
    kept: Mapping[int, Part | Exception] | None = None
    if previous is None and refresh is None:
        selection, plan = await _choose(runtime, snapshot, message, include_list=include, only=only)
    else:
        selection, plan, kept = _choose_again(snapshot, include, previous, refresh)
    if selection.unknown:
        _warn_of_unknown(runtime, selection.unknown)
    refuse_recursion(runtime, plan.names)
    run = Run(
        plan,
        runtime=runtime,
        message=message,
        state=EMPTY_STATE,
        timeout=timeout,
        skip_cache=skip_cache,
        fresh=() if refresh is None else plan.names,
        kept=kept,
        state_for=dependency_state,
    )
    await run.go()
    record = Record(
        names=plan.names,
        errors=run.errors,
        run=run,
        selection=selection,
        snapshot=snapshot,
        ended_ns=now_ns(),
        mask=runtime.mask,
        counter=runtime.token_counter,
    )
    state = fold(record, run.results)
    if record.errors:
        _log_failures(runtime, record, kept or {})
    if strict and (record.errors or selection.unknown):
        raise _all_together(state, selection.unknown)
    return state


async def _choose(
    runtime: AgentRuntime, snapshot: Snapshot, message: Memory, *, include_list: Any, only: bool
) -> tuple[Selection, Plan]:
    if not isinstance(only, bool):
        raise DefinitionTypeError(f"only_include is True or False, not {shown(only)}")
    include = names_of(include_list)
    only = only and include is not None
    text = message.content.text
    woken: dict[str, tuple[str, ...]] = {}
    if text and not only and runtime.registry.has_keywords:
        woken = runtime.registry.read_index(lambda index: index.match(text))
    key: Any = (include, only, tuple(woken.items()))
    if runtime.select is not None:
        selection = select(snapshot, include=include, only=only, woken=woken)
        wanted = await _ask_hook(runtime, selection.decisions, message)
        if wanted is not None:
            selection = apply_edits(selection, snapshot, wanted=wanted, only=only)
        return _planned(selection, snapshot)
    chosen: tuple[Selection, Plan] | None = snapshot.plans.get(key)
    if chosen is None:
        selection = select(snapshot, include=include, only=only, woken=woken)
        if len(snapshot.plans) >= MOST_PLANS:
            snapshot.plans.clear()
        chosen = snapshot.plans[key] = _planned(selection, snapshot)
    return chosen


def _planned(selection: Selection, snapshot: Snapshot) -> tuple[Selection, Plan]:
    """Return the plan of a selection, which also tells the names in ``after=`` that nobody registered."""
    entries = selection.entries(snapshot)
    needed = {name for entry in entries for name in entry.provider.after}
    missing = unknown_names(needed, snapshot)
    return selection._replace(unknown={**selection.unknown, **missing}), Plan(entries)


async def _ask_hook(
    runtime: AgentRuntime, decisions: tuple[Decision, ...], message: Memory
) -> frozenset[str] | None:
    try:
        assert runtime.select is not None
        answer = runtime.select(decisions, message)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, str):
            raise DefinitionTypeError(f"the select hook returns a list of names, not {shown(answer)}")
        return names_of(answer, of="what the select hook returned")
    except Exception as exc:  # noqa: BLE001  a broken hook must not cost the composition
        runtime.logger.warning(exc, "the select hook failed; the selection stays as it was")
        return None


def _choose_again(
    snapshot: Snapshot, include_list: Any, previous: State | None, refresh: Any
) -> tuple[Selection, Plan, Mapping[int, Part | Exception]]:
    """Choose what ran in ``previous``, all of it kept but those to refresh and their dependents."""
    if previous is None:
        raise DefinitionError("refresh= needs previous=, the state whose other providers are kept")
    if not isinstance(previous, State):
        raise DefinitionTypeError(f"previous= is a State, not {type(previous).__name__}")
    if refresh is None:
        raise DefinitionError("previous= needs refresh=, the names to run again; refresh=[] keeps them all")
    if include_list is not None:
        raise DefinitionError(
            "previous= keeps the selection of that state; name what to run again in refresh="
        )
    again = names_of(refresh, of="refresh") or frozenset()
    before = previous.data.providers
    reasons = {row.provider: row for row in previous.report}
    decisions = []
    for entry in snapshot.entries:
        row = reasons.get(entry.name)
        if entry.name in again:
            decisions.append(Decision(entry.name, True, "named"))
        elif entry.name in before:
            reason, keyword = (row.reason, row.keyword) if row else ("kept", None)
            decisions.append(Decision(entry.name, True, reason, keyword))
        else:
            reason = row.reason if row else "skipped: not in the previous state"
            decisions.append(Decision(entry.name, False, reason))
    selection = Selection(tuple(decisions), unknown_names(again, snapshot))
    selection, plan = _planned(selection, snapshot)
    rerun = {i for i, name in enumerate(plan.names) if name in again or name not in before}
    grown = True
    while grown:
        dependents = {d for i in rerun for d in plan.dependents.get(i, ())}
        grown = not dependents <= rerun
        rerun |= dependents
    kept: dict[int, Part | Exception] = {}
    for i, name in enumerate(plan.names):
        if i in rerun:
            continue
        entry_before = before[name]
        if entry_before.error is not None:
            kept[i] = entry_before.error
        else:
            values, data = copy_containers(dict(entry_before.values)), copy_containers(entry_before["data"])
            kept[i] = Part(entry_before.text, values, data)
    return selection, plan, kept


def _seconds(timeout: Any) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, SupportsFloat):
        raise DefinitionTypeError(f"timeout is a number of seconds, not {shown(timeout)}")
    seconds = float(timeout)
    if not seconds > 0:
        raise DefinitionError(f"timeout must be more than 0 s, not {timeout!r}")
    return seconds


def _warn_of_unknown(runtime: AgentRuntime, unknown: Mapping[str, tuple[str, ...]]) -> None:
    said = "; ".join(str(UnknownProviderError(name, near)) for name, near in unknown.items())
    runtime.logger.warning(said)


def _log_failures(runtime: AgentRuntime, record: Record, kept: Mapping[int, Any]) -> None:
    for i, error in sorted(record.errors.items()):
        if i not in kept:
            what = f"provider {record.names[i]} {record.outcome(i).replace('_', ' ')}"
            trace = error.__traceback__
            if trace is not None:
                what += f" in {trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}"
            runtime.logger.error({"error": describe(error)}, what)
            # One line is what a notebook has room for; the state holds the exception as well.
            runtime.logger.debug(error, what)


def _all_together(state: State, unknown: Mapping[str, tuple[str, ...]]) -> ExceptionGroup[Exception]:
    errors: list[Exception] = [UnknownProviderError(name, near) for name, near in unknown.items()]
    errors.extend(state.errors.values())
    said = [f"unknown {name}" for name in unknown]
    said += [f"{name} {state.data.providers[name].outcome.replace('_', ' ')}" for name in state.errors]
    return ExceptionGroup(f"strict composition: {', '.join(said)}", errors)
