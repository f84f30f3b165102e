"""The line of a magic: options, a name, a message.

Quotes count where a word, a list item or a value after ``=`` begins, so ``what's up`` needs none. Options
are written out; what follows them in a message is left as it was typed. A word that is all ``$name``
stands for that object of the user's namespace, in options and names, never in a message.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import nearest_names
from agentctx_nb.names import shown
from agentctx_nb.notebook.mistakes import ArgumentError
from agentctx_nb.notebook.reading import (
    as_json,
    as_names,
    as_number,
    as_object,
    as_text,
    as_variable,
    given,
    look_up,
    referred,
    unquote,
    without_quotes,
)
from agentctx_nb.notebook.scanner import Scanner

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

__all__ = [
    "Command",
    "Option",
    "Parsed",
    "as_json",
    "as_names",
    "as_number",
    "as_object",
    "as_text",
    "as_variable",
    "silenced",
    "unquote",
    "without_quotes",
]


@dataclass(frozen=True, slots=True)
class Option:
    """One ``--name``: what it means, and, unless it is a flag, how its value is called and read.

    ``short`` is a letter for it, as in ``-o``; ``offers`` is what Tab offers for its value.
    """

    name: str
    meaning: str
    value: str = ""
    read: Callable[[str], Any] | None = None
    short: str = ""
    offers: str = ""

    @property
    def key(self) -> str:
        """The option as a Python name."""
        return self.name.replace("-", "_")

    @property
    def head(self) -> str:
        """The option as its help shows it."""
        spelled = f"-{self.short}, --{self.name}" if self.short else f"--{self.name}"
        return f"{spelled} {self.value}".rstrip()

    def typed(self, value: str, variables: Mapping[str, Any] | None = None) -> Any:
        """Read a value as typed; ``$name`` is looked up in ``variables`` if there are any."""
        assert self.read is not None
        name = None if variables is None or self.read is as_variable else referred(value)
        try:
            if variables is not None and name is not None:
                return given(self.read, look_up(name, variables))
            return self.read(value)
        except ArgumentError as error:
            raise ArgumentError(f"--{self.name} {self.value}: {error}") from None

    def given(self, value: Any) -> Any:
        """Check a value that is an object, of a settings file or the like; raise `ArgumentError`."""
        return given(self.read, value)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The options of a line by key, the words beside them, and the message behind them."""

    options: dict[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """A magic's options, with the usage and examples its help shows.

    ``offers`` is what Tab offers for its words; ``spoken`` ones end in a message, where it offers nothing.
    ``sign`` stands before the name in what is said of mistakes.
    """

    name: str
    summary: str
    usage: tuple[str, ...]
    options: tuple[Option, ...]
    examples: tuple[str, ...]
    offers: str = ""
    spoken: bool = False
    sign: str = "%"

    def written(self, cell: str | None) -> Command:
        """Return the command as it was written: with two percent signs where it has a cell below it."""
        return replace(self, sign="%" if cell is None else "%%")

    def help(self, twin: Command | None = None) -> str:
        """Return the text that ``%name?`` shows; ``twin`` is the same name with one percent sign."""
        options = (*self.options, *(twin.options if twin else ()))
        width = max([len(option.head) for option in options], default=0)
        lines = [self.summary, "", "Usage:", *(f"    {usage}" for usage in self.usage)]
        for title, part in (("Options:", self), (f"Options of %{self.name}:", twin)):
            if part is not None and part.options:
                lines += ["", title]
                lines += [f"    {option.head:<{width}}  {option.meaning}" for option in part.options]
        lines += ["", "Examples:"]
        for example in self.examples:
            lines += [*(f"    {line}".rstrip() for line in example.split("\n")), ""]
        return "\n".join(lines)

    def words(self, line: str, variables: Mapping[str, Any] | None = None) -> Parsed:
        """Read options and words in any order."""
        return self._parse(line, variables, message=False)

    def message(self, line: str, variables: Mapping[str, Any] | None = None) -> Parsed:
        """Read options up to the first other word, from where the message runs to the end of the line."""
        return self._parse(line, variables, message=True)

    def understood(self, line: str, variables: Mapping[str, Any] | None = None) -> tuple[str, ...]:
        """Return the options on a line that was meant for a twin, empty where it cannot be read."""
        try:
            return tuple(self._parse(line, variables, message=False).options)
        except ArgumentError:
            return ()

    def setting(
        self, key: str, value: str | None, variables: Mapping[str, Any] | None = None
    ) -> tuple[str, Any]:
        """Read ``key: value`` from the top of a cell: an option in other clothes; a flag may go without."""
        option = self.option(key.replace("_", "-"), shown=key)
        if option.read is None:
            if value is None or value.lower() == "true":
                return option.key, True
            if value.lower() == "false":
                return option.key, False
            raise ArgumentError(f"{key} is true or false, not {value!r}")
        if not value:
            raise ArgumentError(f"{key} needs a value: {key}: {option.value}")
        return option.key, option.typed(value, variables)

    def option(self, name: str, *, shown: str) -> Option:
        """Return the option ``name``; raise `ArgumentError` that says it as ``shown``, with the nearest one."""
        for option in self.options:
            if option.name == name:
                return option
        spelled = {
            option.key: f"--{option.name}" if shown.startswith("--") else option.key
            for option in self.options
        }
        near = " or ".join([repr(spelled[key]) for key in _near(name.replace("-", "_"), spelled)])
        there = f"it has {', '.join(spelled.values())}" if spelled else "it has none"
        hint = f"did you mean {near}?" if near else there
        raise ArgumentError(f"{self.sign}{self.name} has no option {shown!r}; {hint}")

    def _parse(self, line: str, variables: Mapping[str, Any] | None, *, message: bool) -> Parsed:
        scanner = Scanner(line)
        letters = {f"-{option.short}": option for option in self.options if option.short}
        options: dict[str, Any] = {}
        words: list[str] = []
        while (word := scanner.peek()) is not None:
            if word == "--":
                scanner.word()
                if message:
                    break
            elif word.startswith("--") or word in letters:
                name, attached, _ = scanner.word().partition("=")
                option = letters.get(name) or self.option(name[2:], shown=name)
                if option.key in options:
                    raise ArgumentError(f"--{option.name} is given twice")
                if option.read is None:
                    if attached:
                        raise ArgumentError(f"{name} takes no value")
                    options[option.key] = True
                else:
                    value = word[len(name) + 1 :] if attached else scanner.value()
                    if value is None:
                        raise ArgumentError(f"{name} needs a value: {name} {option.value}")
                    if option.read is as_names:
                        value = scanner.rest_of_list(value)
                    elif option.read is as_json:
                        value = scanner.rest_of_json(value)
                    options[option.key] = option.typed(value, variables)
            elif message:
                break
            else:
                words.append(_word(scanner.word(), variables))
        return Parsed(options, tuple(words), scanner.rest())


def _near(typed: str, keys: Collection[str]) -> list[str]:
    """Return the keys that ``typed`` begins, else those of which it may be a slip of the hand."""
    begun = [key for key in keys if len(typed) > 1 and key.startswith(typed)]
    likeness = SequenceMatcher(b=typed)
    for key in [] if begun else nearest_names(typed, keys):
        bare = key.replace("_", "")
        likeness.set_seq1(bare)
        # Less is another word, `out` in `timeout`, but for letters in the wrong order.
        if likeness.ratio() >= 0.7 or sorted(bare) == sorted(typed):
            begun.append(key)
    return begun


def _word(word: str, variables: Mapping[str, Any] | None) -> str:
    name = None if variables is None else referred(word)
    if variables is None or name is None:
        return unquote(word)
    value = look_up(name, variables)
    try:
        return str(given(as_text, value))
    except ArgumentError:
        raise ArgumentError(f"${name} is {shown(value)}, where a name is wanted") from None


def silenced(line: str) -> tuple[str, bool]:
    """Return the line of a magic without a ``;`` at its end, and whether there was one.

    >>> silenced("--all ;"), silenced("--all")
    (('--all', True), ('--all', False))
    """
    line = line.rstrip()
    return line.removesuffix(";").rstrip(), line.endswith(";")
