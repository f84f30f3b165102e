"""Tree: the data of each provider, folding, however much of it there is and whatever is in it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import describe
from agentctx_nb.looking.contents import contents, leaves
from agentctx_nb.names import counted, kind_name
from agentctx_nb.render import html, markdown
from agentctx_nb.render.bounds import LIMITS, Mask, cell_text, no_mask, without_addresses
from agentctx_nb.render.grid import block_of
from agentctx_nb.render.html import Markup, element
from agentctx_nb.render.masked import masked_copy
from agentctx_nb.render.table import Table, chosen
from agentctx_nb.state import ProviderEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import pandas as pd

    from agentctx_nb.state import State

__all__ = ["Tree", "data_tree"]

_TITLE = "Data by provider"
_DEEPEST = 6
_WIDEST = 25  # items of one container
_BYTES = 60_000  # of HTML, the largest of the three forms
_OVERHEAD = 160  # bytes of markup a line is counted for
_ROWS = 10_000  # of a frame
_DEEPEST_PATH = 40
_NAME = 60
_NO_NAMES = ("…", "•")  # of what is left out, and of the items of a set

_BRANCH = "margin: 0.1em 0 0.1em 1.2em"
_SUMMARY = "cursor: pointer"
_LEAF = "margin: 0.1em 0 0.1em 2.2em; overflow-wrap: break-word"
_TREE = "margin: 0.4em 0"
_ROOT_LEAF = "margin: 0.4em 0 0.4em 1em"


@dataclass(slots=True)
class _Node:
    """One line of the tree: what it is called, what is said of it, and what hangs below."""

    name: str
    said: str
    depth: int
    around: tuple[Any, ...] = ()
    below: list[_Node] = field(default_factory=list)

    @property
    def cost(self) -> int:
        return len(escape(f"{self.name}{self.said}").encode()) + _OVERHEAD


@dataclass(frozen=True, slots=True, repr=False)
class Tree:
    """The data of ``providers`` by name, as it is when it is shown; ``notes`` says what came of each.

    >>> Tree({"WEATHER": {"temp": 72, "days": ["Mon", "Tue"]}})
    Data by provider
    WEATHER: dict, 2 keys
      temp: 72 (int)
      days: list, 2 items
        [0]: Mon (str)
        [1]: Tue (str)
    """

    providers: dict[str, Any]
    notes: dict[str, str] = field(default_factory=dict)
    mask: Mask = field(default=no_mask, compare=False)

    def __repr__(self) -> str:
        return self.to_text()

    def __len__(self) -> int:
        return len(self.providers)

    def to_text(self) -> str:
        """Return the tree as indented lines."""
        return _as_text(*self._grown())

    def to_markdown(self) -> str:
        """Return the tree as indented lines in a fence, where no data acts."""
        return _as_markdown(*self._grown())

    def to_html(self) -> str:
        """Return the tree as folds that open at a click, without script, ids or outside resources."""
        return _as_html(*self._grown())

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each value that is not opened further: its path, type and value.

        The first 10,000, secrets masked; ``state.data`` has the objects themselves.
        """
        rows = [
            (path, _kind(leaf, self.mask), masked_copy(leaf, mask=self.mask))
            for path, leaf in islice(self._leaves(), _ROWS)
        ]
        return Table(("path", "type", "value"), tuple(rows), mask=self.mask).to_frame()

    def _leaves(self) -> Iterator[tuple[str, Any]]:
        for provider, data in self.providers.items():
            for leaf in leaves(data, name=self._name, deepest=_DEEPEST_PATH):
                joint = "." if leaf.path and not leaf.path.startswith("[") else ""
                yield f"{provider}{joint}{leaf.path}", "<cycle>" if leaf.cycle else leaf.value

    def _grown(self) -> tuple[list[_Node], str]:
        """Grow the tree level by level, so that no provider takes the room of the next, until it is full."""
        roots: list[_Node] = []
        growing: deque[tuple[_Node, Any]] = deque()
        left = _BYTES
        for provider, data in islice(self.providers.items(), LIMITS.rows):
            root = self._node(provider, data, 0, (), note=self.notes.get(provider, ""))
            left -= root.cost
            if left < 0:
                break
            roots.append(root)
            growing.append((root, data))
        while growing:
            node, value = growing.popleft()
            left = self._grow(node, value, growing, left)
        if len(roots) == len(self.providers):
            return roots, "" if roots else "(no provider ran)"
        return (
            roots,
            f"showing {len(roots):,} of {len(self.providers):,} providers; state.data.providers has all",
        )

    def _grow(self, node: _Node, value: Any, growing: deque[tuple[_Node, Any]], left: int) -> int:
        held = self._opened(value, node.depth, node.around)
        if held is None:
            return left
        around = (*node.around, value)
        most = _WIDEST if held.few is None else held.few
        shown = 0
        items = iter(held.items)
        while shown < min(most, held.length):
            try:
                step, item = next(items)
            except Exception:  # noqa: BLE001  its end; or it is edited while it is read
                break
            name = f"[{step}]" if held.steps == "place" else "•" if held.steps == "item" else self._name(step)
            child = self._node(name, item, node.depth + 1, around)
            if left < child.cost:
                break
            left -= child.cost
            shown += 1
            node.below.append(child)
            growing.append((child, item))
        if not shown:
            node.said += ", not opened"
        elif shown < held.length:
            rest = _Node("…", f"{held.length - shown:,} more", node.depth + 1)
            left -= rest.cost
            node.below.append(rest)
        return left

    def _node(self, name: Any, value: Any, depth: int, around: tuple[Any, ...], *, note: str = "") -> _Node:
        kind = _kind(value, self.mask)
        held = self._opened(value, depth, around)
        if any(value is holder for holder in around):
            said = f"{kind}, a cycle: it holds itself"
        elif held is not None:
            said = cell_text(f"{kind}, {held.size}", mask=self.mask)
        elif issubclass(type(value), (bytes, bytearray)):
            base = bytes if issubclass(type(value), bytes) else bytearray
            said = f"({kind}, {counted(base.__len__(value), 'byte')})"
        else:
            said = f"{cell_text(value, mask=self.mask)} ({_measured(value, kind)})"
        if not depth and kind == "dict" and held is None:
            said = "no data"
        if note:
            said = note if ":" in note else f"{note}, {said}"
        return _Node(self._name(name), said, depth, around)

    def _opened(self, value: Any, depth: int, around: tuple[Any, ...]) -> Any:
        if depth > _DEEPEST or any(value is holder for holder in around):
            return None
        held = contents(value, name=self._name)
        return held if held is not None and held.length else None

    def _name(self, step: Any) -> str:
        return cell_text(step, mask=self.mask, most=_NAME)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        roots, said = self._grown()  # once: the texts in it may be long
        bundle = {
            "text/plain": _as_text(roots, said),
            "text/markdown": _as_markdown(roots, said),
            "text/html": _as_html(roots, said),
        }
        return chosen(bundle, include, exclude)


