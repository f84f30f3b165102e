"""One row per registered provider: why it ran or not, what came of it, what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionTypeError, UnknownProviderError, nearest_names
from agentctx_nb.names import counted, shown
from agentctx_nb.views import MaskedDict, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Report", "ReportRow"]

_COLUMN_TYPES = {"ran": "bool", "chars": "int64", "tokens": "int64"} | dict.fromkeys(
    ("ms", "start_ms", "blocked_ms"), "float64"
)


class _Beside:
    """What a row keeps beside its fields, of which a frame has a column each."""

    __slots__ = ("_mask", "_place")


@dataclass(frozen=True, slots=True, repr=False)
class ReportRow(_Beside):
    """What one composition did with one provider.

    ``outcome`` is ok, empty, failed, timed_out, cancelled, cached or skipped. ``ms`` and ``start_ms``
    (from the start of the composition) are wall time; ``blocked_ms`` is how long it held the event
    loop. All three are None where it was not run. ``tokens`` is counted by `Report.token_counter`.
    ``clashes`` lists (key, winner, loser) for the values it wrote that somebody else wrote too.
    """

    provider: str
    ran: bool
    reason: str
    keyword: str | None = None
    outcome: str = "skipped"
    position: float = 0
    ms: float | None = None
    start_ms: float | None = None
    blocked_ms: float | None = None
    chars: int = 0
    tokens: int = 0
    value_keys: tuple[str, ...] = ()
    clashes: tuple[tuple[str, str, str], ...] = ()
    error: str | None = None

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={getattr(self, name)!r}" for name in _NAMES)
        return printable(f"ReportRow({given})", self.mask)

    @property
    def mask(self) -> Callable[[str], str]:
        """What hides secrets where the row is printed."""
        mask: Callable[[str], str] = getattr(self, "_mask", str)
        return mask

    @property
    def place(self) -> str:
        """Where its error arose in the user's own code, as ``in get, line 4``; empty where that is not known."""
        place: str = getattr(self, "_place", "")
        return place

    def placed(self, place: str) -> ReportRow:
        """Return this very row, which knows from now on where its error arose."""
        object.__setattr__(self, "_place", place)
        return self

    def masked_by(self, mask: Callable[[str], str]) -> ReportRow:
        """Return this very row, printed with ``mask`` from now on."""
        object.__setattr__(self, "_mask", mask)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _row, (self.mask, self.place, *(getattr(self, name) for name in _NAMES))


_NAMES = tuple(field.name for field in fields(ReportRow))


def _row(mask: Callable[[str], str], place: str, *given: Any) -> ReportRow:
    return ReportRow(*given).masked_by(mask).placed(place)


@dataclass(frozen=True, slots=True)
class Report:
    """The rows of one composition, in text order, and the names nobody registered.

    ``unknown`` maps each such name to near ones; ``token_counter`` names what counted the tokens
    (``"estimate"`` is an estimate); ``total_ms`` is the wall time of the whole composition; ``mask``
    hides secrets in what is shown; ``awaited_by`` maps an unknown name that stands in ``after=`` to the
    providers that would wait for it.
    """

    rows: tuple[ReportRow, ...]
    unknown: Mapping[str, tuple[str, ...]]
    token_counter: str
    total_ms: float
    mask: Callable[[str], str] = str
    awaited_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row in self.rows:
            row.masked_by(self.mask)
        object.__setattr__(self, "unknown", MaskedDict(self.unknown, self.mask))
        object.__setattr__(self, "awaited_by", MaskedDict(self.awaited_by, self.mask))

    def __iter__(self) -> Iterator[ReportRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, provider: object) -> bool:
        return any(row.provider == provider for row in self.rows)

    def __getitem__(self, provider: str) -> ReportRow:
        """Return the row of ``provider``; `UnknownProviderError`, a KeyError, where there is none."""
        for row in self.rows:
            if row.provider == provider:
                return row
        if not isinstance(provider, str):
            raise DefinitionTypeError(f"a report is read by the name of a provider, not by {shown(provider)}")
        near = nearest_names(provider, [row.provider for row in self.rows])
        raise UnknownProviderError(self.mask(provider), tuple(map(self.mask, near)))

    @property
    def clashes(self) -> tuple[tuple[str, str, str], ...]:
        """Return every (key, winner, loser) of the composition, each once."""
        return tuple(dict.fromkeys(clash for row in self.rows for clash in row.clashes))

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame, one column per field of `ReportRow`.

        Times are floats, NaN where a provider was not run; ``chars`` and ``tokens`` are integers. Secrets
        are masked in every text.
        """
        from agentctx_nb.frames import frame
        from agentctx_nb.render.masked import masked_copy

        def shown_as(value: Any) -> Any:  # numbers are counted and measured here, nobody's secret
            return value if isinstance(value, int | float) else masked_copy(value, mask=self.mask)

        rows = [tuple(shown_as(getattr(row, name)) for name in _NAMES) for row in self.rows]
        made = frame(rows, _NAMES)
        return made.astype(_COLUMN_TYPES)  # the same whatever ran

    def __repr__(self) -> str:
        ran = [row for row in self.rows if row.ran]
        failed = [row.provider for row in ran if row.outcome in ("failed", "timed_out")]
        tail = f"; failed: {', '.join(failed)}" if failed else ""
        said = f"<Report: {len(ran)} of {counted(len(self.rows), 'provider')} ran{tail}>"
        return printable(said, self.mask)

    def __str__(self) -> str:
        """Return the table as text: what a script or a log can show."""
        from agentctx_nb.render.views import report_table

        return report_table(self, self.mask).to_text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from agentctx_nb.render.views import report_table

        return report_table(self, self.mask)._repr_mimebundle_(include, exclude)
