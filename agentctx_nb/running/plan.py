"""What one selection runs: worked out once, used until the registry changes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentctx_nb.provider import Call
    from agentctx_nb.registry import Registered

__all__ = ["EAGER", "Plan"]

EAGER = sys.version_info >= (3, 12)  # a task can be started at once


class Plan:
    """The entries that run, in text order; everything else is by place in that order.

    Attributes
    ----------
    needs, dependents
        Which places a place waits for through ``after=``, and which wait for it.
    special
        The places with a deadline or a ``ttl``, which need more than being awaited.
    limits
        The nanoseconds that those with a deadline may take.
    eventful
        Whether any is special, or waits for another.
    quick
        The places known to finish without suspending. They are awaited bare, their deadline looked at when
        they have ended; the others under a stop-watch that tells how long they held the event loop, and with
        a timer for the deadline. It changes from run to run.
    never_quick
        Those that are not awaited bare whatever they do: with a ``ttl``, and on 3.11, where nothing tells at
        once that one suspends, with a deadline.
    """

    __slots__ = (
        "calls",
        "dependents",
        "entries",
        "eventful",
        "limits",
        "names",
        "needs",
        "never_quick",
        "quick",
        "special",
    )

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
        self.limits = {i: e.provider.timeout * 1e9 for i, e in enumerate(entries) if e.provider.timeout}
        self.never_quick = {i for i in self.special if entries[i].provider.ttl or not EAGER}
        self.eventful = bool(self.special or self.needs)
