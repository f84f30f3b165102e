"""Settings of a type: what converts, what does not, and that no error says a secret."""

from __future__ import annotations

import traceback
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path, PurePosixPath

import numpy as np
import pytest

from agentctx_nb import AgentRuntime, SettingError
from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.settings import Settings

SECRET = "k3y-0f-the-d00r"


class Units(Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


class Level(Enum):
    LOW = 1
    HIGH = 2


@pytest.mark.parametrize(
    ("given", "wanted", "read"),
    [
        ("8080", int, 8080),
        (" 8080 ", int, 8080),
        (8080.0, int, 8080),
        (0, int, 0),
        ("0.5", float, 0.5),
        (1, float, 1.0),
        ("true", bool, True),
        (False, bool, False),
        ("true", str, "true"),
        (True, str, "true"),
        (12, str, "12"),
        ("a, b,,c ", list, ["a", "b", "c"]),
        ("", list, []),
        (("a", 1), list, ["a", 1]),
        ("1, 2", list[int], [1, 2]),
        ("metric,imperial", list[Units], [Units.METRIC, Units.IMPERIAL]),
        ("a, b", tuple, ("a", "b")),
        ("a,a", set, {"a"}),
        (["a"], frozenset, frozenset({"a"})),
        ('{"a": [1]}', dict, {"a": [1]}),
        ({"a": 1}, dict, {"a": 1}),
        ("data/x.db", Path, Path("data/x.db")),
        (Path("x"), Path, Path("x")),
        ("/x", PurePosixPath, PurePosixPath("/x")),
        ("metric", Units, Units.METRIC),
        ("Imperial", Units, Units.IMPERIAL),
        (Units.METRIC, Units, Units.METRIC),
        ("2", Level, Level.HIGH),
        (1, Level, Level.LOW),
        ("1/3", Fraction, Fraction(1, 3)),
        ("7.50", Decimal, Decimal("7.50")),
        ("abc", len, 3),
        ("x=1", lambda text: dict([text.split("=")]), {"x": "1"}),
        (Decimal("8080.0"), int, 8080),
        (Fraction(8, 2), int, 4),
        (np.int64(7), int, 7),
        (np.float32(2), int, 2),
        ("1, 2,1", set[int], {1, 2}),
        ("1, 2", frozenset[int], frozenset({1, 2})),
        ("1, 2", tuple[int, ...], (1, 2)),
        ("1,", tuple[int], (1,)),
    ],
)
def test_a_setting_comes_as_the_type_asked_for(given, wanted, read):
    for layers in (Settings({"K": given}), Settings(defaults={"K": given})):
        found = layers.get("K", type=wanted)
        assert found == read
        assert type(found) is type(read)


def test_a_list_is_the_caller_s_own():
    given = ["a"]
    Settings({"K": given}).get("K", type=list).append("b")
    assert given == ["a"]


@pytest.mark.parametrize(
    ("given", "wanted", "told"),
    [
        ("80a", int, "the setting PORT, from the settings, is no int: '80a'"),
        (80.5, int, "is no int: 80.5"),
        (True, int, "is no int: True"),
        (Decimal("1.9"), int, "is no int: Decimal('1.9')"),
        (Fraction(7, 2), int, "is no int: Fraction(7, 2)"),
        (Decimal("Infinity"), int, "is no int: Decimal('Infinity')"),
        (np.float32(1.5), int, "is no int: "),
        (np.True_, int, "is no int: "),
        ("1,x", set[int], "is no set[int]: '1,x'"),
        ("x", tuple[int, ...], "is no tuple[int, ...]: 'x'"),
        ("true", int, "is no int: 'true'"),
        (True, float, "is no float: True"),
        ("yes", bool, """is no bool: 'yes'; a bool is written "true" or "false\""""),
        (1, bool, "is no bool: 1"),
        ({"a": 1}, str, "is no str: {'a': 1}"),
        ({"a": 1}, list, "is no list: {'a': 1}"),
        ("1,x", list[int], "is no list[int]: '1,x'"),
        ("kelvin", Units, "is no Units: 'kelvin'; one of metric, imperial"),
        (5, Path, "is no Path: 5"),
        ("metric", dict, """is no dict: 'metric'; a dict is written as JSON, such as {"units": "metric"}"""),
        ("[1]", dict, "is no dict: '[1]'; a dict is written as JSON"),
        ("1/0", Fraction, "is no Fraction: '1/0'"),
    ],
)
def test_one_that_does_not_convert_is_an_error_that_says_what_it_is(given, wanted, told):
    with pytest.raises(SettingError) as caught:
        Settings({"PORT": given}).get("PORT", type=wanted)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (caught.value.key, caught.value.layer) == ("PORT", "setting")
    assert isinstance(caught.value, ValueError)
    assert (caught.value.__cause__ is not None) == (wanted in (Path, Fraction))  # raised in code not ours


@pytest.mark.parametrize(
    ("options", "layer", "told"),
    [
        ({"secrets": {"PORT": SECRET}}, "secret", "from the secrets, is no int: [secret PORT]"),
        ({"defaults": {"PORT": "x"}}, "default", "from the defaults, is no int: 'x'"),
        ({"env": True, "environ": {"PORT": "x"}}, "environment", "from the environment, is no int: 'x'"),
    ],
)
def test_the_error_names_the_layer(options, layer, told):
    with pytest.raises(SettingError) as caught:
        Settings(**options).get("PORT", 1, type=int)
    assert caught.value.layer == layer
    assert told in str(caught.value)


def shout(value):
    raise RuntimeError(f"cannot use {value}")


class Quiet:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Quiet({self.value})"


@pytest.mark.parametrize("wanted", [int, float, bool, Units, shout, list[int], Decimal])
@pytest.mark.parametrize(
    "options",
    [
        {"secrets": {"PIN": SECRET}},
        {"env": True, "environ": {"PIN_TOKEN": SECRET}},
        {"settings": {"COPY": f"key {SECRET}"}, "secrets": {"KEY": SECRET}},
        {"settings": {"DB_PASSWORD": SECRET}},
    ],
)
def test_no_error_says_a_secret(options, wanted):
    layers = Settings(**options)
    key = next(iter(options.get("settings") or options.get("environ") or options["secrets"]))
    with pytest.raises(SettingError) as caught:
        layers.get(key, type=wanted)
    error = caught.value
    written = "".join(traceback.format_exception(error)) + repr(error) + repr(error.args)
    assert SECRET not in written
    assert "[secret" in str(error)


@pytest.mark.parametrize("secret", ["x9", Quiet("hidden-1234"), {"inner": "hidden-1234"}, b"hidden-1234"])
@pytest.mark.filterwarnings("ignore:the secret")
def test_not_one_too_short_to_mask_nor_one_that_is_no_text(secret):
    with pytest.raises(SettingError) as caught:
        Settings(secrets={"PIN": secret}).get("PIN", type=int)
    assert str(caught.value) == "the setting PIN, from the secrets, is no int: [secret PIN]"


def test_the_default_is_returned_as_it_is_and_by_place():
    assert Settings().get("PORT", "80", type=int) == "80"
    assert Settings().get("PORT", None, type=int) is None
    assert Settings({"PORT": None}).get("PORT", 7, type=int) == 7
    runtime = AgentRuntime(settings={"PORT": "8080"})
    assert runtime.get_setting("PORT", 1) == "8080"
    assert runtime.get_setting("PORT", type=int, default=80) == 8080
    assert runtime.get_setting("HOST", "localhost", type=str) == "localhost"


@pytest.mark.parametrize("wrong", ["int", 5, [int]])
def test_a_type_that_cannot_be_called_is_an_error(wrong):
    with pytest.raises(DefinitionTypeError, match="type of the setting 'PORT'"):
        Settings().get("PORT", type=wrong)
