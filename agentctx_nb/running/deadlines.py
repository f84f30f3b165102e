"""What has missed a deadline, cancelled its own task or raised no `Exception` becomes an error of ours."""

from __future__ import annotations

import asyncio
from math import inf
from time import perf_counter_ns as now_ns
from typing import TYPE_CHECKING

from agentctx_nb.errors import AgentCtxError, ProviderCancelledError, ProviderTimeoutError, describe

if TYPE_CHECKING:
    from agentctx_nb.execution import Run

__all__ = ["ended_itself", "settle", "settle_late"]

NO_NEWS_NS = 10_000_000  # to hold the event loop for less


def settle_late(run: Run) -> None:
    """Settle each provider that ended after the deadline of the whole call, or never started before it."""
    assert run.timeout is not None
    over_ns = run.began_ns + run.timeout * 1e9
    for i, end in enumerate(run.ends_ns):
        if (not end or end > over_ns) and i not in run.kept and i not in run.timed_out:
            run.timed_out.add(i)
            settle(run, i)


def settle(run: Run, i: int) -> None:
    """Record that the provider at ``i`` missed its deadline, or that of the whole call."""
    start, seconds = run.starts_ns[i], run.plan.entries[i].provider.timeout
    due_ns = start + (inf if seconds is None else seconds) * 1e9
    over_ns = run.began_ns + (inf if run.timeout is None else run.timeout) * 1e9
    if not start or over_ns < due_ns:
        seconds, due_ns = run.timeout, over_ns
    assert seconds is not None
    held = _held_past(run, i, due_ns)
    error = ProviderTimeoutError(run.plan.names[i], seconds, started=bool(start), held=held)
    before = run.errors.get(i)
    if not isinstance(before, ProviderCancelledError):  # that was us
        error.__cause__ = before
    run.errors[i] = error
    run.cached.discard(i)
    run.results[i] = None


def _held_past(run: Run, i: int, due_ns: float) -> float | None:
    """Return how many seconds its last step took, where it began before the deadline and ended after it."""
    known = run.last_step_ns or {}
    step_ns = known.get(i, 0 if i in run.held_ns else run.starts_ns[i])
    end_ns = run.ends_ns[i] or now_ns()
    if not 0 < step_ns <= due_ns < end_ns or end_ns - step_ns < NO_NEWS_NS:
        return None
    return (end_ns - step_ns) / 1e9


def ended_itself(run: Run, i: int, cause: BaseException | None) -> None:
    """Record that the provider at ``i`` cancelled its own task, or raised what is no `Exception`, as a panic of Rust."""
    error: AgentCtxError = ProviderCancelledError(run.plan.names[i])
    if cause is not None and not isinstance(cause, asyncio.CancelledError):
        error = AgentCtxError(f"provider {run.plan.names[i]} raised {describe(cause)}")
    error.__cause__ = cause
    run.errors[i] = error
    run.results[i] = None
