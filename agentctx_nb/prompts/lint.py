"""What is wrong in a template, or renders differently elsewhere, told before it is rendered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionTypeError, TemplateError
from agentctx_nb.names import counted, shown
from agentctx_nb.prompts.lint_elsewhere import differences
from agentctx_nb.prompts.lint_names import Names
from agentctx_nb.prompts.lint_reads import reads_of
from agentctx_nb.prompts.tags import tags_of
from agentctx_nb.prompts.tree import tree_of
from agentctx_nb.prompts.whitespace import cut_whitespace
from agentctx_nb.templates import check_template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.state import State

__all__ = ["Finding", "Findings", "lint_template"]

_MOST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about a template.

    ``line`` and ``column`` count from 1, and are None where it is about the whole template; ``name`` is
    the name it is about, or empty.
    """

    line: int | None
    column: int | None
    rule: str
    message: str
    name: str = ""

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}, column {self.column}: "
        return f"{place}{self.message} [{self.rule}]"


@dataclass(frozen=True, slots=True, repr=False)
class Findings:
    """What `AgentRuntime.lint` found, in the order of the template; false where that is nothing.

    ``names`` are the names the template reads at its root.
    """

    findings: tuple[Finding, ...]
    names: tuple[str, ...] = ()
    mask: Callable[[str], str] = str

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def to_frame(self) -> Any:
        """Return the findings as a pandas DataFrame: line, column, rule, name, message."""
        from agentctx_nb.render.table import Table

        rows = tuple((f.line, f.column, f.rule, f.name, f.message) for f in self.findings)
        return Table(("line", "column", "rule", "name", "message"), rows, mask=self.mask).to_frame()

    def __repr__(self) -> str:
        text: str = self._page().to_text()
        return text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = self._page()._repr_mimebundle_(include, exclude)
        return bundle

    def _page(self) -> Any:
        from agentctx_nb.render.page import Lines, Page

        if not self.findings:
            return Page(
                (Lines((f"nothing found: {counted(len(self.names), 'name')} read",)),), mask=self.mask
            )
        lines = [str(finding) for finding in self.findings[:_MOST_SHOWN]]
        if len(self) > _MOST_SHOWN:
            lines.append(f"… and {len(self) - _MOST_SHOWN:,} more: .to_frame() has all")
        parts = (
            Lines((f"{counted(len(self), 'finding')} in the template",), strong=True),
            Lines(tuple(lines)),
        )
        return Page(parts, mask=self.mask)


def lint_template(
    runtime: AgentRuntime, template: str | Callable[[State], str], *, extra: Iterable[str] = ()
) -> Findings:
    """Return what is to be said about ``template``; ``extra`` are names the caller will give.

    >>> from agentctx_nb import AgentRuntime
    >>> runtime = AgentRuntime()
    >>> _ = runtime.provider("WEATHER")(lambda: {"values": {"temperature": 20}})
    >>> _ = runtime.compose("hi")
    >>> runtime.lint("It is {{temprature}} degrees.")
    1 finding in the template
    <BLANKLINE>
    line 1, column 7: no provider writes `temprature`; WEATHER writes `temperature` [unknown]
    """
    if not isinstance(template, str):
        if not callable(template):
            raise DefinitionTypeError(
                f"a template is a string or a function of the state, not {shown(template)}"
            )
        said = "a template that is a function is known only with a state: lint what it returns for one"
        return Findings((Finding(None, None, "function", said),), mask=runtime.mask)
    found: list[Finding] = []
    if said := runtime.name_as_template(template):
        found.append(Finding(None, None, "prompt name", said, str(template)))
    names: dict[str, None] = {}
    try:
        _lint(runtime, str(template), _names_given(extra), found, names)
    except TemplateError as exc:
        place = "" if exc.line is None else f"line {exc.line}, column {exc.column}: "
        said = str(exc).removeprefix(place)
        found = [Finding(exc.line, exc.column, "unreadable", said)]
    mask = runtime.mask
    masked = [replace(f, message=mask(f.message), name=mask(f.name)) for f in _merged(found)]
    return Findings(tuple(masked), tuple(map(mask, names)), mask)


def _names_given(extra: Iterable[str]) -> frozenset[str]:
    names = frozenset((extra,) if isinstance(extra, str) else extra)
    for name in names:
        if not isinstance(name, str):
            raise DefinitionTypeError(f"extra holds names, not {shown(name)}")
    return names


def _lint(
    runtime: AgentRuntime, template: str, extra: frozenset[str], found: list[Finding], names: dict[str, None]
) -> None:
    check_template(template)
    tags = tags_of(template)
    root = tree_of(template, tags)
    cut_whitespace(root)
    reads, climbing, outside = reads_of(root)
    names.update(dict.fromkeys(read.path[0] for read in reads))
    for rule, said, line, column in differences(template, tags, root):
        found.append(Finding(line, column, rule, said))
    for tag in climbing:
        said = "Handlebars, and with it elizaOS, counts no level for a block that steps into `this`: ../ goes one further"
        found.append(Finding(tag.line, tag.column, "parent", said))
    for tag in outside:
        said = "../ climbs out of every block, where nothing is; #if and #unless are no level of their own"
        found.append(Finding(tag.line, tag.column, "outside", said))
    known = Names(runtime.registry, runtime.written, extra)
    known.sought(names)
    for read in reads:
        if known.is_data(read.path[0]):
            said = "in elizaOS a template sees the values alone: what it reads of `data` is empty there"
            found.append(Finding(read.tag.line, read.tag.column, "data", said))
    if not runtime.written:
        if any(read.path[0] not in extra and read.path != ("providers",) for read in reads):
            said = (
                "nothing was composed yet, so it is not known what providers write: compose, then lint again"
            )
            found.append(Finding(None, None, "not composed", said))
        return
    for read in reads:
        for rule, said, name in known.about(read):
            found.append(Finding(read.tag.line, read.tag.column, rule, said, name))
    for read, said, name in known.twice(reads):
        found.append(Finding(read.tag.line, read.tag.column, "twice", said, name))


def _merged(found: list[Finding]) -> list[Finding]:
    """Return the findings in order, one for each rule and name, which says how often it was met."""
    first: dict[tuple[str, str], Finding] = {}
    count: dict[tuple[str, str], int] = {}
    for finding in sorted(found, key=lambda f: (f.line or 0, f.column or 0)):
        key = finding.rule, finding.name
        first.setdefault(key, finding)
        count[key] = count.get(key, 0) + 1
    return [
        finding
        if count[key] == 1
        else replace(finding, message=f"{finding.message} (and {count[key] - 1} more)")
        for key, finding in first.items()
    ]
