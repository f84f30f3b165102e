"""Any number of deadlines on one timer, which is armed when the first of them is set."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

__all__ = ["Alarm"]


def _nobody(_what: str, _which: int) -> None:
    """Hear nothing."""


class Alarm:
    """Calls ``ring(what, which)`` once for each deadline that passes, unless it was dropped before.

    A timer for each provider would cost more than running it, so all share one.
    """

    __slots__ = ("_due", "_loop", "_next", "_ring", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[str, int], None]) -> None:
        self._loop = loop
        self._ring = ring
        self._due: dict[tuple[str, int], float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._next = 0.0

    def set(self, what: str, which: int = -1, *, seconds: float) -> None:
        """Ring for ``(what, which)`` in ``seconds``."""
        due = self._due[what, which] = self._loop.time() + seconds
        if self._timer is None or due < self._next:
            self._arm(due)

    def drop(self, what: str, which: int = -1) -> None:
        """Do not ring for this any more."""
        self._due.pop((what, which), None)

    def off(self) -> None:
        """Ring for nothing any more, and let go of whom to ring."""
        self._due.clear()
        self._ring = _nobody
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._next = due  # some loops' timers do not tell
        self._timer = self._loop.call_at(due, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        now = self._loop.time()
        for what, which in [key for key, due in self._due.items() if due <= now]:
            del self._due[what, which]
            self._ring(what, which)
        # What rang may have set the timer already, but for a deadline of its own.
        earliest = min(self._due.values(), default=None)
        if earliest is not None and (self._timer is None or earliest < self._next):
            self._arm(earliest)
