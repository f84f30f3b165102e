"""%config, and [tool.agentctx_nb] in a project's pyproject.toml: each setting acts, and says what it may be."""

from __future__ import annotations

import logging

import pytest
from IPython.utils.capture import capture_output
from traitlets import TraitError

from agentctx_nb import AgentRuntime
from agentctx_nb.notebook.extension import load, unload
from agentctx_nb.notebook.mistakes import SettingsError
from agentctx_nb.notebook.project_file import apply_project_file, find_section
from agentctx_nb.notebook.settings import AgentContext, setting_names

WHO = "%%provider WHO\nf'{message.room_id} {message.entity_id} {message.content.source}'"
MANY = "for _ in range(5):\n    runtime.register_provider({'name': f'P{_}', 'get': lambda: 'x', 'description': 'd' * 100})"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A function that writes the project's file and makes a folder below it the working directory."""
    below = tmp_path / "notebooks" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)

    def write(text):
        (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def shown(shell, thing):
    return shell.ip.display_formatter.format(thing)[0]


def test_every_setting_says_what_it_does_and_what_it_may_be(shell):
    assert 6 <= len(setting_names()) <= 8
    for key, trait in AgentContext.class_traits(config=True).items():
        assert len(trait.help) > 20, key
        assert trait.metadata["bounds"], key
    with capture_output() as captured:
        shell.ip.run_cell("%config AgentContext")
    for key in setting_names():
        assert f"AgentContext.{key}" in captured.stdout


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rows", 0),
        ("rows", 101),
        ("rows", True),
        ("rows", "5"),
        ("cell", 9),
        ("cell", 121),
        ("text", "on"),
        ("timeout", 0),
        ("timeout", -1),
        ("timeout", 3601),
        ("timeout", True),
        ("timeout", float("nan")),
        ("strict", "yes"),
        ("room", 5),
        ("room", "x" * 201),
        ("entity", ["a"]),
        ("presets", {"quick": {"onyl": True}}),
    ],
)
def test_a_value_out_of_bounds_is_refused_and_the_old_one_stays(key, value):
    settings = AgentContext()
    before = getattr(settings, key)
    with pytest.raises(TraitError):
        setattr(settings, key, value)
    assert getattr(settings, key) == before


def test_rows_and_cell_shorten_what_a_cell_shows_in_all_three_forms(shell):
    shell.run(MANY)
    table = shell.run("%providers")
    whole = shown(shell, table)
    assert whole == table._repr_mimebundle_()
    assert "d" * 40 in whole["text/html"]
    shell.run("%config AgentContext.rows = 2")
    shell.run("%config AgentContext.cell = 20")
    short = shown(shell, table)
    assert set(short) == set(whole)
    for form in short.values():
        assert "P1" in form
        assert "P2" not in form
        assert "showing 2 of 5 rows" in form
        assert "d" * 21 not in form
    state = shell.run("%compose hi")
    assert "showing 2 of 5 rows" in shown(shell, state)["text/plain"]
    assert len(state.report) == 5
    assert "P4" in repr(table)


def test_text_leaves_the_composed_text_out(shell):
    shell.run("%%provider A\n'the text'")
    state = shell.run("%compose hi")
    assert all("the text" in form for form in shown(shell, state).values())
    shell.run("%config AgentContext.text = False")
    assert not any("the text" in form for form in shown(shell, state).values())
    assert "the text" not in shown(shell, shell.run("%pin hi"))["text/plain"]
    assert state.text == "the text"


def test_timeout_strict_room_and_entity_are_defaults_that_the_line_overrides(shell):
    shell.run(WHO)
    shell.run("%config AgentContext.room = 'lobby'")
    shell.run("%config AgentContext.entity = 'ada'")
    assert shell.run("%compose hi").text == "lobby ada None"
    assert shell.run("%compose --room attic hi").text == "attic ada None"
    shell.run("%%provider SLOW\nimport asyncio\nawait asyncio.sleep(30)")
    shell.run("%config AgentContext.timeout = 0.05")
    assert shell.run("%compose hi").report["SLOW"].outcome == "timed_out"
    assert shell.run("%compose --timeout 0.02 hi").report["SLOW"].outcome == "timed_out"
    shell.run("%config AgentContext.strict = True")
    assert shell.fail("%compose hi")[0] == "StrictError"


def test_a_preset_is_a_set_of_options_and_the_line_wins(shell):
    shell.run(WHO)
    shell.run("%%provider OTHER\n'other'")
    shell.run(
        "%config AgentContext.presets = {'who': {'include': ['WHO'], 'only': True, 'room': 'lobby',"
        " 'content': {'source': 'mail'}}}"
    )
    assert shell.run("%compose --preset who hi").text == "lobby None mail"
    assert shell.run("%compose --preset who --room attic hi").text == "attic None mail"
    assert shell.fail("%compose --preset woh hi") == (
        "ArgumentError",
        "ArgumentError: there is no preset 'woh'; did you mean 'who'?\n",
    )


