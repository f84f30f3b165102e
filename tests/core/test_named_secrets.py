"""Settings whose name says that they are secrets."""

from __future__ import annotations

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.settings import Settings

NAMED = "k3y-0f-the-d00r"


@pytest.mark.parametrize("layer", ["settings", "defaults", "set_setting"])
def test_a_setting_whose_name_says_it_is_a_secret_is_masked_wherever_it_is_set(layer):
    given = {
        "STOCK_API_KEY": NAMED,
        "apiTokens": ["k3y-in-a-list", {"b": "k3y-in-a-dict"}],
        "UNITS": NAMED[::-1],
    }
    runtime = AgentRuntime(**({} if layer == "set_setting" else {layer: given}))
    if layer == "set_setting":
        for key, value in given.items():
            runtime.set_setting(key, value)
    runtime.register_provider({"name": "A", "get": lambda r: f"with {r.get_setting('STOCK_API_KEY')}"})
    state = runtime.compose("hi")
    assert state.text == f"with {NAMED}"  # what the model is told is raw
    assert str(state) == "with [secret STOCK_API_KEY]"
    assert NAMED not in "".join(state._repr_mimebundle_().values())
    assert runtime.mask("k3y-in-a-list k3y-in-a-dict") == "[secret apiTokens] [secret apiTokens]"
    assert runtime.mask(NAMED[::-1]) == NAMED[::-1]
    shown = dict(zip(runtime.settings_frame()["key"], runtime.settings_frame()["value"], strict=True))
    assert shown["STOCK_API_KEY"] == "[secret STOCK_API_KEY]"


@pytest.mark.parametrize(
    "value",
    [
        "plain",
        "s3cr3t7",
        "customer_id",
        "createdAt",
        "Primary Key Column",
        "your-api-key-here",
        "<put the key here 1>",
        "${API_KEY_1}",
        "xxxxxxxxxxxx",
        12345678,
        True,
        None,
    ],
)
def test_a_harmless_value_under_such_a_name_is_masked_nowhere_and_the_frame_says_so(value):
    layers = Settings({"SORT_KEY": value, "B": 1}, defaults={"MAX_TOKENS": value})
    assert layers.mask(f"({value})") == f"({value})"
    shown = list(layers.to_frame()["value"])
    assert shown == ([1] if value is None else [1, "[hidden MAX_TOKENS]", "[hidden SORT_KEY]"])


@pytest.mark.parametrize(
    "value", ["correct horse battery staple", "kJhGfDsAqW", "hunter2-hunter2", "a1b2c3d4"]
)
def test_a_phrase_and_what_looks_drawn_at_random_is_a_secret(value):
    assert Settings({"DB_PASSWORD": value}).mask(f"<{value}>") == "<[secret DB_PASSWORD]>"


def test_what_was_set_under_such_a_name_stays_masked_once_it_is_cleared():
    layers = Settings({"API_KEY": NAMED})
    layers.set("API_KEY", None)
    assert layers.mask(NAMED) == "[secret API_KEY]"
