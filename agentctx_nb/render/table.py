"""Table: rows of plain data that show themselves as text, Markdown, HTML or a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, overload

from agentctx_nb.errors import DefinitionError
from agentctx_nb.frames import frame
from agentctx_nb.render import html, markdown, text
from agentctx_nb.render.bounds import LIMITS, Mask, cell_text, cut_middle, no_mask
from agentctx_nb.render.grid import NAMES, Grid
from agentctx_nb.render.masked import masked_copy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import pandas as pd

__all__ = ["Table", "chosen", "forms_of"]

_NUMBERS = frozenset(map(id, (int, float)))  # a metaclass of theirs may raise where a class is hashed


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Named columns and rows of any values, every form of it masked and bounded.

    Parameters
    ----------
    columns
        Names, each once, shown with spaces for underscores; a first column named ``provider`` is the index of
        the frame.
    rows
        One value for each column; an empty string is a blank cell.
    title, note
        Lines above and below.
    mask
        What replaces secrets, in cells and in what iteration and indexing give.
    whole
        What to call to see all rows, for the note below a table that is cut.
    width
        How many terminal cells a line of the text form takes at most.

    >>> table = Table(("provider", "chars"), [("WEATHER", 41), ("FACTS", 7)])
    >>> table
    provider  chars
    ────────  ─────
    WEATHER      41
    FACTS         7
    >>> table[0]["chars"], len(table)
    (41, 2)
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    note: str = ""
    mask: Mask = field(default=no_mask, compare=False)
    whole: str = ".to_frame()"
    width: int = 100

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "rows", tuple([tuple(row) for row in self.rows]))
        if len(set(self.columns)) < len(self.columns):
            raise DefinitionError(f"each column of a table has its own name; these repeat: {self.columns!r}")
        for place, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise DefinitionError(
                    f"row {place} of the table has {len(row)} values for {len(self.columns)} columns"
                )

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self._record(row) for row in self.rows)

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> Table: ...

    def __getitem__(self, place: int | slice) -> dict[str, Any] | Table:
        if isinstance(place, slice):
            return replace(self, rows=self.rows[place])
        return self._record(self.rows[place])

    def __repr__(self) -> str:
        return self.to_text()

    def to_text(self, width: int | None = None) -> str:
        """Return aligned lines of at most ``width`` terminal cells; by default the table's own."""
        return text.table(self.grid(), width=width or self.width)

    def to_markdown(self) -> str:
        """Return a pipe table in which no data acts as Markdown."""
        return markdown.page([markdown.table(self.grid())])

    def to_html(self) -> str:
        """Return static HTML without script, ids or outside resources."""
        return html.page([html.table(self.grid())])

    def to_frame(self) -> pd.DataFrame:
        """Return all rows as a DataFrame, secrets masked; `MissingExtraError` without pandas."""
        columns = [self._column(place) for place in range(len(self.columns))]
        shown: pd.DataFrame = frame(zip(*columns, strict=True), self.columns)
        return shown.set_index("provider") if self.columns[:1] == ("provider",) else shown

    def grid(self) -> Grid:
        """Return the cells that are shown, as the writers of the three forms take them."""
        columns = self.columns[: LIMITS.columns]
        rows = [row[: LIMITS.columns] for row in self.rows[: LIMITS.rows]]
        return Grid(
            columns=tuple([cell_text(name, mask=self.mask).replace("_", " ") for name in columns]),
            rows=tuple([self._cells(columns, row) for row in rows]),
            numeric=tuple([_is_numeric([row[place] for row in rows]) for place in range(len(columns))]),
            title=cell_text(self.title, mask=self.mask, most=LIMITS.line),
            note=cell_text(self.note, mask=self.mask, most=LIMITS.line),
            all_rows=len(self.rows),
            all_columns=len(self.columns),
            whole=self.whole,
            width=self.width,
        )

    def _cells(self, columns: tuple[str, ...], row: tuple[Any, ...]) -> tuple[str, ...]:
        return tuple(
            [
                cut_middle(cell_text(value, mask=self.mask, most=LIMITS.line), LIMITS.name)
                if name.replace("_", " ") in NAMES
                else cell_text(value, mask=self.mask)
                for name, value in zip(columns, row, strict=True)
            ]
        )

    def _record(self, row: tuple[Any, ...]) -> dict[str, Any]:
        return {
            name: masked_copy(value, mask=self.mask) for name, value in zip(self.columns, row, strict=True)
        }

    def _column(self, place: int) -> list[Any]:
        values = [row[place] for row in self.rows]
        if _is_numeric(values):  # a blank among numbers is a missing number
            values = [None if type(value) is str else value for value in values]
        return [masked_copy(value, mask=self.mask) for value in values]

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        grid = self.grid()  # once: a repr may take its time, or tell something else when it is asked again
        bundle = {
            "text/plain": text.table(grid, width=self.width),
            "text/markdown": markdown.page([markdown.table(grid)]),
            "text/html": html.page([html.table(grid)]),
        }
        return chosen(bundle, include, exclude)


class _Written(Protocol):
    """A view that writes itself in the three forms."""

    def to_text(self) -> str: ...
    def to_markdown(self) -> str: ...
    def to_html(self) -> str: ...


def forms_of(view: _Written) -> dict[str, str]:
    """Return the three forms of a view by MIME type."""
    return {
        "text/plain": view.to_text(),
        "text/markdown": view.to_markdown(),
        "text/html": view.to_html(),
    }


def chosen(
    bundle: dict[str, str], include: Collection[str] | None, exclude: Collection[str] | None
) -> dict[str, str]:
    """Return the forms IPython asked for: those in ``include`` if given, without those in ``exclude``."""
    return {
        kind: form
        for kind, form in bundle.items()
        if (not include or kind in include) and kind not in (exclude or ())
    }


def _is_numeric(values: list[Any]) -> bool:
    kinds = {id(type(value)) for value in values if not (type(value) is str and not value)}
    return bool(kinds) and kinds <= _NUMBERS
