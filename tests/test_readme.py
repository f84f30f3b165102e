"""The README's code runs and shows what the README says it shows."""

from __future__ import annotations

import atexit
import builtins
import contextlib
import io
import re
from itertools import pairwise
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def examples(language):
    """Return each block in ``language`` with the text block after it, or None where there is none."""
    return [
        (code, shown if after == "text" else None)
        for (kind, code), (after, shown) in pairwise([*BLOCKS, ("end", "")])
        if kind == language
    ]


@pytest.fixture
def shell(monkeypatch):
    monkeypatch.delattr(builtins, "_", raising=False)  # where there is one, IPython leaves that alone
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    InteractiveShell.clear_instance()
    made = InteractiveShell.instance(config=config)
    yield made
    atexit.unregister(made.atexit_operations)
    made.atexit_operations()
    InteractiveShell.clear_instance()


def run_cell(shell, code):
    """Return what the cell printed and then showed, as a terminal would."""
    printed = io.StringIO()
    shell.displayhook.write_output_prompt = lambda: None
    with contextlib.redirect_stdout(printed):
        result = shell.run_cell(code)
    result.raise_error()
    return printed.getvalue()


def lines(text):
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def test_the_cells_show_what_the_readme_says(shell):
    cells = examples("ipython")
    assert len(cells) == 4
    assert [shown is not None for _, shown in cells] == [False, False, True, True]
    for code, shown in cells:
        printed = run_cell(shell, code)
        if shown is not None:
            assert lines(printed) == lines(shown)


def test_the_python_blocks_print_what_the_readme_says():
    blocks = examples("python")
    assert blocks
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
        assert lines(printed.getvalue()) == lines(shown or "")


def test_every_command_of_the_readme_is_a_target_of_the_makefile():
    makefile = (Path(__file__).parents[1] / "Makefile").read_text(encoding="utf-8")
    inline = re.sub(r"^```.*$", "", README, flags=re.MULTILINE)
    commands = re.findall(r"`[^`]+`|^\$ .*$", inline, re.MULTILINE)
    named = set(re.findall(r"\bmake ([a-z]+)\b", " ".join(commands)))
    assert {"demo", "test", "lab"} <= named
    assert {target for target in named if not re.search(rf"^{target}:", makefile, re.MULTILINE)} == set()


def test_every_file_the_readme_links_to_is_there():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (Path(__file__).parents[1] / link).exists()] == []


def test_the_readme_is_short():
    before = README.split("```", 1)[0]
    assert len(README.split()) < 600
    assert len(before.split()) < 60
