"""Loading and unloading: one runtime for each shell, and no trace left when the magics go."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agentctx_nb.notebook.awaiting import TWINS, AwaitingTransformer, Twins
from agentctx_nb.notebook.completion import Completions
from agentctx_nb.notebook.display import Display
from agentctx_nb.notebook.magics import NotebookMagics
from agentctx_nb.notebook.mistakes import SettingsError, shorten
from agentctx_nb.notebook.pinning import Follower
from agentctx_nb.notebook.project_file import settings_of
from agentctx_nb.notebook.session import Session
from agentctx_nb.notebook.settings import setting_names
from agentctx_nb.notebook.showing import ShowingTransformer
from agentctx_nb.notebook.verbatim import BodyTransformer, VerbatimTransformer
from agentctx_nb.runtime import AgentRuntime
from agentctx_nb.source import forget_source, keep_source

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    from IPython.core.interactiveshell import InteractiveShell

    from agentctx_nb.notebook.settings import AgentContext

__all__ = ["load", "unload"]

VARIABLES = ("runtime", "agentctx_runtime")

# By shell: it outlives an unload, so that %reload_ext finds the providers again.
_kept: MutableMapping[InteractiveShell, Session] = WeakKeyDictionary()


def load(shell: InteractiveShell) -> None:
    """Register the magics in ``shell`` and put its runtime into the user's namespace, unless one is there.

    Raises
    ------
    SettingsError
        The project's ``pyproject.toml``, or the profile of IPython, sets what cannot be set; nothing was loaded.
    """
    named = shell.user_ns.get(VARIABLES[0])
    try:
        settings = settings_of(shell)
    except SettingsError as error:
        shorten(error, (named if isinstance(named, AgentRuntime) else AgentRuntime()).mask)
        raise
    unload(shell)
    session = _kept.get(shell)
    if session is None:
        session = _kept[shell] = Session(named if isinstance(named, AgentRuntime) else AgentRuntime())
    elif isinstance(named, AgentRuntime):  # the user made one: that is the one to work with
        session.runtime = named
    with ExitStack() as undo:  # a load that fails half way leaves nothing behind either
        _install(shell, session, settings, undo.callback)
        session.undo = undo.pop_all()
    _name(shell, session.runtime)


def unload(shell: InteractiveShell) -> None:
    """Remove what `load` and the magics left in ``shell``; the user's variables stay."""
    session = _kept.get(shell)
    if session is not None:
        session.undo.close()
        session.last = None


def _install(
    shell: InteractiveShell, session: Session, settings: AgentContext, undo: Callable[..., Any]
) -> None:
    for filename, text in session.sources.items():
        keep_source(filename, text)
    undo(_forget, session)

    for key, value in session.chosen.items():
        setattr(settings, key, value)
    settings.observe(
        lambda change: session.chosen.__setitem__(change["name"], change["new"]), names=setting_names()
    )
    _append(shell.configurables, settings, undo)

    magics = NotebookMagics(shell, session, settings)
    undo(Display(settings, lambda: magics.runtime.mask).install(shell))
    settings.mask = lambda text: magics.runtime.mask(text)  # noqa: PLW0108  the runtime may become another
    entries = magics.table()
    registry = shell.magics_manager.registry
    registry[TWINS] = twins = Twins(magics.twins())
    undo(lambda: registry.pop(TWINS) if registry.get(TWINS) is twins else None)
    for name, kinds, function in entries:
        for kind in kinds.split("_"):
            undo(_put_back, shell, kind, name, function, shell.magics_manager.magics[kind].get(name))
        shell.register_magic_function(function, kinds, name)
    names = {name for name, _, _ in entries}

    _append(shell.input_transformers_cleanup, VerbatimTransformer(names), undo)
    _append(shell.input_transformers_cleanup, BodyTransformer(names), undo)
    _append(shell.input_transformers_post, ShowingTransformer(shell, names), undo)
    _append(shell.input_transformers_post, AwaitingTransformer(shell, lambda: magics.awaited), undo)
    _append(shell.Completer.custom_matchers, Completions(magics).matcher, undo)
    _register(shell, "pre_run_cell", _Renaming(shell, session.runtime), undo)
    follower = Follower(lambda: session.pin, lambda: magics.runtime, magics.composed)
    _register(shell, "post_run_cell", follower, undo)


def _append(members: list[Any], member: Any, undo: Callable[..., Any]) -> None:
    members.append(member)
    undo(_take_out, members, member)


def _take_out(members: list[Any], member: Any) -> None:
    members[:] = [other for other in members if other is not member]


def _put_back(shell: InteractiveShell, kind: str, name: str, ours: Any, displaced: Any) -> None:
    """Take a magic out again, unless somebody else has put another in its place."""
    table = shell.magics_manager.magics[kind]
    if table.get(name) == ours:
        del table[name]
        if displaced is not None:
            table[name] = displaced


def _register(shell: InteractiveShell, event: str, callback: Any, undo: Callable[..., Any]) -> None:
    shell.events.register(event, callback)
    undo(_unregister, shell, event, callback)


def _unregister(shell: InteractiveShell, event: str, callback: Any) -> None:
    if callback in shell.events.callbacks[event]:
        shell.events.unregister(event, callback)


def _forget(session: Session) -> None:
    for filename in session.sources:
        forget_source(filename)


class _Renaming:
    """Gives the runtime a name again before a cell runs, where ``%reset`` or ``runtime = 5`` has taken it away."""

    def __init__(self, shell: InteractiveShell, runtime: AgentRuntime) -> None:
        self._shell = shell
        self._runtime = runtime

    def __call__(self, _: Any) -> None:
        if not any(isinstance(self._shell.user_ns.get(name), AgentRuntime) for name in VARIABLES):
            _name(self._shell, self._runtime)


def _name(shell: InteractiveShell, runtime: AgentRuntime) -> None:
    for variable in VARIABLES:
        if shell.user_ns.setdefault(variable, runtime) is runtime:
            break
