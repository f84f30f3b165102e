"""The line of a magic: options, a name, a message.

Quotes count where a word, a list item or a value after ``=`` begins, so ``what's up`` needs none. Options
are written out; what follows them in a message is left as it was typed.
"""

from __future__ import annotations

import keyword
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import did_you_mean
from agentctx_nb.notebook.mistakes import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Command",
    "Option",
    "Parsed",
    "as_names",
    "as_number",
    "as_text",
    "as_variable",
    "unquote",
    "without_quotes",
]

QUOTES = "\"'"


@dataclass(frozen=True, slots=True)
class Option:
    """One ``--name``: what it means, and, unless it is a flag, how its value is called and read."""

    name: str
    meaning: str
    value: str = ""
    read: Callable[[str], Any] | None = None

    @property
    def key(self) -> str:
        """The option as a Python name."""
        return self.name.replace("-", "_")


@dataclass(frozen=True, slots=True)
class Parsed:
    """The options of a line by key, the words beside them, and the message behind them."""

    options: dict[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """A magic's options, with the usage and examples its help shows."""

    name: str
    summary: str
    usage: tuple[str, ...]
    options: tuple[Option, ...]
    examples: tuple[str, ...]

    def help(self) -> str:
        """Return the text that ``%name?`` shows."""
        heads = [f"--{option.name} {option.value}".rstrip() for option in self.options]
        width = max(map(len, heads), default=0)
        lines = [self.summary, "", "Usage:", *(f"    {usage}" for usage in self.usage)]
        if heads:
            lines += ["", "Options:"]
            lines += [
                f"    {head:<{width}}  {option.meaning}"
                for head, option in zip(heads, self.options, strict=True)
            ]
        lines += ["", "Examples:"]
        for example in self.examples:
            lines += [*(f"    {line}".rstrip() for line in example.split("\n")), ""]
        return "\n".join(lines)

    def words(self, line: str) -> Parsed:
        """Read options and words in any order."""
        return self._parse(line, message=False)

    def message(self, line: str) -> Parsed:
        """Read options up to the first other word, from where the message runs to the end of the line."""
        return self._parse(line, message=True)

    def setting(self, key: str, value: str | None) -> tuple[str, Any]:
        """Read ``key: value`` from the top of a cell: an option in other clothes; a flag may go without."""
        option = self._option(key.replace("_", "-"), shown=key)
        if option.read is None:
            if value is None or value.lower() == "true":
                return option.key, True
            if value.lower() == "false":
                return option.key, False
            raise ArgumentError(f"{key} is true or false, not {value!r}")
        if not value:
            raise ArgumentError(f"{key} needs a value: {key}: {option.value}")
        return option.key, self._read(option, value)

    def _parse(self, line: str, *, message: bool) -> Parsed:
        scanner = _Scanner(line)
        options: dict[str, Any] = {}
        words: list[str] = []
        while (word := scanner.peek()) is not None:
            if word == "--":
                scanner.word()
                if message:
                    break
            elif word.startswith("--"):
                name, attached, _ = scanner.word().partition("=")
                option = self._option(name[2:], shown=name)
                if option.key in options:
                    raise ArgumentError(f"{name} is given twice")
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
                    options[option.key] = self._read(option, value)
            elif message:
                break
            else:
                words.append(unquote(scanner.word()))
        return Parsed(options, tuple(words), scanner.rest())

    def _option(self, name: str, *, shown: str) -> Option:
        for option in self.options:
            if option.name == name:
                return option
        known = [f"--{option.name}" if shown.startswith("--") else option.key for option in self.options]
        near = did_you_mean(shown, known) or f"; there are {', '.join(known)}"
        raise ArgumentError(f"%{self.name} has no option {shown!r}{near}")

    def _read(self, option: Option, value: str) -> Any:
        assert option.read is not None
        try:
            return option.read(value)
        except ArgumentError as error:
            raise ArgumentError(f"--{option.name} {option.value}: {error}") from None


class _Scanner:
    """A line read word by word, quotes kept."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0

    def peek(self) -> str | None:
        """Return the next word without taking it; None at the end."""
        before = self._at
        word = self.word()
        self._at = before
        return word or None

    def word(self) -> str:
        """Take the next word; empty at the end."""
        line = self._line
        start = self._at + len(line[self._at :]) - len(line[self._at :].lstrip())
        at = start
        while at < len(line) and not line[at].isspace():
            if line[at] in QUOTES and (at == start or line[at - 1] in "=,"):
                closing = _closing_quote(line, at)
                # Only a word that belongs to an option has to be whole; a message may hold one quote.
                at = len(line) - 1 if closing is None else closing
            at += 1
        self._at = at
        return line[start:at]

    def value(self) -> str | None:
        """Take the value of an option; None if there is none before the next option."""
        word = self.peek()
        if word is None or word.startswith("--"):
            return None
        return self.word()

    def rest_of_list(self, value: str) -> str:
        """Take the further items of a list that has spaces around its commas."""
        while (following := self.peek()) is not None and not following.startswith("--"):
            if not (value.endswith(",") or following.startswith(",")):
                break
            value += self.word()
        return value

    def rest(self) -> str:
        """Take all that is left, as typed, without the space around it."""
        rest = self._line[self._at :].strip()
        self._at = len(self._line)
        return rest


def _closing_quote(text: str, opening: int) -> int | None:
    at = opening + 1
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == text[opening]:
            return at
        at += 1
    return None


def unquote(word: str) -> str:
    r"""Return ``word`` without the one pair of quotes around the whole of it.

    >>> unquote('"two words"'), unquote("what's"), unquote('"a" or "b"'), unquote(r'"say \"hi\""')
    ('two words', "what's", '"a" or "b"', 'say "hi"')
    """
    if word[:1] in QUOTES and word[:1]:
        closing = _closing_quote(word, 0)
        if closing is None:
            raise ArgumentError(f"a quote is never closed: {word}")
        if closing == len(word) - 1:
            quote = word[0]
            return word[1:-1].replace("\\" + quote, quote)
    return word


def without_quotes(message: str) -> str:
    """Return a message without the quotes around the whole of it; others in it are a person's own.

    >>> without_quotes("'is it?'"), without_quotes("'it' and 'that'")
    ('is it?', "'it' and 'that'")
    """
    quote = message[:1]
    if len(message) > 1 and quote in QUOTES and message.endswith(quote) and quote not in message[1:-1]:
        return unquote(message)
    return message


def as_text(value: str) -> str:
    """Read a value as it is, quotes removed."""
    return unquote(value)


def as_names(value: str) -> tuple[str, ...]:
    """Read items between commas; an item with a comma in it is quoted, or the whole list is.

    >>> as_names('rain, "how to", snow'), as_names('"rain, snow"'), as_names("[rain, snow]")
    (('rain', 'how to', 'snow'), ('rain', 'snow'), ('rain', 'snow'))
    """
    value = value.strip()
    if value.startswith("[") and value.endswith("]"):  # a list as YAML and Python write one
        value = value[1:-1]
    whole = unquote(value.strip())
    if whole != value.strip():
        items = whole.split(",")
        return tuple(item.strip() for item in items if item.strip())
    items, start, at = [], 0, 0
    while at < len(value):
        if value[at] in QUOTES and not value[start:at].strip():
            closing = _closing_quote(value, at)
            if closing is None:
                raise ArgumentError(f"a quote is never closed: {value}")
            at = closing
        elif value[at] == ",":
            items.append(value[start:at])
            start = at + 1
        at += 1
    items.append(value[start:])
    return tuple(unquote(item.strip()) for item in items if item.strip())


def as_number(value: str) -> float:
    """Read a number, whole if it is written so."""
    text = unquote(value)
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(f"{text!r} is not a number") from None


def as_variable(value: str) -> str:
    """Read the name of a Python variable."""
    name = unquote(value)
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ArgumentError(f"{name!r} cannot be the name of a variable")
    return name
