"""Good results kept for a while (``ttl=``), and one run shared by all who want the same one now."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from contextlib import suppress
from contextvars import ContextVar
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from agentctx_nb.errors import CompositionRecursionError, describe
from agentctx_nb.freeze import copy_containers
from agentctx_nb.provider import Part, read_result
from agentctx_nb.running.clean_up import look_at
from agentctx_nb.running.driver import composing
from agentctx_nb.tracebacks import clear_frames_of, traceback_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Iterable

    from agentctx_nb.execution import Run
    from agentctx_nb.model import Memory
    from agentctx_nb.registry import Registered

__all__ = ["Flights", "flight_key", "runs_waiting"]

MOST_KEPT = 1024
CLEAN_UP_SECONDS = 5.0  # for a run that its last waiter has cancelled
Key: TypeAlias = "tuple[Hashable, ...]"  # the provider's name comes first

_flight: ContextVar[_Flight | None] = ContextVar("agentctx_nb_flight", default=None)


class _Flight:
    """One run of a provider that any number of compositions wait for."""

    __slots__ = ("handed_out", "name", "outcome", "outer", "task", "waiters", "waits_for")

    def __init__(self, name: str, outer: _Flight | None) -> None:
        self.name = name
        self.outer = outer  # the one it was started inside of
        self.waiters: list[Run] = []
        self.handed_out = False  # the first waiter gets the very objects, the others copies
        self.waits_for: list[_Flight] = []  # one entry a waiter: it may wait twice for the same
        self.task: asyncio.Task[None] | None = None
        # Not what its task returns or raises, and gone with the last waiter: an error may lead to this and to the
        # task, by way of a timer or a group that stood in the provider, and would be held in a circle.
        self.outcome: Part | BaseException | None = None


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

    async def join(
        self, key: Key, entry: Registered, fly: Callable[[], Awaitable[Any]], *, waiter: Run
    ) -> Part:
        """Return the result of the flight under way for ``key``, starting it with ``fly`` where there is none.

        A waiter that is cancelled leaves the others alone; the last one to leave cancels the run and
        waits for it to end. A result is kept for the provider's ``ttl`` seconds, a failure never.

        Raises
        ------
        CompositionRecursionError
            The flight under way waits, through compositions, for the one that asks.
        """
        # A run belongs to the loop it was started on; another thread's loop starts its own.
        place = (*key, asyncio.get_running_loop())
        flight = self._under_way.get(place)
        outer = _flight.get()
        if flight is None or flight.task is None:  # still in its first step, where tasks start at once
            flight = self._start(place, key, entry, fly, outer)
        elif outer is not None and _leads_to(flight, outer):
            raise CompositionRecursionError((outer.name, flight.name, outer.name))
        if outer is not None:
            outer.waits_for.append(flight)
        flight.waiters.append(waiter)
        task = flight.task
        assert task is not None
        try:
            await asyncio.shield(task)
        finally:
            flight.waiters.remove(waiter)
            if outer is not None:
                outer.waits_for.remove(flight)
            if not flight.waiters and not task.done():
                self._end(place, flight)
                task.cancel()
                await asyncio.wait([task], timeout=CLEAN_UP_SECONDS)
            outcome = flight.outcome
            if isinstance(outcome, BaseException):
                clear_frames_of(flight, outcome)
            if not flight.waiters:
                flight.outcome = None
        first, flight.handed_out = not flight.handed_out, True
        if isinstance(outcome, Exception):
            raise outcome if first else _own_error(outcome)
        if isinstance(outcome, BaseException):
            raise outcome
        assert outcome is not None
        return outcome if first else _own(outcome)

    def _start(
        self,
        place: Key,
        key: Key,
        entry: Registered,
        fly: Callable[[], Awaitable[Any]],
        outer: _Flight | None,
    ) -> _Flight:
        flight = self._under_way[place] = _Flight(entry.name, outer)
        work = self._fly(flight, place, key, entry, fly)  # which a loop's task factory may run at once
        flight.task = asyncio.create_task(work, name=f"agentctx_nb {entry.name}")
        flight.task.add_done_callback(partial(self._landed, place, flight))
        return flight

    async def _fly(
        self,
        flight: _Flight,
        place: Key,
        key: Key,
        entry: Registered,
        fly: Callable[[], Awaitable[Any]],
    ) -> None:
        _flight.set(flight)
        began = time.monotonic()
        try:
            part = read_result(await fly())
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # by the provider itself, which is a failure
                raise asyncio.CancelledError
        except BaseException as exc:  # noqa: BLE001  for those who wait; SystemExit would end the loop here
            flight.outcome = exc
        else:
            flight.outcome = part
            if self._under_way.get(place) is flight:  # not where the provider was replaced meanwhile
                self.keep(key, part, entry, began=began)
        finally:
            self._end(place, flight)
            _flight.set(None)  # our context, which our task holds, would lead back to it
            composing.set(None)

    def _end(self, place: Key, flight: _Flight) -> None:
        if self._under_way.get(place) is flight:
            self._under_way.pop(place, None)  # another thread may have forgotten it meanwhile

    def _landed(self, place: Key, flight: _Flight, task: asyncio.Task[None]) -> None:
        self._end(place, flight)  # also one that was cancelled before its first step
        look_at(task)

    def keep(self, key: Key, part: Part, entry: Registered, *, began: float) -> None:
        """Keep a good result for the provider's ``ttl`` seconds; of too many the oldest goes.

        ``began`` is when the run started, by `time.monotonic`: one that held the loop past its deadline has failed.
        """
        now, limit = time.monotonic(), entry.provider.timeout
        if limit is not None and now - began > limit:
            return
        self._kept.pop(key, None)  # so that it comes last
        self._kept[key] = (now + (entry.provider.ttl or 0), _own(part))
        while len(self._kept) > MOST_KEPT:
            with suppress(KeyError):  # another thread may have forgotten them
                self._kept.popitem(last=False)


def runs_waiting() -> list[Run]:
    """Return the runs that wait for the flight this code is part of, or for one around it."""
    found: list[Run] = []
    flight = _flight.get()
    while flight is not None:
        found += flight.waiters
        flight = flight.outer
    return found


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


def _own_error(error: Exception) -> Exception:
    """Return a copy of ``error`` for somebody else, or the very object where it will not be copied."""
    try:
        copied = copy(error)
        if type(copied) is not type(error) or describe(copied) != describe(error):
            return error  # its class makes something else of its arguments
        copied.__cause__, copied.__context__ = error.__cause__, error.__context__
        copied.__suppress_context__ = error.__suppress_context__
    except Exception:  # noqa: BLE001  the error itself is what matters
        return error
    return BaseException.with_traceback(copied, traceback_of(error))


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
