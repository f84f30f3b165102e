"""A template as a tree: texts, tags and blocks with their branches, as Handlebars itself nests them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from agentctx_nb.prompts.tags import is_else

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentctx_nb.prompts.tags import Tag

__all__ = ["Block", "Branch", "Node", "Text", "tree_of"]


@dataclass(slots=True)
class Text:
    """A stretch between two tags; an escaped ``{{`` begins one of its own.

    ``written`` is what the template says, ``value`` what whitespace control leaves of it.
    """

    written: str
    value: str


@dataclass(slots=True)
class Branch:
    """What stands between two tags of a block, or the whole template; ``chained`` where it is one ``else if``."""

    nodes: list[Node]
    chained: bool = False


@dataclass(slots=True)
class Block:
    """A block and its branches: ``body`` where its value holds, ``inverse`` where it does not.

    ``middle`` is its else tag. ``closing`` is the tag whose ``~`` count for its end; in a chain of
    ``else if`` that is, from the second on, its own opening tag, since Handlebars takes it so.
    """

    tag: Tag
    body: Branch | None
    inverse: Branch | None = None
    middle: Tag | None = None
    closing: Tag | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """What the block says: a helper and its value, or the name of a section."""
        return self.tag.words[1:] if is_else(self.tag) else self.tag.words


Node: TypeAlias = "Text | Tag | Block"


def tree_of(template: str, tags: Iterable[Tag]) -> Branch:
    """Nest the tags, which match, and the texts between them."""
    root = Branch([])
    here = root
    around: list[tuple[Branch, list[Block]]] = []  # for each open block, where it stands and its else-ifs
    at = 0
    for tag in tags:
        here.nodes += _texts(template[at : tag.start], before_a_tag=True)
        at = tag.end
        if tag.opens:
            block = Block(tag, Branch([]))
            here.nodes.append(block)
            around.append((here, [block]))
            here = block.body or here
        elif tag.kind == "/":
            here, chain = around.pop()
            _close(chain, tag)
        elif is_else(tag):
            chain = around[-1][1]
            here = _other_branch(chain, tag)
        else:
            here.nodes.append(tag)
    here.nodes += _texts(template[at:])
    return root


def _texts(between: str, *, before_a_tag: bool = False) -> Iterator[Text]:
    """Yield the texts between two tags, the backslash of an escaped ``{{`` gone."""
    if before_a_tag and between.endswith("\\\\"):  # a backslash before a tag is written twice
        between = between[:-1]
    first, *escaped = between.split("\\{{")
    for text in (first, *("{{" + rest for rest in escaped)):
        if text:
            yield Text(text, text)


def _other_branch(chain: list[Block], tag: Tag) -> Branch:
    """Begin the branch after an else, which for ``else if`` is a block inside it."""
    last = chain[-1]
    last.middle = tag
    if len(tag.words) < 2:
        last.inverse = Branch([])
        return last.inverse
    body = Branch([])
    chain.append(Block(tag, body))
    last.inverse = Branch([chain[-1]], chained=True)
    return body


def _close(chain: list[Block], tag: Tag) -> None:
    for block in chain[:2]:
        block.closing = tag
    for block in chain[2:]:
        block.closing = block.tag
    opened = chain[0]
    if opened.tag.kind == "^":
        opened.body, opened.inverse = opened.inverse, opened.body
