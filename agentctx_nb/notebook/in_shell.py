"""What every part of a shell's magics works with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentctx_nb.bridge import await_interruptible, run_sync
from agentctx_nb.errors import AgentCtxError, did_you_mean
from agentctx_nb.names import shown
from agentctx_nb.notebook.mistakes import ArgumentError, shorten
from agentctx_nb.notebook.reading import look_up
from agentctx_nb.notebook.request import Request
from agentctx_nb.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from IPython.core.interactiveshell import InteractiveShell

    from agentctx_nb.model import Memory
    from agentctx_nb.notebook.session import Session
    from agentctx_nb.notebook.settings import AgentContext
    from agentctx_nb.runtime import AgentRuntime

__all__ = ["InShell"]


class InShell:
    """The shell, its session and its runtime; `NotebookMagics` says which, and composes."""

    shell: InteractiveShell
    session: Session
    settings: AgentContext

    @property
    def runtime(self) -> AgentRuntime:
        """The runtime to work on."""
        raise TypeError("magics without a shell have no runtime")

    async def composed(self, request: Request) -> State:
        """Compose, and note the state as the last one of this shell."""
        raise TypeError("magics without a shell compose nothing")

    def request_of(self, message: Memory) -> Request:
        """Return how to compose ``message``: in the room, from the sender and within the limits of the settings."""
        settings = self.settings
        room = settings.room if message.room_id is None else message.room_id
        entity = settings.entity if message.entity_id is None else message.entity_id
        limits = {"timeout": settings.timeout, "strict": settings.strict}
        options = {name: value for name, value in limits.items() if value is not None}
        return Request(replace(message, room_id=room, entity_id=entity), options)

    def now(self, read: Callable[[], Any]) -> Any:
        """Return what ``read`` gives, or what comes of the coroutine it gives; mistakes are shown short."""
        __tracebackhide__ = True
        try:
            work = read()
            return run_sync(work) if callable(work) else work
        except AgentCtxError as error:
            shorten(error, self.runtime.mask)
            raise

    async def awaited_now(self, read: Callable[[], Any]) -> Any:
        """Do what `now` does where the cell can await it."""
        __tracebackhide__ = True
        try:
            work: Callable[[], Coroutine[Any, Any, Any]] | Any = read()
            return await await_interruptible(work()) if callable(work) else work
        except AgentCtxError as error:
            shorten(error, self.runtime.mask)
            raise

    def state_called(self, given: Any) -> State:
        """Return the state given as ``$name``, or that of the variable of this name."""
        value = look_up(given, self.shell.user_ns) if isinstance(given, str) else given
        if not isinstance(value, State):
            of = f"{given} is" if isinstance(given, str) else "this is"
            states = [
                name
                for name, held in self.shell.user_ns.items()
                if isinstance(held, State) and name[:1] != "_"
            ]
            near = did_you_mean(given, states) if isinstance(given, str) else ""
            raise ArgumentError(f"--state takes a composed state, and {of} {shown(value)}{near}")
        return value
