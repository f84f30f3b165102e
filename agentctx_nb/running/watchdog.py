"""Naming in the log what runs suspiciously long; it enforces nothing."""

from __future__ import annotations

from time import perf_counter_ns as now_ns
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentctx_nb.execution import Run
    from agentctx_nb.running.driver import Driver

__all__ = ["name_slow"]


def name_slow(run: Run, running: Iterable[Driver], *, seconds: float) -> float:
    """Name each provider that has run for ``seconds``, once; return when to look again, in seconds."""
    now, look_again = now_ns(), seconds
    for driver in running:
        i, left = driver.at, seconds - (now - run.starts_ns[driver.at]) / 1e9
        if i in run.named_slow:
            continue
        if left > 0:
            look_again = min(look_again, left)
            continue
        run.named_slow |= {i}
        name = run.plan.names[i]
        run.runtime.logger.warning(
            {"provider": name}, f"provider {name} is still running after {seconds:g} s"
        )
    return look_again
