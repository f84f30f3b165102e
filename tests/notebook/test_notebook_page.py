"""The page on the notebook says what the help and the settings say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from agentctx_nb.notebook.commands import COMPOSE, PIN, PROVIDER
from agentctx_nb.notebook.extension import load
from agentctx_nb.notebook.project_file import apply_project_file
from agentctx_nb.notebook.settings import AgentContext, bounds_of, setting_names

PAGE = (Path(__file__).parents[2] / "docs" / "notebook.md").read_text(encoding="utf-8")


def test_each_option_of_a_cell_stands_in_its_table_as_in_its_help():
    for option in (*PROVIDER.options, *COMPOSE.options):
        assert f"| `{option.head}` | {option.meaning} |" in PAGE


def test_each_setting_stands_in_its_table_as_in_its_help():
    for key in setting_names():
        trait = AgentContext.class_traits(config=True)[key]
        assert f"| `{key}` | {bounds_of(key)} | {trait.help} |" in PAGE


def test_the_pin_takes_what_the_page_says():
    mine = {option.name for option in PIN.options} - {"off"}
    assert mine == {option.name for option in COMPOSE.options} - {"out", "save", "strict"}


def test_the_file_of_a_project_on_the_page_is_a_right_one(tmp_path):
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    assert tomllib.loads(example)
    (tmp_path / "pyproject.toml").write_text(example)
    settings = AgentContext()
    apply_project_file(settings, tmp_path)
    assert (settings.rows, settings.room) == (20, "lobby")
    assert settings.presets["weather"] == {"include": ("WEATHER", "NEWS"), "only": True, "timeout": 2.5}


def test_the_cells_on_the_page_register_what_they_say(shell):
    cells = re.findall(r"```python\n(%%provider.*?)```", PAGE, flags=re.DOTALL)
    assert len(cells) == 2
    for cell in cells:
        shell.run(cell)
    provider = shell.runtime.get_provider("WEATHER")
    assert (provider.dynamic, provider.relevance_keywords) == (True, ("weather", "rain"))
    assert provider.description == "What the sky does."
    assert shell.run("%compose rain?").text == "Rain until noon."


def test_each_magic_on_the_page_is_there_and_each_that_is_there_is_on_the_page(ip):
    load(ip)
    ours = {
        name
        for table in ip.magics_manager.magics.values()
        for name, function in table.items()
        if type(getattr(function, "__self__", None)).__name__ == "NotebookMagics"
    }
    named = set(re.findall(r"`%%?(\w+)", PAGE.partition("## Providers in cells")[0]))
    assert named - {"load_ext", "unload_ext", "reload_ext"} >= ours - {"actions"}
    assert named - {"load_ext", "unload_ext", "reload_ext"} <= ours
