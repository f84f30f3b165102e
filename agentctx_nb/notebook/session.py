"""What a shell keeps while the magics are in it, and what of that outlives a reload."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentctx_nb.notebook.pinning import Pin
    from agentctx_nb.registry import Registered
    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.state import State

__all__ = ["Filled", "LastComposition", "Session"]


class LastComposition(NamedTuple):
    """The state that was composed last, and what was registered then."""

    state: State
    registered: Mapping[str, Registered]


class Filled(NamedTuple):
    """The runtime that cells registered providers on last, as long as somebody holds it, and its name."""

    runtime: Callable[[], AgentRuntime | None]
    name: str


@dataclass(slots=True, eq=False)
class Session:
    """One shell's runtime, the sources of its cells by file name, and what was chosen in it.

    ``chosen`` are the settings made by ``%config``; ``undo`` takes out what the last load put in;
    ``told_of_name`` is whether it was said that the name ``runtime`` is taken; ``filled`` is where cells
    registered providers last.
    """

    runtime: AgentRuntime
    sources: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, Any] = field(default_factory=dict)
    pin: Pin | None = None
    last: LastComposition | None = None
    told_of_name: bool = False
    filled: Filled | None = None
    undo: ExitStack = field(default_factory=ExitStack)
