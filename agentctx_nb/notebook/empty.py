"""What to say where a magic composes with a runtime that has no provider: which one it is, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentctx_nb.names import counted

if TYPE_CHECKING:
    from agentctx_nb.notebook.session import Filled
    from agentctx_nb.runtime import AgentRuntime

__all__ = ["empty_runtime"]


def empty_runtime(runtime: AgentRuntime, called: str, filled: Filled | None) -> str:
    """Return what to say of ``runtime``, the one ``called`` so; nothing where a provider is registered on it.

    ``filled`` is the runtime that cells registered their providers on last.
    """
    if len(runtime.registry.snapshot().entries):
        return ""
    said = f"no provider is registered on {called}, the runtime named {runtime.name!r}"
    if filled is None:
        return f"{said}; %%provider NAME makes the cell below it one"
    other = filled.runtime()
    if other is runtime:
        return said
    many = 0 if other is None else len(other.registry.snapshot().entries)
    if not many:
        return (
            f"{said}; your cells registered theirs on another before, named {filled.name!r}: run them again"
        )
    stand = "stands" if many == 1 else "stand"
    return f"{said}; {counted(many, 'provider')} {stand} on another, named {filled.name!r}: run their cells again"
