"""What a cell shows of a state and of tables, as the settings of the shell say; the objects stay what they are."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from agentctx_nb.model import Content, Entity, Memory
from agentctx_nb.render.bounds import LIMITS, Mask, cut
from agentctx_nb.render.page import Fold
from agentctx_nb.render.table import Table
from agentctx_nb.render.views import state_page
from agentctx_nb.render.why import Why
from agentctx_nb.state import State
from agentctx_nb.views import printed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from IPython.core.interactiveshell import InteractiveShell

    from agentctx_nb.notebook.settings import AgentContext
    from agentctx_nb.render.grid import Grid
    from agentctx_nb.render.page import Page

__all__ = ["Display", "state_view"]

RAW = (Memory, Content, Entity, BaseException)
"""What is data for code, and so holds secrets, but is easily left as the last line of a cell."""


class Display:
    """The formatter of one shell for our views: shorter than they are by themselves where the settings say so."""

    def __init__(self, settings: AgentContext, mask: Callable[[], Mask]) -> None:
        self._settings = settings
        self._mask = mask

    def install(self, shell: InteractiveShell) -> Callable[[], None]:
        """Register with ``shell``, and return what takes it out again."""
        displays: Any = shell.display_formatter
        views = _put_into(displays.mimebundle_formatter, {State: self.state, Table: self.table})
        printed_ones = _put_into(displays.formatters["text/plain"], dict.fromkeys(RAW, self.plain))

        def remove() -> None:
            views()
            printed_ones()

        return remove

    def plain(self, value: Any, printer: Any, cycle: object) -> None:
        """Print what code is handed raw, alone or in a list, with its secrets masked."""
        printer.text(printed(value, self._mask()))

    def state(self, state: State, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the forms of a state, its tables shortened."""
        page = state_view(state, self._settings)
        parts = tuple([self._short(part) if type(part) is Table else part for part in page.parts])
        return replace(page, parts=parts)._repr_mimebundle_(include, exclude)

    def table(self, table: Table, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the forms of a table, shortened."""
        if isinstance(table, Why):
            page = table.page()
            parts = tuple([self._short(part) if type(part) is Table else part for part in page.parts])
            return replace(page, parts=parts)._repr_mimebundle_(include, exclude)
        shown = self._short(table) if type(table) is Table else table
        return shown._repr_mimebundle_(include, exclude)

    def _short(self, table: Table) -> Table:
        rows, cell = self._settings.rows, self._settings.cell
        if (rows, cell) == (LIMITS.rows, LIMITS.cell):
            return table
        given = {field.name: getattr(table, field.name) for field in fields(Table)}
        return _ShortTable(**given, most_rows=rows, most_cell=cell)


def _put_into(formatter: Any, shown: Mapping[Any, Any]) -> Callable[[], None]:
    """Register with one formatter of a shell, and return what takes it out again."""
    displaced = {kind: formatter.type_printers.get(kind) for kind in shown}
    for kind, show in shown.items():
        formatter.for_type(kind, show)

    def remove() -> None:
        for kind, before in displaced.items():
            if formatter.type_printers.get(kind) == shown[kind]:
                formatter.pop(kind)
                if before is not None:
                    formatter.for_type(kind, before)

    return remove


def state_view(state: State, settings: AgentContext) -> Page:
    """Return the view of a state, without its text where that is not wanted."""
    page = state_page(state)
    if settings.text:
        return page
    return replace(page, parts=tuple([part for part in page.parts if not isinstance(part, Fold)]))


@dataclass(frozen=True, slots=True, repr=False)
class _ShortTable(Table):
    """A table that shows fewer rows and characters; its note says how many there are."""

    most_rows: int = LIMITS.rows
    most_cell: int = LIMITS.cell

    def grid(self) -> Grid:
        """Return the cells that are shown."""
        grid = Table.grid(self)
        rows = [tuple([cut(cell, self.most_cell) for cell in row]) for row in grid.rows[: self.most_rows]]
        return replace(grid, rows=tuple(rows))
