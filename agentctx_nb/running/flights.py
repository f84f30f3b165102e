"""Good results kept for a while (``ttl=``), and one run shared by all who want the same one now."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

from agentctx_nb.errors import CompositionRecursionError, describe, own_error
from agentctx_nb.freeze import copy_containers
from agentctx_nb.interrupt import is_interrupt
from agentctx_nb.provider import Part, read_result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Iterable

    from agentctx_nb.model import Memory
    from agentctx_nb.registry import Registered

__all__ = ["Flights", "flight_key"]

MOST_KEPT = 1024
CLEAN_UP_SECONDS = 5.0  # for a run that its last waiter has cancelled
Key: TypeAlias = "tuple[Hashable, ...]"  # the provider's name comes first

_flight: ContextVar[_Flight | None] = ContextVar("agentctx_nb_flight", default=None)


class _Flight:
    """One run of a provider that any number of compositions wait for."""

    __slots__ = ("handed_out", "name", "task", "waiters", "waits_for")

    def __init__(self, name: str) -> None:
        self.name = name
        self.waiters = 0
        self.handed_out = False  # the first waiter gets the very objects, the others copies
        self.waits_for: list[_Flight] = []  # one entry a waiter: it may wait twice for the same
        self.task: asyncio.Task[Part | BaseException]


class Flights:
    """The results of ``ttl=`` providers and the runs under way, of one runtime."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, tuple[float, Part]] = OrderedDict()
        self._under_way: dict[Key, _Flight] = {}

    def forget(self, name: str) -> None:
        """Drop what is kept of the provider ``name``; a run under way ends without being kept."""
        for key in [key for key in list(self._kept) if key[0] == name]:
            self._kept.pop(key, None)
        for key in [key for key in list(self._under_way) if key[0] == name]:
            self._under_way.pop(key, None)

    def kept(self, key: Key) -> Part | None:
        """Return the caller's own copy of the result kept under ``key``, if it is still good."""
        hit = self._kept.get(key)
        if hit is None:
            return None
        until, part = hit
        if time.monotonic() >= until:
            self._kept.pop(key, None)
            return None
        return _own(part)

    async def join(self, key: Key, entry: Registered, run: Callable[[], Awaitable[Any]]) -> Part:
        """Return the result of the run under way for ``key``, starting it where there is none.

        A waiter that is cancelled leaves the others alone; the last one to leave cancels the run and
        waits for it to end. A result is kept for the provider's ``ttl`` seconds, a failure never.

        Raises
        ------
        CompositionRecursionError
            The run under way waits, through compositions, for the one that asks.
        """
        # A run belongs to the loop it was started on; another thread's loop starts its own.
        place = (*key, asyncio.get_running_loop())
        flight = self._under_way.get(place)
        outer = _flight.get()
        if flight is None:
            flight = self._start(place, key, entry, run)
        elif outer is not None and _leads_to(flight, outer):
            raise CompositionRecursionError((outer.name, flight.name, outer.name))
        if outer is not None:
            outer.waits_for.append(flight)
        flight.waiters += 1
        try:
            part = await asyncio.shield(flight.task)
        finally:
            flight.waiters -= 1
            if outer is not None:
                outer.waits_for.remove(flight)
            if not flight.waiters and not flight.task.done():
                self._end(place, flight)
                flight.task.cancel()
                await asyncio.wait([flight.task], timeout=CLEAN_UP_SECONDS)
        first, flight.handed_out = not flight.handed_out, True
        if isinstance(part, Exception):
            raise part if first else own_error(part)
        if isinstance(part, BaseException):
            raise part
        return part if first else _own(part)

    def _start(
        self,
        place: Key,
        key: Key,
        entry: Registered,
        run: Callable[[], Awaitable[Any]],
    ) -> _Flight:
        flight = _Flight(entry.name)

        async def fly() -> Part | BaseException:
            _flight.set(flight)
            began = time.monotonic()
            try:
                part = read_result(await run())
                if flight.task.cancelling():  # by the provider itself, which is a failure
                    raise asyncio.CancelledError
            except asyncio.CancelledError as exc:
                if is_interrupt(exc):
                    return exc  # a task that is cancelled would not say by whom
                raise
            except BaseException as exc:  # noqa: BLE001  for those who wait; SystemExit would end the loop here
                return exc
            finally:
                shared = self._under_way.get(place) is flight
                self._end(place, flight)
            if shared:  # not where the provider was replaced meanwhile
                self.keep(key, part, entry, began=began)
            return part

        flight.task = asyncio.create_task(fly(), name=f"agentctx_nb {entry.name}")
        flight.task.add_done_callback(_look_at)
        self._under_way[place] = flight
        return flight

    def _end(self, place: Key, flight: _Flight) -> None:
        if self._under_way.get(place) is flight:
            del self._under_way[place]

    def keep(self, key: Key, part: Part, entry: Registered, *, began: float) -> None:
        """Keep a good result for the provider's ``ttl`` seconds; of too many the oldest goes.

        ``began`` is when the run started, by `time.monotonic`: one that held the loop past its deadline has failed.
        """
        now, limit = time.monotonic(), entry.provider.timeout
        if limit is not None and now - began > limit:
            return
        self._kept[key] = (now + (entry.provider.ttl or 0), _own(part))
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


def flight_key(entry: Registered, message: Memory, needs: Iterable[tuple[Registered, Any]]) -> Key | None:
    """Return what a result depends on, or None where something of it cannot be compared.

    That is the version of the provider, the content, the room and the entity, and of each provider it
    waits for the version and what came of it, a result or an error.
    """
    from agentctx_nb.sameness import sameness  # only what is kept asks for it

    try:
        seen = sameness([message.content.__dict__, message.room_id, message.entity_id])
        needed = tuple((need.name, need.version, _sameness_of_outcome(outcome)) for need, outcome in needs)
        key = (entry.name, entry.version, needed, seen)
        hash(key)
    except Exception:  # noqa: BLE001  whatever the user's own objects do when they are looked at
        return None
    return key


def _sameness_of_outcome(outcome: Any) -> Hashable:
    if isinstance(outcome, Exception):
        return describe(outcome)
    from agentctx_nb.sameness import sameness

    part = read_result(outcome)
    return sameness([part.text, part.values, part.data])


def _own(part: Part) -> Part:
    return Part(part.text, copy_containers(part.values), copy_containers(part.data))


def _leads_to(flight: _Flight, wanted: _Flight) -> bool:
    open_flights, seen = [flight], set()
    while open_flights:
        current = open_flights.pop()
        if current is wanted:
            return True
        if current not in seen:
            seen.add(current)
            open_flights.extend(current.waits_for)
    return False


def _look_at(task: asyncio.Task[Part | BaseException]) -> None:
    if not task.cancelled():
        task.exception()  # a waiter gets it; asyncio would also print it where all had left
