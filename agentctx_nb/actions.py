"""Action and ActionResult: what an agent may do with a composed state, and doing it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from agentctx_nb.errors import (
    DefinitionError,
    DefinitionTypeError,
    ResultError,
    describe,
)
from agentctx_nb.names import known_fields, shown
from agentctx_nb.provider import Call, caller, check_function
from agentctx_nb.running.at_work import in_its_own_task
from agentctx_nb.secrecy.masked_errors import masked_error
from agentctx_nb.secrecy.secret_mask import printed_fields
from agentctx_nb.tracebacks import place_of, without_our_frames

if TYPE_CHECKING:
    from agentctx_nb.model import Memory
    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.state import State

__all__ = ["Action", "ActionResult", "ReadyAction", "as_action", "perform", "ready"]


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

    __repr__ = printed_fields

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


@dataclass(frozen=True, slots=True, repr=False)
class ActionResult:
    """What an action did; it shows itself, with secrets masked.

    ``success`` says whether it worked; ``error`` holds the exception where the handler raised one, as a masked
    copy of its class where a secret is in it, or a sentence where the action did not fit. ``action`` is the name of the action that ran, and ``mask``
    hides secrets where the result is printed; the runtime sets both.

    >>> ActionResult(success=True, text="Sent.")
    ActionResult(success=True, text='Sent.')
    """

    success: bool
    text: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    error: Exception | str | None = None
    action: str = field(default="", compare=False, kw_only=True)
    mask: Callable[[str], str] = field(default=str, compare=False, kw_only=True)

    def __repr__(self) -> str:
        from agentctx_nb.render.bounds import cell_text

        told = [f"success={self.success}"]
        for name in _RESULT_FIELDS[1:]:
            value = getattr(self, name)
            if isinstance(value, str) and value:
                told.append(f"{name}={self.mask(str.__str__(value))[:_LONGEST_PRINTED]!r}")
            elif value is not None and not isinstance(value, str) and value != {}:
                told.append(f"{name}={cell_text(value, mask=self.mask, most=_LONGEST_PRINTED)}")
        return f"ActionResult({', '.join(told)})"

    def __str__(self) -> str:
        from agentctx_nb.render.action_view import sentence

        return self.mask(sentence(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from agentctx_nb.render.action_view import result_page

        return result_page(self)._repr_mimebundle_(include, exclude)


class ReadyAction(NamedTuple):
    """An action whose functions have been looked at, once, and may be awaited with all three arguments."""

    action: Action
    handle: Call
    validate: Call | None


_ACTION_FIELDS = tuple(Action.__dataclass_fields__)
_LONGEST_PRINTED = 2_000  # characters of one field
_RESULT_FIELDS = ("success", "text", "values", "data", "error")


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


def ready(action: Action) -> ReadyAction:
    """Return ``action`` with what its functions take worked out."""
    return ReadyAction(
        action,
        caller(action.handler, of=f"handler of action {action.name}"),
        action.validate and caller(action.validate, of=f"validate of action {action.name}"),
    )


async def perform(
    prepared: ReadyAction, runtime: AgentRuntime, message: Memory, state: State
) -> ActionResult:
    """Validate, then handle; whatever either raises becomes a result without success."""
    name = prepared.action.name
    try:
        given = await in_its_own_task(runtime, name, _performed(prepared, runtime, message, state))
        result = _copied(given)
    except Exception as exc:  # noqa: BLE001  told in the result, as the contract says
        error = without_our_frames(exc)
        what = f"action {name} failed {place_of(error)}".rstrip()
        runtime.logger.error({"error": describe(error)}, what)
        runtime.logger.debug(error, what)
        result = ActionResult(success=False, error=error)
    if isinstance(result.error, Exception):
        # Python shows an exception by itself, and asks nobody what to hide.
        result = _copied(result, error=masked_error(result.error, runtime.mask))
    return _copied(result, action=name, mask=runtime.mask)


async def _performed(
    prepared: ReadyAction, runtime: AgentRuntime, message: Memory, state: State
) -> ActionResult:
    if prepared.validate is not None and not await _done(prepared.validate, runtime, message, state):
        said = f"action {prepared.action.name} does not fit this message: its validate said no"
        return ActionResult(success=False, error=said)
    return read_action_result(await _done(prepared.handle, runtime, message, state))


def _copied(result: ActionResult, **changed: Any) -> ActionResult:
    """Return a copy with some fields changed, of the same class, whatever its ``__init__`` takes."""
    copied = object.__new__(type(result))
    state: Any = object.__getstate__(result)
    plain, slots = state  # a pair, since the class has slots
    for name, value in {**(plain or {}), **slots, **changed}.items():
        object.__setattr__(copied, name, value)
    return copied


async def _done(call: Call, *given: Any) -> Any:
    answer = await call(*given)
    return await answer if inspect.isawaitable(answer) else answer


def read_action_result(answer: Any) -> ActionResult:
    """Read what a handler returned: a result, a dict of its fields, a bool, a text, or None for success.

    Raises
    ------
    ResultError
        It is none of these.
    """
    if isinstance(answer, ActionResult):
        return _checked(answer)
    if answer is None or isinstance(answer, bool):
        return ActionResult(success=answer is not False)
    if isinstance(answer, str):
        return ActionResult(success=True, text=answer)
    if isinstance(answer, Mapping):
        try:
            fields = known_fields(answer, _RESULT_FIELDS, of="the result of an action")
        except DefinitionError as exc:
            raise ResultError(str(exc)) from None
        given = {name: value for name, value in fields.items() if value is not None}
        return _checked(ActionResult(**{"success": True, **given}))
    raise ResultError(
        f"a handler returned {type(answer).__name__}; return an ActionResult, a dict of its fields, a bool, "
        "a string or None"
    )


def _checked(result: ActionResult) -> ActionResult:
    wanted: dict[str, tuple[Any, str]] = {
        "success": (bool, "True or False"),
        "text": (str, "a string"),
        "values": (Mapping, "a dict"),
        "data": (Mapping, "a dict"),
        "error": (Exception | str | None, "an exception or a sentence"),
    }
    for name, (kind, words) in wanted.items():
        value = getattr(result, name)
        if not isinstance(value, kind):
            raise ResultError(f"{name} of an action's result is {words}, not {shown(value)}")
    return result
