"""The magics: each reads its line, calls the core, and returns what shows itself."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from IPython.core.magic import no_var_expand

from agentctx_nb.bridge import await_interruptible, run_sync
from agentctx_nb.errors import AgentCtxError
from agentctx_nb.model import Content, Memory
from agentctx_nb.notebook.arguments import without_quotes
from agentctx_nb.notebook.commands import COMPOSE, PROVIDER, PROVIDERS
from agentctx_nb.notebook.knowledge_magics import KnowledgeMagics
from agentctx_nb.notebook.mistakes import ArgumentError, StrictError, shorten
from agentctx_nb.notebook.registering import Registration, register_cell
from agentctx_nb.runtime import AgentRuntime

if TYPE_CHECKING:
    from types import FrameType

    from IPython.core.interactiveshell import InteractiveShell

    from agentctx_nb.state import State

__all__ = ["AWAITED", "NotebookMagics"]

AWAITED = {name: f"{name}__await__" for name in ("compose", "learn", "remember")}
"""The magics that wait for something, and the private ones a cell that can await calls in their place."""


class NotebookMagics(KnowledgeMagics):
    """The magics of one shell, and the runtime they work on."""

    def __init__(self, shell: InteractiveShell, runtime: AgentRuntime, sources: dict[str, str]) -> None:
        self.shell = shell
        self.displaced: dict[tuple[str, str], Any] = {}  # magics of these names that were there before
        self.sources = sources  # of the cells that became providers, by file name
        self._runtime = runtime

    @property
    def runtime(self) -> AgentRuntime:
        """The runtime the user calls ``runtime``, or the shell's own where that name is something else."""
        named = self.shell.user_ns.get("runtime")
        return named if isinstance(named, AgentRuntime) else self._runtime

    def table(self) -> list[tuple[str, str, Any]]:
        """Return (name, kind, function) of each, as IPython registers them."""
        return [
            ("provider", "line_cell", self.provider),
            ("compose", "line_cell", self.compose),
            (AWAITED["compose"], "line_cell", self.compose_awaited),
            ("providers", "line_cell", self.providers),
            ("learn", "line", self.learn),
            (AWAITED["learn"], "line", self.learn_awaited),
            ("remember", "line", self.remember),
            (AWAITED["remember"], "line", self.remember_awaited),
        ]

    @no_var_expand
    def provider(self, line: str, cell: str | None = None) -> Any:  # noqa: D102  its help is set below
        __tracebackhide__ = True
        try:
            if cell is None:
                return self._show(line)
            done: Registration = register_cell(self.shell, self.runtime, line, cell)
        except AgentCtxError as error:
            shorten(error, self.runtime.mask)
            raise
        self.sources[done.filename] = "".join(linecache.getlines(done.filename))
        return done

    @no_var_expand
    def compose(self, line: str, cell: str | None = None) -> State | None:  # noqa: D102
        __tracebackhide__ = True
        try:
            request = read_request(line, cell)
            return self._keep(request, run_sync(lambda: self._composed(request)))
        except AgentCtxError as error:
            shorten(error, self.runtime.mask)
            raise

    @no_var_expand
    async def compose_awaited(self, line: str, cell: str | None = None) -> State | None:
        """Do what ``%compose`` does where the cell can await it; cells call it by themselves."""
        __tracebackhide__ = True
        try:
            request = read_request(line, cell)
            return self._keep(request, await await_interruptible(self._composed(request)))
        except AgentCtxError as error:
            shorten(error, self.runtime.mask)
            raise

    @no_var_expand
    def providers(self, line: str, cell: str | None = None) -> Any:  # noqa: D102
        from agentctx_nb.render.views import providers_table

        __tracebackhide__ = True
        try:
            if cell is not None:
                raise ArgumentError("%providers takes no cell below it; write it on a line, with one % sign")
            given = PROVIDERS.words(line)
            if given.words:
                raise ArgumentError(f"%providers takes no name; write %provider {given.words[0]}")
        except AgentCtxError as error:
            shorten(error, self.runtime.mask)
            raise
        return providers_table(self.runtime, include_private="all" in given.options)

    def _show(self, line: str) -> Any:
        from agentctx_nb.render.views import provider_card

        given = PROVIDER.words(line)
        if given.options:
            raise ArgumentError(
                "%provider NAME shows a provider; options belong to %%provider, with the cell below"
            )
        if len(given.words) != 1:
            raise ArgumentError("%provider NAME shows one provider; %providers lists them")
        return provider_card(self.runtime, given.words[0])

    async def _composed(self, request: Request) -> State:
        __tracebackhide__ = True
        message = Memory(Content(request.message), room_id=request.room, entity_id=request.entity)
        try:
            return await self.runtime.compose_state(message, **request.options)
        except ExceptionGroup as group:
            failed = group
        # Out here the new error has no context, where IPython would find the group.
        raise StrictError(failed, drawn=self._drawn(failed)) from failed

    def _drawn(self, group: ExceptionGroup[Exception]) -> list[str]:
        """Return the tracebacks of ``group``, each from the user's own first line on."""
        lines: list[str] = []
        for error in group.exceptions:
            trace = error.__traceback__
            while trace is not None and is_ours(trace.tb_frame):
                trace = trace.tb_next
            lines += self.shell.InteractiveTB.structured_traceback(type(error), error, trace, tb_offset=0)
        return [self.runtime.mask(line) for line in lines]

    def _keep(self, request: Request, state: State) -> State | None:
        if request.out is not None:
            self.shell.user_ns[request.out] = state
        return None if request.silent or request.out is not None else state


NotebookMagics.provider.__doc__ = PROVIDER.help()
NotebookMagics.compose.__doc__ = COMPOSE.help()
NotebookMagics.providers.__doc__ = PROVIDERS.help()


@dataclass(frozen=True, slots=True)
class Request:
    """One ``%compose``: the message, where and from whom it comes, how to compose, and what becomes of the state."""

    message: str
    room: str | None
    entity: str | None
    options: dict[str, Any]
    out: str | None
    silent: bool


def read_request(line: str, cell: str | None) -> Request:
    """Read the line of ``%compose``, or that of ``%%compose`` with the message in ``cell``."""
    line = line.rstrip()
    silent = line.endswith(";")
    given = COMPOSE.message(line.removesuffix(";"))
    if silent and ";" in given.message and without_quotes(given.message) == given.message:
        silent, given = False, COMPOSE.message(line)  # the message has semicolons of its own: this is one
    if cell is None:
        message = without_quotes(given.message)
    elif given.message:
        raise ArgumentError(
            "the message of %%compose is the cell below it; write %compose for a message on the line"
        )
    else:
        message = cell.removesuffix("\n")
    options = dict(given.options)
    if options.get("only") and "include" not in options:
        raise ArgumentError("--only runs just those of --include; add --include A,B")
    room, entity, out = (options.pop(key, None) for key in ("room", "entity", "out"))
    renamed = {"include": "include_list", "only": "only_include", "fresh": "skip_cache"}
    options = {renamed.get(key, key): value for key, value in options.items()}
    return Request(message, room, entity, options, out, silent)


def is_ours(frame: FrameType) -> bool:
    """Whether ``frame`` runs code of this package."""
    return str(frame.f_globals.get("__name__")).startswith("agentctx_nb.")
