"""The magics: each reads its line, calls the core, and returns what shows itself."""

from __future__ import annotations

import linecache
from dataclasses import replace
from types import MethodType
from typing import TYPE_CHECKING, Any, cast
from weakref import ref

from IPython.core.magic import no_var_expand

from agentctx_nb.names import shown
from agentctx_nb.notebook.action_magics import ActionMagics
from agentctx_nb.notebook.arguments import silenced
from agentctx_nb.notebook.commands import COMPOSE, LOOK, PIN, PROVIDER, PROVIDERS
from agentctx_nb.notebook.empty import empty_runtime
from agentctx_nb.notebook.knowledge_magics import KnowledgeMagics
from agentctx_nb.notebook.looking import card, history, remove, roll_back
from agentctx_nb.notebook.mistakes import ArgumentError, StrictError, shorten
from agentctx_nb.notebook.pinning import Pin, pinned_page, remark
from agentctx_nb.notebook.prompt_magics import PromptMagics
from agentctx_nb.notebook.registering import Registration, register_cell
from agentctx_nb.notebook.request import Request, read_request
from agentctx_nb.notebook.session import Filled, LastComposition, Session
from agentctx_nb.runtime import AgentRuntime

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from IPython.core.interactiveshell import InteractiveShell

    from agentctx_nb.notebook.settings import AgentContext
    from agentctx_nb.render.page import Page
    from agentctx_nb.state import State

__all__ = ["NotebookMagics"]

NAME = "runtime"


