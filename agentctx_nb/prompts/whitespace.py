"""Whitespace in a template as Handlebars takes it: ``~``, and lines that hold nothing but a block's tag.

The library (``dotpromptz-handlebars``) takes spaces between two tags for the end of a line, and looks at
lines after ``~`` has changed them. So this is done here, on the tree, and the library is shown nothing to cut.
"""

from __future__ import annotations

from agentctx_nb.prompts.tree import Block, Branch, Node, Text

__all__ = ["cut_whitespace"]

# What JavaScript calls white space, which is not quite what Python does.
_WHITE = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_WHITE += "\u2028\u2029\u202f\u205f\u3000\ufeff"


def cut_whitespace(root: Branch) -> None:
    """Cut the texts of the whole tree in place."""
    _cut_branch(root, is_root=True)


def _cut_branch(branch: Branch, *, is_root: bool = False) -> None:
    nodes = branch.nodes
    for i, node in enumerate(nodes):
        if isinstance(node, Text):
            continue
        before = _ends_line(nodes, i, is_root=is_root)
        after = _begins_line(nodes, i, is_root=is_root)
        if isinstance(node, Block):
            opens_alone, closes_alone = _cut_block(node)
            strip_before = node.tag.strip_before
            strip_after = node.closing is not None and node.closing.strip_after
        else:
            opens_alone = closes_alone = False
            strip_before, strip_after = node.strip_before, node.strip_after
        if strip_after:
            _cut_start(nodes, i + 1, all_of_it=True)
        if strip_before:
            _cut_end(nodes, i, all_of_it=True)
        if not isinstance(node, Block):
            if node.kind == "!" and before and after:
                _cut_start(nodes, i + 1)
                _cut_end(nodes, i)
            continue
        if opens_alone and before:
            _cut_start(_either(node.body, node.inverse), 0)
            _cut_end(nodes, i)
        if closes_alone and after:
            _cut_start(nodes, i + 1)
            last = _either(node.inverse, node.body)
            _cut_end(last, len(last))


def _cut_block(block: Block) -> tuple[bool, bool]:
    """Cut inside a block; say whether its opening and its closing tag stand alone as seen from inside."""
    for branch in (block.body, block.inverse):
        if branch is not None:
            _cut_branch(branch)
    first = _either(block.body, block.inverse)
    other = block.inverse if block.body is not None else None
    second, last = other, other
    if other is not None and other.chained:
        second = _inner(other).body
        while last is not None and last.chained:
            last = _branch_after(last)
    if second is None or last is None:
        second_nodes = last_nodes = first
    else:
        second_nodes, last_nodes = second.nodes, last.nodes
    alone = _begins_line(first, -1), _ends_line(second_nodes, len(second_nodes))
    if block.tag.strip_after:
        _cut_start(first, 0, all_of_it=True)
    closes_tight = block.closing is not None and block.closing.strip_before
    if other is not None and block.middle is not None:
        if block.middle.strip_before:
            _cut_end(first, len(first), all_of_it=True)
        if block.middle.strip_after:
            _cut_start(second_nodes, 0, all_of_it=True)
        if closes_tight:
            _cut_end(last_nodes, len(last_nodes), all_of_it=True)
        if _ends_line(first, len(first)) and _begins_line(second_nodes, -1):
            _cut_end(first, len(first))
            _cut_start(second_nodes, 0)
    elif closes_tight:
        _cut_end(first, len(first), all_of_it=True)
    return alone


def _either(branch: Branch | None, other: Branch | None) -> list[Node]:
    chosen = other if branch is None else branch
    return [] if chosen is None else chosen.nodes


def _inner(chained: Branch) -> Block:
    block = chained.nodes[-1]
    assert isinstance(block, Block)
    return block


def _branch_after(chained: Branch) -> Branch | None:
    """Return the last branch of the ``else if`` that ``chained`` is."""
    return _inner(chained).body


def _ends_line(nodes: list[Node], place: int, *, is_root: bool = False) -> bool:
    """Whether a line ends before ``place``, but for white space; the start of a whole template counts."""
    if place == 0:
        return is_root
    text = nodes[place - 1]
    if not isinstance(text, Text):
        return False
    kept = text.written.rstrip(_WHITE)
    return "\n" in text.written[len(kept) :] or (is_root and place == 1 and not kept)


def _begins_line(nodes: list[Node], place: int, *, is_root: bool = False) -> bool:
    """Whether a line ends after ``place``, but for white space; the end of a whole template counts."""
    if place + 1 >= len(nodes):
        return is_root
    text = nodes[place + 1]
    if not isinstance(text, Text):
        return False
    kept = text.written.lstrip(_WHITE)
    blank = text.written[: len(text.written) - len(kept)]
    return "\n" in blank or (is_root and place + 2 == len(nodes) and not kept)


def _text_at(nodes: list[Node], place: int) -> Text | None:
    node = nodes[place] if 0 <= place < len(nodes) else None
    return node if isinstance(node, Text) else None


def _cut_start(nodes: list[Node], place: int, *, all_of_it: bool = False) -> None:
    """Cut what is white at the start of the text at ``place``: all of it, or up to the end of the line."""
    text = _text_at(nodes, place)
    if text is not None and all_of_it:
        text.value = text.value.lstrip(_WHITE)
    elif text is not None:
        text.value = text.value.lstrip(" \t").removeprefix("\r").removeprefix("\n")


def _cut_end(nodes: list[Node], place: int, *, all_of_it: bool = False) -> None:
    """Cut what is white at the end of the text before ``place``: all of it, or back to the start of the line."""
    text = _text_at(nodes, place - 1)
    if text is not None:
        text.value = text.value.rstrip(_WHITE if all_of_it else " \t")
