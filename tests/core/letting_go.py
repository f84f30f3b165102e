"""What tests of what is let go of share: things nobody wants to keep, no collector, and a caller that has some."""

from __future__ import annotations

import contextvars
import gc
import weakref
from contextlib import contextmanager

variable = contextvars.ContextVar("variable")


class Big:
    """Something nobody wants to keep."""


@contextmanager
def no_collecting():
    """Only counting references frees anything."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def composed_by_a_caller(runtime, mine):
    """Compose from where a local and a context variable hold something, which ``mine`` gets references of."""
    mine.append(weakref.ref(local := Big()))
    mine.append(weakref.ref(of_the_context := Big()))
    variable.set(of_the_context)
    del of_the_context
    return await runtime.compose_state(f"hello {local}")
