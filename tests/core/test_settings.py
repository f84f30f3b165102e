from __future__ import annotations

import warnings

import pytest

from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.settings import Settings


def test_secrets_come_before_settings_before_environment_before_defaults():
    layers = Settings(
        {"a": "setting", "b": "setting"},
        {"a": "secret"},
        {"a": "default", "b": "default", "c": "default", "d": "default"},
        env=True,
        environ={"a": "env", "b": "env", "c": "env"},
    )
    assert [layers.get(key) for key in "abcd"] == ["secret", "setting", "env", "default"]


@pytest.mark.parametrize("value", [0, "", False, [], {}, 0.0])
def test_a_falsy_value_counts_as_set(value):
    assert Settings({"k": value}, defaults={"k": "default"}).get("k", "fallback") == value


def test_none_counts_as_missing():
    assert Settings({"k": None}, defaults={"k": "default"}).get("k") == "default"
    assert Settings().get("k") is None
    assert Settings().get("k", 7) == 7


@pytest.mark.parametrize(
    ("given", "read"),
    [("true", True), ("false", False), ("True", "True"), (" true", " true"), ("1", "1"), ("no", "no")],
)
def test_exactly_true_and_false_become_booleans(given, read):
    for layers in (
        Settings({"k": given}),
        Settings(defaults={"k": given}),
        Settings(env=True, environ={"k": given}),
        Settings(secrets={"k": given}) if len(given) > 3 else Settings({"k": given}),
    ):
        found = layers.get("k")
        assert found == read
        assert type(found) is type(read)


def test_the_fallback_of_a_call_is_returned_as_it_is():
    assert Settings().get("k", "true") == "true"


def test_the_process_environment_is_read_only_when_asked_for(monkeypatch):
    monkeypatch.setenv("AGENT_UNITS", "metric")
    assert Settings().get("AGENT_UNITS") is None
    assert Settings(env=True).get("AGENT_UNITS") == "metric"
    assert Settings(env_prefix="AGENT_").get("UNITS") == "metric"


def test_a_prefix_alone_hides_all_other_variables():
    environ = {"AGENT_A": "one", "B": "two"}
    assert Settings(env_prefix="AGENT_", environ=environ).get("A") == "one"
    assert Settings(env_prefix="AGENT_", environ=environ).get("B") is None
    assert Settings(env_prefix="AGENT_", environ=environ).get("AGENT_A") is None
    assert Settings(env=True, env_prefix="AGENT_", environ=environ).get("B") == "two"


def test_set_writes_the_settings_layer_and_secret_the_secrets_layer():
    layers = Settings(secrets={"s": "secret-value"})
    layers.set("a", 1)
    layers.set("s", "plain")
    assert (layers.get("a"), layers.get("s")) == (1, "secret-value")
    layers.set("a", "hidden-value", secret=True)
    assert layers.get("a") == "hidden-value"
    assert layers.mask("hidden-value") == "[secret a]"


def test_none_clears_a_key_in_both_layers():
    layers = Settings({"k": "setting"}, {"k": "secret-value"}, {"k": "default"})
    layers.set("k", None)
    assert layers.get("k") == "default"


def test_the_dicts_given_are_not_edited():
    given = {"a": 1}
    Settings(given).set("a", 2)
    assert given == {"a": 1}


def test_a_replaced_or_cleared_secret_stays_masked():
    layers = Settings(secrets={"K": "first-value-1"})
    layers.set("K", "second-value-2", secret=True)
    layers.set("K", None)
    assert layers.mask("first-value-1 second-value-2") == "[secret K] [secret K]"


def test_a_number_is_masked_by_its_digits():
    assert Settings(secrets={"PIN": 481516}).mask("pin 481516") == "pin [secret PIN]"


def test_a_secret_too_short_to_mask_warns_once_without_saying_it():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        layers = Settings(secrets={"PIN": "xq7"})
        layers.set("PIN", "zk9", secret=True)
    (warning,) = [each for each in caught if each.category is UserWarning]
    assert str(warning.message).startswith("the secret 'PIN' is shorter than 4 characters")
    assert "xq7" not in str(warning.message)
    assert warning.filename == f"{__file__}:{warning.lineno}"


def test_switches_and_long_secrets_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Settings(secrets={"A": True, "B": "true", "C": None, "D": "", "E": "long-enough"})


def test_a_key_read_from_the_environment_is_masked_by_its_name():
    environ = {"STOCK_API_KEY": "k3y-0f-the-d00r", "HOME_TOWN": "Longyearbyen"}
    layers = Settings(env=True, environ=environ)
    assert layers.get("STOCK_API_KEY") == "k3y-0f-the-d00r"
    assert layers.get("HOME_TOWN") == "Longyearbyen"
    assert layers.mask("k3y-0f-the-d00r in Longyearbyen") == "[secret STOCK_API_KEY] in Longyearbyen"


def test_a_repr_names_keys_and_shows_no_value():
    shown = repr(Settings({"units": "metric"}, {"API_KEY": "k3y-0f-the-d00r"}))
    assert shown == "<Settings secrets: API_KEY; settings: units>"


@pytest.mark.parametrize("key", [None, 3, "", ["a"]])
def test_a_key_that_is_no_name_is_an_error(key):
    layers = Settings()
    with pytest.raises(DefinitionTypeError, match="name of a setting is a string"):
        layers.get(key)
    with pytest.raises(DefinitionTypeError, match="name of a setting is a string"):
        layers.set(key, 1)


@pytest.mark.parametrize("layer", ["settings", "secrets", "defaults"])
def test_a_layer_that_is_no_dict_is_an_error_naming_it(layer):
    with pytest.raises(DefinitionTypeError, match=f"{layer} is a dict"):
        Settings(**{layer: ["a"]})


def test_a_prefix_that_is_no_string_is_an_error():
    with pytest.raises(DefinitionTypeError, match="env_prefix is a string"):
        Settings(env_prefix=True)
