"""What a search found: the places, which show themselves as a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentctx_nb.names import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from agentctx_nb.render.table import Table

__all__ = ["Found", "Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """One place a text stands at, with its secrets covered.

    ``where`` is ``"text"``, ``"value"``, ``"data"``, or ``"tag"`` and ``"template"`` of a prompt; ``path``
    is the key, the path into the data, or the tag; ``line`` counts the lines of the text from 1.
    """

    provider: str
    where: str
    path: str
    line: int | None
    excerpt: str


@dataclass(frozen=True, slots=True, repr=False)
class Found:
    """The places one text stands at: false when there is none, shown as a table.

    ``complete`` is false where there was more to look at than is looked at.

    >>> from agentctx_nb.state import State
    >>> found = State(text="rain").find("rain")
    >>> len(found), found[0].where, bool(State().find("sun"))
    (1, 'text', False)
    """

    text: str
    places: tuple[Place, ...]
    complete: bool = True
    mask: Callable[[str], str] = field(default=str, compare=False)

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Place]:
        return iter(self.places)

    def __getitem__(self, place: int) -> Place:
        return self.places[place]

    def __repr__(self) -> str:
        return self.table().to_text()

    def to_frame(self) -> pd.DataFrame:
        """Return the places as a DataFrame, one row each."""
        return self.table().to_frame()

    def table(self) -> Table:
        """Return the places as the table they are shown as."""
        from agentctx_nb.render.bounds import cell_text
        from agentctx_nb.render.table import Table

        sought = cell_text(self.text, mask=self.mask, most=60)
        at = counted(len(self.places), "place") + ("" if self.complete else " and maybe more")
        return Table(
            ("provider", "where", "path", "line", "excerpt"),
            tuple(
                [
                    (
                        place.provider,
                        place.where,
                        place.path,
                        "" if place.line is None else place.line,
                        place.excerpt,
                    )
                    for place in self.places
                ]
            ),
            title=f"“{sought}” stands at {at}" if self.places else f"“{sought}” stands nowhere",
            note="" if self.complete else "the search is bounded, and there is more to look at",
            mask=self.mask,
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.table()._repr_mimebundle_(include, exclude)
