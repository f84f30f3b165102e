"""Run the chosen providers together, each failing alone.

A *driver* is a task that takes the next provider and awaits it inline. While providers finish at
once, one driver serves them all: one task a composition, not one a provider. A provider that
suspends keeps its driver's task to itself, from its first step to its last, and another driver goes
on with the rest, so all that wait wait together. Never is a first step run outside the task that
runs the others: timeouts, task groups and HTTP clients remember the task they were entered in.

What sharing a task costs: a provider that finishes at once and leaves a timer behind that cancels its
task (``call_later(1, current_task().cancel)``) may hit the provider the driver has come to since. Nothing
tells such a cancellation from one of the provider's own, but a task for each, which is what gather costs.
"""

from __future__ import annotations

import asyncio
from contextvars import Context, copy_context
from functools import partial
from operator import length_hint
from time import perf_counter_ns as now_ns
from typing import TYPE_CHECKING, Any

from agentctx_nb.interrupt import Interrupted, is_for_all
from agentctx_nb.provider import Part
from agentctx_nb.running.alarm import Alarm
from agentctx_nb.running.calls import prepared, stop_watched, suspended
from agentctx_nb.running.clean_up import wait_for_clean_up
from agentctx_nb.running.deadlines import ended_itself, settle, settle_late
from agentctx_nb.running.driver import Driver, composing
from agentctx_nb.running.plan import EAGER
from agentctx_nb.running.watchdog import name_slow
from agentctx_nb.tracebacks import without_our_frames

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from agentctx_nb.model import Memory
    from agentctx_nb.provider import Call
    from agentctx_nb.running.driver import Served
    from agentctx_nb.running.plan import Plan

__all__ = ["NO_CONTEXT", "Run"]

WATCHDOG_SECONDS = 5.0  # a provider still running then is named in the log
DEADLINE_GRACE_SECONDS = 1.0  # for the clean-up of a provider past its deadline
CANCEL_GRACE_SECONDS = 5.0  # for the clean-up of all, when the composition is cancelled
NO_CONTEXT = Context()
NOTHING_KEPT: dict[int, Part | Exception] = {}
NOTHING_QUEUED: Iterator[tuple[int, Call]] = iter(())


