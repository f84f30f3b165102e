"""A template put into words the library renders rightly.

The library (``dotpromptz-handlebars``) renders a few constructs of Handlebars wrongly without a word, or
not at all: ``{{^name}}`` sections, ``{{^}}``, ``{{else each x}}``, ``a.0.b``, ``.length``, a character of
a text, and lines that hold nothing but a tag. It gets them in other words; whatever prints a value becomes
a call of our own helper, which sees to its text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentctx_nb.prompts.tags import is_else
from agentctx_nb.prompts.tree import Block, Branch, Text, tree_of
from agentctx_nb.prompts.whitespace import cut_whitespace

if TYPE_CHECKING:
    from agentctx_nb.prompts.tags import Tag

__all__ = ["ITEM", "LENGTH", "OUT", "SECTION", "alone", "rewritten"]

# Names of our own helpers: no value can be called so.
OUT, ITEM, LENGTH, SECTION = "agentctx:out", "agentctx:item", "agentctx:length", "agentctx:section"

_INDEX = re.compile(r"(?<=[./])(\d+)(?=[./]|$)")
_ITEM = re.compile(r"(?<=[^./])[./](?:\[(\d+)\]|(\d+)(?=[./]|$))")
_SEGMENT = re.compile(r"\[([^\]]*)\]|([^./\[\]]+)")


def rewritten(template: str, tags: list[Tag], *, guard: str) -> str:
    """Return the template for the library; ``guard`` is a character to be dropped from what it renders.

    It stands where a text would otherwise be read as a tag, or cut.
    """
    root = tree_of(template, tags)
    cut_whitespace(root)
    pieces: list[str] = []
    _write(root, pieces, guard)
    return "".join([*pieces, guard])


def alone(tag: Tag) -> str:
    """Return one tag for the library, a block with nothing in it; no text where the tag is part of a block."""
    if tag.opens:
        return f"{{{{#{' '.join(map(_word, tag.words))}}}}}{{{{/{_section_name(tag.words[0])}}}}}"
    if tag.kind in ("/", "!") or is_else(tag):
        return ""
    return f"{{{{{OUT} 0 {_printed(tag)}}}}}"


def _write(branch: Branch, pieces: list[str], guard: str) -> None:
    for node in branch.nodes:
        if isinstance(node, Text):
            pieces.append(_guarded(node.value, guard))
        elif isinstance(node, Block):
            _write_block(node, pieces, guard)
        elif node.kind != "!":
            pieces.append(f"{{{{{OUT} {node.start} {_printed(node)}}}}}")


def _write_block(block: Block, pieces: list[str], guard: str) -> None:
    if len(block.words) == 1:
        name = _section_name(block.words[0])
        words = [SECTION, name] if name.startswith("(") else [name]
    else:
        words = [_word(word) for word in block.words]
    pieces.append(f"{{{{#{' '.join(words)}}}}}")
    if block.body is not None:
        _write(block.body, pieces, guard)
    if block.inverse is not None:
        pieces.append("{{else}}")
        _write(block.inverse, pieces, guard)
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
    return f"[{call[1:-1]}]" if call[0] in "\"'" else call


def _word(word: str) -> str:
    if word[0] in "\"'|(" or word == ")":
        return word
    name, equals, value = word.partition("=")
    if equals and name.isidentifier():
        return f"{name}={_word(value)}" if value else word
    if word.endswith(".length") and not word.startswith("["):
        return f"({LENGTH} {_word(word.removesuffix('.length'))})"
    return _items(word)


def _items(path: str) -> str:
    """Return a path with numbers in it as calls that take one step each: a text has characters, too."""
    first = _ITEM.search(path)
    if first is None:
        return path
    call = path[: first.start()]
    for bracketed, name in _SEGMENT.findall(path[first.start() :]):
        call = f'({ITEM} {call} "{bracketed or name}")'
    return call


def _section_name(word: str) -> str:
    """Return what a section enters, which the library knows by its name alone."""
    return _word(word) if word.endswith(".length") else _INDEX.sub(_bracketed, word)


def _bracketed(index: re.Match[str]) -> str:
    return f"[{index[1]}]"