def test_save_keeps_the_options_of_a_line_and_of_its_preset(shell):
    shell.run(WHO)
    shell.run("%%provider OTHER\n'other'")
    assert shell.run("%compose --include WHO --only --save who hi").text == "None None None"
    assert shell.run("%compose --preset who --room lobby -o kept --save there hi") is None
    for _ in range(2):
        assert shell.run("%compose --preset there hi").text == "lobby None None"
        assert shell.run("%compose --preset who hi").text == "None None None"
        unload(shell.ip)
        load(shell.ip)
    name, seen = shell.fail("%compose --save 'two words' hi")
    assert (name, seen) == (
        "ArgumentError",
        "ArgumentError: --save NAME: the name of a preset is a word, not 'two words'\n",
    )


@pytest.mark.parametrize(
    ("presets", "said"),
    [
        ({"a b": {}}, "the name of a preset is a word"),
        ({"a": 5}, "preset a is a table of options of %compose, not 5"),
        ({"a": {"inclde": "X"}}, "did you mean 'include'?"),
        ({"a": {"out": "x"}}, "preset a cannot hold an option 'out'"),
        ({"a": {"zzz": "x"}}, "there are include, only"),
        ({"a": {"only": True}}, "preset a has only without include"),
        ({"a": {"include": 5}}, "option include of preset a: it is a text or a list of them, not 5"),
        ({"a": {"include": ["X", 5]}}, "it is a list of texts, and 5 is none"),
        ({"a": {"fresh": "yes"}}, "it is true or false, not 'yes'"),
        ({"a": {"timeout": True}}, "it is a number, not True"),
    ],
)
def test_a_preset_that_cannot_be_read_is_named(presets, said):
    with pytest.raises(TraitError, match="preset") as caught:
        AgentContext().presets = presets
    assert said in str(caught.value)


def test_the_file_of_the_project_is_found_upwards_and_its_settings_act(ip, project):
    project(
        '[tool.agentctx_nb]\nrows = 7\nroom = "lobby"\n'
        '[tool.agentctx_nb.presets.quick]\ninclude = ["A"]\nonly = true\n'
    )
    load(ip)
    (settings,) = [c for c in ip.configurables if isinstance(c, AgentContext)]
    assert (settings.rows, settings.room) == (7, "lobby")
    assert settings.presets == {"quick": {"include": ("A",), "only": True}}


def test_the_nearest_file_with_our_section_counts_and_the_search_ends_at_the_top_of_the_project(tmp_path):
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert find_section(deep) is None
    (tmp_path / "pyproject.toml").write_text("[tool.agentctx_nb]\nrows = 3\n")
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert find_section(deep) == (tmp_path / "pyproject.toml", {"rows": 3})
    (deep / "pyproject.toml").write_text("[tool.agentctx_nb]\nrows = 4\n")
    assert find_section(deep)[1] == {"rows": 4}
    (deep / "pyproject.toml").unlink()
    (tmp_path / "a" / ".git").mkdir()
    assert find_section(deep) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[tool.agentctx_nb]\nrosw = 5\n",
            "../../pyproject.toml: [tool.agentctx_nb] has no key 'rosw'; did you mean 'rows'?",
        ),
        (
            "[tool.agentctx_nb]\nrows = 500\n",
            "../../pyproject.toml: rows is a whole number from 1 to 100, not 500",
        ),
        ("[tool.agentctx_nb]\nrows = true\n", "rows is a whole number from 1 to 100, not True"),
        (
            '[tool.agentctx_nb]\ntimeout = "5s"\n',
            "timeout is a number of seconds, more than 0 and up to 3600, not '5s'",
        ),
        (
            "[tool.agentctx_nb]\ntimeout = true\n",
            "timeout is a number of seconds, more than 0 and up to 3600, not True",
        ),
        ("[tool.agentctx_nb]\npresets = 5\n", "presets is a table of presets"),
        (
            "[tool.agentctx_nb.presets.q]\nincld = 'A'\n",
            "../../pyproject.toml: preset q cannot hold an option 'incld'",
        ),
        ("[tool]\nagentctx_nb = 5\n", "../../pyproject.toml: tool.agentctx_nb is a table, not 5"),
        ("[tool.agentctx_nb\n", "../../pyproject.toml cannot be read as TOML: "),
    ],
)
def test_a_mistake_in_the_file_names_the_file_and_what_is_right(ip, project, text, said):
    project(text)
    with pytest.raises(SettingsError) as caught:
        load(ip)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "compose" not in ip.magics_manager.magics["line"]
    with capture_output() as captured:
        ip.run_cell("%load_ext agentctx_nb")
    assert captured.stdout.strip().startswith(f"SettingsError: {caught.value}"[:60])
    assert "Traceback" not in captured.stdout


