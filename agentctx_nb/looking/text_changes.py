"""Which lines of a text changed, provider by provider, in bounded time however long the texts are."""

from __future__ import annotations

from bisect import bisect_left
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from agentctx_nb.names import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["ADDED", "CHANGED", "MOVED", "REMOVED", "LineChange", "line_changes"]

ADDED, REMOVED, MOVED, CHANGED = "added", "removed", "moved", "changed"
# Matching lines is quadratic at worst. Beyond this many in one place, and in all, those between the first
# and the last difference are told as removed and added whole.
MOST_LINES = 1_000
MOST_LINES_IN_ALL = 4_000


class LineChange(NamedTuple):
    """One line that was added or removed; or, where a whole part moved, a sentence that says so."""

    provider: str
    change: str
    line: str


def line_changes(
    old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]], mask: Callable[[str], str] = str
) -> list[LineChange]:
    r"""Return what changed between two texts given as (provider, text), each provider once.

    Lines are masked, so a secret that became another one is told without its lines.

    >>> for change in line_changes([("A", "one"), ("B", "two")], [("B", "two\nthree")]):
    ...     print(*change)
    A removed one
    B added three
    """
    before, after = dict(old), dict(new)
    stay = set(_in_order([name for name, _ in old if name in after], [name for name, _ in new]))
    left = _Budget(MOST_LINES_IN_ALL)
    found: list[LineChange] = []
    places = {name: (i, len(new)) for i, (name, _) in enumerate(new, 1)}
    for name in _merged(old, new, stay):
        if name in before and name in after and name not in stay:
            place, count = places[name]
            found.append(LineChange(name, MOVED, f"now part {place:,} of {counted(count, 'part')}"))
        one, other = before.get(name), after.get(name)
        if one != other:
            found += _of_part(name, one, other, mask, left)
    return found


class _Budget:
    __slots__ = ("lines",)

    def __init__(self, lines: int) -> None:
        self.lines = lines

    def covers(self, lines: int) -> bool:
        if lines > min(self.lines, MOST_LINES):
            return False
        self.lines -= lines
        return True


def _in_order(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Return the most of ``names`` that stand in the same order in ``wanted``: the rest has moved."""
    places = {name: i for i, name in enumerate(wanted)}
    ends: list[int] = []  # the lowest place a run of each length can end at
    last: list[str] = []
    before: dict[str, str | None] = {}
    for name in names:
        length = bisect_left(ends, places[name])
        if length == len(ends):
            ends.append(0)
            last.append(name)
        ends[length], last[length] = places[name], name
        before[name] = last[length - 1] if length else None
    run: list[str] = []
    name_or_none = last[-1] if last else None
    while name_or_none is not None:
        run.append(name_or_none)
        name_or_none = before[name_or_none]
    return run[::-1]


def _merged(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]], stay: set[str]) -> Iterator[str]:
    """Yield every name once, those that are gone where they stood."""
    kept = {name for name, _ in new}
    place = 0
    for name, _ in new:
        while place < len(old) and old[place][0] not in stay:
            if old[place][0] not in kept:
                yield old[place][0]
            place += 1
        place += name in stay
        yield name
    yield from (name for name, _ in old[place:] if name not in kept)


def _of_part(
    name: str, old: str | None, new: str | None, mask: Callable[[str], str], left: _Budget
) -> list[LineChange]:
    a = [] if old is None else mask(old).split("\n")
    b = [] if new is None else mask(new).split("\n")
    if a == b:
        return [LineChange(name, CHANGED, "only within a secret, which is not shown")]
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    a, b = a[start : len(a) - end], b[start : len(b) - end]
    blocks = [(0, len(a), 0, len(b))]
    if a and b and left.covers(max(len(a), len(b))):
        codes = SequenceMatcher(None, a, b).get_opcodes()
        blocks = [(i, j, k, n) for tag, i, j, k, n in codes if tag != "equal"]
    found = []
    for a_from, a_to, b_from, b_to in blocks:
        found += [LineChange(name, REMOVED, line) for line in a[a_from:a_to]]
        found += [LineChange(name, ADDED, line) for line in b[b_from:b_to]]
    return found
