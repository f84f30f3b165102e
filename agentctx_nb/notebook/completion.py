"""What Tab offers on the line of a magic: options, names and variables; nothing in the cell below one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from IPython.core.completer import SimpleCompletion, context_matcher

from agentctx_nb.notebook import acting_commands, commands
from agentctx_nb.notebook.arguments import Command, Option
from agentctx_nb.notebook.reading import as_names, as_variable
from agentctx_nb.notebook.scanner import Scanner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from IPython.core.completer import CompletionContext

    from agentctx_nb.notebook.magics import NotebookMagics

__all__ = ["Completions", "command_at"]

ASSIGNED = r"(?:[^%'\"#=()]+=\s*)?"
LINE = re.compile(rf"\s*{ASSIGNED}(?:%(?:time|timeit|prun)\s+{ASSIGNED})?%(?P<name>\w+)\s(?P<rest>.*)$")
CELL = re.compile(r"%%(?P<name>\w+)\s(?P<rest>.*)$")
RUNS_PYTHON = re.compile(r"%%(?:capture|prun|time|timeit)(?!\S)")
BY_NAME = {
    command.name: command
    for command in [*vars(commands).values(), *vars(acting_commands).values()]
    if isinstance(command, Command)
}


def command_at(text: str, line: int, column: int) -> tuple[Command, str] | None:
    r"""Return the magic whose line holds the cursor, and what is typed behind it up to there.

    None in the body of a cell magic that does not run it as it is, and outside any line of ours.

    >>> command, typed = command_at("x = 1\ns = %compose --inc", 1, 18)
    >>> command.name, typed
    ('compose', '--inc')
    >>> command_at("%%compose\n%compose --inc", 1, 14) is None
    True
    """
    lines = text.split("\n")
    before = lines[line][:column]
    blank = ("", "#")  # a comment may stand above a cell magic of ours
    top = next((place for place, typed in enumerate(lines) if typed.strip()[:1] not in blank), line)
    while top < line and lines[top].startswith("%%"):
        if not RUNS_PYTHON.match(lines[top]):
            return None
        top += 1
    found = CELL.match(before) if top == line else None
    if found is not None:
        command = commands.PROVIDER if found["name"] == "provider" else BY_NAME.get(found["name"])
    else:
        found = LINE.match(before)
        if found is None:
            return None
        command = commands.LOOK if found["name"] == "provider" else BY_NAME.get(found["name"])
    return None if command is None else (command, found["rest"])


class Completions:
    """A matcher for IPython's completer, which asks it with the whole cell."""

    def __init__(self, magics: NotebookMagics) -> None:
        self._magics = magics

    @context_matcher(identifier="agentctx_nb", priority=1_000)  # type: ignore[untyped-decorator]
    def matcher(self, context: CompletionContext) -> Any:
        """Return what fits at the cursor; everybody else's offers are left out where there is something."""
        at = command_at(context.full_text, context.cursor_line, context.cursor_position)
        fragment, offers = ("", []) if at is None else self._offers(*at)
        return {
            "completions": [SimpleCompletion(text=text, type=kind) for text, kind in offers],
            "matched_fragment": fragment,
            "suppress": bool(offers),
            "ordered": True,
        }

    def _offers(self, command: Command, typed: str) -> tuple[str, list[tuple[str, str]]]:
        """Return the part of ``typed`` that is being completed, and what may stand in its place."""
        words, partial = typed[: len(typed) - len(_tail(typed))], _tail(typed)
        options = {f"--{option.name}": option for option in command.options}
        options |= {f"-{option.short}": option for option in command.options if option.short}
        pending: Option | None = None
        used: set[Option] = set()
        taken: list[str] = []
        scanner = Scanner(words)
        while word := scanner.word():
            if pending is not None:
                taken.append(word)
                if pending.read is not as_names or not word.endswith(","):
                    pending = None
                continue
            option = options.get(word.partition("=")[0])
            if option is not None:
                used.add(option)
                taken = []
                pending = None if option.read is None or "=" in word else option
            elif command.spoken or word == "--":
                return "", []  # in the message
        head, is_attached, value = partial.partition("=")
        if pending is None and is_attached and head in options:
            pending, partial = options[head], value
        if pending is not None:
            return self._values(pending, partial, ",".join(taken))
        left = [(f"--{option.name}", "option") for option in command.options if option not in used]
        if partial.startswith("-"):
            return partial, _fitting(partial, left)
        if partial.startswith("$"):
            return partial, _fitting(partial, self._variables("$"))
        return partial, _fitting(partial, self._names(command.offers)) + ([] if partial else left)

    def _values(self, option: Option, partial: str, taken: str) -> tuple[str, list[tuple[str, str]]]:
        if option.read is as_variable:
            return partial, _fitting(partial, self._variables(""))
        if partial.startswith("$"):
            return partial, _fitting(partial, self._variables("$"))
        if option.read is as_names:
            before, _, partial = partial.rpartition(",")
            given = {name.strip() for name in f"{taken},{before}".split(",")}
            return partial, _fitting(partial, [o for o in self._names(option.offers) if o[0] not in given])
        return partial, _fitting(partial, self._names(option.offers))

    def _names(self, kind: str) -> list[tuple[str, str]]:
        """Return the names of a kind; one that holds a secret is not offered."""
        runtime = self._magics.runtime
        names: Iterable[str] = ()
        if kind == "provider":
            names = [provider.name for provider in runtime.list_providers(include_private=True)]
        elif kind == "preset":
            names = self._magics.settings.presets
        elif kind == "action":
            names = [action.name for action in runtime.actions]
        elif kind == "prompt":
            names = runtime.prompts
        mask = runtime.mask
        return [(name, kind) for name in names if mask(name) == name and not any(c.isspace() for c in name)]

    def _variables(self, sign: str) -> list[tuple[str, str]]:
        names = self._magics.shell.user_ns
        hidden = self._magics.shell.user_ns_hidden
        return [
            (f"{sign}{name}", "variable")
            for name in sorted(names)
            if not name.startswith("_") and name not in hidden
        ]


def _tail(typed: str) -> str:
    """Return the last word of ``typed``, empty where a space ends it."""
    return "" if typed[-1:].isspace() else (typed.split() or [""])[-1]


def _fitting(partial: str, offers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what begins as ``partial`` does, else what does in another case."""
    exact = [offer for offer in offers if offer[0].startswith(partial)]
    return exact or [offer for offer in offers if offer[0].casefold().startswith(partial.casefold())]
