"""What one selection runs: worked out once, used until the registry changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentctx_nb.provider import Call
    from agentctx_nb.registry import Registered

__all__ = ["Plan"]


class Plan:
    """The entries that run, in text order; everything else is by place in that order.

    Attributes
    ----------
    needs, dependents
        Which places a place waits for through ``after=``, and which wait for it.
    special
        The places with a deadline or a ``ttl``, which need more than being awaited.
    eventful
        Whether any is special, or waits for another.
    quick
        The places known to finish without suspending, none of them special. They are awaited bare, the
        others under a stop-watch that tells how long they held the event loop. It changes from run to run.
    """

    __slots__ = ("calls", "dependents", "entries", "eventful", "names", "needs", "quick", "special")

    def __init__(self, entries: tuple[Registered, ...]) -> None:
        self.entries = entries
        self.names = [entry.name for entry in entries]
        self.calls: list[Call] = [entry.call for entry in entries]
        self.quick: set[int] = set()
        place = {name: i for i, name in enumerate(self.names)}
        self.needs = {
            i: needs
            for i, entry in enumerate(entries)
            if (needs := sorted(place[name] for name in entry.provider.after if name in place))
        }
        self.dependents: dict[int, list[int]] = {}
        for i, needs in self.needs.items():
            for need in needs:
                self.dependents.setdefault(need, []).append(i)
        self.special = {i for i, e in enumerate(entries) if e.provider.timeout or e.provider.ttl}
        self.eventful = bool(self.special or self.needs)
