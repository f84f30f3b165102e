"""Asking a server again when it says it is busy: how often, how long to wait, and when to let it be."""

from __future__ import annotations

import asyncio
import math
import random
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

__all__ = ["BUSY", "Response", "retry_after", "with_retries"]

BUSY = frozenset({429, 500, 502, 503, 504, 529})  # statuses that may be gone a moment later


class Response(Protocol):
    """What is looked at of an answer; every HTTP client's response has it."""

    @property
    def status_code(self) -> int:
        """The HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, found whatever their case."""


Answer = TypeVar("Answer", bound=Response)


async def with_retries(
    send: Callable[[], Awaitable[Answer]],
    *,
    tries: int = 3,
    first_wait: float = 0.5,
    longest_wait: float = 20.0,
    retry_on: tuple[type[Exception], ...] = (),
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    draw: Callable[[], float] = random.random,  # noqa: S311  a wait is no secret
) -> Answer:
    """Return what ``send()`` answers, asking up to ``tries`` times while the server is busy (429, 5xx).

    Between two tries it waits a random part of ``first_wait`` seconds, then of twice that, and so on, but at
    least as long as ``Retry-After`` asks. The last answer is returned whatever it is; so is one that asks for
    more than ``longest_wait``. Exceptions in ``retry_on`` count as busy; the last one is raised.
    """
    for number in range(1, tries + 1):
        asked = None
        try:
            answer = await send()
        except retry_on:
            if number >= tries:
                raise
        else:
            if answer.status_code not in BUSY or number >= tries:
                return answer
            asked = retry_after(answer.headers)
            if asked is not None and asked > longest_wait:
                return answer
        # The whole wait is drawn, so that clients refused together do not come back together.
        drawn = draw() * min(longest_wait, first_wait * 2 ** (number - 1))
        await sleep(max(drawn, asked or 0.0))
    raise ValueError(f"tries must be at least 1; it is {tries}")


def retry_after(headers: Mapping[str, str], *, now: Callable[[], float] = time) -> float | None:
    """Return the seconds ``Retry-After`` asks for, given there as seconds or as a date; None where it says nothing.

    >>> retry_after({"retry-after": "2.5"})
    2.5
    """
    said = headers.get("retry-after") or headers.get("Retry-After")
    if not said:
        return None
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(said).timestamp() - now()
        except (TypeError, ValueError):
            return None
    return None if math.isnan(seconds) else max(seconds, 0.0)
