"""The part of a runtime that deals with actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from agentctx_nb.errors import DefinitionError
from agentctx_nb.model import as_message
from agentctx_nb.names import check_name
from agentctx_nb.short_errors import short_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentctx_nb.actions import Action, ActionResult, ReadyAction
    from agentctx_nb.model import MessageLike
    from agentctx_nb.numbered import Numbered, NumberedEntry
    from agentctx_nb.running.under_way import UnderWay
    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.state import State
    from agentctx_nb.usage.read_recorder import ReadRecorder

__all__ = ["Acting"]


class Acting:
    """Registers actions and runs them on composed states."""

    _actions: Numbered[ReadyAction]
    _under_way: UnderWay
    read_recorder: ReadRecorder

    def register_action(self, action: Action | Mapping[str, Any], *, origin: str | None = None) -> Action:
        """Register an action, or replace in its place the one of the same name.

        ``origin`` says where it comes from, for listings. Raises `DefinitionError` and leaves all as it
        was where the action is written wrongly.
        """
        from agentctx_nb.actions import as_action, ready

        with short_errors(self):
            given = as_action(action)
            prepared = ready(given)
            self._actions.register(given.name, prepared, origin=origin)
            return given

    def unregister_action(self, name: str) -> bool:
        """Remove an action; return whether there was one."""
        with short_errors(self):
            check_name(name, of="an action")
            return self._actions.unregister(name)

    @property
    def actions(self) -> list[Action]:
        """All actions, in the order of first registration."""
        entries = [self._actions.find(name) for name in self._actions]
        return [entry.thing.action for entry in entries if entry is not None]

    def get_action(self, name: str) -> Action:
        """Return the action ``name``; raise `UnknownActionError` with near names if there is none."""
        with short_errors(self):
            return self.registered_action(name).thing.action

    def registered_action(self, name: str) -> NumberedEntry[ReadyAction]:
        """Return the action ``name`` (as ``.thing.action``) with its version and where it came from."""
        with short_errors(self):
            check_name(name, of="an action")
            return self._actions[name]

    async def run_action(
        self,
        name: str,
        message: MessageLike,
        state: State | None = None,
        *,
        include_list: Iterable[str] | str | None = None,
        only_include: bool = False,
    ) -> ActionResult:
        """Validate and run an action on a message; the state is composed where none is given.

        ``include_list`` and ``only_include`` say who runs for it, as in `AgentRuntime.compose_state`.

        Which values and data the action reads is noted for `reads`: it is handed a `State` that reads and
        writes through to the one that was given or composed.

        Raises
        ------
        DefinitionError
            A list is given with a state, which is composed already.
        UnknownActionError
            No action has this name. What the action itself raises is in the result.
        ActionRecursionError
            The action is run by itself, be it through other actions.
        """
        from agentctx_nb.actions import perform
        from agentctx_nb.running.at_work import at_work
        from agentctx_nb.running.errand import end_with_its_thread
        from agentctx_nb.usage.watched_state import reading

        with short_errors(self):
            end_with_its_thread()
            runtime = cast("AgentRuntime", self)
            action = self.registered_action(name).thing
            given = as_message(message)
            with self._under_way.noted():
                if state is None:
                    composed = await runtime.compose_state(given, include_list, only_include)
                elif include_list is not None or only_include:
                    raise DefinitionError(
                        "run_action takes a state or the list to compose one by; leave one of them out"
                    )
                else:
                    composed = state
                with (
                    at_work(runtime, name),
                    reading(self.read_recorder, f"action {name}", composed) as watched,
                ):
                    return await perform(action, runtime, given, watched)
