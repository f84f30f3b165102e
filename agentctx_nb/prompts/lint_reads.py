"""What a template reads: every name whose meaning is certain, with where it stands and what guards it."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from agentctx_nb.prompts.tags import GIVEN_BY_NAME
from agentctx_nb.prompts.tree import Block, Branch, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentctx_nb.prompts.tags import Tag

__all__ = ["ENTERED", "PRINTED", "TESTED", "Path", "Read", "exclusive", "reads_of"]

Path: TypeAlias = "tuple[str, ...]"

PRINTED, TESTED, ENTERED = "printed", "tested", "entered"
_ROOT, _INSIDE, _SAME = "root", "inside", "same"  # what names are looked up in

_LITERAL = re.compile(r"""-?\d+(\.\d+)?$|(true|false|null|undefined)$|["'|]""")
_SEGMENT = re.compile(r"\[([^\]]*)\]|(\.\.)|([^./\[\]]+)")


class Read(NamedTuple):
    """One name a template looks up at its root.

    ``use`` says what for: "printed", "tested" by a condition, "entered" by a block. ``guards`` are the
    paths that hold where it stands; ``branches`` tells of each block around it, known by where it starts,
    whether this is its body.
    """

    path: Path
    tag: Tag
    use: str
    guards: tuple[Path, ...]
    branches: tuple[tuple[int, bool], ...]


def reads_of(root: Branch) -> tuple[list[Read], list[Tag], list[Tag]]:
    """Return the reads in order, and tags that climb by ``../``: out of a block that steps into ``this``, out of all."""
    reader = _Reader()
    reader.branch(root)
    return reader.reads, reader.climbing, reader.outside


def exclusive(read: Read, other: Read) -> bool:
    """Whether the two stand in different branches of one block, so that never both are rendered."""
    sides = dict(read.branches)
    return any(sides.get(block, side) != side for block, side in other.branches)


class _Reader:
    """Walks a tree with what is known on the way: what names are looked up in, and what guards them."""

    def __init__(self) -> None:
        self.reads: list[Read] = []
        self.climbing: list[Tag] = []
        self.outside: list[Tag] = []
        self._scopes = [_ROOT]
        self._guards: list[Path] = []
        self._branches: list[tuple[int, bool]] = []

    def branch(self, branch: Branch) -> None:
        for node in branch.nodes:
            if isinstance(node, Block):
                self._block(node)
            elif not isinstance(node, Text) and node.kind != "!":
                self._note(_printed(node.words), node, PRINTED)

    def _block(self, block: Block) -> None:
        words = block.words
        helper = words[0] if len(words) > 1 else ""
        values = _values(words) if helper else list(words[:1])
        use = ENTERED if helper in ("each", "with") else TESTED
        found = self._note(values, block.tag, use)
        guard = found[:1] if use == TESTED else []
        scope = None
        if helper not in ("if", "unless"):
            scope = _SAME if values[:1] in (["this"], ["."]) else _INSIDE
        self._side(block, block.body, guard if helper != "unless" else [], scope=scope)
        self._side(block, block.inverse, guard if helper == "unless" else [])

    def _side(
        self,
        block: Block,
        branch: Branch | None,
        guard: list[Path],
        *,
        scope: str | None = None,
    ) -> None:
        if branch is None:
            return
        scopes, guards = len(self._scopes), len(self._guards)
        self._scopes += [] if scope is None else [scope]
        self._guards += guard
        self._branches.append((block.tag.start, branch is block.body))
        self.branch(branch)
        self._branches.pop()
        del self._scopes[scopes:], self._guards[guards:]

    def _note(self, words: Iterable[str], tag: Tag, use: str) -> list[Path]:
        found = []
        for word in words:
            path = self._path(word, tag)
            if path:
                found.append(path)
                self.reads.append(Read(path, tag, use, tuple(self._guards), tuple(self._branches)))
        return found

    def _path(self, word: str, tag: Tag) -> Path | None:
        """Return the way from the root that ``word`` means, None where that is not certain."""
        if _LITERAL.match(word):
            return None
        segments = ["".join(found) for found in _SEGMENT.findall(word)]
        if word.startswith("@"):
            return tuple(segments[1:]) if segments[:1] == ["@root"] else None
        climbs = 0
        while segments[:1] == [".."]:
            del segments[0]
            climbs += 1
        if climbs and _SAME in self._scopes[-climbs:]:
            self.climbing.append(tag)
            return None
        if climbs >= len(self._scopes):
            self.outside.append(tag)
            return None
        if self._scopes[-1 - climbs] != _ROOT:
            return None
        if segments[:1] == ["this"]:
            return tuple(segments[1:])
        return tuple(segments)


def _printed(words: tuple[str, ...]) -> list[str]:
    if len(words) > 1:
        return _values(words)
    word = words[0]
    return [f"[{word[1:-1]}]" if word[0] in "\"'" else word]  # alone in a tag, a text in quotes is a name


def _values(words: tuple[str, ...]) -> list[str]:
    """Return the values among the words of a call: no helper's name, no bracket, no names it binds."""
    found = []
    for before, word in pairwise(words):
        if before == "(" or word in ("(", ")", "as") or word.startswith("|"):
            continue
        given = GIVEN_BY_NAME.match(word)
        found.append(given[1] if given else word)
    return found