def data_tree(state: State) -> Tree:
    """Return the data of each provider that ran, in text order, with what came of it in words."""
    providers: dict[str, Any] = {}
    notes: dict[str, str] = {}
    held = contents(state.data.get("providers"), name=str)
    for name, entry in () if held is None else held.items:
        if type(entry) is not ProviderEntry:  # a state is its owner's: something else was put there
            providers[name] = entry
            continue
        providers[name] = entry.raw_data
        error = "" if entry.error is None else f": {without_addresses(describe(entry.error))}"
        notes[name] = cell_text(f"{entry.outcome.replace('_', ' ')}{error}", mask=state.mask)
    return Tree(providers, notes, state.mask)


def _kind(value: Any, mask: Mask) -> str:
    return cell_text(kind_name(value), mask=mask, most=_NAME)


def _measured(value: Any, kind: str) -> str:
    if not issubclass(type(value), str):
        return kind
    length = str.__len__(value)
    return kind if length <= LIMITS.cell else f"{kind}, {counted(length, 'character')}"


def _as_text(roots: list[_Node], said: str) -> str:
    return "\n".join([_TITLE, *_lines(roots), *([said] if said else [])])


def _as_markdown(roots: list[_Node], said: str) -> str:
    shown = "\n".join(_lines(roots))
    block = block_of(_TITLE, shown, mask=no_mask, whole="", most=len(shown))
    fence = markdown.fold(block, most_bytes=len(shown.encode()))
    return markdown.page([fence, markdown.lines([said]) if said else ""])


def _as_html(roots: list[_Node], said: str) -> str:
    folds = element("div", *[_fold(node) for node in roots], style=_TREE)
    return html.page([html.lines([_TITLE], strong=True), folds, html.lines([said]) if said else Markup()])


def _lines(nodes: list[_Node]) -> list[str]:
    lines = []
    for node in nodes:
        colon = "" if node.name in _NO_NAMES else ":"
        lines.append(f"{'  ' * node.depth}{node.name}{colon} {node.said}")
        lines += _lines(node.below)
    return lines


def _fold(node: _Node) -> Markup:
    name = element("strong", node.name if node.name in _NO_NAMES else f"{node.name}:")
    if not node.below:
        return element("div", name, f" {node.said}", style=_LEAF if node.depth else _ROOT_LEAF)
    summary = element("summary", name, f" {node.said}", style=_SUMMARY)
    return element(
        "details",
        summary,
        *[_fold(child) for child in node.below],
        style=_BRANCH if node.depth else _TREE,
        open="" if node.depth else "open",
    )
