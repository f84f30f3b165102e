"""The tags of a template: found with their places, and checked.

The library (``dotpromptz-handlebars``) tells no line of an error; whoever wrote the template needs one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from agentctx_nb.errors import TemplateError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BLOCKS", "GIVEN_BY_NAME", "HELPERS", "Tag", "is_else", "steps_of", "tags_of"]

BLOCKS = ("if", "unless", "each", "with")
HELPERS = ("lookup",)
LONGEST = 1_000_000
MOST_TAGS = 20_000
DEEPEST = 100
MOST_STEPS = 100  # of a path, and of calls inside one another

_COMMENT = re.compile(r"\{\{(?P<strip>~?)!--.*?--(?P<end>~?)\}\}", re.DOTALL)
_TRIPLE = re.compile(r"\{\{(?P<strip>~?)\{(?P<body>.*?)\}(?P<end>~?)\}\}", re.DOTALL)
_TAG = re.compile(r"\{\{(?P<strip>~?)(?P<kind>!--|[!#^/&>]|)(?P<body>.*?)(?P<end>~?)\}\}", re.DOTALL)
_BEGINNINGS = {_COMMENT: ("{{!--", "{{~!--"), _TRIPLE: ("{{{", "{{~{")}
GIVEN_BY_NAME = re.compile(r"\w+=(.+)", re.DOTALL)
# Each pattern tells at its first characters how it goes on, so that none is tried twice; what is not closed
# is a word of its own.
_WORD = re.compile(
    r"""
    \s+ | [()] | \|[^|]*\|?
    | "(?:[^"\\]|\\"?)*" | '(?:[^'\\]|\\'?)*' | ["']
    | (?:[^\s()"'|\[]|\[[^\]]*\]?)+
    """,
    re.VERBOSE,
)
_STEP = re.compile(r"\[([^\]]*)\]?|(\.\.(?![^./]))|([^./\[]+)")
_OPENED = {'"': "a quote", "'": "a quote", "|": "a bar"}


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag: ``kind`` is its mark (``#``, ``^``, ``/``, ``&``, ``{``, ``!`` or none), ``words`` what stands in it.

    ``start`` and ``end`` are offsets in the template; ``line`` and ``column`` count from 1.
    """

    kind: str
    words: tuple[str, ...]
    start: int
    end: int
    line: int
    column: int
    strip_before: bool
    strip_after: bool

    @property
    def place(self) -> str:
        """Where it stands, as an error says it."""
        return f"line {self.line}, column {self.column}"

    @property
    def opens(self) -> bool:
        """Whether it opens a block."""
        return self.kind == "#" or (self.kind == "^" and bool(self.words))

    def error(self, said: str) -> TemplateError:
        """Return an error about this tag."""
        return TemplateError(f"{self.place}: {said}", line=self.line, column=self.column)


def is_else(tag: Tag) -> bool:
    """Whether the tag is an else, or one with another block in it."""
    return tag.words[:1] == ("else",) if tag.words else tag.kind == "^"


def tags_of(template: str) -> list[Tag]:
    """Return the tags in order, comments too, escaped ones left out.

    Raises
    ------
    TemplateError
        A tag is never closed, blocks do not match, a helper is unknown, or the template is past all limits.
    """
    if len(template) > LONGEST:
        raise TemplateError(f"the template has {len(template):,} characters; {LONGEST:,} are the most")
    tags: list[Tag] = []
    for tag in _scan(template):
        tags.append(tag)
        if len(tags) > MOST_TAGS:
            raise TemplateError(f"the template has more than {MOST_TAGS:,} tags, which are the most")
    _check_blocks(tag for tag in tags if tag.kind != "!")
    return tags


def _scan(template: str) -> Iterator[Tag]:
    at, line, line_start, counted = 0, 1, 0, 0
    unclosed = set[re.Pattern[str]]()  # what closes nowhere from here on is not searched again
    while (start := template.find("{{", at)) >= 0:
        line += template.count("\n", counted, start)
        line_start = max(line_start, template.rfind("\n", counted, start) + 1)
        counted = start
        place = {"line": line, "column": start - line_start + 1}
        slashes = len(template[at:start]) - len(template[at:start].rstrip("\\"))
        if slashes == 1:
            at = start + 2
            continue
        if template.startswith("{{{{", start):
            raise TemplateError(
                f"line {line}, column {place['column']}: raw blocks are not supported", **place
            )
        comment = _closed(_COMMENT, template, start, unclosed)
        triple = _closed(_TRIPLE, template, start, unclosed)
        found = comment or triple or _TAG.match(template, start)
        if found is None:
            raise TemplateError(
                f"line {line}, column {place['column']}: a tag is never closed; write }}}} after it, "
                "or \\{{ for the two characters",
                **place,
            )
        at = found.end()
        kind = "!" if comment else "{" if triple else found["kind"][:1]
        tag = Tag(
            kind,
            () if kind == "!" else _words(found["body"]),
            start,
            at,
            **place,
            strip_before=bool(found["strip"]),
            strip_after=bool(found["end"]),
        )
        if kind == ">" or (kind == "#" and tag.words[:1] in ((">",), ("*inline",))):
            raise tag.error("partials are not supported; put the text into the values instead")
        if not tag.words and kind not in ("^", "!"):
            raise tag.error("a tag is empty; write a name in it")
        for word in tag.words:
            _check_word(tag, word)
        yield tag


def _closed(
    pattern: re.Pattern[str], template: str, start: int, unclosed: set[re.Pattern[str]]
) -> re.Match[str] | None:
    """Match a tag of a kind that ends in a way of its own, one search to the end of the template at most."""
    if pattern in unclosed or not template.startswith(_BEGINNINGS[pattern], start):
        return None
    found = pattern.match(template, start)
    if found is None:
        unclosed.add(pattern)
    return found


def _words(body: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(body) if not word.isspace())


def _check_word(tag: Tag, word: str) -> None:
    if word[0] in _OPENED:
        if len(word) < 2 or word[-1] != word[0]:
            raise tag.error(f"{_OPENED[word[0]]} is never closed")
        return
    if word.rfind("[") > word.rfind("]"):
        raise tag.error("a [ is never closed")
    if len(word) > MOST_STEPS and len(steps_of(word)) + word.count("=") > MOST_STEPS:
        raise tag.error(f"a name has more than {MOST_STEPS} steps")


def steps_of(path: str) -> list[str]:
    """Return the names a path goes through; ``..`` stays one of them, ``.`` and ``this`` do not.

    >>> steps_of("../user.[full name].this/0"), steps_of("./this")
    (['..', 'user', 'full name', '0'], [])
    """
    found = [(bracketed, climb or name) for bracketed, climb, name in _STEP.findall(path)]
    return [bracketed or name for bracketed, name in found if bracketed or name not in ("", "this")]


def _check_blocks(tags: Iterator[Tag]) -> None:
    open_blocks: list[Tag] = []
    else_ifs: list[int] = []
    done_else: list[bool] = []
    for tag in tags:
        _check_calls(tag)
        name = tag.words[0] if tag.words else ""
        if tag.opens:
            if len(tag.words) > 1 and name not in BLOCKS:
                raise tag.error(f"there is no block helper {name!r}{did_you_mean(name, BLOCKS)}")
            if name in BLOCKS and len(tag.words) < 2:
                raise tag.error(f"#{name} needs a value: {{{{{tag.kind}{name} value}}}}")
            _check_values(tag, tag.words)
            open_blocks.append(tag)
            else_ifs.append(0)
            done_else.append(False)
        elif tag.kind == "/":
            if not open_blocks:
                raise tag.error(f"{{{{/{name}}}}} closes a block that was never opened")
            opened = open_blocks.pop()
            else_ifs.pop()
            done_else.pop()
            if opened.words[0] != name:
                raise tag.error(f"{{{{/{name}}}}} closes the {opened.words[0]!r} opened at {opened.place}")
        elif is_else(tag):
            if not open_blocks:
                raise tag.error("an else stands outside a block")
            if done_else[-1]:
                raise tag.error("a second else in one block would never be rendered")
            done_else[-1] = len(tag.words) < 2
            else_ifs[-1] += len(tag.words) > 1
            if len(tag.words) > 1 and tag.words[1] not in BLOCKS:
                raise tag.error(f"else {tag.words[1]} is no block{did_you_mean(tag.words[1], BLOCKS)}")
            if len(tag.words) == 2:
                raise tag.error(f"else {tag.words[1]} needs a value: {{{{else {tag.words[1]} value}}}}")
            _check_values(tag, tag.words[1:])
        elif len(tag.words) > 1 and name not in HELPERS:
            raise tag.error(f"there is no helper {name!r}{did_you_mean(name, (*HELPERS, *BLOCKS))}")
        if len(open_blocks) + sum(else_ifs) > DEEPEST:
            raise tag.error(f"blocks and their else-ifs are nested more than {DEEPEST} deep")
    if open_blocks:
        raise open_blocks[-1].error(f"{{{{#{open_blocks[-1].words[0]}}}}} is never closed")


def _check_values(tag: Tag, words: tuple[str, ...]) -> None:
    """Raise unless the block has one value; what is given by name, or bound, is none."""
    values, depth = 0, 0
    for word in words[1:]:
        depth -= word == ")"
        if depth == 0 and word not in (")", "as") and word[0] != "|" and not GIVEN_BY_NAME.match(word):
            values += 1
        depth += word == "("
    if values > 1:
        raise tag.error(f"#{words[0]} takes one value, not {values}")


def _check_calls(tag: Tag) -> None:
    if tag.words.count("(") > MOST_STEPS:
        raise tag.error(f"a tag has more than {MOST_STEPS} calls")
    for bracket, helper in pairwise(tag.words):
        if bracket == "(" and helper not in HELPERS:
            raise tag.error(f"there is no helper {helper!r}{did_you_mean(helper, HELPERS)}")
    if tag.words.count("(") != tag.words.count(")"):
        raise tag.error("a bracket is never closed")
