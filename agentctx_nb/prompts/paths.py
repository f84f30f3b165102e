"""What each tag of a template prints, as a path from the root: who wrote it is told by where that begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentctx_nb.prompts.tags import is_else, steps_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentctx_nb.prompts.tags import Tag

__all__ = ["Asked", "asked_by"]

_STEPS_INTO = ("each", "with")
_TESTS = ("if", "unless")


class Asked(NamedTuple):
    """What one tag asks for: ``path`` from the root, and how it says so.

    ``steps`` are the names it takes from where it begins: ``start`` is "here", "root", "above" (by ``../``),
    "bound" (a name its block gives), "data" (``@index`` and such), "call", or "nowhere": above the root.
    """

    path: tuple[str, ...]
    steps: tuple[str, ...]
    start: str

    def found_by(self, last: str, *, here: str | None) -> bool:
        """Whether ``last``, the path that was found last, is this one; ``here`` is what the block stands in.

        Asked of a tag whose value is None: it was there, or nothing was.
        """
        if self.start in ("nowhere", "data"):
            return False
        wanted = ".".join(self.steps)
        if not wanted:  # the very thing a block goes through
            return True
        if self.start == "root":
            return last == wanted
        if self.start == "here":
            return here is not None and last == here + wanted
        return last == wanted or last.endswith(f".{wanted}")


class _Open(NamedTuple):
    """An open block: what it steps into (None where it only tests), and its names for that."""

    into: tuple[str, ...] | None
    names: tuple[str, ...] = ()


def asked_by(tags: Iterable[Tag]) -> dict[int, Asked]:
    """Map the start of each tag that prints to what it asks for.

    >>> from agentctx_nb.prompts.tags import tags_of
    >>> template = "{{#each rows}}{{name}} {{this}} {{../city}}{{/each}}{{name}}"
    >>> [".".join(asked.path) for asked in asked_by(tags_of(template)).values()]
    ['rows.name', 'rows', 'city', 'name']
    """
    around: list[_Open] = []
    asked: dict[int, Asked] = {}
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
        elif tag.words[0] == "lookup" and len(tag.words) > 1:
            asked[tag.start] = _asked(tag.words[1], around)._replace(start="call")
        else:
            word = tag.words[0]
            asked[tag.start] = _asked(f"[{word[1:-1]}]" if word[0] in "\"'" else word, around)
    return asked


def _opened(kind: str, words: tuple[str, ...], around: list[_Open]) -> _Open:
    helper = words[0]
    if (helper in _TESTS and len(words) > 1) or kind == "^":
        return _Open(None)
    value = words[1] if helper in _STEPS_INTO and len(words) > 1 else helper
    names = tuple(name for word in words if word[0] == "|" for name in word.strip("|").split())
    return _Open(_asked(value, around).path, names)


def _asked(word: str, around: list[_Open]) -> Asked:
    contexts: list[tuple[str, ...]] = [(), *(block.into for block in around if block.into is not None)]
    steps = steps_of(word)
    start = "here"
    if word[0] == "@":
        is_root = steps[:1] == ["@root"]
        start, steps = ("root", steps[1:]) if is_root else ("data", [])
        contexts = contexts[:1] if is_root else contexts
    while steps[:1] == [".."]:
        steps = steps[1:]
        start = "nowhere" if len(contexts) < 2 or start == "nowhere" else "above"
        contexts = contexts[:-1] or contexts
    if start == "here" and steps and not word.startswith(("this.", "this/", "./")):
        for block in reversed(around):
            if steps[0] in block.names:
                return Asked(((block.into or ()) + tuple(steps[1:])), tuple(steps[1:]), "bound")
    return Asked(contexts[-1] + tuple(steps), tuple(steps), start)
