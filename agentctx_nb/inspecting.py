"""The part of a runtime that answers questions about itself: what a template lacks, who reads what, what leaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentctx_nb.looking.cache_lens import CacheLens
    from agentctx_nb.model import MessageLike
    from agentctx_nb.prompts.lint import Findings
    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.secrecy.leak_scan import LeakScan
    from agentctx_nb.state import State
    from agentctx_nb.usage.reads import Reads

__all__ = ["Inspecting"]


class Inspecting:
    """Each question is answered by a module of its own, imported when somebody asks."""

    open_explorer: Any = None  # the one explorer of this runtime, closed when another is opened

    def lint(self, template: str | Callable[[State], str], *, extra: Iterable[str] = ()) -> Findings:
        """Tell what is wrong, or renders differently elsewhere, in a template; nothing is run.

        What providers write is learned from their last runs: compose first, then ask. ``extra`` are the
        names that will be given as extras.
        """
        from agentctx_nb.prompts.lint import lint_template

        return lint_template(cast("AgentRuntime", self), template, extra=extra)

    def reads(self) -> Reads:
        """Return who read which value, and the values nobody has read."""
        from agentctx_nb.usage.reads import reads_of

        return reads_of(cast("AgentRuntime", self))

    def leak_scan(self, message: MessageLike) -> LeakScan:
        """Plant fake secrets, compose ``message``, render every view, and list each place one surfaced.

        Synchronous, as `compose` is. The planted secrets are gone again afterwards.
        """
        from agentctx_nb.secrecy.leak_scan import scan

        return scan(cast("AgentRuntime", self), message)

    def cache_lens(
        self, messages: Iterable[MessageLike], template: str | Callable[[State], str] | None = None
    ) -> CacheLens:
        """Compose each message and tell how much of the prompt's start stays the same from one to the next.

        The prompt is the composed text, or ``template`` rendered with it. Synchronous, as `compose` is, and
        providers run as they do there; nothing of the runtime is changed.
        """
        from agentctx_nb.looking.cache_lens import look_at

        return look_at(cast("AgentRuntime", self), messages, template)

    def settings_frame(self) -> Any:
        """Return every setting as a pandas DataFrame: key, value, type and the layer it comes from; secrets masked."""
        return cast("AgentRuntime", self).settings.to_frame()

    def log_frame(self) -> Any:
        """Return the most recent log records of this runtime as a pandas DataFrame, oldest first; secrets masked."""
        return cast("AgentRuntime", self).logger.to_frame()

    def explore(self, message: MessageLike | None = None) -> Any:
        """Open the explorer on this runtime: compose, look, compare, in widgets.

        Where there is no front end for widgets, the static view of the message, and a line that says so.
        """
        from agentctx_nb.notebook.explorer import explore

        return explore(cast("AgentRuntime", self), message)
