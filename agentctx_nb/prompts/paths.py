"""What each tag of a template prints, as a path from the root: who wrote it is told by where that begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentctx_nb.prompts.tags import is_else

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentctx_nb.prompts.tags import Tag

__all__ = ["paths_of"]

_STEPS_INTO = ("each", "with")
_TESTS = ("if", "unless")


class _Open(NamedTuple):
    """An open block: what it steps into (None where it only tests), and its names for that."""

    into: str | None
    names: tuple[str, ...] = ()


def paths_of(tags: Iterable[Tag]) -> dict[int, str]:
    """Map the start of each tag that prints to the path of what it prints.

    >>> from agentctx_nb.prompts.tags import tags_of
    >>> template = "{{#each rows}}{{name}} {{this}} {{../city}}{{/each}}{{name}}"
    >>> list(paths_of(tags_of(template)).values())
    ['rows.name', 'rows', 'city', 'name']
    """
    around: list[_Open] = []
    paths: dict[int, str] = {}
    for tag in tags:
        if tag.kind.startswith("!"):
            continue
        if tag.opens:
            around.append(_opened(tag.kind, tag.words, around))
        elif tag.kind == "/":
            del around[-1:]
        elif is_else(tag):
            del around[-1:]
            around.append(_opened("#", tag.words[1:], around) if len(tag.words) > 1 else _Open(None))
        else:
            words = tag.words[1:] if tag.words[0] == "lookup" and len(tag.words) > 1 else tag.words
            paths[tag.start] = _path(words[0], around)
    return paths


def _opened(kind: str, words: tuple[str, ...], around: list[_Open]) -> _Open:
    helper = words[0]
    if helper in _TESTS or kind == "^":
        return _Open(None)
    value = words[1] if helper in _STEPS_INTO and len(words) > 1 else helper
    names = tuple(name for word in words if word[0] == "|" for name in word.strip("|").split())
    return _Open(_path(value, around), names)


def _path(name: str, around: list[_Open]) -> str:
    contexts = ["", *(block.into for block in around if block.into is not None)]
    if name.startswith("@root"):
        contexts, name = contexts[:1], name[len("@root") :].lstrip("./") or "this"
    while name.startswith(".."):
        contexts, name = contexts[:-1] or contexts, name[2:].lstrip("/") or "this"
    name = name.removeprefix("this/").removeprefix("this.").removeprefix("./").replace("/", ".")
    first, dot, rest = name.partition(".")
    for block in reversed(around):
        if first in block.names:
            return f"{block.into}{dot}{rest}"
    if name in ("this", "") or name[0] == "@":  # the place in a list, or the key, is of what holds it
        return contexts[-1]
    return f"{contexts[-1]}.{name}" if contexts[-1] else name
