"""What the reference page does with providers: templates, actions, the ways to compose, its handling of errors."""

from __future__ import annotations

import asyncio
import logging

import pytest

from agentctx_nb import Action, AgentRuntime

MESSAGE = {"text": "hello", "entityId": "u1", "roomId": "lobby"}


@pytest.fixture
def runtime():
    return AgentRuntime()


def compose(runtime, message=MESSAGE, *lists, **options):
    """Return the state, any failure raised."""

    async def run():
        return await runtime.compose_state(message, *lists, strict=True, **options)

    return asyncio.run(run())


# Using Provider Data -----------------------------------------------------------------------------


def test_values_fill_a_template(runtime):
    runtime.register_provider({"name": "TIME", "get": lambda: {"values": {"currentTime": "noon"}}})
    runtime.register_provider({"name": "USER", "get": lambda: {"values": {"userName": "Ada"}}})
    runtime.register_provider({"name": "WEATHER", "get": lambda: {"values": {"temperature": 72}}})
    template = "\nCurrent time: {{currentTime}}\nUser: {{userName}}\nTemperature: {{temperature}}°F\n\nRespond to: {{userMessage}}\n"
    state = compose(runtime, "weather in Boston?")
    prompt = runtime.compose_prompt(state, template, userMessage="weather in Boston?")
    assert prompt == "\nCurrent time: noon\nUser: Ada\nTemperature: 72°F\n\nRespond to: weather in Boston?\n"


@pytest.mark.parametrize(
    ("given", "timezone"), [({"timezone": "Asia/Tokyo"}, "Asia/Tokyo"), ({}, "UTC"), (None, "UTC")]
)
def test_an_action_reads_provider_data_from_the_state(runtime, given, timezone):
    scheduled = []

    async def handler(runtime, message, state):
        user_prefs = state.data.providers.USER_PREFERENCES.data.preferences
        scheduled.append((message.content.text, user_prefs.timezone or "UTC"))
        return {"success": True}

    async def validate():
        return True

    if (
        given is not None
    ):  # else the provider is not there, and the chain of attributes has to hold all the same
        runtime.register_provider(
            {"name": "USER_PREFERENCES", "get": lambda: {"data": {"preferences": given}}}
        )
    runtime.register_action(Action(name="SEND_REMINDER", handler=handler, validate=validate))

    async def run():
        state = await runtime.compose_state(MESSAGE)
        return await runtime.run_action("SEND_REMINDER", MESSAGE, state)

    assert asyncio.run(run()).success
    assert scheduled == [("hello", timezone)]


# Composing State ---------------------------------------------------------------------------------


@pytest.fixture
def all_five(runtime):
    def says(text):
        return lambda: text

    for name in ("RECENT_MESSAGES", "USER_PROFILE", "FACTS"):
        runtime.register_provider({"name": name, "get": says(name.lower())})
    for name in ("WEATHER", "STOCK_PRICES"):
        runtime.register_provider({"name": name, "dynamic": True, "get": says(name.lower())})
    return runtime


CALLS = [
    ((), {}, ["RECENT_MESSAGES", "USER_PROFILE", "FACTS"]),
    ((["RECENT_MESSAGES", "USER_PROFILE"], True), {}, ["RECENT_MESSAGES", "USER_PROFILE"]),
    ((), {"include_list": ["RECENT_MESSAGES", "USER_PROFILE"], "only_include": True}, ["RECENT_MESSAGES", "USER_PROFILE"]),
    ((["WEATHER", "STOCK_PRICES"],), {}, ["RECENT_MESSAGES", "USER_PROFILE", "FACTS", "WEATHER", "STOCK_PRICES"]),
    ((), {"include_list": ["WEATHER"]}, ["RECENT_MESSAGES", "USER_PROFILE", "FACTS", "WEATHER"]),
]  # fmt: skip


@pytest.mark.parametrize(("lists", "options", "names"), CALLS)
def test_the_three_ways_to_compose(all_five, lists, options, names):
    state = compose(all_five, MESSAGE, *lists, **options)
    assert list(state.data.provider_order) == names
    assert state.text == "\n".join(name.lower() for name in names)


@pytest.mark.parametrize(("lists", "options", "names"), CALLS)
def test_they_do_the_same_in_a_synchronous_call(all_five, lists, options, names):
    state = all_five.compose(MESSAGE, *lists, **options)
    assert list(state.data.provider_order) == names
    assert state.text == compose(all_five, MESSAGE, *lists, **options).text != ""


# Best Practices: Error Handling ------------------------------------------------------------------


@pytest.mark.parametrize("data", [{"answer": 42}, None], ids=["an answer", "an error"])
def test_external_api(runtime, caplog, data):
    async def fetch_external_data():
        if data is None:
            raise ConnectionError("the line is dead")
        return data

    async def get(runtime, message):
        try:
            data = await fetch_external_data()
            return {"text": f"Answer: {data['answer']}", "data": {"apiData": data}}
        except Exception as error:  # noqa: BLE001  as the page catches whatever comes
            runtime.logger.error({"error": str(error)}, "Failed to fetch external data")
            return {"text": ""}

    runtime.register_provider({"name": "EXTERNAL_API", "get": get})
    with caplog.at_level(logging.ERROR):
        state = compose(runtime)
    if data is None:
        assert (state.text, state.report["EXTERNAL_API"].outcome) == ("", "empty")
        assert caplog.messages == ["Failed to fetch external data error='the line is dead'"]
    else:
        assert state.text == "Answer: 42"
        assert state.data.providers.EXTERNAL_API.data.apiData == {"answer": 42}
        assert caplog.messages == []
