"""Action and ActionResult: what an agent may do with a composed state, and doing it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionError, DefinitionTypeError, ResultError, without_our_frames
from agentctx_nb.names import known_fields, shown
from agentctx_nb.provider import caller, check_function

if TYPE_CHECKING:
    from agentctx_nb.model import Memory
    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.state import State

__all__ = ["Action", "ActionResult", "as_action", "perform"]


@dataclass(frozen=True, slots=True)
class Action:
    """Something an agent can do, changed only by registering another under the same name.

    ``handler`` and ``validate`` take none to three of ``(runtime, message, state)`` by place and may be
    async; a ``def`` runs in a worker thread. ``validate`` answers whether the action fits; without one
    it always does.

    >>> Action("WAVE", handler=lambda: True).name
    'WAVE'
    """

    name: str
    handler: Callable[..., Any]
    validate: Callable[..., Any] | None = None
    description: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise DefinitionTypeError(
                f"the name of an action is a string that is not blank, not {shown(self.name)}"
            )
        for role in ("handler", "validate"):
            function = getattr(self, role)
            if function is None and role == "validate":
                continue
            if not callable(function):
                raise DefinitionTypeError(
                    f"{role} of action {self.name} must be callable, not {shown(function)}"
                )
            check_function(function, of=f"{role} of action {self.name}")
        if self.description is not None and not isinstance(self.description, str):
            raise DefinitionTypeError(f"description of action {self.name} must be a string")


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What an action did.

    ``success`` says whether it worked; ``error`` holds the exception where the handler raised one, or a
    sentence where the action did not fit.
    """

    success: bool
    text: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    error: Exception | str | None = None


_ACTION_FIELDS = tuple(Action.__dataclass_fields__)
_RESULT_FIELDS = tuple(ActionResult.__dataclass_fields__)


def as_action(given: Action | Mapping[str, Any]) -> Action:
    """Return ``given`` as an `Action`; a dict may be in camelCase or snake_case."""
    if isinstance(given, Action):
        return given
    if isinstance(given, Mapping):
        fields = known_fields(given, _ACTION_FIELDS, of="an action")
        for needed in ("name", "handler"):
            if needed not in fields:
                raise DefinitionError(
                    f"an action needs {needed!r}; this one has {', '.join(fields) or 'nothing'}"
                )
        return Action(**fields)
    raise DefinitionTypeError(f"an action is an Action or a dict of its fields, not {shown(given)}")


async def perform(action: Action, runtime: AgentRuntime, message: Memory, state: State) -> ActionResult:
    """Validate, then handle; whatever either raises becomes a result without success."""
    try:
        if action.validate is not None:
            fits = await _call(action.validate, f"validate of action {action.name}", runtime, message, state)
            if not fits:
                return ActionResult(success=False, error=f"action {action.name} does not fit this message")
        answer = await _call(action.handler, f"handler of action {action.name}", runtime, message, state)
        return read_action_result(answer)
    except Exception as exc:  # noqa: BLE001  told in the result, as the contract says
        runtime.logger.error(exc, f"action {action.name} failed")
        return ActionResult(success=False, error=without_our_frames(exc))


async def _call(function: Callable[..., Any], of: str, *given: Any) -> Any:
    answer = await caller(function, of=of)(*given)
    return await answer if inspect.isawaitable(answer) else answer


def read_action_result(answer: Any) -> ActionResult:
    """Read what a handler returned: a result, a dict of its fields, a bool, a text, or None for success.

    Raises
    ------
    ResultError
        It is none of these.
    """
    if isinstance(answer, ActionResult):
        return answer
    if answer is None or isinstance(answer, bool):
        return ActionResult(success=answer is not False)
    if isinstance(answer, str):
        return ActionResult(success=True, text=answer)
    if isinstance(answer, Mapping):
        try:
            fields = known_fields(answer, _RESULT_FIELDS, of="the result of an action")
        except DefinitionError as exc:
            raise ResultError(str(exc)) from None
        if not isinstance(fields.setdefault("success", True), bool):
            raise ResultError(f"success of an action is True or False, not {shown(fields['success'])}")
        return ActionResult(**fields)
    raise ResultError(
        f"a handler returned {type(answer).__name__}; return an ActionResult, a dict of its fields, a bool or None"
    )
