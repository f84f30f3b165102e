from __future__ import annotations

from typing import NamedTuple

import pandas as pd
import pytest

from agentctx_nb import AgentRuntime, SettingError
from agentctx_nb.settings import Settings

SECRET = "k3y-0f-the-d00r"


def rows(layers):
    return [tuple(row) for row in layers.to_frame().itertuples(index=False)]


def test_each_setting_has_its_layer_and_the_layers_below_it():
    layers = Settings(
        {"B": "metric", "A": 1},
        {"A": SECRET},
        {"A": None, "B": 2, "C": False},
        env_prefix="AGENT_",
        environ={"AGENT_B": "env", "AGENT_D": "d", "OTHER": "x", "AGENT_": "empty"},
    )
    assert rows(layers) == [
        ("A", "[secret A]", "str", "secret", ("setting",)),
        ("B", "metric", "str", "setting", ("environment", "default")),
        ("C", False, "bool", "default", ()),
        ("D", "d", "str", "environment", ()),
    ]


def test_the_columns_are_there_when_nothing_is_set():
    assert list(Settings().to_frame().columns) == ["key", "value", "type", "layer", "shadowed"]
    assert len(Settings().to_frame()) == 0


def test_of_a_whole_environment_it_holds_what_was_read():
    layers = Settings(env=True, environ={"HOME_TOWN": "Oslo", "SHELL": "sh"})
    assert rows(layers) == []
    layers.get("HOME_TOWN")
    layers.get("MISSING")
    assert rows(layers) == [("HOME_TOWN", "Oslo", "str", "environment", ())]


@pytest.mark.filterwarnings("ignore:the secret")
def test_secrets_of_every_kind_and_layer_are_hidden():
    layers = Settings(
        {"DB_PASSWORD": "hunter2", "NOTE": f"my key is {SECRET}", f"K-{SECRET}": 1},
        {"A": SECRET, "PIN": 481516, "SHORT": "x9", "MANY": {"a": ["deep-secret-1"]}},
        {"SERVICE_TOKEN": "token-by-default"},
        env_prefix="AGENT_",
        environ={"AGENT_API_KEY": "from-the-env-1"},
    )
    written = layers.to_frame().to_csv()
    for secret in (SECRET, "481516", "x9", "deep-secret-1", "hunter2", "token-by-default", "from-the-env-1"):
        assert secret not in written
    assert "my key is [secret A]" in written
    assert dict(zip(layers.to_frame()["key"], layers.to_frame()["type"], strict=True))["PIN"] == "int"


def test_the_order_is_that_of_the_keys():
    one, other = Settings({"b": 1, "a": 2}), Settings({"a": 2}, defaults={"b": 1})
    assert list(one.to_frame()["key"]) == list(other.to_frame()["key"]) == ["a", "b"]


def test_a_value_stays_the_object_it_is_and_broken_ones_harm_nothing():
    class Broken:
        def __repr__(self):
            raise RuntimeError("no")

    frame = Settings({"A": 1.5, "B": Broken()}).to_frame()
    assert frame["value"][0] == 1.5
    assert "Broken" in frame["value"][1]


def test_the_runtime_has_it():
    frame = AgentRuntime(settings={"A": 1}, secrets={"K": SECRET}).settings_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame["layer"]) == ["setting", "secret"]


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        ("STOCK_API_KEY", True),
        ("apiKey", True),
        ("api-key", True),
        ("OPENAI_API_KEY_2", True),
        ("ACCESS_TOKENS", True),
        ("dbPassword", True),
        ("DB_PASS", True),
        ("TOKEN", True),
        ("AWS_CREDENTIALS", True),
        ("MONKEY", False),
        ("KEYBOARD", False),
        ("TOKEN_COUNT", False),
        ("COMPASS", False),
        ("BYPASS", False),
        ("PWD", False),
        ("123", False),
    ],
)
def test_a_name_says_whether_its_value_is_a_secret(key, secret):
    layers = Settings(env=True, environ={key: SECRET})
    layers.get(key)
    assert (SECRET not in layers.to_frame().to_csv()) is secret
    assert (layers.mask(SECRET) != SECRET) is secret


class Login(NamedTuple):
    user: str
    more: dict


class Unreadable(dict):
    def items(self):
        raise RuntimeError("no")


def holding_itself():
    held = {"password": "hunter2hunter2"}
    held["self"] = held
    return held


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"password": "hunter2hunter2", "host": "db"}, {"password": "[secret DB.password]", "host": "db"}),
        ({"password": "short", "host": "db"}, {"password": "[hidden DB.password]", "host": "db"}),
        ({"password": 481516, "host": "db"}, {"password": "[hidden DB.password]", "host": "db"}),
        ({"password": None, "host": "db"}, {"password": None, "host": "db"}),
        ({"a": [{"apiToken": "hunter2hunter2"}]}, {"a": [{"apiToken": "[secret DB.a.apiToken]"}]}),
        ([1, ({"secret": "hunter2hunter2"},)], [1, ({"secret": "[secret DB.secret]"},)]),
        ({"secrets": {"a": "hunter2hunter2"}}, {"secrets": "[secret DB.secrets]"}),
        (holding_itself(), {"password": "[secret DB.password]", "self": "<cycle>"}),
        ({"host": "db", 5: ["x"]}, {"host": "db", 5: ["x"]}),
    ],
)
@pytest.mark.parametrize("layer", ["settings", "defaults"])
def test_a_secret_inside_of_a_setting_is_hidden_by_its_own_name(given, shown, layer):
    runtime = AgentRuntime(**{layer: {"DB": given}})
    assert runtime.settings.rows()[0][1] == shown
    assert "hunter2" not in runtime.settings_frame().to_csv()
    masked = "hunter2" not in runtime.mask("refused: hunter2hunter2")
    assert masked == ("hunter2" in repr(given))
    assert runtime.get_setting("DB") is given


def test_it_is_so_for_one_that_is_set_later_and_in_what_is_said_of_a_wrong_type():
    runtime = AgentRuntime()
    runtime.set_setting("DB", {"password": "hunter2hunter2"})
    assert runtime.mask("refused: hunter2hunter2") == "refused: [secret DB.password]"
    runtime.set_setting("OTHER", {"password": "short"})
    with pytest.raises(SettingError) as caught:
        runtime.get_setting("OTHER", type=int)
    assert "short" not in str(caught.value)


def test_a_mapping_that_cannot_be_read_is_a_setting_like_any_other():
    given = Unreadable(password="hunter2hunter2")
    assert AgentRuntime(settings={"DB": given}).get_setting("DB") is given


def test_a_leak_scan_has_a_fake_for_it_and_leaves_the_rest():
    seen = []

    def tells(runtime):
        seen.append(runtime.get_setting("DB"))
        return seen[0].more["password"]

    runtime = AgentRuntime(settings={"DB": Login("ada", {"password": "hunter2hunter2", "port": 5432})})
    runtime.register_provider({"name": "P", "get": tells})
    scan = runtime.leak_scan("hi")
    assert [(leak.secret, leak.place) for leak in scan] == [("setting DB.password", "state.text")]
    assert isinstance(seen[0], Login)
    assert (seen[0].user, seen[0].more["port"]) == ("ada", 5432)
    assert seen[0].more["password"] != "hunter2hunter2"
