from __future__ import annotations

import sys

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.errors import DefinitionError, DefinitionTypeError, MissingExtraError
from agentctx_nb.settings import Settings


@pytest.fixture
def env_file(tmp_path):
    def write(text):
        path = tmp_path / ".env"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_names_and_values_are_read_as_python_dotenv_reads_them(env_file):
    path = env_file(
        "# a comment\n\nPLAIN=one two\nexport SHOUTED=\"tab\\there\"\nSINGLE='as \\n it is'\nHASH=a#b\n"
        'COMMENTED=value # said\nEMPTY=\nMULTI="first\nsecond"\nTWICE=1\nTWICE=2\nPORT=8080\nON=true\n'
    )
    layers = Settings(env_file=path)
    read = {
        key: layers.get(key) for key in ("PLAIN", "SHOUTED", "SINGLE", "HASH", "COMMENTED", "MULTI", "TWICE")
    }
    assert read == {
        "PLAIN": "one two",
        "SHOUTED": "tab\there",
        "SINGLE": "as \\n it is",
        "HASH": "a#b",
        "COMMENTED": "value",
        "MULTI": "first\nsecond",
        "TWICE": "2",
    }
    assert layers.get("EMPTY", "x") == ""
    assert (layers.get("PORT", type=int), layers.get("ON")) == (8080, True)


def test_the_order_of_all_five_layers(env_file):
    names = "abcde"
    layers = Settings(
        {"b": "setting", "a": "setting"},
        {"a": "secret"},
        dict.fromkeys(names, "default"),
        env=True,
        env_file=env_file("a=file\nb=file\nc=file\nd=file\n"),
        environ=dict.fromkeys("abc", "environment"),
    )
    assert [layers.get(key) for key in names] == ["secret", "setting", "environment", "file", "default"]
    frame = layers.to_frame()
    assert list(frame["layer"]) == ["secret", "setting", "environment", ".env", "default"]
    assert frame["shadowed"][0] == ("setting", "environment", ".env", "default")


def test_a_prefix_may_stand_in_the_file_or_not(env_file):
    layers = Settings(
        env_prefix="AGENT_", environ={}, env_file=env_file("AGENT_UNITS=metric\nUNITS=other\nPLAIN=1\n")
    )
    assert (layers.get("UNITS"), layers.get("PLAIN")) == ("metric", "1")
    assert list(layers.to_frame()["key"]) == ["PLAIN", "UNITS"]


def test_the_process_environment_is_neither_read_nor_written(env_file, monkeypatch):
    monkeypatch.setenv("AGENT_HOME", "from the process")
    layers = Settings(env_file=env_file("NEW_NAME=1\nPATH_OF=${AGENT_HOME}/x\nPRICE=$5\n"))
    import os

    assert "NEW_NAME" not in os.environ
    assert layers.get("AGENT_HOME") is None
    assert (layers.get("PATH_OF"), layers.get("PRICE")) == ("${AGENT_HOME}/x", "$5")


def test_what_its_name_says_is_a_secret_is_masked_whether_it_was_read_or_not(env_file):
    layers = Settings(env_file=env_file("STOCK_API_KEY=k3y-0f-the-d00r\nHOME_TOWN=Longyearbyen\n"))
    assert layers.mask("k3y-0f-the-d00r in Longyearbyen") == "[secret STOCK_API_KEY] in Longyearbyen"
    assert "k3y" not in layers.to_frame().to_csv()


@pytest.mark.parametrize("name", ["missing.env", "."])
def test_a_file_that_cannot_be_read_is_an_error_that_names_it(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DefinitionError, match=rf"env_file '{name}' cannot be read: "):
        AgentRuntime(env_file=name)


def test_a_line_that_is_none_is_named_and_not_shown(env_file):
    path = env_file("A=1\nPASSWORD='k3y-0f-the-d00r\nB=2\n")
    with pytest.raises(DefinitionError, match=r"line 2 of env_file '.*' is not written NAME=value") as caught:
        Settings(env_file=path)
    assert "k3y" not in str(caught.value)


@pytest.mark.parametrize("line", ["PASSWORD", "export PASSWORD", "PASSWORD # later"])
def test_a_name_without_a_value_is_no_line_of_it(env_file, line):
    with pytest.raises(DefinitionError, match=r"line 2 of env_file '.*' is not written NAME=value"):
        Settings(env_file=env_file(f"A=1\n{line}\nB=2\n"))
    assert Settings(env_file=env_file("A=1\nPASSWORD=\n# B\n\nC=3")).get("PASSWORD") == ""


@pytest.mark.parametrize("path", ["\0", "a\0b", "\ud800"])
def test_a_path_no_system_has_is_an_error_that_says_so(path):
    with pytest.raises(DefinitionError, match="cannot be read: that is no path; leave it out or name one"):
        AgentRuntime(env_file=path)


def test_so_is_a_path_of_bytes():
    class OfBytes:
        def __fspath__(self):
            return b".env"

    with pytest.raises(DefinitionError, match="cannot be read: that is no path"):
        Settings(env_file=OfBytes())


def test_a_file_that_is_no_text_is_an_error_and_a_mark_of_windows_is_not(env_file):
    with pytest.raises(DefinitionError, match="is no text in UTF-8") as caught:
        Settings(env_file=env_file(b"A=\xff\xfe"))
    assert caught.value.__cause__ is None
    assert Settings(env_file=env_file(b"\xef\xbb\xbfA=1\r\nB=2\r\n")).get("A", type=int) == 1


@pytest.mark.parametrize("wrong", [True, 5, {}])
def test_a_path_that_is_none_is_an_error(wrong):
    with pytest.raises(DefinitionTypeError, match="env_file is the path of a file"):
        Settings(env_file=wrong)


def test_without_python_dotenv_the_extra_is_named(env_file, monkeypatch):
    path = env_file("A=1\n")
    monkeypatch.setitem(sys.modules, "dotenv", None)
    monkeypatch.setitem(sys.modules, "dotenv.parser", None)
    with pytest.raises(MissingExtraError, match=r"env_file needs python-dotenv.*agentctx_nb\[dotenv\]"):
        AgentRuntime(env_file=path)


def test_the_runtime_passes_it_on(env_file):
    runtime = AgentRuntime(env_file=str(env_file("UNITS=metric\n")))
    assert runtime.get_setting("UNITS") == "metric"
    assert "UNITS" in repr(runtime.settings)
