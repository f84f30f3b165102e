"""The tags of a template: found with their places, checked, and put into words the library knows.

The library (``dotpromptz-handlebars``) tells no line of an error, and renders a few constructs of
Handlebars wrongly without a word: ``{{^name}}`` sections, ``{{^}}``, ``a.0.b`` and ``.length``. Those
are rewritten here; whatever prints a value becomes a call of our own helper, which sees to its text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from agentctx_nb.errors import TemplateError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["INVERSE", "LENGTH", "OUT", "Tag", "rewritten", "tags_of"]

# Names of our own helpers: no value can be called so.
OUT, INVERSE, LENGTH = "agentctx:out", "agentctx:inverse", "agentctx:length"
BLOCKS = ("if", "unless", "each", "with")
HELPERS = ("lookup",)
LONGEST = 1_000_000
MOST_TAGS = 20_000
DEEPEST = 100

_TAG = re.compile(r"\{\{(?P<strip>~?)(?P<kind>!--|[!#^/&>{]|)(?P<body>.*?)(?P<end>~?)\}\}", re.DOTALL)
_WORD = re.compile(r"""\s+|"(?:\\.|[^"])*"|'(?:\\.|[^'])*'|\[[^\]]*\]|[()]|\|[^|]*\||[^\s()"'|]+""")
_INDEX = re.compile(r"(?<=[./])(\d+)(?=[./]|$)")


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag: ``kind`` is its mark (``#``, ``^``, ``/``, ``&``, ``{`` or none), ``words`` what stands in it.

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

    def error(self, said: str) -> TemplateError:
        """Return an error about this tag."""
        return TemplateError(f"{self.place}: {said}", line=self.line, column=self.column)


def tags_of(template: str) -> list[Tag]:
    """Return the tags in order, comments and escaped ones left out.

    Raises
    ------
    TemplateError
        A tag is never closed, blocks do not match, a helper is unknown, or the template is past all limits.
    """
    if len(template) > LONGEST:
        raise TemplateError(f"the template has {len(template):,} characters; {LONGEST:,} are the most")
    tags = list(_scan(template))
    if len(tags) > MOST_TAGS:
        raise TemplateError(f"the template has {len(tags):,} tags; {MOST_TAGS:,} are the most")
    _check_blocks(tags)
    return tags


def rewritten(template: str, tags: list[Tag]) -> str:
    """Return the template in words the library renders rightly."""
    pieces, at = [], 0
    closes: list[str] = []
    for tag in tags:
        pieces.append(template[at : tag.start])
        pieces.append(_tag_for_library(tag, closes))
        at = tag.end
    return "".join([*pieces, template[at:]])


def _scan(template: str) -> Iterator[Tag]:
    at, line, line_start = 0, 1, 0
    while (start := template.find("{{", at)) >= 0:
        line += template.count("\n", line_start, start)
        line_start = template.rfind("\n", 0, start) + 1
        place = {"line": line, "column": start - line_start + 1}
        slashes = len(template[at:start]) - len(template[at:start].rstrip("\\"))
        if slashes == 1:
            at = start + 2
            continue
        if template.startswith("{{{{", start):
            raise TemplateError(
                f"line {line}, column {place['column']}: raw blocks are not supported", **place
            )
        comment = re.compile(r"\{\{~?!--.*?--~?\}\}", re.DOTALL).match(template, start)
        triple = re.compile(r"\{\{\{(?P<body>.*?)\}\}\}", re.DOTALL).match(template, start)
        found = comment or triple or _TAG.match(template, start)
        if found is None:
            raise TemplateError(
                f"line {line}, column {place['column']}: a tag is never closed; write }}}} after it, "
                "or \\{{ for the two characters",
                **place,
            )
        at = found.end()
        if comment or (not triple and found["kind"].startswith("!")):
            continue
        kind = "{" if triple else found["kind"]
        words = _words(found["body"])
        tag = Tag(
            kind,
            words,
            start,
            at,
            line,
            place["column"],
            strip_before=not triple and bool(found["strip"]),
            strip_after=not triple and bool(found["end"]),
        )
        if kind == ">" or (kind == "#" and words[:1] in ((">",), ("*inline",))):
            raise tag.error("partials are not supported; put the text into the values instead")
        if not words and kind != "^":
            raise tag.error("a tag is empty; write a name in it")
        yield tag


def _words(body: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(body) if not word.isspace())


def _check_blocks(tags: list[Tag]) -> None:
    open_blocks: list[Tag] = []
    done_else: list[bool] = []
    for tag in tags:
        _check_calls(tag)
        name = tag.words[0] if tag.words else ""
        if tag.kind == "#" or (tag.kind == "^" and tag.words):
            if tag.kind == "#" and len(tag.words) > 1 and name not in BLOCKS:
                raise tag.error(f"there is no block helper {name!r}{did_you_mean(name, BLOCKS)}")
            if name in BLOCKS and len(tag.words) < 2 and tag.kind == "#":
                raise tag.error(f"#{name} needs a value: {{{{#{name} value}}}}")
            open_blocks.append(tag)
            done_else.append(False)
            if len(open_blocks) > DEEPEST:
                raise tag.error(f"blocks are nested more than {DEEPEST} deep")
        elif tag.kind == "/":
            if not open_blocks:
                raise tag.error(f"{{{{/{name}}}}} closes a block that was never opened")
            opened = open_blocks.pop()
            done_else.pop()
            if opened.words[0] != name:
                raise tag.error(f"{{{{/{name}}}}} closes the {opened.words[0]!r} opened at {opened.place}")
        elif name == "else" or tag.kind == "^":
            if not open_blocks:
                raise tag.error("an else stands outside a block")
            if done_else[-1]:
                raise tag.error("a second else in one block would never be rendered")
            done_else[-1] = len(tag.words) < 2
            if len(tag.words) > 1 and tag.words[1] not in BLOCKS:
                raise tag.error(f"else {tag.words[1]} is no block{did_you_mean(tag.words[1], BLOCKS)}")
        elif len(tag.words) > 1 and name not in HELPERS:
            raise tag.error(f"there is no helper {name!r}{did_you_mean(name, (*HELPERS, *BLOCKS))}")
    if open_blocks:
        raise open_blocks[-1].error(f"{{{{#{open_blocks[-1].words[0]}}}}} is never closed")


def _check_calls(tag: Tag) -> None:
    for bracket, helper in pairwise(tag.words):
        if bracket == "(" and helper not in HELPERS:
            raise tag.error(f"there is no helper {helper!r}{did_you_mean(helper, HELPERS)}")
    if tag.words.count("(") != tag.words.count(")"):
        raise tag.error("a bracket is never closed")


def _tag_for_library(tag: Tag, closes: list[str]) -> str:
    before, after = "~" * tag.strip_before, "~" * tag.strip_after
    words = [_word_for_library(word) for word in tag.words]
    name = tag.words[0] if tag.words else ""
    kind = tag.kind
    if kind == "#":
        closes.append(words[0])
        body = " ".join(words)
    elif kind == "/":
        body = closes.pop()
    elif kind == "^" and words:
        closes.append(INVERSE)
        kind, body = "#", f"{INVERSE} {' '.join(words)}"
    elif name == "else" or kind == "^":
        kind, body = "", " ".join(words) or "else"
    else:
        call = f"({' '.join(words)})" if len(words) > 1 else words[0]
        if call[0] in "\"'":  # alone in a tag, a text in quotes is a name
            call = f"[{call[1:-1]}]"
        kind, body = "", f"{OUT} {tag.start} {call}"
    return f"{{{{{before}{kind}{body}{after}}}}}"


def _word_for_library(word: str) -> str:
    if word[0] in "\"'|(" or word == ")":
        return word
    name, equals, value = word.partition("=")
    if equals and name.isidentifier():
        return f"{name}={_word_for_library(value)}" if value else word
    if word.endswith(".length") and not word.startswith("["):
        return f"({LENGTH} {_INDEX.sub(_bracketed, word.removesuffix('.length'))})"
    return _INDEX.sub(_bracketed, word)


def _bracketed(index: re.Match[str]) -> str:
    return f"[{index[1]}]"
