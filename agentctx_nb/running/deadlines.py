"""What has missed a deadline, or cancelled its own task, becomes an error of ours, whatever came of it otherwise."""

from __future__ import annotations

from time import perf_counter_ns as now_ns
from typing import TYPE_CHECKING

from agentctx_nb.errors import ProviderCancelledError, ProviderTimeoutError

if TYPE_CHECKING:
    from agentctx_nb.execution import Run

__all__ = ["cancelled_itself", "settle", "settle_late"]


def settle_late(run: Run) -> None:
    """Settle each provider that ended after the deadline of the whole call, or never started before it."""
    assert run.timeout is not None
    over_ns = run.began_ns + run.timeout * 1e9
    for i, end in enumerate(run.ends_ns):
        if i not in run.kept and i not in run.timed_out and (not end or end > over_ns):
            run.timed_out.add(i)
            settle(run, i)


def settle(run: Run, i: int) -> None:
    """Record that the provider at ``i`` missed its deadline, or that of the whole call."""
    seconds, start = run.plan.entries[i].provider.timeout, run.starts_ns[i]
    if run.timeout is not None and (
        seconds is None or not start or (run.over and now_ns() - start < seconds * 1e9)
    ):
        seconds = run.timeout
    assert seconds is not None
    error = ProviderTimeoutError(run.plan.names[i], seconds, started=bool(start))
    before = run.errors.get(i)
    if not isinstance(before, ProviderCancelledError):  # that was us
        error.__cause__ = before
    run.errors[i] = error
    run.cached.discard(i)
    run.results[i] = None


def cancelled_itself(run: Run, i: int, cause: BaseException | None) -> None:
    """Record that the provider at ``i`` cancelled its own task."""
    error = ProviderCancelledError(run.plan.names[i])
    error.__cause__ = cause
    run.errors[i] = error
    run.results[i] = None
