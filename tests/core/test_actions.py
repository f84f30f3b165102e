"""Actions are validated, run on a state, and tell what came of them."""

from __future__ import annotations

import asyncio

import pytest

from agentctx_nb import Action, ActionResult, AgentRuntime, DefinitionError, UnknownActionError


def run(runtime, name="DO", message="hi", state=None):
    return asyncio.run(runtime.run_action(name, message, state))


def with_action(handler, **fields):
    runtime = AgentRuntime()
    runtime.register_action({"name": "DO", "handler": handler, **fields})
    return runtime


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, ActionResult(success=True)),
        (True, ActionResult(success=True)),
        (False, ActionResult(success=False)),
        ("done", ActionResult(success=True, text="done")),
        ({"success": False, "text": "no"}, ActionResult(success=False, text="no")),
        ({"text": "yes"}, ActionResult(success=True, text="yes")),
        (ActionResult(success=True, data={"a": 1}), ActionResult(success=True, data={"a": 1})),
    ],
)
def test_what_a_handler_returns_is_its_result(answer, expected):
    assert run(with_action(lambda: answer)) == expected


@pytest.mark.parametrize("answer", [5, [1], {"sucess": True}, {"success": "yes"}])
def test_a_wrong_answer_is_a_failure_that_says_so(answer):
    result = run(with_action(lambda: answer))
    assert not result.success
    assert isinstance(result.error, TypeError)


def test_a_handler_that_raises_is_a_result_without_success(caplog):
    def handler():
        raise ValueError("no postman")

    result = run(with_action(handler))
    assert not result.success
    assert isinstance(result.error, ValueError)
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_validate_comes_first_and_may_refuse():
    ran = []
    runtime = with_action(
        lambda: ran.append(1), validate=lambda runtime, message: message.content.text == "yes"
    )
    assert run(runtime, message="no") == ActionResult(
        success=False, error="action DO does not fit this message"
    )
    assert ran == []
    assert run(runtime, message="yes").success
    assert ran == [1]


def test_async_functions_of_any_number_of_parameters_work():
    async def handler(runtime, message, state):
        return f"{message.content.text} {state.values['n']}"

    async def validate():
        return True

    runtime = with_action(handler, validate=validate)
    runtime.register_provider({"name": "N", "get": lambda: {"values": {"n": 7}}})
    assert run(runtime).text == "hi 7"


def test_a_given_state_is_used_and_none_is_composed():
    runtime = with_action(lambda runtime, message, state: state.values["who"])
    runtime.register_provider({"name": "N", "get": lambda: {"values": {"who": "composed"}}})
    state = runtime.compose("x")
    state.values["who"] = "given"
    assert run(runtime, state=state).text == "given"
    assert run(runtime).text == "composed"


def test_registering_again_replaces_in_place():
    runtime = AgentRuntime()
    for name in ("A", "B"):
        runtime.register_action(Action(name, handler=lambda: "old"))
    runtime.register_action({"name": "A", "handler": lambda: "new"})
    assert [action.name for action in runtime.actions] == ["A", "B"]
    assert run(runtime, "A").text == "new"


def test_an_unknown_action_is_named_with_the_near_ones():
    runtime = AgentRuntime()
    runtime.register_action({"name": "SEND_REMINDER", "handler": lambda: None})
    with pytest.raises(
        UnknownActionError, match="no action is registered as 'SEND_REMINDR'; did you mean 'SEND_REMINDER'"
    ):
        run(runtime, "SEND_REMINDR")


@pytest.mark.parametrize(
    "wrong",
    [None, {"name": "A"}, {"handler": len}, {"name": "", "handler": len}, {"name": "A", "handler": 5},
     {"name": "A", "handler": len, "validte": len}, {"name": "A", "handler": len, "validate": 1}],
)  # fmt: skip
def test_a_wrong_action_is_refused(wrong):
    runtime = AgentRuntime()
    with pytest.raises(DefinitionError):
        runtime.register_action(wrong)
    assert runtime.actions == []


def test_the_reminder_of_the_reference_page_finds_the_timezone_or_utc():
    async def remind(runtime, message, state):
        preferences = state.data.providers.USER_PREFERENCES.data.preferences
        return {"success": True, "text": preferences.timezone or "UTC"}

    runtime = with_action(remind)
    assert run(runtime).text == "UTC"
    runtime.register_provider(
        {"name": "USER_PREFERENCES", "get": lambda: {"data": {"preferences": {"timezone": "Europe/Oslo"}}}}
    )
    assert run(runtime).text == "Europe/Oslo"
