"""Mistakes in a magic's line, shown as one sentence.

IPython prints its own `UsageError` without reporting an error, so that a notebook under test passes with
it. These are ordinary exceptions that draw themselves short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentctx_nb.errors import AgentCtxError, DefinitionError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from agentctx_nb.actions import ActionResult

__all__ = [
    "ActionFailedError",
    "ArgumentError",
    "SettingsError",
    "StrictError",
    "nobody_yet",
    "shorten",
    "shorten_interrupt",
]


def nobody_yet(names: Iterable[str], known: Collection[str]) -> list[str]:
    """Return what to say of each of ``names`` that is none of the providers there are so far.

    >>> nobody_yet(["FACTS", "WETHER"], ["FACTS", "WEATHER"])
    ["nobody is registered as 'WETHER' yet; did you mean 'WEATHER'?"]
    """
    return [
        f"nobody is registered as {name!r} yet{did_you_mean(name, known)}"
        for name in names
        if name not in known
    ]


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
        said = group.message
        for error in group.exceptions:
            if isinstance(error, UnknownNameError) and error.near:
                near = " or ".join(error.near)
                said = said.replace(
                    f"unknown {error.name}", f"unknown {error.name} (did you mean {near}?)", 1
                )
        super().__init__(said)

    def _render_traceback_(self) -> list[str]:
        return [*self._drawn, f"{type(self).__name__}: {self}"]


class ActionFailedError(AgentCtxError):
    """An action run with ``--strict`` did not succeed; ``result`` is what came of it."""

    def __init__(self, said: str, result: ActionResult, *, drawn: list[str]) -> None:
        self.result = result
        self._drawn = drawn
        super().__init__(said)

    def _render_traceback_(self) -> list[str]:
        return [*self._drawn, f"{type(self).__name__}: {self}"]


def shorten(error: AgentCtxError, mask: Callable[[str], str]) -> None:
    """Set ``error`` up to be shown by IPython without secrets and without the way it took through our code."""
    error.args = tuple(mask(arg) if isinstance(arg, str) else arg for arg in error.args)
    render = getattr(error, "_render_traceback_", None)
    lines = [f"{type(error).__name__}: {error}"] if render is None else render()
    shown = [mask(line) for line in lines]
    error._render_traceback_ = lambda: shown  # type: ignore[attr-defined]


def shorten_interrupt(error: KeyboardInterrupt) -> None:
    """Set ``error`` up to be shown by IPython in one line; the lines it came through are all ours."""
    said = "KeyboardInterrupt: interrupted; what was running has been cancelled"
    error._render_traceback_ = lambda: [said]  # type: ignore[attr-defined]
