"""Who runs, and why: pure rules from providers, message and lists to decisions with reasons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from agentctx_nb.errors import DefinitionTypeError, nearest_to_each
from agentctx_nb.names import shown
from agentctx_nb.views import MaskedDict

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentctx_nb.keywords import NearMiss
    from agentctx_nb.provider import Provider
    from agentctx_nb.registry import Registered, Snapshot

__all__ = ["Decision", "Match", "Selection", "apply_edits", "decide", "names_of", "select"]


_SHOWN = 5  # near misses


class Decision(NamedTuple):
    """Whether one registered provider runs, and why in a person's words.

    ``keyword`` holds all keywords that hit, joined by commas, or None.
    """

    provider: str
    runs: bool
    reason: str
    keyword: str | None = None


class Match:
    """What a text would wake: ``woken`` maps provider to the keywords that hit.

    Code reads what is there; ``mask`` hides secrets where it is printed.
    """

    def __init__(
        self,
        woken: dict[str, tuple[str, ...]],
        find_near_misses: Callable[[], list[NearMiss]],
        mask: Callable[[str], str] = str,
    ) -> None:
        self.woken = MaskedDict(woken, mask)
        self._find_near_misses = find_near_misses
        self._mask = mask

    @cached_property
    def near_misses(self) -> list[NearMiss]:
        """The (provider, keyword, word it stands inside) that nearly hit; slow, so looked for when read."""
        return [miss.masked_by(self._mask) for miss in self._find_near_misses()]

    def __repr__(self) -> str:
        near = self.near_misses
        more = f", … {len(near) - _SHOWN:,} more" if len(near) > _SHOWN else ""
        missed = f", near_misses=[{', '.join(map(repr, near[:_SHOWN]))}{more}]" if near else ""
        return f"Match(woken={self.woken!r}{missed})"


class Selection:
    """One decision per registered provider in text order, and the names nobody registered.

    ``unknown`` are those somebody asked for, ``awaited`` those in ``after=`` of one that runs; each with near names.
    """

    # Written out: a NamedTuple would be compiled at every start of an interpreter.
    __slots__ = ("awaited", "decisions", "entries", "unknown")

    def __init__(
        self, decisions: tuple[Decision, ...], unknown: Mapping[str, tuple[str, ...]], snapshot: Snapshot
    ) -> None:
        self.decisions = decisions
        self.unknown = unknown
        self.entries: tuple[Registered, ...] = tuple(
            entry for entry, decision in zip(snapshot.entries, decisions, strict=True) if decision.runs
        )
        needed = {name for entry in self.entries for name in entry.provider.after}
        self.awaited: Mapping[str, tuple[str, ...]] = unknown_names(needed, snapshot)


def names_of(given: Any, *, of: str = "include_list") -> frozenset[str] | None:
    """Return the names in a list; a bare string is one name, None means no list was given.

    Raises
    ------
    DefinitionTypeError
        It is no list of names.
    """
    if given is None:
        return None
    if isinstance(given, str):
        return frozenset((given,))
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        raise DefinitionTypeError(f"{of} is a list of provider names, not {shown(given)}")
    names = list(given)
    for name in names:
        if not isinstance(name, str):
            raise DefinitionTypeError(f"{of} holds provider names, but one is {shown(name)}")
    return frozenset(names)


def select(
    snapshot: Snapshot,
    *,
    include: AbstractSet[str] | None,
    only: bool,
    woken: Mapping[str, tuple[str, ...]],
) -> Selection:
    """Decide for every provider of ``snapshot``.

    ``include`` is None where no list was given; ``only`` makes it an only-list; ``woken`` maps
    dynamic providers to the keywords that hit.
    """
    only = only and include is not None
    named = include or frozenset()
    decisions = tuple(
        decide(
            entry.provider,
            named=entry.name in named,
            only=only,
            hits=() if only else woken.get(entry.name, ()),
        )
        for entry in snapshot.entries
    )
    return Selection(decisions, unknown_names(named, snapshot), snapshot)


def decide(provider: Provider, *, named: bool, only: bool, hits: tuple[str, ...]) -> Decision:
    """Decide for one provider; of several reasons to run, the first in this order is given."""
    keyword = ", ".join(hits) or None
    if provider.always_run:
        return Decision(provider.name, True, "always runs", keyword)
    if named:
        return Decision(provider.name, True, "named", keyword)
    if only:
        return Decision(provider.name, False, "skipped: not in the only-list")
    if provider.private:
        return Decision(provider.name, False, "skipped: private, not named")
    if not provider.dynamic:
        return Decision(provider.name, True, "static")
    if hits:
        return Decision(provider.name, True, "keyword " + ", ".join(map(repr, hits)), keyword)
    return Decision(provider.name, False, "skipped: dynamic, no keyword in message")


def unknown_names(names: AbstractSet[str], snapshot: Snapshot) -> dict[str, tuple[str, ...]]:
    """Map each name nobody registered to the near ones that somebody did."""
    return nearest_to_each(sorted(names - snapshot.by_name.keys()), snapshot.by_name)


def apply_edits(
    selection: Selection, snapshot: Snapshot, *, wanted: AbstractSet[str], only: bool
) -> Selection:
    """Return the selection as a host's hook wants it, within the limits a hook has.

    It may drop providers and add dynamic ones; it cannot drop ``always_run``, add a private one or
    widen an only-list.
    """
    edited = []
    for entry, decision in zip(snapshot.entries, selection.decisions, strict=True):
        provider = entry.provider
        if decision.runs and provider.name not in wanted and not provider.always_run:
            edited.append(decision._replace(runs=False, reason="skipped: dropped by the select hook"))
        elif not decision.runs and provider.name in wanted and not provider.private and not only:
            edited.append(decision._replace(runs=True, reason="added by the select hook"))
        else:
            edited.append(decision)
    unknown = {**selection.unknown, **unknown_names(wanted, snapshot)}
    return Selection(tuple(edited), unknown, snapshot)