class Run:
    """One composition under way, and afterwards what came of each provider.

    Index by place in the plan: ``results`` (as returned, or a checked `Part`), ``errors``,
    ``starts_ns`` and ``ends_ns`` (`time.perf_counter_ns`), ``held_ns`` (time the provider held the
    event loop, all of it where it is not there, None where it is not known), ``timed_out``,
    ``cached``. What ``kept`` holds, a result or an error, is not run again.
    """

    _loop: asyncio.AbstractEventLoop
    context: Context  # of the caller
    # What most runs leave as it is belongs to the class: one is made in every call.
    timeout: float | None = None  # seconds for all of it
    skip_cache = False
    fresh: Collection[str] = ()
    kept: Mapping[int, Part | Exception] = NOTHING_KEPT
    timed_out: Any = frozenset()  # a set where there are deadlines or a ttl, as is the next
    cached: Any = frozenset()
    bare: set[int] | None = None  # those awaited without a stop-watch and a timer; None: all
    last_step_ns: dict[int, int] | None = None  # when the last step of each began, where there are deadlines
    began_ns = given_up = _spares = _started = 0
    _burst = 1
    over = ended = _stopping = False
    around: Driver | Served | None = None  # what composes it: a provider, its driver where that is not known
    _released: Any = ()  # a list, while some are
    _alarm: Alarm | None = None
    _waiter: asyncio.Future[None] | None = None
    named_slow: frozenset[int] = frozenset()
    _fatal: BaseException | None = None

    def __init__(
        self,
        plan: Plan,
        runtime: Any,
        message: Memory,
        state: Any,
        state_for: Callable[[Run, list[int]], Any],
        timeout: float | None,
        token: object,
    ) -> None:
        count = len(plan.names)
        self.plan = plan
        self.runtime = runtime
        self.message = message
        self.state = state
        self.state_for = state_for
        self.token = token  # of the call this is the run of, see `UnderWay`
        self.results: list[Any] = [None] * count
        self.starts_ns = [0] * count
        self.ends_ns = [0] * count
        self.held_ns: dict[int, int | None] = {}
        self.errors: dict[int, Exception] = {}
        if plan.eventful or timeout is not None:
            self.timeout, self.timed_out, self.cached, self.last_step_ns = timeout, set(), set(), {}
        self._drivers: dict[Driver, None] = {}  # those that have not ended, in the order they started
        self._queue: Iterator[tuple[int, Call]]

    def keep(self, kept: Mapping[int, Part | Exception], *, late: set[int], fresh: Collection[str]) -> None:
        """Take these outcomes from before, by place, of which ``late`` had timed out; ``fresh`` names use no cache."""
        self.kept, self.fresh, self.timed_out = kept, fresh, late
        for i, outcome in kept.items():
            into: Any = self.results if isinstance(outcome, Part) else self.errors
            into[i] = outcome
        self.cached = kept.keys() - self.errors.keys()

    @property
    def alarm(self) -> Alarm:
        """The one timer for all deadlines of this run."""
        if self._alarm is None:
            self._alarm = Alarm(self._loop, self._ring)
        return self._alarm

    def start(self) -> bool:
        """Start the providers of the plan; return whether there is an end to `wait` for."""
        self._loop = asyncio.get_running_loop()
        self.began_ns = now_ns()
        self.context = copy_context()
        if self.timeout is not None:
            self.alarm.set("over", seconds=self.timeout)
        self._queue = self._first_wave()
        self._pump()
        return bool(self._drivers or self._released or self._alarm) or self._fatal is not None

    async def wait(self) -> None:
        """Return when every provider has ended."""
        try:
            if len(self._drivers) > self.given_up or self._released or self._fatal is not None:
                await self._wait()
        finally:
            if self._alarm is not None:
                self._alarm.off()
        if self.timeout is not None:
            settle_late(self)

    # Which provider next ------------------------------------------------------------------

    def _first_wave(self) -> Iterator[tuple[int, Call]]:
        plan = self.plan
        if len(plan.quick) == len(plan.names) > 0 and not (plan.needs or self.kept):
            if EAGER:
                return enumerate(plan.calls)
            *wave, (last, call) = enumerate(plan.calls)
            return iter([*wave, (last, stop_watched(self, last, call))])  # no spare shows if that suspends
        self.bare = set()
        self._open_needs = {
            i: sum(need not in self.kept for need in needs) for i, needs in plan.needs.items()
        }
        later = {i for i, count in self._open_needs.items() if count}.union(self.kept)
        return iter([(i, prepared(self, i)) for i in range(len(plan.names)) if i not in later])

    def _pump(self) -> None:
        """Start drivers until everything that can start has started."""
        if self._released:
            wave = [(i, prepared(self, i)) for i in self._released]
            self._released = ()
            self._queue = iter([*self._queue, *wave])
        if not EAGER:
            self._start_plain(1)
            return
        while self._fatal is None:
            driver = Driver(self)
            context = self.context.copy()
            self._drivers[driver] = None  # first: where loops nest, a deadline may pass within its first step
            asyncio.Task(
                self._drive(driver, context),
                loop=self._loop,
                eager_start=True,  # type: ignore[call-arg, unused-ignore]  # 3.11 has none, and never gets here
                context=context,
            )
            if driver.exhausted:
                return
            driver.waited, at = True, driver.at
            suspended(self, at)
            if at == len(self.plan.names) - 1 and not self.plan.needs:
                return

    def _start_plain(self, count: int) -> None:
        """Start ordinary tasks, for 3.11: behind each stand spares, 1, 2, 4, …, so that N take O(log N) turns."""
        self._spares += count
        for _ in range(count):
            driver = Driver(self)
            context = self.context.copy()
            driver.task = asyncio.Task(self._drive_plain(driver, context), loop=self._loop, context=context)
            driver.task.add_done_callback(partial(self._plain_ended, driver))
            self._drivers[driver] = None

    async def _drive_plain(self, driver: Driver, context: Context) -> None:
        self._spares -= 1
        self._started += 1
        left = length_hint(self._queue)  # exact for a list's iterator
        if left > 1 and not self._spares:
            self._start_plain(min(self._burst, left - 1))
            self._burst *= 2
        await self._drive(driver, context)

    def _plain_ended(self, driver: Driver, _task: asyncio.Task[None]) -> None:
        if driver in self._drivers:  # cancelled before its first step, by somebody who cancels all there are
            del self._drivers[driver]
            self._spares -= 1
            self._start_spare()
            self._wake_if_done()

    def _start_spare(self) -> None:
        """Have somebody take what is left, where a driver ends before that."""
        if not EAGER and not self._spares and length_hint(self._queue):
            self._start_plain(1)

    async def _drive(self, driver: Driver, context: Context) -> None:
        runtime, message, state = self.runtime, self.message, self.state
        results, starts, ends = self.results, self.starts_ns, self.ends_ns
        plan, limits, started = self.plan, self.plan.limits, self._started
        # Whether one of the rarer things can happen to a provider at all: the others are not asked about them.
        eventful = plan.eventful or self.timeout is not None or not EAGER
        task: Any = asyncio.current_task()
        driver.task = task
        cancelling = task.cancelling
        composing.set(driver)
        untouched = context.copy()
        driver.began_ns = start = now_ns()
        try:
            for i, call in self._queue:
                driver.at = i
                starts[i] = start
                try:
                    results[i] = await call(runtime, message, state)
                except Exception as exc:  # noqa: BLE001  one provider's error hurts no other
                    if driver.abandoned:
                        return
                    self.errors[i] = without_our_frames(exc)
                except BaseException as exc:  # hurts no other either, but for some
                    if isinstance(exc, asyncio.CancelledError) and (driver.abandoned or self._stopping):
                        raise
                    if is_for_all(exc):
                        self._fatal = exc
                        return
                    ended_itself(self, i, exc)  # or it is past its deadline, which is told later
                end = now_ns()
                if eventful:
                    if started != self._started:  # on 3.11, a spare ran meanwhile: it had suspended
                        started = self._started
                        suspended(self, i)
                    if i in limits:
                        if self._alarm is not None:
                            self._alarm.drop("late", i)
                        if end - start > limits[i]:  # also where it held the loop and no timer could fire
                            self.timed_out.add(i)
                    if i in self.timed_out:
                        if driver.abandoned:
                            results[i] = None
                            return
                        settle(self, i)  # where that cancelled the task, the next gets another
                        self.alarm.drop("gone", i)
                ends[i] = end
                if eventful and i in plan.dependents:
                    self._release(i)
                # It set a context variable, or cancelled its own task: the next needs a clean one. Or it waited, and
                # loops nest: then there may be more to take, for whose deadline nobody would set a timer.
                try:
                    touched = context != untouched
                except Exception:  # noqa: BLE001  a value that cannot be compared, such as an array, is another
                    touched = True
                if touched or cancelling() or (eventful and driver.waited):
                    if cancelling() and i not in self.errors and not self._stopping:
                        ended_itself(self, i, None)
                    self._start_spare()
                    break
                start = end
            else:
                driver.exhausted = True
            if self.errors:
                driver.at = -1
                composing.set(None)  # a task group that stood in a provider leads to our context
                if EAGER and self._waiter is None and not cancelling():
                    await asyncio.sleep(0)  # errors hold on to us, and we to the caller in whose step we end
        except asyncio.CancelledError:
            raise
        except Exception as exc:  # noqa: BLE001  hostile enough to break what we do around it
            self._died(driver, exc)
        except BaseException as exc:  # noqa: BLE001  as above
            self._fatal = exc
        finally:
            driver.at = -1
            del driver.task  # whose context leads back to the driver
            self._drivers.pop(driver, None)
            self.given_up -= driver.abandoned
            if self._waiter is not None:
                self._wake_if_done()

    def _died(self, driver: Driver, exc: Exception) -> None:
        """The driver failed, not the provider it served: that one has failed all the same, and the rest go on."""
        i = driver.at
        if not driver.abandoned:
            self.errors.setdefault(i, exc)
            self.results[i] = None
            if not self.ends_ns[i]:
                self.ends_ns[i] = now_ns()
                self._release(i)
        self._start_spare()

    def _release(self, i: int) -> None:
        """Provider ``i`` has ended: those that waited for nothing else can start."""
        for dependent in self.plan.dependents.get(i, ()):
            self._open_needs[dependent] -= 1
            if not self._open_needs[dependent] and not self.over:
                if not self._released:
                    self._loop.call_soon(self._pump_and_wake)
                    self._released = []
                self._released.append(dependent)

    def _pump_and_wake(self) -> None:
        if self._stopping or self.over:
            self._released = ()
        else:
            self._pump()
        self._wake_if_done()

    def _wake_if_done(self) -> None:
        waiter = self._waiter
        ended = len(self._drivers) == self.given_up and not self._released
        if (ended or self._fatal is not None) and waiter is not None and not waiter.done():
            waiter.set_result(None)

    # Waiting, deadlines, cancellation -----------------------------------------------------

    async def _wait(self) -> None:
        try:
            if self._fatal is None:
                self.alarm.set("slow", seconds=WATCHDOG_SECONDS)
                self._waiter = self._loop.create_future()
                await self._waiter
            if self._fatal is not None:
                await self._stop()
                raise self._fatal
        except asyncio.CancelledError:
            if not self._stopping:
                await self._stop()
            raise
        finally:
            self._queue, self._drivers = NOTHING_QUEUED, {}  # which lead back here; a state holds on to us

    def _ring(self, what: str, i: int) -> None:
        """A deadline has passed: of one provider, of the call, or of somebody's patience."""
        running = [driver for driver in self._drivers if driver.at >= 0 and not driver.abandoned]
        if what == "over":
            self.over = True
            self._start_no_more()
        if what == "slow":
            self.alarm.set("slow", seconds=name_slow(self, running, seconds=WATCHDOG_SECONDS))
        for driver in running:
            if what == "over" or (what == "late" and driver.at == i):
                self.timed_out.add(driver.at)
                self.alarm.set("gone", driver.at, seconds=DEADLINE_GRACE_SECONDS)
                driver.task.cancel()
            elif what == "gone" and driver.at == i:
                self._abandon(driver)
        self._wake_if_done()

    def _abandon(self, driver: Driver) -> None:
        """Go on without a provider that ignores its cancellation; what it still does is dropped."""
        driver.abandoned = True
        self.given_up += 1
        i = driver.at
        self.alarm.drop("late", i)
        self.ends_ns[i] = now_ns()
        self.held_ns.setdefault(i, None)
        settle(self, i)
        self.runtime.leave_behind(driver.task)
        if self.plan.dependents:
            self._release(i)

    def _start_no_more(self) -> None:
        self._released = ()
        for _ in self._queue:  # emptied, not replaced: drivers hold this very iterator
            pass

    async def _stop(self) -> None:
        """Cancel every provider and wait for its clean-up; a second cancellation stops the waiting."""
        self._stopping = True
        self._start_no_more()
        tasks = [driver.task for driver in self._drivers]
        for task in tasks:
            task.cancel()
        expected = isinstance(self._fatal, Interrupted)  # by SIGINT, which then cancels our own task as well
        try:
            await wait_for_clean_up(tasks, seconds=CANCEL_GRACE_SECONDS, expected=int(expected))
        finally:
            for task in tasks:
                if not task.done():
                    self.runtime.leave_behind(task)
