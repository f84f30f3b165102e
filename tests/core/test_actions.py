"""Actions are validated, run on a state, and tell what came of them."""

from __future__ import annotations

import asyncio
import traceback

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
        success=False, error="action DO does not fit this message: its validate said no"
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


def test_a_replaced_action_keeps_its_place_and_is_numbered_also_after_it_was_gone():
    runtime = AgentRuntime()
    for name in ("A", "B"):
        runtime.register_action(Action(name, handler=lambda: None), origin="a module")
    assert (runtime.registered_action("A").version, runtime.registered_action("A").origin) == (1, "a module")
    runtime.register_action(Action("A", handler=lambda: None))
    assert (runtime.registered_action("A").version, runtime.registered_action("A").origin) == (2, None)
    assert [action.name for action in runtime.actions] == ["A", "B"]
    assert runtime.unregister_action("A")
    assert not runtime.unregister_action("A")
    with pytest.raises(UnknownActionError):
        runtime.get_action("A")
    runtime.register_action(Action("A", handler=lambda: None))
    assert runtime.registered_action("A").version == 3
    assert [action.name for action in runtime.actions] == ["B", "A"]


def test_a_wrong_action_leaves_the_old_one_standing():
    runtime = with_action(lambda: "old")
    with pytest.raises(DefinitionError):
        runtime.register_action({"name": "DO", "handler": lambda runtime, *, must: None})
    assert run(runtime).text == "old"
    assert runtime.registered_action("DO").version == 1


def test_signatures_are_read_when_an_action_is_registered_and_not_when_it_runs(monkeypatch):
    runtime = with_action(lambda runtime, message: "done", validate=lambda: True)

    def refuse(*given, **named):
        raise AssertionError("a signature is read at a run")

    monkeypatch.setattr("agentctx_nb.provider.inspect.signature", refuse)
    assert run(runtime) == ActionResult(success=True, text="done")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"text": 5}, "text of an action's result is a string, not 5"),
        (ActionResult(success=True, text=5), "text of an action's result is a string, not 5"),
        ({"values": [1]}, "values of an action's result is a dict, not [1]"),
        ({"error": 404}, "error of an action's result is an exception or a sentence, not 404"),
        ({"success": "yes"}, "success of an action's result is True or False, not 'yes'"),
    ],
)
def test_a_field_of_the_wrong_type_is_a_failure_that_names_it(answer, said):
    result = run(with_action(lambda: answer))
    assert (result.success, str(result.error)) == (False, said)


def test_a_field_that_is_none_is_not_given():
    assert run(with_action(lambda: {"text": None, "values": None, "success": None})) == ActionResult(
        success=True
    )


def test_a_result_prints_what_it_holds_and_no_secret():
    runtime = with_action(lambda: {"text": "the key is s3cr3t-value", "data": {"n": 1}})
    runtime.set_setting("KEY", "s3cr3t-value", secret=True)
    result = run(runtime)
    assert result.text == "the key is s3cr3t-value"
    assert repr(result) == "ActionResult(success=True, text='the key is [secret KEY]', data={'n': 1})"
    assert str(result) == "DO succeeded"
    assert repr(ActionResult(success=False, error="no")) == "ActionResult(success=False, error='no')"

    def fail():
        raise ValueError("s3cr3t-value is wrong")

    failed = run(with_action(fail))
    assert str(failed) == "DO failed: ValueError: s3cr3t-value is wrong"
    runtime.register_action({"name": "DO", "handler": fail})
    failed = run(runtime)
    assert str(failed) == "DO failed: ValueError: [secret KEY] is wrong"
    assert "s3cr3t" not in repr(failed) + "".join(failed._repr_mimebundle_().values())


def test_the_exception_in_a_result_is_a_masked_copy_of_its_class_and_else_the_very_one():
    class OddError(ValueError):
        pass

    raised = []

    def fail(runtime, message):
        error = OddError(message.content.text)
        error.code = 7
        raised.append(error)
        raise error

    def answers(runtime, message):
        return {"success": False, "error": OddError(message.content.text)}

    for handler in (fail, answers):
        runtime = with_action(handler)
        runtime.set_setting("KEY", "s3cr3t-value", secret=True)
        error = run(runtime, message="bad key s3cr3t-value").error
        assert isinstance(error, OddError)
        assert (str(error), error.args) == ("bad key [secret KEY]", ("bad key [secret KEY]",))
        assert repr(error) == "OddError('bad key [secret KEY]')"
    runtime = with_action(fail)
    assert run(runtime, message="plain").error is raised[-1]
    runtime.set_setting("KEY", "s3cr3t-value", secret=True)
    error = run(runtime, message="s3cr3t-value").error
    assert error.code == 7
    assert error.__traceback__.tb_frame.f_code.co_name == "fail"


def test_the_list_says_who_runs_for_an_action_and_goes_with_no_state():
    runtime = with_action(lambda runtime, message, state: state.text)
    runtime.register_provider({"name": "A", "get": lambda: "a"})
    runtime.register_provider({"name": "B", "get": lambda: "b", "private": True})

    def text(**lists):
        return asyncio.run(runtime.run_action("DO", "hi", **lists)).text

    assert text() == "a"
    assert text(include_list=["B"]) == "a\nb"
    assert text(include_list="B", only_include=True) == "b"
    assert text(only_include=True, include_list=[]) == ""
    with pytest.raises(DefinitionError, match="takes a state or the list"):
        text(state=runtime.compose("hi"), include_list=["B"])


def test_a_failure_is_logged_in_one_line_with_its_place(caplog):
    def handler(runtime, message, state):
        return state.values["nope"]

    error = run(with_action(handler)).error
    (record,) = caplog.records
    line = handler.__code__.co_firstlineno + 1
    assert record.getMessage() == f"""action DO failed in handler, line {line} error="KeyError: 'nope'\""""
    assert (record.exc_info, record.exc_text) == (None, None)
    assert [frame.name for frame in traceback.extract_tb(error.__traceback__)] == ["handler"]


def test_the_traceback_of_a_failed_handler_begins_in_its_own_code():
    def handler():
        return 1 / 0

    error = run(with_action(handler)).error
    assert error.__traceback__.tb_frame.f_code.co_name == "handler"


def test_cancelling_an_action_is_no_failure_of_it():
    async def handler():
        await asyncio.sleep(30)

    async def main():
        task = asyncio.ensure_future(with_action(handler).run_action("DO", "hi"))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_the_library_provider_of_preferences_gives_the_reminder_its_timezone():
    from agentctx_nb import Content, Entity, Memory
    from agentctx_nb.library import USER_PREFERENCES

    async def handler(runtime, message, state):
        return state.data.providers.USER_PREFERENCES.data.preferences.timezone or "UTC"

    async def main():
        runtime = with_action(handler)
        runtime.register_provider(USER_PREFERENCES)
        await runtime.create_entity(
            Entity(id="ada", names=["Ada"], metadata={"preferences": {"timezone": "Europe/Oslo"}})
        )
        known = await runtime.run_action("DO", Memory(Content("hi"), entity_id="ada"))
        unknown = await runtime.run_action("DO", Memory(Content("hi"), entity_id="ben"))
        without = await runtime.compose_state("hi", [], only_include=True)
        return known.text, unknown.text, (await runtime.run_action("DO", "hi", without)).text

    assert asyncio.run(main()) == ("Europe/Oslo", "UTC", "UTC")
