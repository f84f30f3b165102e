"""``%%prompt``: a cell becomes a template, and a template is shown with its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.core.magic import no_var_expand

from agentctx_nb.errors import TemplateError
from agentctx_nb.model import as_message
from agentctx_nb.names import shown
from agentctx_nb.notebook.acting_commands import PROMPT
from agentctx_nb.notebook.arguments import silenced
from agentctx_nb.notebook.in_shell import InShell
from agentctx_nb.notebook.mistakes import ArgumentError
from agentctx_nb.notebook.reading import look_up, only_name
from agentctx_nb.notebook.registering import find_cell
from agentctx_nb.notebook.scanner import Scanner
from agentctx_nb.notebook.swallowed import swallowed
from agentctx_nb.prompting import PromptTemplate
from agentctx_nb.registry import CELL

if TYPE_CHECKING:
    from agentctx_nb.model import Memory
    from agentctx_nb.render.prompt_view import PromptView
    from agentctx_nb.state import State
    from agentctx_nb.templates import Prompt

__all__ = ["PromptCellError", "PromptMagics"]


class PromptCellError(TemplateError):
    """A template in a cell cannot be read or filled in; line and column are those of the cell."""

    def __init__(self, error: TemplateError, *, above: int, body: str) -> None:
        self.text = ""
        said = str(error)
        line, column = error.line, error.column
        if line is not None and column is not None:
            lines = body.split("\n")
            self.text = lines[line - 1] if line <= len(lines) else ""
            said = said.replace(f"line {line}, column {column}", f"line {line + above}, column {column}", 1)
        super().__init__(said, line=None if line is None else line + above, column=column)

    def _render_traceback_(self) -> list[str]:
        """Return the lines IPython shows: what is wrong, the line as typed, and a mark below the column."""
        drawn = [f"{type(self).__name__}: {self}"]
        if self.text.strip() and self.column is not None:
            before = "".join(c if c == "\t" else " " for c in self.text[: self.column - 1])
            drawn += [f"    {self.text}", f"    {before}^"]
        return drawn


class PromptMagics(InShell):
    """The part of a shell's magics that deals with prompts."""

    @no_var_expand
    def prompt(self, line: str, cell: str | None = None) -> Any:  # noqa: D102  its help is set below
        __tracebackhide__ = True
        return self.now(lambda: self._prompt(line, cell))

    async def prompt_awaited(self, line: str, cell: str | None = None) -> Any:
        """Do what ``%prompt`` does where the cell can await it; cells call it by themselves."""
        __tracebackhide__ = True
        return await self.awaited_now(lambda: self._prompt(line, cell))

    def _prompt(self, line: str, cell: str | None) -> Any:
        """Return the list of prompts, or what shows one: a coroutine function."""
        from agentctx_nb.render.prompt_view import prompt_view, prompts_table
        from agentctx_nb.templates import check_template

        line, silent = silenced(line) if cell is None else (line, False)
        before, message = spoken_message(line)
        given = PROMPT.written(cell).words(before, self.shell.user_ns)
        note = "" if message is None or silent else swallowed(PROMPT, line, message)
        options = dict(given.options)
        if message is not None:
            options["message"] = message
        if cell is None and not given.words and not options:
            return None if silent else prompts_table(self.runtime)
        name = only_name(
            given.words,
            of="%prompt" if cell is None else "%%prompt",
            see="%prompt",
            otherwise='write --message before a message, and "..." around a name with spaces',
        )
        if "message" in options and "state" in options:
            raise ArgumentError("--message composes a state and --state takes one; give one of them")
        if options.get("missing", "empty") not in {"empty", "error", "keep"}:
            raise ArgumentError(
                f"--missing POLICY: it is empty, error or keep, not {shown(options['missing'])}"
            )
        extra = {
            named.removeprefix("$"): look_up(
                named.removeprefix("$"), self.shell.user_ns, dollar=named.startswith("$")
            )
            for named in options.get("extra", ())
        }
        state = self.state_called(options["state"]) if "state" in options else None
        where = "--state" if not isinstance(options.get("state"), str) else options["state"]
        asked = as_message(options["message"]) if "message" in options else None
        if cell is None:
            template, body, above = self.runtime.registered_prompt(name).thing, "", 0
        else:
            body = cell.removesuffix("\n")
            if not body.strip():
                raise ArgumentError(
                    f"the cell below %%prompt {name} is empty; write the template in it, "
                    f"or %prompt {name} to show the one there is"
                )
            above = len(find_cell(self.shell, name, line, cell, magic="prompt").above)
            try:
                check_template(body)
            except TemplateError as error:
                raise PromptCellError(error, above=above, body=body) from None
            template = PromptTemplate(body, name=name)

        async def show() -> PromptView | None:
            __tracebackhide__ = True
            self.say(note)
            self.say(self.empty() if asked is not None and not silent else "")
            filled, used = await self._state_for(asked, state, where)
            try:
                prompt = self._filled(template, filled, extra, options.get("missing", "empty"))
            except TemplateError as error:
                raise (error if cell is None else PromptCellError(error, above=above, body=body)) from None
            # Kept only now: a cell that fails leaves the older one standing.
            said = name if cell is None else self._kept(name, body)
            view = prompt_view(
                self.runtime, name, template, prompt, state=filled, extra=extra, said=f"{said}, {used}"
            )
            return None if silent else view

        return show

    async def _state_for(
        self, message: Memory | None, state: State | None, where: str
    ) -> tuple[State | None, str]:
        """Return the state to fill in and, in words, which one it is."""
        if message is not None:
            composed = await self.composed(self.request_of(message))
            return composed, f"composed for {shown(message.content.text)}"
        if state is not None:
            return state, f"filled in from {where}"
        last = self.session.last
        if last is not None:
            return last.state, "filled in from the state composed last"
        return None, "not filled in, for nothing is composed yet; add --message TEXT"

    def _filled(self, template: str, state: State | None, extra: dict[str, Any], missing: str) -> Prompt:
        from agentctx_nb.templates import render_template
        from agentctx_nb.usage.watched_names import noted_prompt

        if state is None:  # there is nothing to read, so nothing is missing either
            return render_template(template, extra=extra, missing="keep")
        return noted_prompt(self.runtime.read_recorder, state, template, extra=extra, missing=missing)

    def _kept(self, name: str, body: str) -> str:
        """Keep the template in a cell, and return what to say of it."""
        self.runtime.register_prompt(name, body, origin=CELL)
        version = self.runtime.registered_prompt(name).version
        return f"registered {name}" if version == 1 else f"replaced {name}, v{version}"


PromptMagics.prompt.__doc__ = PROMPT.help()


def spoken_message(line: str) -> tuple[str, str | None]:
    """Return a line without a message that runs, unquoted, to its end, and that message.

    >>> spoken_message("REPLY --message is it so?"), spoken_message("REPLY --message 'so?' --missing keep")
    (('REPLY ', 'is it so?'), ("REPLY --message 'so?' --missing keep", None))
    """
    scanner = Scanner(line)
    while (word := scanner.word()) and word != "--message":
        pass
    if not word:
        return line, None
    at = len(line) - len(scanner.rest())
    message = Scanner(line[at:])
    message.word()
    following = message.peek()
    if following is None or following.startswith("--"):
        return line, None
    return line[: line.rindex("--message", 0, at)], line[at:].strip()
