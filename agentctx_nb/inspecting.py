"""The part of a runtime that answers questions about itself: what a template lacks, who reads what, what leaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from agentctx_nb.short_errors import short_errors

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

# Other modules of this package need these; nobody who looks through a runtime does.
_INTERNAL = frozenset(
    (
        "flights",
        "leave_behind",
        "mark_for",
        "name_as_template",
        "open_explorer",
        "read_recorder",
        "registry",
        "threads",
        "twin_of",
        "warned_of",
        "written",
    )
)


class Inspecting:
    """Each question is answered by a module of its own, imported when somebody asks."""

    twin_of: AgentRuntime | None = None  # the runtime this is a copy of, made to be looked into
    open_explorer: Any = None  # the one explorer of this runtime, closed when another is opened

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in _INTERNAL]

    def lint(self, template: str | Callable[[State], str], *, extra: Iterable[str] = ()) -> Findings:
        """Tell what is wrong, or renders differently elsewhere, in a template; nothing is run.

        What providers write is learned from their last runs: compose first, then ask. ``extra`` are the
        names that will be given as extras.
        """
        from agentctx_nb.prompts.lint import lint_template

        with short_errors(self):
            return lint_template(cast("AgentRuntime", self), template, extra=extra)

    def reads(self) -> Reads:
        """Return who read which value, and the values nobody has read."""
        from agentctx_nb.usage.reads import reads_of

        return reads_of(cast("AgentRuntime", self))

    def leak_scan(
        self,
        message: MessageLike,
        include_list: Iterable[str] | str | None = None,
        only_include: bool = False,  # noqa: FBT001, FBT002  as compose_state
    ) -> LeakScan:
        """Plant fake secrets, compose ``message``, render every view, and list each place one surfaced.

        Synchronous, as `compose` is, and ``include_list`` and ``only_include`` say who runs as they do there.
        The planted secrets are gone again afterwards. Of a provider that failed or did not run there is
        nothing to read: the result names those, and is false where no secret surfaced in the others.

        Raises
        ------
        CompositionRecursionError
            A provider asks for a scan in which it would run again.
        """
        from agentctx_nb.secrecy.leak_scan import scan

        with short_errors(self):
            return scan(cast("AgentRuntime", self), message, include_list, only_include=only_include)

    def cache_lens(
        self, messages: Iterable[MessageLike], template: str | Callable[[State], str] | None = None
    ) -> CacheLens:
        """Compose each message and tell how much of the prompt's start stays the same from one to the next.

        The prompt is the composed text, or ``template`` rendered with it. Synchronous, as `compose` is, and
        providers run as they do there; nothing of the runtime is changed.
        """
        from agentctx_nb.looking.cache_lens import look_at

        with short_errors(self):
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
