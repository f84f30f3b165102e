"""A pinned message: composed again after each cell that changed a provider, to show what that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentctx_nb.bridge import run_sync
from agentctx_nb.errors import describe

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agentctx_nb.notebook.request import Request
    from agentctx_nb.notebook.settings import AgentContext
    from agentctx_nb.registry import Snapshot
    from agentctx_nb.render.page import Page
    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.state import State

__all__ = ["Follower", "Pin", "pinned_page", "remark"]


class Pin:
    """A request, the state it gave last, and the providers that were there then."""

    def __init__(self, request: Request, state: State, seen: Snapshot) -> None:
        self.request = request
        self.state = state
        self._seen = seen

    def is_behind(self, runtime: AgentRuntime) -> bool:
        """Whether a provider has changed since the message was composed."""
        return runtime.registry.snapshot() is not self._seen

    async def catch_up(self, runtime: AgentRuntime, compose: Callable[[Request], Awaitable[State]]) -> Any:
        """Compose again and return what changed, or why it could not be composed."""
        before = self.state
        try:
            self.state = await compose(self.request)
        except (Exception, SystemExit) as error:  # noqa: BLE001  the cell has registered its provider
            return remark(f"the pinned message could not be composed: {describe(error)}", runtime)
        finally:
            # Also where it was interrupted, or it would hang again below the next cell; and last, for a
            # provider may register others.
            self._seen = runtime.registry.snapshot()
        return before.diff(self.state)


class Follower:
    """Composes the pinned message after a cell that changed providers; IPython's ``post_run_cell`` event."""

    def __init__(
        self, pin: Callable[[], Pin | None], runtime: Callable[[], AgentRuntime], compose: Callable[..., Any]
    ) -> None:
        self._pin = pin
        self._runtime = runtime
        self._compose = compose

    def __call__(self, _: Any) -> None:
        """Show what changed, if anything was registered since."""
        from IPython.display import display

        pin, runtime = self._pin(), self._runtime()
        if pin is None or not pin.is_behind(runtime):
            return
        try:
            shown = run_sync(lambda: pin.catch_up(runtime, self._compose))
        except BaseException as error:  # noqa: BLE001  the cell is done; an interrupt or an exit ends only this
            shown = remark(f"the pinned message was not composed: {describe(error)}", runtime)
        display(shown)  # type: ignore[no-untyped-call]


def pinned_page(pin: Pin | None, runtime: AgentRuntime, settings: AgentContext) -> Page:
    """Return the pinned message and what it composes now, or that there is none."""
    from agentctx_nb.notebook.display import state_view
    from agentctx_nb.render.page import Lines, Page

    if pin is None:
        return remark("no message is pinned; %pin message pins one", runtime)
    line = Lines((f"pinned: {pin.request.message.content.text}",))
    return Page((line, *state_view(pin.state, settings).parts), mask=runtime.mask)


def remark(sentence: str, runtime: AgentRuntime) -> Page:
    """Return a view of one sentence."""
    from agentctx_nb.render.page import Lines, Page

    return Page((Lines((sentence,)),), mask=runtime.mask)
