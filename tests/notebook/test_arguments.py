from __future__ import annotations

import pytest

from agentctx_nb.notebook import acting_commands, commands
from agentctx_nb.notebook.arguments import Command, as_names, unquote
from agentctx_nb.notebook.commands import COMPOSE, LOOK, PROVIDER, PROVIDERS
from agentctx_nb.notebook.mistakes import ArgumentError


@pytest.mark.parametrize(
    "message",
    [
        "what's up",
        "what's \"this\" and 'that'?",
        "$AAPL {x} {{y}} ~ `ls` !pwd %time",
        'a "half quote',
        "-5 degrees -- really --dynamic",
        "C:\\temp\\new",
        "雨が降る 🙂",
        "a  b\tc",
        "x = 1; y",
    ],
)
def test_a_message_is_left_as_it_was_typed(message):
    for options in ("", "--strict ", "--include A,B --timeout 2.5 "):
        assert COMPOSE.message(options + message).message == message


def test_two_dashes_end_the_options():
    parsed = COMPOSE.message("--strict -- --only this is meant")
    assert (parsed.options, parsed.message) == ({"strict": True}, "--only this is meant")


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("--include A,B", {"include": ("A", "B")}),
        ("--include A, B ,C", {"include": ("A", "B", "C")}),
        ("--include=A,B --only", {"include": ("A", "B"), "only": True}),
        ("--include '' --only", {"include": (), "only": True}),
        ("--out state --timeout 0.5 --fresh", {"out": "state", "timeout": 0.5, "fresh": True}),
        ("--room 'the lobby' --entity=\"o'brien\"", {"room": "the lobby", "entity": "o'brien"}),
    ],
)
def test_options_of_compose(line, options):
    parsed = COMPOSE.message(line + " hi there")
    assert (parsed.options, parsed.message) == (options, "hi there")


def test_options_of_provider_stand_before_or_behind_the_name():
    line = (
        '--dynamic WEATHER --keywords rain,"how to",c++ --position -3 --private --always-run '
        '--description "It\'s the \\"weather\\"" --timeout 2 --ttl 60 --after A,B'
    )
    parsed = PROVIDER.words(line)
    assert parsed.words == ("WEATHER",)
    assert parsed.options == {
        "dynamic": True,
        "keywords": ("rain", "how to", "c++"),
        "position": -3,
        "private": True,
        "always_run": True,
        "description": 'It\'s the "weather"',
        "timeout": 2,
        "ttl": 60,
        "after": ("A", "B"),
    }


@pytest.mark.parametrize(
    ("command", "line", "said"),
    [
        (PROVIDER, "X --dynmic", "%provider has no option '--dynmic'; did you mean '--dynamic'?"),
        (PROVIDER, "X --dyn", "'--dynamic'"),
        (PROVIDER, "X --always_run", "did you mean '--always-run'?"),
        (PROVIDER, "X --zzz", "%%provider has no option '--zzz'; it has --dynamic, --keywords"),
        (PROVIDER, "X --keywords", "--keywords needs a value: --keywords a,b"),
        (PROVIDER, "X --keywords --dynamic", "--keywords needs a value"),
        (PROVIDER, "X --keywords 'a", "a quote is never closed"),
        (PROVIDER, "X --description 'a b", "a quote is never closed"),
        (PROVIDER, "X --dynamic=yes", "--dynamic takes no value"),
        (PROVIDER, "X --dynamic --dynamic", "--dynamic is given twice"),
        (PROVIDER, "X --position first", "--position N: 'first' is not a number"),
        (COMPOSE, "--out 2x hi", "'2x' cannot be the name of a variable"),
        (COMPOSE, "--out class hi", "'class' cannot be the name of a variable"),
        (PROVIDERS, "--al", "did you mean '--all'?"),
    ],
)
def test_a_mistake_is_named_with_the_nearest_right_name(command, line, said):
    read = command.message if command is COMPOSE else command.words
    with pytest.raises(ArgumentError) as caught:
        read(line)
    assert said in str(caught.value)


COMMANDS = [
    command
    for module in (commands, acting_commands)
    for command in vars(module).values()
    if isinstance(command, Command)
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_names_every_option_what_it_means_and_two_examples(command):
    text = command.help()
    for option in command.options:
        assert option.head in text
        assert len(option.meaning) > 5
        assert bool(option.read) == bool(option.value)
    assert len(command.examples) >= 2 or not command.options
    for example in command.examples:
        assert all(line.strip() in text for line in example.split("\n"))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_example_can_be_read_by_its_own_command(command):
    for example in command.examples:
        head = example.split("\n")[0]
        line = head.partition(f"%{command.name}")[2]
        assert f"%{command.name}" in head
        read = command.message if command.spoken else command.words
        assert read(line.strip()) is not None


def test_help_of_a_pair_of_twins_names_the_options_of_both():
    text = PROVIDER.help(LOOK)
    for option in (*PROVIDER.options, *LOOK.options):
        assert option.head in text


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("dynamic", None, ("dynamic", True)),
        ("dynamic", "false", ("dynamic", False)),
        ("always_run", "True", ("always_run", True)),
        ("always-run", "true", ("always_run", True)),
        ("keywords", "rain, how to", ("keywords", ("rain", "how to"))),
        ("description", "What it's for", ("description", "What it's for")),
        ("description", '"quoted"', ("description", "quoted")),
        ("timeout", "1.5", ("timeout", 1.5)),
    ],
)
def test_a_setting_says_the_same_as_the_option(key, value, read):
    assert PROVIDER.setting(key, value) == read


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("dynmic", None, "did you mean 'dynamic'"),
        ("dynamic", "perhaps", "true or false"),
        ("timeout", None, "timeout needs a value"),
        ("ttl", "long", "'long' is not a number"),
    ],
)
def test_a_setting_that_cannot_be_read_is_named(key, value, said):
    with pytest.raises(ArgumentError, match=said):
        PROVIDER.setting(key, value)


def test_a_list_may_hold_commas_in_quotes():
    assert as_names('a, "b, c" ,d') == ("a", "b, c", "d")
    assert as_names("what's, it's") == ("what's", "it's")


def test_only_quotes_around_the_whole_are_removed():
    assert unquote("'a' and 'b'") == "'a' and 'b'"
    assert unquote("") == ""
