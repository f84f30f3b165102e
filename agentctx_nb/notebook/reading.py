"""The values of options, as they are typed and as objects of the user's namespace; each reader says no in a sentence."""

from __future__ import annotations

import builtins
import json
import keyword
import os
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import did_you_mean
from agentctx_nb.names import shown
from agentctx_nb.notebook.mistakes import ArgumentError
from agentctx_nb.notebook.scanner import QUOTES, closing_quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "as_json",
    "as_names",
    "as_number",
    "as_object",
    "as_text",
    "as_variable",
    "given",
    "look_up",
    "only_name",
    "own_variables",
    "referred",
    "unquote",
    "without_quotes",
]


# Its `open` and `exit` are not those of the builtins.
_OF_IPYTHON = frozenset(("In", "Out", "exit", "get_ipython", "open", "quit"))


def unquote(word: str) -> str:
    r"""Return ``word`` without the one pair of quotes around the whole of it.

    >>> unquote('"two words"'), unquote("what's"), unquote('"a" or "b"'), unquote(r'"say \"hi\""')
    ('two words', "what's", '"a" or "b"', 'say "hi"')
    """
    if word[:1] in QUOTES and word[:1]:
        closing = closing_quote(word, 0)
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


def as_object(value: str) -> Any:
    """Read a text, quotes removed; meant for what is mostly given as ``$name``."""
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
            closing = closing_quote(value, at)
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


def as_json(value: str) -> Any:
    """Read JSON, bare or in quotes.

    >>> as_json('{"user": "Ada"}'), as_json("'[1, 2]'")
    ({'user': 'Ada'}, [1, 2])
    """
    text = unquote(value) if value[:1] == "'" or value[:2] in {'"{', '"['} else value
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        said = getattr(error, "msg", "nested too deep")
        raise ArgumentError(f"{shown(text)} is not JSON: {said}") from None


def as_variable(value: str) -> str:
    """Read the name of a Python variable."""
    name = unquote(value)
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ArgumentError(f"{name!r} cannot be the name of a variable")
    return name


def only_name(
    words: tuple[str, ...], *, of: str, see: str = "", otherwise: str = 'put "..." around a value with spaces'
) -> str:
    """Return the one name that the magic ``of`` is given; raise `ArgumentError` where there is none or another."""
    if not words:
        raise ArgumentError(f"{of} needs a name: {of} NAME (see {see or of}?)")
    if len(words) > 1:
        raise ArgumentError(f"{of} takes one name, but {words[1]!r} follows {words[0]!r}; {otherwise}")
    return words[0]


def referred(word: str) -> str | None:
    """Return the name in a word that is all ``$name``, else None; quotes keep it a text.

    >>> referred("$words"), referred("'$words'"), referred("$5"), referred("$a,$b")
    ('words', None, None, None)
    """
    name = word[1:]
    return name if word[:1] == "$" and name.isidentifier() and not keyword.iskeyword(name) else None


def look_up(name: str, variables: Mapping[str, Any], *, dollar: bool = True, kind: type[Any] = object) -> Any:
    """Return the variable ``name`` of the user's namespace; raise `ArgumentError` with the nearest of a kind.

    ``dollar`` says that it was typed with one, which may have been meant as it stands.
    """
    try:
        return variables[name]
    except KeyError:
        near = did_you_mean(name, own_variables(variables, kind))
        literal = f"; write '${name}' in quotes to keep it as it is" if dollar else ""
        raise ArgumentError(f"there is no variable {name!r}{near or literal}") from None


def own_variables(variables: Mapping[str, Any], kind: type[Any] = object) -> list[str]:
    """Return the names of the variables of a kind that a user has made; what Python and IPython put there is none."""
    return [
        name
        for name, value in variables.items()
        if isinstance(value, kind)
        and not name.startswith("_")
        and name not in _OF_IPYTHON
        and not (hasattr(builtins, name) and value is getattr(builtins, name))
    ]


def given(read: Callable[[str], Any] | None, value: Any) -> Any:
    """Return an object in place of what ``read`` makes of a text, checked as that would be; None: a flag."""
    return _CHECKS[read](value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ArgumentError(f"it is true or false, not {shown(value)}")
    return value


def _text(value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, str):
        raise ArgumentError(f"it is a text, not {shown(value)}")
    return value


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value, key=str) if isinstance(value, set | frozenset) else list(value)
        for item in items:
            if not isinstance(item, str):
                raise ArgumentError(f"it is a list of texts, and {shown(item)} is none")
        return tuple(items)
    raise ArgumentError(f"it is a text or a list of them, not {shown(value)}")


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ArgumentError(f"it is a number, not {shown(value)}")
    return value


def _anything(value: Any) -> Any:
    return value


def _no_object(value: Any) -> str:
    raise ArgumentError("it is the name of a variable, written without $")


_CHECKS: dict[Callable[[str], Any] | None, Callable[[Any], Any]] = {
    None: _flag,
    as_json: _anything,
    as_names: _names,
    as_number: _number,
    as_object: _anything,
    as_text: _text,
    as_variable: _no_object,
}
