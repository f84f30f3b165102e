"""Work out, in a notebook, what an LLM agent's prompt holds: which providers feed it, why, at what cost.

>>> from agentctx_nb import AgentRuntime, Provider
>>> runtime = AgentRuntime()
>>> _ = runtime.register_provider(Provider("GREETING", lambda: "Hello!"))
>>> runtime.compose("hi").text
'Hello!'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import (
    ActionCancelledError,
    ActionRecursionError,
    AgentCtxError,
    CompositionRecursionError,
    CycleError,
    DefinitionError,
    DefinitionTypeError,
    LoopError,
    MissingExtraError,
    ProviderCancelledError,
    ProviderTimeoutError,
    ResultError,
    SettingError,
    TemplateError,
    UnknownActionError,
    UnknownPromptError,
    UnknownProviderError,
)
from agentctx_nb.model import Content, Entity, Memory
from agentctx_nb.provider import Provider, ProviderResult
from agentctx_nb.runtime import AgentRuntime
from agentctx_nb.state import State

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from agentctx_nb.actions import Action, ActionResult

__version__ = "0.1.0"

__all__ = [
    "Action",
    "ActionCancelledError",
    "ActionRecursionError",
    "ActionResult",
    "AgentCtxError",
    "AgentRuntime",
    "CompositionRecursionError",
    "Content",
    "CycleError",
    "DefinitionError",
    "DefinitionTypeError",
    "Entity",
    "LoopError",
    "Memory",
    "MissingExtraError",
    "Provider",
    "ProviderCancelledError",
    "ProviderResult",
    "ProviderTimeoutError",
    "ResultError",
    "SettingError",
    "State",
    "TemplateError",
    "UnknownActionError",
    "UnknownPromptError",
    "UnknownProviderError",
    "load_ipython_extension",
    "unload_ipython_extension",
]


def __getattr__(name: str) -> Any:
    """Import actions when somebody asks for them: most who import this package never do."""
    if name in ("Action", "ActionResult"):
        from agentctx_nb import actions

        return getattr(actions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Load the magics: what ``%load_ext agentctx_nb`` calls."""
    from agentctx_nb.notebook.extension import load

    load(ipython)


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """Remove every trace of the magics: what ``%unload_ext agentctx_nb`` calls."""
    from agentctx_nb.notebook.extension import unload

    unload(ipython)
