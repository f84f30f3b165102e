"""``%learn`` and ``%remember``: files and facts into the tables that searches look in."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from IPython.core.magic import no_var_expand

from agentctx_nb.bridge import await_interruptible, run_sync
from agentctx_nb.errors import AgentCtxError
from agentctx_nb.notebook.arguments import unquote, without_quotes
from agentctx_nb.notebook.commands import LEARN, REMEMBER
from agentctx_nb.notebook.in_shell import InShell
from agentctx_nb.notebook.mistakes import ArgumentError, shorten
from agentctx_nb.notebook.swallowed import swallowed

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from agentctx_nb.knowledge import Learned, Remembered

__all__ = ["KnowledgeMagics"]


class KnowledgeMagics(InShell):
    """The part of a shell's magics that brings knowledge in."""

    @no_var_expand
    def learn(self, line: str) -> Learned | None:  # noqa: D102  its help is set below
        __tracebackhide__ = True
        try:
            learning, silent = self._learning(line)
            learned = run_sync(learning)
        except AgentCtxError as error:
            shorten(error, self.runtime.mask)
            raise
        return None if silent else learned

    async def learn_awaited(self, line: str) -> Learned | None:
        """Do what ``%learn`` does where the cell can await it; cells call it by themselves."""
        __tracebackhide__ = True
        try:
            learning, silent = self._learning(line)
            learned = await await_interruptible(learning())
        except AgentCtxError as error:
            shorten(error, self.runtime.mask)
            raise
        return None if silent else learned

    @no_var_expand
    def remember(self, line: str) -> Remembered:  # noqa: D102
        __tracebackhide__ = True
        try:
            return run_sync(self._remembering(line))
        except AgentCtxError as error:
            shorten(error, self.runtime.mask)
            raise

    async def remember_awaited(self, line: str) -> Remembered:
        """Do what ``%remember`` does where the cell can await it; cells call it by themselves."""
        __tracebackhide__ = True
        try:
            return await await_interruptible(self._remembering(line)())
        except AgentCtxError as error:
            shorten(error, self.runtime.mask)
            raise

    def _learning(self, line: str) -> tuple[Callable[[], Coroutine[Any, Any, Learned]], bool]:
        """Return what ``%learn`` runs, and whether its result is not to be shown."""
        from agentctx_nb.knowledge import progress_line

        line = line.rstrip()
        silent = line.endswith(";")
        given = LEARN.words(line.removesuffix(";"))
        if len(given.words) != 1:
            wrong = f', not {len(given.words)}; put "..." around one with spaces' if given.words else ""
            raise ArgumentError(f"%learn takes one path: %learn PATH (see %learn?){wrong}")
        named = {"table": "table_name", "room": "room_id", "pattern": "pattern"}
        options = {named[key]: value for key, value in given.options.items() if key in named}
        line_of_progress = nullcontext() if "no_progress" in given.options else progress_line("files learned")

        async def learned() -> Learned:
            with line_of_progress as progress:
                return await self.runtime.learn(given.words[0], progress=progress, **options)

        return learned, silent

    def _remembering(self, line: str) -> Callable[[], Coroutine[Any, Any, Remembered]]:
        """Return what ``%remember`` runs."""
        from agentctx_nb.knowledge import remember

        before = REMEMBER.message(line)
        table, _, rest = before.message.partition(" ")
        after = REMEMBER.message(rest)
        if twice := before.options.keys() & after.options.keys():
            raise ArgumentError(f"--{min(twice)} is given twice")
        text = without_quotes(after.message)
        if not text.strip():
            raise ArgumentError("%remember needs a table and a text: %remember TABLE text (see %remember?)")
        self.say(swallowed(REMEMBER, line, after.message))
        name = unquote(table)
        room = (before.options | after.options).get("room")

        async def remembered() -> Remembered:
            done = await remember(self.runtime, name, text, room_id=room)
            if done.opened_table:
                self.say(f"{name} is a new table: the first word names it, and what follows is remembered")
            return done

        return remembered


KnowledgeMagics.learn.__doc__ = LEARN.help()
KnowledgeMagics.remember.__doc__ = REMEMBER.help()
