"""One composition from message to state: choose, run, fold, tell."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter_ns as now_ns
from typing import TYPE_CHECKING, Any, SupportsFloat

from agentctx_nb.errors import (
    DefinitionError,
    DefinitionTypeError,
    ProviderTimeoutError,
    UnknownProviderError,
    describe,
)
from agentctx_nb.execution import NO_CONTEXT, Run
from agentctx_nb.freeze import copy_containers
from agentctx_nb.model import Memory, as_message, seal
from agentctx_nb.names import shown
from agentctx_nb.provider import Part, read_result
from agentctx_nb.record import Record
from agentctx_nb.running.driver import composing, refuse_recursion
from agentctx_nb.running.errand import end_with_its_thread
from agentctx_nb.running.plan import Plan
from agentctx_nb.selection import Decision, Selection, apply_edits, names_of, select, unknown_names
from agentctx_nb.state import EMPTY_STATE, ProviderEntry, State, dependency_state, fold
from agentctx_nb.tracebacks import clear_frames_of, place_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentctx_nb.registry import Snapshot
    from agentctx_nb.runtime import AgentRuntime

__all__ = ["compose"]

MOST_PLANS = 256
SHORTEST_SECONDS = 1e-9  # where the select hook took all the time there was


async def compose(
    runtime: AgentRuntime,
    token: object,
    message: Any,
    include: Any,
    only: bool,  # noqa: FBT001  called once, by place, as of the three of its kind below
    strict: bool,  # noqa: FBT001
    timeout: float | None,  # noqa: ASYNC109  the caller's deadline for all, not for this coroutine
    skip_cache: bool,  # noqa: FBT001
    previous: State | None,
    refresh: Any,
) -> State:
    """Compose as `AgentRuntime.compose_state` says; ``token`` is what `UnderWay` knows this call by."""
    end_with_its_thread()
    message = seal(as_message(message))
    if timeout is not None:
        timeout = _seconds(timeout)
    left = timeout
    snapshot = runtime.registry.snapshot()
    kept: Mapping[int, Part | Exception] | None = None
    late: set[int] | None = None
    if previous is None and refresh is None:
        selection, plan = _choose(runtime, snapshot, message, include, only)
        if runtime.select is not None:
            from agentctx_nb.hook import ask_hook
            from agentctx_nb.running.under_way import inside

            began_ns = now_ns()
            with inside(token):
                wanted = await ask_hook(runtime, selection.decisions, message, seconds=timeout)
            if wanted is not None:
                selection = apply_edits(selection, snapshot, wanted=wanted, only=only and include is not None)
                plan = Plan(selection.entries)
            if timeout is not None:
                left = max(timeout - (now_ns() - began_ns) / 1e9, SHORTEST_SECONDS)
    else:
        selection, plan, kept, late = _choose_again(snapshot, include, previous, refresh)
    if selection.unknown:
        _warn_of_unknown(runtime, selection.unknown)
    if selection.awaited:
        _warn_of_awaited(runtime, plan, selection.awaited)
    # By place: keywords to a class cost as much as what it does with them, in every call.
    run = Run(plan, runtime, message, EMPTY_STATE, dependency_state, left, token)
    if (around := composing.get()) is not None:
        run.around = refuse_recursion(around, runtime, plan.names)
    if skip_cache:
        run.skip_cache = True
    if kept is not None:
        run.keep(kept, late=late or set(), fresh=plan.names)
    try:
        if run.start():
            await run.wait()
    finally:
        # A state would hold on to all of the caller's variables, and to the run around it.
        run.ended, run.context = True, NO_CONTEXT
        if around is not None:
            run.around = None
    if left != timeout:
        _tell_deadline_given(run.errors, timeout, left)
    record = Record.of(run, selection, snapshot)
    state = fold(record, run.results)
    runtime.written.note(record, state.values)
    if record.errors:
        _log_failures(runtime, record, kept or {})
        if not run.given_up:
            for error in record.errors.values():
                clear_frames_of(run, error)
        run.errors = {}  # a timer of asyncio that stood in a provider leads, by its context, back to the run
    if strict and (record.errors or selection.unknown):
        raise _all_together(state, selection.unknown, runtime.mask)
    return state


def _choose(
    runtime: AgentRuntime,
    snapshot: Snapshot,
    message: Memory,
    include_list: Any,
    only: bool,  # noqa: FBT001  called once, by place
) -> tuple[Selection, Plan]:
    """Return who runs and how, from what was chosen before where the same was asked."""
    if not isinstance(only, bool):
        raise DefinitionTypeError(f"only_include is True or False, not {shown(only)}")
    include = None if include_list is None else names_of(include_list)
    only = only and include is not None
    woken: dict[str, tuple[str, ...]] = {}
    registry = runtime.registry
    if registry.has_keywords and not only and (text := message.content.text):
        woken = registry.read_index(lambda index: index.match(text))
    key: Any = (include, only, tuple(woken.items())) if woken else (include, only)
    chosen: tuple[Selection, Plan] | None = snapshot.plans.get(key)
    if chosen is None:
        selection = select(snapshot, include=include, only=only, woken=woken)
        if len(snapshot.plans) >= MOST_PLANS:
            snapshot.plans.clear()
        chosen = snapshot.plans[key] = selection, Plan(selection.entries)
    return chosen


def _choose_again(
    snapshot: Snapshot, include_list: Any, previous: State | None, refresh: Any
) -> tuple[Selection, Plan, Mapping[int, Part | Exception], set[int]]:
    """Choose what ran in ``previous``, all of it kept but those to refresh and their dependents.

    Returned last are the places of those that are kept and had timed out.
    """
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
    before = _entries_of(previous)
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
    selection = Selection(tuple(decisions), unknown_names(again, snapshot), snapshot)
    plan = Plan(selection.entries)
    rerun = {i for i, name in enumerate(plan.names) if name in again or name not in before}
    grown = True
    while grown:
        dependents = {d for i in rerun for d in plan.dependents.get(i, ())}
        grown = not dependents <= rerun
        rerun |= dependents
    kept: dict[int, Part | Exception] = {}
    late = set()
    for i, name in enumerate(plan.names):
        if i in rerun:
            continue
        entry_before = before[name]
        if entry_before.error is not None:
            kept[i] = entry_before.error
            if entry_before.outcome == "timed_out":
                late.add(i)
        else:
            part = read_result({name: entry_before[name] for name in ("text", "values", "data")})
            kept[i] = Part(part.text, copy_containers(part.values), copy_containers(part.data))
    return selection, plan, kept, late


def _entries_of(previous: State) -> Mapping[str, ProviderEntry]:
    """Return what providers left in ``previous``, which its owner may have edited into anything."""
    providers = previous.data.get("providers")
    if not isinstance(providers, Mapping):
        raise DefinitionError("data.providers of previous= was replaced; give a state as it was composed")
    for name, entry in providers.items():
        try:
            if not isinstance(entry, ProviderEntry):
                raise TypeError(f"{shown(entry)} stands there")
            read_result({part: entry[part] for part in ("text", "values", "data")})
        except Exception as exc:  # noqa: BLE001  also a mapping of theirs that raises when it is read
            raise DefinitionError(
                f"previous= no longer holds what provider {name} left ({describe(exc)}); "
                "give a state as it was composed"
            ) from None
    return providers


def _seconds(timeout: Any) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, SupportsFloat):
        raise DefinitionTypeError(f"timeout is a number of seconds, not {shown(timeout)}")
    try:
        seconds = float(timeout)
    except (TypeError, ValueError, OverflowError):
        raise DefinitionError(
            f"timeout is a number of seconds, which {shown(timeout)} is not; leave it out to wait for ever"
        ) from None
    if not seconds > 0:
        raise DefinitionError(f"timeout must be more than 0 s, not {shown(timeout)}")
    return seconds


def _tell_deadline_given(errors: dict[int, Exception], given: float | None, left: float | None) -> None:
    """Have errors name the deadline the caller gave, not what the select hook left of it."""
    for i, error in errors.items():
        if isinstance(error, ProviderTimeoutError) and error.seconds == left and given is not None:
            errors[i] = ProviderTimeoutError(error.provider, given, started=error.started, held=error.held)
            errors[i].__cause__ = error.__cause__


def _warn_of_unknown(runtime: AgentRuntime, unknown: Mapping[str, tuple[str, ...]]) -> None:
    said = "; ".join(str(UnknownProviderError(name, near)) for name, near in unknown.items())
    runtime.logger.warning(said)


def _warn_of_awaited(runtime: AgentRuntime, plan: Plan, awaited: Mapping[str, tuple[str, ...]]) -> None:
    """Warn of names in ``after=`` that nobody registered, once for each registration that has some."""
    waiting: dict[str, list[str]] = {}
    for entry in plan.entries:
        missing = [name for name in entry.provider.after if name in awaited]
        if missing and runtime.warned_of.get(entry.name) != entry.version:
            runtime.warned_of[entry.name] = entry.version
            for name in missing:
                waiting.setdefault(name, []).append(entry.name)
    if waiting:
        said = "; ".join(
            f"in after= of {', '.join(names)}: {UnknownProviderError(name, awaited[name])}"
            for name, names in waiting.items()
        )
        runtime.logger.warning(said)


def _log_failures(runtime: AgentRuntime, record: Record, kept: Mapping[int, Any]) -> None:
    for i, error in sorted(record.errors.items()):
        if i not in kept:
            what = f"provider {record.names[i]} {record.outcome(i).replace('_', ' ')}"
            what = f"{what} {place_of(error)}".rstrip()
            runtime.logger.error({"error": describe(error)}, what)
            # One line is what a notebook has room for; the state holds the exception as well.
            runtime.logger.debug(error, what)


def _all_together(
    state: State, unknown: Mapping[str, tuple[str, ...]], mask: Callable[[str], str]
) -> ExceptionGroup[Exception]:
    """Return all that went wrong as one exception, with no secret in what a traceback prints of it."""
    from agentctx_nb.secrecy.masked_errors import masked_error

    errors: list[Exception] = [UnknownProviderError(name, near) for name, near in unknown.items()]
    errors.extend(state.errors.values())
    said = [f"unknown {name}" for name in unknown]
    said += [f"{name} {state.data.providers[name].outcome.replace('_', ' ')}" for name in state.errors]
    message = mask(f"strict composition: {', '.join(said)}")
    return ExceptionGroup(message, [masked_error(error, mask) for error in errors])