def test_a_file_with_one_wrong_key_sets_nothing_at_all(project):
    project("[tool.agentctx_nb]\nrows = 5\nrosw = 5\n")
    settings = AgentContext()
    with pytest.raises(SettingsError):
        apply_project_file(settings)
    assert settings.rows == 100


@pytest.mark.parametrize("text", ["", "[tool.other", "[tool.other]\nx = 1", "# agentctx_nb\n[tool.x]\n"])
def test_a_file_that_is_not_about_us_is_silence(ip, project, text):
    project(text)
    with capture_output() as captured:
        load(ip)
    assert (captured.stdout, captured.stderr) == ("", "")


def test_a_file_that_is_no_text_is_silence_where_it_does_not_name_us(ip, project):
    root = project("")
    (root / "pyproject.toml").write_bytes(b"\xff\xfe[tool.other]")
    load(ip)


def test_what_config_set_outlives_a_reload_and_wins_over_the_file(ip, project):
    project("[tool.agentctx_nb]\nrows = 7\ncell = 50\n")
    load(ip)
    ip.run_cell("%config AgentContext.rows = 9")
    for _ in range(5):
        unload(ip)
        assert not [c for c in ip.configurables if isinstance(c, AgentContext)]
        load(ip)
    (settings,) = [c for c in ip.configurables if isinstance(c, AgentContext)]
    assert (settings.rows, settings.cell) == (9, 50)


def test_the_profile_of_ipython_sets_defaults_and_a_mistake_in_it_is_one_sentence(ip, project):
    ip.config.AgentContext.rows = 7
    load(ip)
    (settings,) = [c for c in ip.configurables if isinstance(c, AgentContext)]
    assert settings.rows == 7
    unload(ip)
    ip.config.AgentContext.rows = 1000
    with pytest.raises(
        SettingsError, match=r"the profile of IPython sets AgentContext: .*not be greater than 100"
    ):
        load(ip)
    del ip.config["AgentContext"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("rows = 0", "rows is a whole number from 1 to 100, not 0"),
        ("rows = True", "rows is a whole number from 1 to 100, not True"),
        ("rowz = 5", "there is no setting 'rowz'; did you mean 'rows'?"),
        (
            "zzz = 5",
            "there is no setting 'zzz'; there are cell, entity, presets, room, rows, strict, text, timeout",
        ),
        ("timeout = 'x'", "timeout is a number of seconds, more than 0 and up to 3600, not 'x'"),
        ("presets = 4", "presets is a table of presets, each a table of options of %compose, not 4"),
        ("presets = {'a b': {}}", "the name of a preset is a word, not 'a b'"),
        (
            "presets = {'a': {'only': True}}",
            "preset a has only without include; name those to run in include",
        ),
    ],
)
def test_a_mistake_in_config_is_one_sentence_and_changes_nothing(shell, line, said, recwarn):
    before = {key: shell.run(f"%config AgentContext.{key}") for key in setting_names()}
    handlers = [*logging.getLogger().handlers]
    with capture_output() as captured:
        shell.ip.run_cell(f"%config AgentContext.{line}")
    assert captured.stdout + captured.stderr == f"AgentContext: {said}\n"
    assert [str(warned.message) for warned in recwarn] == []
    assert logging.getLogger().handlers == handlers
    assert {key: shell.run(f"%config AgentContext.{key}") for key in setting_names()} == before
    shell.run("%config AgentContext.rows = 7")
    assert shell.run("%config AgentContext.rows") == 7


def test_a_mistake_in_config_shows_no_secret(shell):
    shell.ip.user_ns["runtime"] = AgentRuntime(secrets={"MY_TOKEN": "s3cr3t-value-of-mine"})
    with capture_output() as captured:
        shell.ip.run_cell("%config AgentContext.rows = 's3cr3t-value-of-mine'")
    assert "rows is a whole number" in captured.stderr
    assert "s3cr3t-value-of-mine" not in captured.stderr


def test_one_preset_is_named_as_one(shell):
    shell.run("%config AgentContext.presets = {'my-preset': {'fresh': True}}")
    assert "there is no preset 'nope'; there is my-preset" in shell.fail("%compose --preset nope hi")[1]


@pytest.mark.parametrize(
    ("put", "said"),
    [
        ({"x": 1}, "preset bad cannot hold an option 'x'"),
        (5, "preset bad is a table of options of %compose, not 5"),
    ],
)
def test_a_preset_put_there_past_every_check_is_looked_at_when_it_is_used(shell, put, said):
    settings = shell.ip.magics_manager.magics["line"]["compose"].__self__.settings
    settings.presets["bad"] = put
    settings.presets[5] = {}
    name, seen = shell.fail("%compose --preset bad hi")
    assert name == "ArgumentError"
    assert said in seen
    assert "there is bad" in shell.fail("%compose --preset other hi")[1]
