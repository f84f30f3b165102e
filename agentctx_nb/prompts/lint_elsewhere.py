"""What renders differently in elizaOS itself, or not at all, than it does here.

elizaOS turns ``{{…}}`` into ``{{{…}}}`` by a regular expression before Handlebars sees a template. All of
this was observed on ``@elizaos/core`` 1.7.2 and 2.0.0-alpha.537 with ``handlebars`` 4.7.10.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from agentctx_nb.prompts.tags import is_else
from agentctx_nb.prompts.tree import Block, Branch, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentctx_nb.prompts.tags import Tag

__all__ = ["differences"]

# Names that are helpers in Handlebars, and no values.
_TAKEN = frozenset((
    "if", "unless", "each", "with", "lookup", "log", "helperMissing", "blockHelperMissing",
))  # fmt: skip
_ADDING = (
    "elizaOS adds up values that begin a template or a branch with nothing between them, where they are "
    "numbers, or true and false: 3 and 4 give 7, not 34; put a text before or between them"
)
_ELSE_IF = (
    "elizaOS takes {{{{else {0}}}}} for a value: where the first condition fails it goes on to what follows "
    "{{{{else}}}}, and where it holds it raises; write {{{{else}}}} and a block inside it"
)
_INDEX = "Handlebars, and with it elizaOS, cannot read {} with a bare number at its end; write {}"
_HELPER = "in Handlebars, and with it in elizaOS, {} is a helper and no value; call it otherwise"
_BRACES = "Handlebars, and with it elizaOS, cannot read }}} here; write a space after the tag"
_COMMENT = "Handlebars, and with it elizaOS, cannot read a comment from {{!-- on that does not end with --}}"
_AMPERSAND = "elizaOS cannot read {{{{&{0}}}}}; write {{{{{0}}}}}, which it does not escape"
_BARE_INDEX = re.compile(r"[./]\d+$")
_ESCAPED = re.compile(r"(?<!\\)\\\{\{(?![{#/!>])")


def differences(template: str, tags: list[Tag], root: Branch) -> Iterator[tuple[str, str, int, int]]:
    """Yield (rule, sentence, line, column) for each place."""
    for tag in tags:
        for rule, said in _of_tag(tag, template):
            yield rule, said, tag.line, tag.column
    for tag in _adding(root):
        yield "numbers", _ADDING, tag.line, tag.column
    yield from _escaped(template, tags)


def _of_tag(tag: Tag, template: str) -> Iterator[tuple[str, str]]:
    written = template[tag.start : tag.end]
    if tag.kind == "!":
        if written.startswith(("{{!--", "{{~!--")) and not written.endswith(("--}}", "--~}}")):
            yield "comment", _COMMENT
    else:
        if template.startswith("}", tag.end):
            yield "braces", _BRACES
        yield from _of_words(tag)
    if tag.strip_before or (tag.strip_after and tag.kind not in ("#", "/", "!", "{")):
        yield "tilde", f"elizaOS cannot read {_short(written)} with its ~; cut the white space by hand"


def _of_words(tag: Tag) -> Iterator[tuple[str, str]]:
    if is_else(tag) and len(tag.words) > 1:
        yield "else if", _ELSE_IF.format(tag.words[1])
    elif tag.kind == "^":
        instead = f"{{{{#unless {tag.words[0]}}}}}" if tag.words else "{{else}}"
        yield "inverse", f"elizaOS cannot read {{{{^{' '.join(tag.words)}}}}}; write {instead}"
    elif tag.kind == "&":
        yield "ampersand", _AMPERSAND.format(" ".join(tag.words))
    for word in tag.words:
        if _BARE_INDEX.search(word):
            fixed = _BARE_INDEX.sub(lambda found: f".[{found[0][1:]}]", word)
            yield "index", _INDEX.format(word, fixed)
    prints = len(tag.words) == 1 and tag.kind in ("", "{", "&")
    if prints and tag.words[0] in _TAKEN:
        yield "helper", _HELPER.format(tag.words[0])


def _escaped(template: str, tags: list[Tag]) -> Iterator[tuple[str, str, int, int]]:
    comments = [tag for tag in tags if tag.kind == "!"]
    line, line_start, counted, end = 1, 0, 0, 0
    for found in _ESCAPED.finditer(template):
        start = found.start()
        if start < end:
            continue
        end = template.find("}}", found.end()) + 2
        if end < 2:  # nor is a later one closed
            return
        before = bisect_right(comments, start, key=lambda tag: tag.start)
        if before and start < comments[before - 1].end:
            continue
        if template[found.end() : end - 2].strip() == "else":
            continue
        line += template.count("\n", counted, start)
        line_start = max(line_start, template.rfind("\n", counted, start) + 1)
        counted = start
        said = (
            f"elizaOS renders {_short(template[start:end])} with three braces on each side, {{{{{{ and }}}}}}"
        )
        yield "escaped", said, line, start - line_start + 1


def _adding(branch: Branch) -> Iterator[Tag]:
    """Yield the second of two values that begin a branch with no text between them."""
    leading: list[Tag] = []
    still = True
    for node in branch.nodes:
        if isinstance(node, Block):
            for inner in (node.body, node.inverse):
                if inner is not None:
                    yield from _adding(inner)
        if isinstance(node, Text):
            still = still and not node.value
        elif isinstance(node, Block):
            still = still and _may_be_a_number(node)
            leading += [node.tag] if still else []
        elif node.kind != "!" and still:
            leading.append(node)
        if len(leading) == 2:
            yield leading[1]
            still = False
            leading.append(leading[1])  # told once


def _may_be_a_number(block: Block) -> bool:
    """Whether a branch of the block holds values and nothing else, so that it is what the value is."""
    if block.words[0] == "each":
        return False
    for branch in (block.body, block.inverse):
        nodes = [] if branch is None else branch.nodes
        shown = [node for node in nodes if not isinstance(node, Text) or node.value]
        if shown and all(
            _may_be_a_number(node) if isinstance(node, Block) else not isinstance(node, Text)
            for node in shown
        ):
            return True
    return False


def _short(written: str) -> str:
    line = " ".join(written.split())
    # All of it or nothing: a secret that is cut off is no longer found where secrets are hidden.
    return line if len(line) <= 40 else "this"
