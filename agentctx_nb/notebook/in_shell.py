"""What every part of a shell's magics works with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentctx_nb.bridge import await_interruptible, run_sync
from agentctx_nb.errors import AgentCtxError, did_you_mean
from agentctx_nb.names import shown
from agentctx_nb.notebook.mistakes import ArgumentError, shorten, shorten_interrupt
from agentctx_nb.notebook.pinning import remark
from agentctx_nb.notebook.reading import look_up, own_variables
from agentctx_nb.notebook.request import Request
from agentctx_nb.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable
    from types import FrameType

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

    def stand_in(self) -> str:
        """Return what to say, once, where the name ``runtime`` is taken; mostly nothing."""
        return ""

    def empty(self) -> str:
        """Return what to say of a runtime that has no provider; nothing of one that has."""
        return ""

    async def composed(self, request: Request) -> State:
        """Compose, and note the state as the last one of this shell."""
        raise TypeError("magics without a shell compose nothing")

    def request_of(self, message: Memory, **given: Any) -> Request:
        """Return how to compose ``message``: in the room, from the sender and within the limits of the settings.

        ``given`` are options of `AgentRuntime.compose_state` that win over those of the settings.
        """
        settings = self.settings
        room = settings.room if message.room_id is None else message.room_id
        entity = settings.entity if message.entity_id is None else message.entity_id
        limits = {"timeout": settings.timeout, "strict": settings.strict}
        options = {name: value for name, value in limits.items() if value is not None}
        return Request(replace(message, room_id=room, entity_id=entity), options | given)

    def drawn(self, errors: Iterable[Exception]) -> list[str]:
        """Return the tracebacks of ``errors``, each from the user's own first line on."""
        lines: list[str] = []
        for error in errors:
            trace = error.__traceback__
            while trace is not None and is_ours(trace.tb_frame):
                trace = trace.tb_next
            lines += self.shell.InteractiveTB.structured_traceback(type(error), error, trace, tb_offset=0)
        return [self.runtime.mask(line) for line in lines]

    def say(self, sentence: str) -> None:
        """Show a sentence above the result of the cell, where there is one to say."""
        if sentence:
            from IPython.display import display

            display(remark(sentence, self.runtime))  # type: ignore[no-untyped-call]

    def now(self, read: Callable[[], Any]) -> Any:
        """Return what ``read`` gives, or what comes of the coroutine it gives; mistakes are shown short."""
        __tracebackhide__ = True
        self.say(self.stand_in())
        try:
            work = read()
            return run_sync(work) if callable(work) else work
        except AgentCtxError as error:
            shorten(error, self.runtime.mask)
            raise
        except KeyboardInterrupt as error:
            shorten_interrupt(error)
            raise

    async def awaited_now(self, read: Callable[[], Any]) -> Any:
        """Do what `now` does where the cell can await it."""
        __tracebackhide__ = True
        self.say(self.stand_in())
        try:
            work: Callable[[], Coroutine[Any, Any, Any]] | Any = read()
            return await await_interruptible(work()) if callable(work) else work
        except AgentCtxError as error:
            shorten(error, self.runtime.mask)
            raise
        except KeyboardInterrupt as error:
            shorten_interrupt(error)
            raise

    def state_called(self, given: Any) -> State:
        """Return the state given as ``$name``, or that of the variable of this name."""
        variables = self.shell.user_ns
        value = look_up(given, variables, dollar=False, kind=State) if isinstance(given, str) else given
        if not isinstance(value, State):
            of = f"{given} is" if isinstance(given, str) else "this is"
            near = did_you_mean(given, own_variables(variables, State)) if isinstance(given, str) else ""
            raise ArgumentError(f"--state takes a composed state, and {of} {shown(value)}{near}")
        return value


def is_ours(frame: FrameType) -> bool:
    """Whether ``frame`` runs code of this package."""
    return str(frame.f_globals.get("__name__")).startswith("agentctx_nb.")
