"""A template put into words the library renders rightly.

The library (``dotpromptz-handlebars``) renders a few constructs of Handlebars wrongly without a word, or
not at all: ``{{^name}}`` sections, ``{{^}}``, ``{{else each x}}``, ``a.0.b``, ``.length``, a character of
a text, and lines that hold nothing but a tag. It gets them in other words; whatever prints a value becomes
a call of our own helper, which sees to its text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentctx_nb.prompts.tags import is_else, steps_of
from agentctx_nb.prompts.tree import Block, Branch, Text, tree_of
from agentctx_nb.prompts.whitespace import cut_whitespace

if TYPE_CHECKING:
    from agentctx_nb.prompts.tags import Tag

__all__ = ["ITEM", "OUT", "ROUND", "SECTION", "alone", "rewritten"]

# Names of our own helpers: no value can be called so.
OUT, ITEM, SECTION, ROUND = "agentctx:out", "agentctx:item", "agentctx:section", "agentctx:round"

_INDEX = re.compile(r"(?<=[./])(\d+)(?=[./]|$)")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_STEP = re.compile(r"(?P<climb>\.\.(?![^./]))|\[(?P<bracketed>[^\]]*)\]|(?P<name>[^./\[]+)")
_ODD = re.compile(r"[\s\"'()=|\\]")  # what the library takes for something else, though in brackets


def rewritten(template: str, tags: list[Tag], *, guard: str) -> str:
    """Return the template for the library; ``guard`` is a character to be dropped from what it renders.

    It stands where a text would otherwise be read as a tag, or cut.
    """
    root = tree_of(template, tags)
    cut_whitespace(root)
    pieces: list[str] = []
    _write(root, pieces, guard, in_loop=False)
    return "".join([*pieces, guard])


def alone(tag: Tag) -> str:
    """Return one tag for the library, a block with nothing in it; no text where the tag is part of a block."""
    if tag.opens:
        return f"{{{{#{' '.join(map(_word, tag.words))}}}}}{{{{/{_section_name(tag.words[0])}}}}}"
    if tag.kind in ("/", "!") or is_else(tag):
        return ""
    return f"{{{{{OUT} 0 {_printed(tag)}}}}}"


def _write(branch: Branch, pieces: list[str], guard: str, *, in_loop: bool) -> None:
    if in_loop:  # what is written round after round is counted while it is
        texts = sum(len(node.value) for node in branch.nodes if isinstance(node, Text))
        pieces.append(f"{{{{{ROUND} {texts}}}}}")
    for node in branch.nodes:
        if isinstance(node, Text):
            pieces.append(_guarded(node.value, guard))
        elif isinstance(node, Block):
            _write_block(node, pieces, guard, in_loop=in_loop)
        elif node.kind != "!":
            pieces.append(f"{{{{{OUT} {node.start} {_printed(node)}}}}}")


def _write_block(block: Block, pieces: list[str], guard: str, *, in_loop: bool) -> None:
    if len(block.words) == 1:
        name = _section_name(block.words[0])
        words = [SECTION, name] if name.startswith("(") else [name]
    else:
        words = [_word(word) for word in block.words]
    pieces.append(f"{{{{#{' '.join(words)}}}}}")
    goes_round = len(block.words) == 1 or words[0] == "each"
    if block.body is not None:
        _write(block.body, pieces, guard, in_loop=in_loop or goes_round)
    if block.inverse is not None:
        pieces.append("{{else}}")
        _write(block.inverse, pieces, guard, in_loop=in_loop)
    pieces.append(f"{{{{/{words[0]}}}}}")


def _guarded(text: str, guard: str) -> str:
    text = text.replace("{", "{" + guard)
    if text[:1].isspace():
        text = guard + text
    return text + guard if text.endswith("\\") else text


def _printed(tag: Tag) -> str:
    words = [_word(word) for word in tag.words]
    call = f"({' '.join(words)})" if len(words) > 1 else words[0]
    # Alone in a tag, a text in quotes is a name.
    return _items(f"[{call[1:-1]}]") if call[0] in "\"'" else call


def _word(word: str) -> str:
    if word[0] in "\"'|(" or word == ")" or _NUMBER.fullmatch(word):
        return word
    name, equals, value = word.partition("=")
    if equals and name.isidentifier():
        return f"{name}={_word(value)}" if value else word
    return _items(word)


def _items(path: str) -> str:
    """Return a path with numbers or ``length`` in it as calls that take one step each: a text has characters, too."""
    call = ""
    for step in _STEP.finditer(path):
        name = step["bracketed"] if step["name"] is None else step["name"]
        if name is None:  # a climb
            continue
        if not call:
            if not _needs_call(step, name):
                continue
            begin = path[: step.start()]
            begin = begin[:-1] if len(begin) > 1 and begin[-1] in "./" and not begin.endswith("..") else begin
            call = "this" if begin in ("", ".", "./") else begin
            if not begin and name == "length":  # which may be a name the block gives
                call = f"({ITEM} this {_quoted(name)} length)"
                continue
        call = f"({ITEM} {call} {_quoted(name)})"
    return call or path


def _needs_call(step: re.Match[str], name: str) -> bool:
    if step["bracketed"] is not None:
        return name.isdecimal() or name == "length" or _ODD.search(name) is not None
    return name == "length" or (step.start() > 0 and name.isdecimal())


def _quoted(name: str) -> str:
    return f"'{name}'" if '"' in name else f'"{name}"'


def _section_name(word: str) -> str:
    """Return what a section enters, which the library knows by its name alone."""
    return _word(word) if steps_of(word)[-1:] == ["length"] else _INDEX.sub(_bracketed, word)


def _bracketed(index: re.Match[str]) -> str:
    return f"[{index[1]}]"
