"""Options behind a message are text, and one line says so; names nobody made are not guessed."""

from __future__ import annotations

import pytest
from IPython.utils.capture import capture_output

SAID = "part of the message, as all behind its first word is; write options before the message"


def seen(shell, cell):
    with capture_output() as captured:
        result = shell.ip.run_cell(cell, store_history=True)
    assert result.success, captured.stdout
    return captured.stdout + "".join(output._repr_mime_("text/plain") or "" for output in captured.outputs)


@pytest.fixture
def acting(shell):
    shell.run("%%action DO\n'done: ' + message.content.text")
    shell.run("%%prompt ALL\n{{providers}}")
    return shell


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("%compose hi --strict", "--strict is "),
        ("state = %compose hi --strict", "--strict is "),
        ("%compose hi --include A,B --only", "--include and --only are "),
        ("%compose hi --timeout=5 there", "--timeout is "),
        ("%compose --fresh hi --fresh --fresh", "--fresh is "),
        ("%pin hi --fresh", "--fresh is "),
        ("%act DO hi --strict", "--strict is "),
        ("%act --out r DO hi --state s", "--state is "),
        ("%prompt ALL --message what is up? --missing error", "--missing is "),
        ("%remember facts the door --room lobby", "--room is "),
    ],
)
def test_an_option_in_a_message_is_said_in_one_line_and_refuses_nothing(acting, line, named):
    shown = seen(acting, line)
    assert shown.count(SAID) == 1
    assert named + SAID in shown


@pytest.mark.parametrize(
    "line",
    [
        "%compose hi",
        "%compose --fresh hi",
        "%compose -- hi --strict",
        "%compose 'hi --strict'",
        "%compose hi --strict;",
        "%compose hi --out-of-order --stricter strict --",
        "%compose hi x--strict",
        "%compose hi --missing",
        "%%compose\nhi --strict",
        "%act DO -- hi --strict",
        "%act DO --strict hi",
        "%prompt ALL --message 'what is up?' --missing empty",
        "%remember facts --room lobby the door",
    ],
)
def test_nothing_is_said_of_what_is_no_option_or_meant_as_it_stands(acting, line):
    assert SAID not in seen(acting, line)


def test_the_message_stays_as_typed(acting):
    acting.run("%%provider HEARD\nmessage.content.text")
    assert acting.run("%compose hi --strict").text == "hi --strict"
    assert acting.run("%act DO hi --strict").text == "done: hi --strict"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%act DO --state nope x", "there is no variable 'nope'"),
        ("%act DO --state befor x", "there is no variable 'befor'; did you mean 'before'?"),
        ("%act DO --state befoer_text x", "there is no variable 'befoer_text'; did you mean 'before'?"),
        ("%compose --message $nope", "no variable 'nope'; write '$nope' in quotes to keep it as it is"),
        ("%compose --message $exi", "no variable 'exi'; write '$exi' in quotes to keep it as it is"),
        ("%compose --message $prin", "no variable 'prin'; write '$prin' in quotes to keep it as it is"),
        ("%prompt ALL --extra usrname", "there is no variable 'usrname'; did you mean 'username'?"),
        ("%prompt ALL --extra zzz", "there is no variable 'zzz'"),
        (
            "%prompt ALL --extra $zzz",
            "there is no variable 'zzz'; write '$zzz' in quotes to keep it as it is",
        ),
    ],
)
def test_a_variable_that_is_missing_is_guessed_from_those_the_user_made(acting, line, said):
    acting.run("%compose --out before hi")
    acting.run("username, before_text = 'Ada', 'x'")
    name, shown = acting.fail(line)
    assert name == "ArgumentError"
    assert shown.strip().endswith(said)
