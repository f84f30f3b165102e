"""Whatever is typed behind a magic is read or refused in one sentence; nothing else ever comes out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentctx_nb.notebook import acting_commands, commands
from agentctx_nb.notebook.arguments import Command
from agentctx_nb.notebook.completion import command_at
from agentctx_nb.notebook.mistakes import ArgumentError

COMMANDS = [
    c for module in (commands, acting_commands) for c in vars(module).values() if isinstance(c, Command)
]
PIECES = [
    "--",
    "-",
    "-o",
    "--include",
    "--content",
    "--only",
    "=",
    ",",
    '"',
    "'",
    "{",
    "}",
    "[",
    "\\",
    "$x",
    "$",
    " ",
    ";",
    "a",
]
LINES = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
@given(line=LINES)
def test_a_line_is_read_or_refused_in_one_sentence(command, line):
    for read in (command.words, command.message):
        try:
            parsed = read(line, {"x": ["object"]})
        except ArgumentError:
            continue
        assert parsed.message == parsed.message.strip()
        assert line.rstrip().endswith(parsed.message)


@given(before=LINES, line=LINES)
def test_tab_finds_its_place_in_any_cell(before, line):
    text = f"{before}\n%compose {line}"
    last = text.count("\n")
    command_at(text, last, len(text.split("\n")[last]))
