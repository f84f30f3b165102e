"""Why a search found what it found: every candidate near the cut, and why it was kept or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentctx_nb.names import counted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping

    from agentctx_nb.model import Memory
    from agentctx_nb.render.table import Table

__all__ = ["Candidate", "SearchExplanation", "first_that", "left_out_by", "rejected", "unfindable"]

_LOOKED_AT = (200, 2_000, 50_000)  # rows; of a larger table the explanation says how far it looked


@dataclass(frozen=True, slots=True)
class Candidate:
    """One memory a search looked at.

    ``similarity`` is its cosine with the query, None where it has no vector; ``verdict`` reads "kept",
    "below the threshold", "past the count", "no embedding" or "all zeros", or names the condition that leaves it
    out: "other room", "other entity", "other agent", "other world", "other time" or "not unique".
    """

    memory: Memory
    similarity: float | None
    verdict: str


@dataclass(frozen=True, slots=True, repr=False)
class SearchExplanation:
    """The candidates of one search, best first, and the cut they were held to; printed it is a table.

    ``threshold`` is None where there was no cut; ``threshold_from`` says where it came from: "given",
    "auto" or "none". ``note`` says how far was looked where not to the end.
    """

    candidates: tuple[Candidate, ...]
    threshold: float | None
    threshold_from: str
    mask: Callable[[str], str] = str
    note: str = ""

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """What the search returns."""
        return tuple(c for c in self.candidates if c.verdict == "kept")

    @property
    def best_rejected(self) -> float | None:
        """The highest cosine under the cut, or None where nothing was under it."""
        rejected = [c.similarity for c in self.candidates if c.verdict == "below the threshold"]
        return max((score for score in rejected if score is not None), default=None)

    def to_frame(self) -> Any:
        """Return the candidates as a pandas DataFrame."""
        return self._table().to_frame()

    def __repr__(self) -> str:
        return self._table().to_text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self._table()._repr_mimebundle_(include, exclude)

    def _said(self) -> str:
        cut = (
            "no threshold"
            if self.threshold is None
            else f"threshold {self.threshold:.3f} ({self.threshold_from})"
        )
        return f"{len(self.kept):,} of {counted(len(self), 'candidate')} kept, {cut}"

    def _table(self) -> Table:
        from agentctx_nb.render.table import Table

        rows = tuple(
            (
                number,
                "" if c.similarity is None else round(c.similarity, 3),
                c.verdict,
                c.memory.room_id or "",
                c.memory.content.source or "",
                c.memory.content.text or "",
            )
            for number, c in enumerate(self.candidates, start=1)
        )
        columns = ("rank", "similarity", "verdict", "room", "source", "text")
        title = "What the search looked at" + (f" ({self.note})" if self.note else "")
        return Table(columns, rows, title=title, note=self._said(), mask=self.mask)


def left_out_by(memory: Memory, conditions: Mapping[str, Any]) -> str | None:
    """Return the verdict of the first condition of a search that ``memory`` does not meet, None where it meets all."""
    for name in ("room_id", "entity_id", "agent_id", "world_id"):
        wanted = conditions.get(name)
        if wanted is not None and getattr(memory, name) != wanted:
            return f"other {name.removesuffix('_id')}"
    start, end = conditions.get("start"), conditions.get("end")
    written = memory.created_at or 0
    if (start is not None and written < start) or (end is not None and written > end):
        return "other time"
    return "not unique" if conditions.get("unique") and not memory.unique else None


def unfindable(memory: Memory) -> str | None:
    """Return the verdict on a memory that no search finds, None on the others."""
    if memory.embedding is None:
        return "no embedding"
    return None if any(memory.embedding) else "all zeros"


async def first_that(
    read: Callable[[int], Awaitable[list[Memory]]], fits: Callable[[Memory], bool], *, enough: int
) -> tuple[list[Memory], int | None]:
    """Return the first ``enough`` that fit of what ``read(most)`` returns, looking no further than needed.

    The number is how many were looked at where there may be more behind them, else None.
    """
    found: list[Memory] = []
    for most in _LOOKED_AT:
        rows = await read(most)
        found = [memory for memory in rows if fits(memory)][:enough]
        if len(found) == enough or len(rows) < most:
            return found, None
    return found, _LOOKED_AT[-1]


def rejected(
    ranked: list[Memory],
    kept: Collection[str | None],
    *,
    conditions: Mapping[str, Any],
    threshold: float | None,
    near: int,
) -> list[Candidate]:
    """Say of the first ``near`` memories of a search without a cut that are not among those ``kept`` why not.

    ``kept`` are ids. ``ranked`` is best first and may hold rows that do not meet the ``conditions``.
    """
    candidates: list[Candidate] = []
    for memory in ranked:
        if memory.id in kept:
            continue
        verdict = left_out_by(memory, conditions)
        if verdict is None:
            below = threshold is not None and (memory.similarity or 0.0) < threshold
            verdict = "below the threshold" if below else "past the count"
        candidates.append(Candidate(memory, memory.similarity, verdict))
    return candidates[:near]
