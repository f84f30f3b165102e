"""``%%action`` and ``%act``: a cell becomes an action, and an action runs on a message."""

from __future__ import annotations

import linecache
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from IPython.core.magic import no_var_expand

from agentctx_nb.actions import Action
from agentctx_nb.model import Content, Memory
from agentctx_nb.notebook.acting_commands import ACT, ACTION, ACTIONS
from agentctx_nb.notebook.arguments import silenced, unquote, without_quotes
from agentctx_nb.notebook.in_shell import InShell
from agentctx_nb.notebook.mistakes import ActionFailedError, ArgumentError
from agentctx_nb.notebook.reading import only_name
from agentctx_nb.notebook.registering import Registration, find_cell
from agentctx_nb.notebook.request import RENAMED, check_out
from agentctx_nb.notebook.scanner import Scanner
from agentctx_nb.notebook.swallowed import swallowed
from agentctx_nb.registry import CELL
from agentctx_nb.source import CellError, Role, compile_cell, option_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from agentctx_nb.actions import ActionResult, ReadyAction
    from agentctx_nb.numbered import NumberedEntry

__all__ = ["ActionMagics"]

ROLE = Role("action", "handler", ("validate",))


class ActionMagics(InShell):
    """The part of a shell's magics that deals with actions."""

    @no_var_expand
    def action(self, line: str, cell: str | None = None) -> Any:  # noqa: D102  its help is set below
        __tracebackhide__ = True
        return self.now(lambda: self._show_action(line) if cell is None else self._register(line, cell))

    @no_var_expand
    def actions(self, line: str) -> Any:  # noqa: D102
        __tracebackhide__ = True
        return self.now(lambda: self._list(line))

    @no_var_expand
    def act(self, line: str) -> Any:  # noqa: D102
        __tracebackhide__ = True
        return self.now(lambda: self._act(line))

    async def act_awaited(self, line: str) -> Any:
        """Do what ``%act`` does where the cell can await it; cells call it by themselves."""
        __tracebackhide__ = True
        return await self.awaited_now(lambda: self._act(line))

    def _list(self, line: str) -> Any:
        from agentctx_nb.render.action_view import actions_table

        line, silent = silenced(line)
        given = ACTIONS.words(line)
        if given.words:
            raise ArgumentError(f"%actions takes no name; write %action {given.words[0]}")
        return None if silent else actions_table(self.runtime)

    def _show_action(self, line: str) -> Any:
        from agentctx_nb.render.action_view import action_card

        line, silent = silenced(line)
        try:
            given = ACTION.words(line, self.shell.user_ns)
        except ArgumentError:  # on a line it has no options at all
            given = replace(ACTION, options=()).words(line, self.shell.user_ns)
        if given.options:
            raise ArgumentError(
                "%action NAME shows an action; options belong to %%action, with the cell below"
            )
        if len(given.words) != 1:
            raise ArgumentError(
                "%action NAME shows one action; %actions lists them, %act NAME message runs one"
            )
        card = action_card(self.runtime, given.words[0])
        return None if silent else card

    def _register(self, line: str, body: str) -> Registration:
        """Compile ``body`` and register it; whatever fails leaves the old action standing."""
        __tracebackhide__ = True
        given = ACTION.written(body).words(line, self.shell.user_ns)
        name = only_name(given.words, of="%%action")
        cell = find_cell(self.shell, name, line, body, magic="action")
        options = {**self._cell_options(body, above=len(cell.above)), **given.options}
        # Checked before the cell's own definitions run and have effects.
        checked = Action(name=name, handler=_not_yet, **options)
        compiled = compile_cell(
            body,
            name=name,
            namespace=self.shell.user_ns,
            cell=cell,
            transform=self.shell.transform_cell,
            flags=self.shell.compile.flags,
            role=ROLE,
        )
        action = replace(
            checked,
            handler=compiled.get,
            validate=compiled.others.get("validate"),
            description=checked.description or compiled.description,
        )
        runtime = self.runtime
        before = next((runtime.registered_action(a.name) for a in runtime.actions if a.name == name), None)
        runtime.register_action(action, origin=CELL)
        self.session.sources[cell.filename] = "".join(linecache.getlines(cell.filename))
        said = _sentence(before, runtime.registered_action(name)) + (
            f"; {compiled.slip}" if compiled.slip else ""
        )
        return Registration(runtime.mask(said), cell.filename)

    def _cell_options(self, body: str, *, above: int) -> dict[str, Any]:
        """Return the options in the ``#|`` lines at the top of the cell."""
        found: dict[str, Any] = {}
        for number, key, value in option_lines(body):
            text = body.split("\n")[number - 1].rstrip("\r")
            try:
                option, read = ACTION.written(body).setting(key, value, self.shell.user_ns)
            except ArgumentError as error:
                raise CellError(str(error), line=number + above, text=text) from None
            if option in found:
                raise CellError(f"{key} is given twice", line=number + above, text=text)
            found[option] = read
        return found

    def _act(self, line: str) -> Callable[[], Coroutine[Any, Any, ActionResult | None]]:
        """Return what ``%act`` runs."""
        from agentctx_nb.render.action_view import sentence

        before = ACT.message(line, self.shell.user_ns)
        scanner = Scanner(before.message)
        typed = scanner.word()
        after = ACT.message(scanner.rest(), self.shell.user_ns)
        if twice := before.options.keys() & after.options.keys():
            raise ArgumentError(f"--{min(twice)} is given twice")
        options = before.options | after.options
        check_out(options, self.shell.user_ns)
        if not typed:
            raise ArgumentError("%act needs the name of an action: %act NAME message (see %act?)")
        name = unquote(typed)
        self.runtime.registered_action(name)  # said before anything is composed
        message = Memory(
            Content(without_quotes(after.message)),
            room_id=options.get("room"),
            entity_id=options.get("entity"),
        )
        request = self.request_of(message, **_composing(options))
        given = self.state_called(options["state"]) if "state" in options else None
        note = swallowed(ACT, line, after.message)

        async def run() -> ActionResult | None:
            __tracebackhide__ = True
            self.say(note)
            # Actions may do without providers: only cells that registered some expect them.
            self.say(self.empty() if given is None and self.session.filled else "")
            state = await self.composed(request) if given is None else given
            result = await self.runtime.run_action(name, request.message, state)
            if "out" in options:
                self.shell.user_ns[options["out"]] = result
            if not result.success and request.options.get("strict"):
                cause = result.error if isinstance(result.error, Exception) else None
                drawn = [] if cause is None else self.drawn([cause])
                raise ActionFailedError(sentence(result), result, drawn=drawn) from cause
            return None if "out" in options else result

        return run


ActionMagics.action.__doc__ = ACTION.help()
ActionMagics.actions.__doc__ = ACTIONS.help()
ActionMagics.act.__doc__ = ACT.help()


def _composing(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the state of ``%act`` is composed, as its options say."""
    asked = {name: options[name] for name in ("include", "only", "strict") if name in options}
    if "state" in options and (wrong := [f"--{name}" for name in ("include", "only") if name in asked]):
        raise ArgumentError(f"the state of --state is composed already; leave out {' and '.join(wrong)}")
    if "only" in asked and "include" not in asked:
        raise ArgumentError("--only runs just those of --include; add --include A,B")
    return {RENAMED.get(name, name): value for name, value in asked.items()}


def _not_yet() -> None:
    """Stand for the function until it is compiled."""


def _sentence(before: NumberedEntry[ReadyAction] | None, after: NumberedEntry[ReadyAction]) -> str:
    name = after.thing.action.name
    said = f"registered {name}"
    if before is not None:
        of = "" if before.origin in {CELL, None} else f" of {before.origin}"
        said = f"replaced {name}{of}, v{after.version}"
    return f"{said} (validates first)" if after.thing.validate is not None else said
