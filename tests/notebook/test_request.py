"""What %compose composes: the message as typed, an object by its $name, JSON, presets."""

from __future__ import annotations

import pytest

ECHO = "%%provider ECHO\nf'heard [{message.content.text}]'"
FULL = "%%provider FULL\nrepr((message.content.text, message.room_id, message.entity_id, message.content.source))"


@pytest.fixture
def echoing(shell):
    shell.run("from agentctx_nb import Memory, Content")
    shell.run(FULL)
    return shell


@pytest.mark.parametrize(
    ("setup", "line", "heard"),
    [
        ("m = Memory('hi', room_id='lobby')", "$m", ("hi", "lobby", None, None)),
        ("m = Memory('hi', room_id='lobby')", "--room attic $m", ("hi", "attic", None, None)),
        ("m = {'content': {'text': 'hi', 'source': 'mail'}}", "$m", ("hi", None, None, "mail")),
        ("m = 'hi'", "$m", ("$m", None, None, None)),
        ("AAPL = {'price': 5}", "$AAPL", ("$AAPL", None, None, None)),
        ("m = Memory('hi')", "'$m'", ("$m", None, None, None)),
        ("m = Memory('hi')", "$m and more", ("$m and more", None, None, None)),
        ("", "$nobody", ("$nobody", None, None, None)),
        ("m = 'hi'", "--message $m", ("hi", None, None, None)),
        ("m = Memory('hi', entity_id='ada')", "--message $m", ("hi", None, "ada", None)),
        ("m = Content('hi', source='mail')", "--message $m", ("hi", None, None, "mail")),
        ("m = {'text': 'hi', 'roomId': 'lobby'}", "--message $m", ("hi", "lobby", None, None)),
        ("", "--message 'in quotes'", ("in quotes", None, None, None)),
        ("r = 'lobby'", "--room $r hi", ("hi", "lobby", None, None)),
        ("r = 'lobby'", "--room '$r' hi", ("hi", "$r", None, None)),
        ("", '--content {"source": "mail", "n": [1, 2]} hi {"x": 1}', ('hi {"x": 1}', None, None, "mail")),
        ("", '--content \'{"source": "it\\\'s"}\' hi', ("hi", None, None, "it's")),
        ("c = {'source': 'mail'}", "--content $c hi", ("hi", None, None, "mail")),
        (
            "c = {'source': 'b'}; m = Memory(Content('hi', source='a'))",
            "--content $c $m",
            ("hi", None, None, "b"),
        ),
    ],
)
def test_a_message_is_as_typed_unless_it_is_all_the_name_of_a_message(echoing, setup, line, heard):
    echoing.run(setup)
    assert echoing.run(f"%compose {line}").text == repr(heard)


def test_a_message_in_a_variable_is_not_changed_by_the_options(echoing):
    echoing.run("m = Memory(Content('hi'), room_id='a')")
    echoing.run('%compose --room b --content {"source": "x"} $m;')
    assert echoing.run("(m.room_id, m.content.source)") == ("a", None)


def test_nothing_is_expanded_in_the_cell_of_a_message(echoing):
    echoing.run("m = Memory('hi')")
    assert "'$m'" in echoing.run("%%compose\n$m").text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "--message $nobody",
            "--message $NAME: there is no variable 'nobody'; write '$nobody' in quotes to keep it as it is",
        ),
        ("--message $numbr", "there is no variable 'numbr'; did you mean 'number'?"),
        ("--message $memory hi", "%compose has two messages, one in --message and one behind it"),
        ("--message $number", "a message is a Memory, a string or a dict, not int"),
        ("--room $number hi", "--room R: it is a text, not 5"),
        ("--timeout $memory hi", "--timeout S: it is a number, not Memory(content=Content(text='hi'))"),
        ("--include $number hi", "--include A,B: it is a text or a list of them, not 5"),
        ("--out $memory hi", "--out NAME: '$memory' cannot be the name of a variable"),
        ("-o 5x hi", "--out NAME: '5x' cannot be the name of a variable"),
        ("-o x --out y hi", "--out is given twice"),
        ("--content {'a':1} hi", "is not JSON"),
        ("--content [1] hi", '--content JSON: it is an object such as {"source": "mail"}, not [1]'),
        ('--content {"text": "x"} hi', "the text of the message is the message itself"),
        ("--content $number hi", "--content JSON: it is an object"),
    ],
)
def test_a_mistake_is_one_sentence(echoing, line, said):
    echoing.run("memory = Memory('hi'); number = 5")
    name, seen = echoing.fail(f"%compose {line}")
    assert said in seen
    assert name in {"ArgumentError", "DefinitionTypeError"}
    assert seen.count("\n") == 1


def test_objects_reach_the_options_of_a_provider(shell):
    shell.run("words = ['rain', 'how to']; where = -3; told = \"It's \\\"told\\\"\"; name = 'A'")
    shell.run("%%provider $name --dynamic --keywords $words --position $where --description $told\n'a'")
    provider = shell.runtime.get_provider("A")
    assert (provider.relevance_keywords, provider.position) == (("rain", "how to"), -3)
    assert provider.description == 'It\'s "told"'
    shell.run("%%provider B --dynamic\n#| keywords: $words\n'b'")
    assert shell.runtime.get_provider("B").relevance_keywords == ("rain", "how to")
    shell.run("rows = {}")
    assert "$rows is {}, where a name is wanted" in shell.fail("%%provider $rows\n1")[1]


@pytest.mark.parametrize("way", ["--out kept hi", "-o kept hi", "--fresh -o kept hi;", "-o kept -- -o hi"])
def test_out_keeps_the_state_and_shows_nothing(shell, way):
    shell.run(ECHO)
    assert shell.run(f"%compose {way}") is None
    assert shell.run("kept.text") in {"heard [hi]", "heard [-o hi]"}


def test_a_message_may_begin_with_a_dash_that_is_no_option(shell):
    shell.run(ECHO)
    for message in ("-5 degrees", "- a list", "-x", "-oo"):
        assert shell.run(f"%compose {message}").text == f"heard [{message}]"
