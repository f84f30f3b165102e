"""What a person wrote: fields in snake_case or, from a TypeScript agent, camelCase; values as errors name them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionError, DefinitionTypeError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["check_name", "counted", "first_line", "kind_name", "known_fields", "shown", "snake_case"]

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST_SHOWN = 80  # characters; an error is one line
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def counted(number: int, noun: str) -> str:
    """Return the number with its noun.

    >>> counted(1, "token"), counted(1200, "token")
    ('1 token', '1,200 tokens')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def kind_name(value: object) -> str:
    """Return the name of the class of ``value``, also where its metaclass has a name of its own or none to tell.

    >>> kind_name(1.5)
    'float'
    """
    name: str = type.__dict__["__name__"].__get__(type(value))
    return name


def shown(value: object) -> str:
    """Return how an error names a wrong value: as written where that is short and always the same, else its kind.

    >>> shown("5s"), shown(object()), shown("x" * 1000)
    ("'5s'", 'an object', 'a long str')
    """
    kind = kind_name(value)
    try:
        text = repr(value)
    except KeyboardInterrupt:  # the user's own
        raise
    except BaseException:  # noqa: BLE001  what is wrong is to be said, whatever the value does
        text = "\n"
    if len(text) > _LONGEST_SHOWN and isinstance(value, str | bytes | int | list | tuple | dict):
        return f"a long {kind}"
    if len(text) > _LONGEST_SHOWN or "\n" in text or _ADDRESS.search(text):
        return f"{'an' if kind[:1] in 'aeiouAEIOU' else 'a'} {kind}"
    return text


def first_line(docstring: str | None) -> str | None:
    """Return the first line that says something, or None."""
    lines = (docstring or "").strip().splitlines()
    return lines[0] if lines else None


def check_name(name: object, *, of: str) -> None:
    """Raise `DefinitionTypeError` unless ``name`` is a string; ``of`` says whose name it would be."""
    if not isinstance(name, str):
        raise DefinitionTypeError(f"the name of {of} is a string, not {shown(name)}")


def snake_case(name: str) -> str:
    """Return ``name`` in snake_case.

    >>> snake_case("relevanceKeywords"), snake_case("room_id")
    ('relevance_keywords', 'room_id')
    """
    return _HUMP.sub("_", name).lower()


def known_fields(given: Mapping[Any, Any], fields: Iterable[str], *, of: str) -> dict[str, Any]:
    """Return ``given`` with its keys in snake_case, each of them one of ``fields``.

    Raises
    ------
    DefinitionTypeError
        A key is not a string.
    DefinitionError
        A key is not a field, or a field is given in both spellings.
    """
    allowed = list(fields)
    found: dict[str, Any] = {}
    for key, value in given.items():
        if not isinstance(key, str):
            raise DefinitionTypeError(f"a key of {of} must be a string, not {shown(key)}")
        name = key if key in allowed else snake_case(key)
        if name not in allowed:
            raise DefinitionError(
                f"{of} has no field {shown(key)}{did_you_mean(key, allowed) or '; it has ' + ', '.join(allowed)}"
            )
        if name in found:
            raise DefinitionError(f"{of} gives {name!r} twice, as {shown(key)} and in the other spelling")
        found[name] = value
    return found
