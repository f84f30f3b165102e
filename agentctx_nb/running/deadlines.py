"""What has missed a deadline, cancelled its own task or raised no `Exception` becomes an error of ours."""

from __future__ import annotations

import asyncio
from time import perf_counter_ns as now_ns
from typing import TYPE_CHECKING

from agentctx_nb.errors import AgentCtxError, ProviderCancelledError, ProviderTimeoutError, describe

if TYPE_CHECKING:
    from agentctx_nb.execution import Run

__all__ = ["ended_itself", "settle", "settle_late"]

NO_NEWS_SECONDS = 0.01  # to hold the event loop for less


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
    seconds, start = run.plan.entries[i].provider.timeout, run.starts_ns[i]
    if run.timeout is not None and (
        seconds is None or not start or start + seconds * 1e9 > run.began_ns + run.timeout * 1e9
    ):
        seconds = run.timeout
    assert seconds is not None
    held = run.held_ns.get(i, (run.ends_ns[i] or now_ns()) - start)
    held_s = 0.0 if held is None or not start else held / 1e9
    error = ProviderTimeoutError(
        run.plan.names[i],
        seconds,
        started=bool(start),
        held=held_s if held_s >= max(seconds, NO_NEWS_SECONDS) else None,
    )
    before = run.errors.get(i)
    if not isinstance(before, ProviderCancelledError):  # that was us
        error.__cause__ = before
    run.errors[i] = error
    run.cached.discard(i)
    run.results[i] = None


def ended_itself(run: Run, i: int, cause: BaseException | None) -> None:
    """Record that the provider at ``i`` cancelled its own task, or raised what is no `Exception`, as a panic of Rust."""
    error: AgentCtxError = ProviderCancelledError(run.plan.names[i])
    if cause is not None and not isinstance(cause, asyncio.CancelledError):
        error = AgentCtxError(f"provider {run.plan.names[i]} raised {describe(cause)}")
    error.__cause__ = cause
    run.errors[i] = error
    run.results[i] = None