class NotebookMagics(KnowledgeMagics, PromptMagics, ActionMagics):
    """The magics of one shell, and the runtime they work on."""

    def __init__(self, shell: InteractiveShell, session: Session, settings: AgentContext) -> None:
        self.shell = shell
        self.session = session
        self.settings = settings

    @property
    def runtime(self) -> AgentRuntime:
        """The runtime the user calls ``runtime``, or the shell's own where that name is something else."""
        named = self.shell.user_ns.get(NAME)
        return named if isinstance(named, AgentRuntime) else self.session.runtime

    def stand_in(self) -> str:
        """Return what to say where ``runtime`` is something else than one; nothing the second time."""
        names = self.shell.user_ns
        taken = self._called() != NAME and NAME in names
        said = self.session.told_of_name
        self.session.told_of_name = taken
        if not taken or said:
            return ""
        return f"{NAME} is {shown(names[NAME])} here; the magics work on {self._called()}"

    def empty(self) -> str:
        """Return what to say of a runtime that has no provider; nothing of one that has."""
        return empty_runtime(self.runtime, self._called(), self.session.filled)

    def _called(self) -> str:
        """Return the name of the runtime in the user's namespace."""
        return NAME if isinstance(self.shell.user_ns.get(NAME), AgentRuntime) else f"agentctx_{NAME}"

    @property
    def awaited(self) -> list[str]:
        """The magics that have something to wait for now: ``%%provider`` has, where a message is pinned."""
        return [name for name in self.twins() if name != "provider" or self.session.pin]

    def twins(self) -> dict[str, Any]:
        """Return what a cell that can await calls in place of the magics that wait for something, by name."""
        return {
            "act": self.act_awaited,
            "compose": self.compose_awaited,
            "learn": self.learn_awaited,
            "pin": self.pin_awaited,
            "prompt": self.prompt_awaited,
            "provider": self.provider_awaited,
            "remember": self.remember_awaited,
        }

    def table(self) -> list[tuple[str, str, Any]]:
        """Return (name, kind, function) of each, as IPython registers them."""
        entries = [
            ("provider", "line_cell", self.provider),
            ("compose", "line_cell", self.compose),
            ("pin", "line_cell", self.pin),
            ("providers", "line", self.providers),
            ("learn", "line", self.learn),
            ("remember", "line", self.remember),
            ("prompt", "line_cell", self.prompt),
            ("action", "line_cell", self.action),
            ("actions", "line", self.actions),
            ("act", "line", self.act),
        ]
        # Where one of the two forms is missing, IPython's own error would look like no error to a test.
        refusals = [
            (name, "cell" if kind == "line" else "line", self._refusal(name, kind, function.__doc__))
            for name, kind, function in entries
            if kind != "line_cell"
        ]
        return [*entries, *refusals]

    def _refusal(self, name: str, kind: str, documented: str | None) -> Any:
        """Return a magic that says which of its forms ``name`` has."""
        said = (
            f"%{name} takes no cell below it; write it on a line, with one % sign"
            if kind == "line"
            else f"%%{name} needs a cell below it; write it in the first line of a cell, with two % signs"
        )

        def refuse(self: NotebookMagics, line: str, cell: str | None = None) -> None:
            error = ArgumentError(said)
            shorten(error, self.runtime.mask)
            raise error

        refuse.__doc__ = documented
        return MethodType(no_var_expand(refuse), self)

    @no_var_expand
    def provider(self, line: str, cell: str | None = None) -> Any:  # noqa: D102  its help is set below
        __tracebackhide__ = True
        return self.now(lambda: self._look(line) if cell is None else self._registered(line, cell))

    async def provider_awaited(self, line: str, cell: str | None = None) -> Any:
        """Do what ``%%provider`` does, and compose the pinned message; cells call it by themselves."""
        from IPython.display import display

        __tracebackhide__ = True
        done = self.provider(line, cell)
        pin = self.session.pin
        if pin is None or not pin.is_behind(self.runtime):
            return done
        if done is not None:
            display(done)  # type: ignore[no-untyped-call]  # shown first: what follows may take its time
        return await self.awaited_now(lambda: lambda: pin.catch_up(self.runtime, self.composed))

    @no_var_expand
    def compose(self, line: str, cell: str | None = None) -> State | None:  # noqa: D102
        __tracebackhide__ = True
        return cast("State | None", self.now(lambda: self._compose(line, cell)))

    async def compose_awaited(self, line: str, cell: str | None = None) -> State | None:
        """Do what ``%compose`` does where the cell can await it; cells call it by themselves."""
        __tracebackhide__ = True
        return cast("State | None", await self.awaited_now(lambda: self._compose(line, cell)))

    @no_var_expand
    def pin(self, line: str, cell: str | None = None) -> Any:  # noqa: D102
        __tracebackhide__ = True
        return self.now(lambda: self._pin(line, cell))

    async def pin_awaited(self, line: str, cell: str | None = None) -> Any:
        """Do what ``%pin`` does where the cell can await it; cells call it by themselves."""
        __tracebackhide__ = True
        return await self.awaited_now(lambda: self._pin(line, cell))

    @no_var_expand
    def providers(self, line: str) -> Any:  # noqa: D102
        __tracebackhide__ = True
        return self.now(lambda: self._listed(line))

    def _registered(self, line: str, cell: str) -> Registration:
        __tracebackhide__ = True
        done = register_cell(self.shell, self.runtime, line, cell)
        self.session.sources[done.filename] = "".join(linecache.getlines(done.filename))
        self.session.filled = Filled(ref(self.runtime), self.runtime.name)
        return done

    def _listed(self, line: str) -> Any:
        from agentctx_nb.render.views import providers_table

        line, silent = silenced(line)
        given = PROVIDERS.words(line)
        if given.words:
            raise ArgumentError(f"%providers takes no name; write %provider {given.words[0]}")
        return None if silent else providers_table(self.runtime, include_private="all" in given.options)

    def _look(self, line: str) -> Any:
        line, silent = silenced(line)
        try:
            given = LOOK.words(line, self.shell.user_ns)
        except ArgumentError:
            if not PROVIDER.understood(line, self.shell.user_ns):
                raise
            raise ArgumentError(
                "%provider NAME shows a provider; options belong to %%provider, with the cell below"
            ) from None
        if len(given.words) != 1:
            raise ArgumentError("%provider NAME shows one provider; %providers lists them")
        (name,) = given.words
        if len(given.options) > 1:
            asked = " and ".join([f"--{option}" for option in given.options])
            raise ArgumentError(f"{asked} are {len(given.options)} things to do; give one of them")
        shown: Any
        if "rollback" in given.options:
            shown = remark(roll_back(self.runtime, name, given.options["rollback"]), self.runtime)
        elif "remove" in given.options:
            shown = remark(remove(self.runtime, name), self.runtime)
        elif "history" in given.options:
            shown = history(self.runtime, name)
        else:
            shown = card(self.runtime, name, self.session.last)
        return None if silent else shown

    def _compose(self, line: str, cell: str | None) -> Callable[[], Coroutine[Any, Any, State | None]]:
        """Return what ``%compose`` runs."""
        request = read_request(
            COMPOSE,
            line,
            cell,
            variables=self.shell.user_ns,
            settings=self.settings,
            providers=lambda: self.runtime.registry.snapshot().by_name,
        )

        async def run() -> State | None:
            __tracebackhide__ = True
            self.say(request.note)
            self.say("" if request.silent else self.empty())
            state = await self.composed(request)
            if request.out is not None:
                self.shell.user_ns[request.out] = state
            return None if request.silent or request.out is not None else state

        return run

    def _pin(self, line: str, cell: str | None) -> Any:
        """Return what ``%pin`` shows, or, where it pins a message, what it runs."""
        bare, silent = silenced(line)
        if "off" in PIN.message(bare, self.shell.user_ns).options:
            if bare.strip() != "--off" or cell is not None:
                raise ArgumentError("%pin --off ends the pinned message and takes nothing else")
            pinned, self.session.pin = self.session.pin, None
            said = "no message was pinned"
            if pinned is not None:
                said = f"pinned no longer: {pinned.request.message.content.text}"
            return None if silent else remark(said, self.runtime)
        if bare or cell is not None:
            request = read_request(PIN, line, cell, variables=self.shell.user_ns, settings=self.settings)
            return lambda: self._pinned(request)
        return None if silent else pinned_page(self.session.pin, self.runtime, self.settings)

    async def _pinned(self, request: Request) -> Page | None:
        __tracebackhide__ = True
        self.say(request.note)
        self.say("" if request.silent else self.empty())
        options = {name: value for name, value in request.options.items() if name != "strict"}
        state = await self.composed(replace(request, options=options))
        self.session.pin = Pin(replace(request, options=options), state, self.runtime.registry.snapshot())
        return None if request.silent else pinned_page(self.session.pin, self.runtime, self.settings)

    async def composed(self, request: Request) -> State:
        """Compose, and note the state as the last one of this shell."""
        __tracebackhide__ = True
        registered = self.runtime.registry.snapshot().by_name
        try:
            state = await self.runtime.compose_state(request.message, **request.options)
            self.session.last = LastComposition(state, registered)
            return state
        except ExceptionGroup as group:
            failed = group
        # Out here the new error has no context, where IPython would find the group.
        raise StrictError(failed, drawn=self.drawn(failed.exceptions)) from failed


NotebookMagics.provider.__doc__ = PROVIDER.help(LOOK)
NotebookMagics.compose.__doc__ = COMPOSE.help()
NotebookMagics.pin.__doc__ = PIN.help()
NotebookMagics.providers.__doc__ = PROVIDERS.help()
