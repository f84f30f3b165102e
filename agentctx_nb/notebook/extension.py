"""Loading and unloading: one runtime for each shell, and no trace left when the magics go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agentctx_nb.notebook.awaiting import AwaitingTransformer
from agentctx_nb.notebook.magics import AWAITED, NotebookMagics
from agentctx_nb.notebook.verbatim import VerbatimTransformer
from agentctx_nb.runtime import AgentRuntime
from agentctx_nb.source import forget_source, keep_source

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load", "unload"]

VARIABLES = ("runtime", "agentctx_runtime")

# Runtime and sources by shell: they outlive an unload, so that %reload_ext finds the providers again.
_kept: MutableMapping[InteractiveShell, tuple[AgentRuntime, dict[str, str]]] = WeakKeyDictionary()


def load(shell: InteractiveShell) -> None:
    """Register the magics in ``shell`` and put its runtime into the user's namespace, unless one is there."""
    unload(shell)
    named = shell.user_ns.get(VARIABLES[0])
    if isinstance(named, AgentRuntime):  # the user made one: that is the one to work with
        _kept[shell] = named, _kept.get(shell, (None, {}))[1]
    elif shell not in _kept:
        _kept[shell] = AgentRuntime(), {}
    runtime, sources = _kept[shell]
    for filename, text in sources.items():
        keep_source(filename, text)
    magics = NotebookMagics(shell, runtime, sources)
    tables = shell.magics_manager.magics
    for name, kind, function in magics.table():
        for kind_of_table in kind.split("_"):
            if name in tables[kind_of_table]:
                magics.displaced[kind_of_table, name] = tables[kind_of_table][name]
        shell.register_magic_function(function, kind, name)
    shell.input_transformers_cleanup.append(VerbatimTransformer())
    shell.input_transformers_post.append(AwaitingTransformer(shell, AWAITED))
    _name(shell, runtime)
    shell.events.register("pre_run_cell", _Renaming(shell, runtime))


def unload(shell: InteractiveShell) -> None:
    """Remove what `load` and the magics left in ``shell``; the user's variables stay."""
    for kind, table in shell.magics_manager.magics.items():
        for name, function in list(table.items()):
            owner = getattr(function, "__self__", None)
            if isinstance(owner, NotebookMagics):
                del table[name]
                if (kind, name) in owner.displaced:
                    table[name] = owner.displaced[kind, name]
    _, sources = _kept.get(shell, (None, {}))
    for filename in sources:
        forget_source(filename)
    _remove(shell.input_transformers_cleanup, VerbatimTransformer)
    _remove(shell.input_transformers_post, AwaitingTransformer)
    for callback in list(shell.events.callbacks["pre_run_cell"]):
        if isinstance(callback, _Renaming):
            shell.events.unregister("pre_run_cell", callback)


class _Renaming:
    """Gives the runtime its name again before a cell runs, where ``%reset`` has taken both names away."""

    def __init__(self, shell: InteractiveShell, runtime: AgentRuntime) -> None:
        self._shell = shell
        self._runtime = runtime

    def __call__(self, _: Any) -> None:
        if not any(variable in self._shell.user_ns for variable in VARIABLES):
            _name(self._shell, self._runtime)


def _name(shell: InteractiveShell, runtime: AgentRuntime) -> None:
    for variable in VARIABLES:
        if shell.user_ns.setdefault(variable, runtime) is runtime:
            break


def _remove(transformers: list[Any], kind: type) -> None:
    transformers[:] = [transformer for transformer in transformers if not isinstance(transformer, kind)]
