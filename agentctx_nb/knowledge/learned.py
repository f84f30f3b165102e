"""What became of each file that was to be learned, as a table that shows itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from agentctx_nb.names import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentctx_nb.render.table import Table

__all__ = ["Learned", "LearnedFile"]

_ORDER = ("unreadable", "learned", "replaced", "removed", "empty", "unchanged")


@dataclass(frozen=True, slots=True)
class LearnedFile:
    """One file: ``outcome`` is learned, replaced, unchanged, removed, empty or unreadable.

    ``chunks`` is how many of it are in the table now; ``note`` says why it could not be read, or in
    which encoding it was.
    """

    file: str
    chunks: int
    outcome: str
    note: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Learned:
    """The files of one `learn`, by name, and where their chunks went.

    ``left_out`` says what was passed over, and what may be wrong with a pattern that no file fits. Iterating and ``learned["guide/a.md"]`` give `LearnedFile`.
    """

    files: tuple[LearnedFile, ...]
    table_name: str
    room_id: str
    left_out: str = ""
    mask: Callable[[str], str] = str

    def __iter__(self) -> Iterator[LearnedFile]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, file: str) -> LearnedFile:
        """Return what became of ``file``; KeyError where there is none of this name."""
        for row in self.files:
            if row.file == file:
                return row
        raise KeyError(file)

    @property
    def chunks(self) -> int:
        """How many chunks of these files are in the table now."""
        return sum(row.chunks for row in self.files)

    @property
    def counts(self) -> dict[str, int]:
        """How many files there are of each outcome, the ones that need a look first."""
        found = Counter(row.outcome for row in self.files)
        return {outcome: found[outcome] for outcome in _ORDER if found[outcome]}

    def to_frame(self) -> Any:
        """Return the files as a pandas DataFrame: file, chunks, outcome, note."""
        return self._table().to_frame()

    def __repr__(self) -> str:
        return self._table().to_text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self._table()._repr_mimebundle_(include, exclude)

    def _table(self) -> Table:
        from agentctx_nb.render.table import Table

        names = [field.name for field in fields(LearnedFile)]
        # A long table is cut at its end, where what needs no look stands.
        shown = sorted(self.files, key=lambda row: (row.outcome == "unchanged", row.outcome != "unreadable"))
        said = ", ".join(f"{count:,} {outcome}" for outcome, count in self.counts.items()) or "no files"
        return Table(
            columns=tuple(names),
            rows=tuple([tuple(getattr(row, name) for name in names) for row in shown]),
            title=f"{counted(self.chunks, 'chunk')} of {counted(len(self.files), 'file')} in {self.table_name}, room {self.room_id}: {said}",
            note=self.left_out,
            mask=self.mask,
        )
