"""Mistakes in a magic's line, shown as one sentence.

IPython prints its own `UsageError` without reporting an error, so that a notebook under test passes with
it. These are ordinary exceptions that draw themselves short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentctx_nb.errors import AgentCtxError, DefinitionError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ArgumentError", "SettingsError", "StrictError", "shorten"]


class ArgumentError(DefinitionError):
    """The line of a magic cannot be read."""


class SettingsError(DefinitionError):
    """The section of a project's ``pyproject.toml`` cannot be read."""


class StrictError(AgentCtxError):
    """Providers of a strict composition failed; ``exceptions`` holds what they raised.

    It stands for the ``ExceptionGroup`` of the runtime, for which IPython reports no error either.
    """

    def __init__(self, group: ExceptionGroup[Exception], *, drawn: list[str]) -> None:
        self.exceptions = group.exceptions
        self._drawn = drawn
        super().__init__(group.message)

    def _render_traceback_(self) -> list[str]:
        return [*self._drawn, f"{type(self).__name__}: {self}"]


def shorten(error: AgentCtxError, mask: Callable[[str], str]) -> None:
    """Set ``error`` up to be shown by IPython without secrets and without the way it took through our code."""
    error.args = tuple(mask(arg) if isinstance(arg, str) else arg for arg in error.args)
    render = getattr(error, "_render_traceback_", None)
    lines = [f"{type(error).__name__}: {error}"] if render is None else render()
    shown = [mask(line) for line in lines]
    error._render_traceback_ = lambda: shown  # type: ignore[attr-defined]
