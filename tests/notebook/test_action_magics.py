"""%%action, %act, %actions: what becomes an action, how it runs, what is shown."""

from __future__ import annotations

import inspect
import linecache
import traceback

import pytest

from agentctx_nb.notebook.extension import load, unload

REMIND = (
    "%%action REMIND\n"
    '"""Say when it will ring."""\n'
    'zone = state.data.providers.USER_PREFERENCES.data.preferences.timezone or "UTC"\n'
    '{"text": f"{message.content.text} ({zone})", "values": {"zone": zone}}'
)


def test_the_body_of_a_cell_is_the_handler(shell):
    assert repr(shell.run(REMIND)) == "registered REMIND"
    action = shell.runtime.get_action("REMIND")
    assert (action.description, action.validate) == ("Say when it will ring.", None)
    assert shell.runtime.registered_action("REMIND").origin == "cell"
    result = shell.run("%act REMIND call {Ada} at $9?")
    assert (result.success, result.text, result.values) == (True, "call {Ada} at $9? (UTC)", {"zone": "UTC"})
    shell.run("%%provider USER_PREFERENCES\n{'data': {'preferences': {'timezone': 'Europe/Oslo'}}}")
    assert shell.run("%act REMIND call").text == "call (Europe/Oslo)"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("import asyncio\nawait asyncio.sleep(0, 'awaited')", "awaited"),
        ("if message.content.text:\n    return 'early'\n'late'", "early"),
        ("async def handler(runtime, message, state):\n    return 'async'", "async"),
        ("def handler():\n    return 'no parameters'", "no parameters"),
        ("x = !echo from the shell\nx[0]", "from the shell"),
        ("later()", "later"),
    ],
)
def test_a_cell_may_await_return_or_define_its_handler(shell, body, text):
    shell.run(f"%%action DO\n{body}")
    shell.run("def later(): return 'later'")
    assert shell.run("%act DO hi").text == text
    assert not {"handler", "validate"} & set(shell.ip.user_ns)


def test_a_cell_may_define_validate_beside_its_handler(shell):
    done = shell.run(
        "%%action DO --description 'Mine'\n"
        "def validate(runtime, message):\n    return message.content.text == 'yes'\n"
        "def handler():\n    '''Doc.'''\n    return 'done'"
    )
    assert repr(done) == "registered DO (validates first)"
    assert shell.runtime.get_action("DO").description == "Mine"
    assert shell.run("%act DO yes").text == "done"
    refused = shell.run("%act DO no")
    assert (refused.success, str(refused)) == (
        False,
        "DO did not succeed: action DO does not fit this message: its validate said no",
    )


def test_running_a_cell_again_replaces_the_action_in_its_place(shell):
    shell.run("%%action A\n'old'")
    shell.run("%%action B\n#| description: The second\n'b'")
    assert repr(shell.run("%%action A\n'new'")) == "replaced A, v2"
    assert [(row["action"], row["version"], row["description"]) for row in shell.run("%actions")] == [
        ("A", 2, ""),
        ("B", 1, "The second"),
    ]
    shell.runtime.register_action({"name": "C", "handler": len}, origin="a_module")
    assert repr(shell.run("%%action C\n'new'")) == "replaced C of a_module, v2"


@pytest.mark.parametrize(
    "cell",
    [
        "%%action A\nreturn = 2",
        "%%action A\nyield 1",
        "%%action A\n",
        "%%action A",
        "%%action A --descripton x\n'new'",
        "%%action A\n#| descripton: x\n'new'",
        "%%action A\n#| description: x\n#| description: y\n'new'",
        "%%action A\ntouched = 1 / 0\ndef handler(): return 'new'",
        "%%action A\ndef handler(): yield 'new'",
        "%%action A\ndef validate(): yield 1\ndef handler(): return 'new'",
        "%%action A\ndef validate(): return True\n'new'",
        "%%action A\ndef handler(runtime, *, must): return 'new'",
    ],
)
def test_a_cell_that_fails_leaves_the_old_action_standing(shell, cell):
    shell.run("%%action A\n'old'")
    shell.fail(cell)
    assert shell.run("%act A hi").text == "old"
    assert shell.runtime.registered_action("A").version == 1
    assert not {"touched", "handler", "validate"} & set(shell.ip.user_ns)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (
            "%%action A --descripton x\n1",
            "ArgumentError: %%action has no option '--descripton'; did you mean '--description'?",
        ),
        ("%%action\n1", "ArgumentError: %%action needs a name: %%action NAME (see %%action?)"),
        ("%%action A B\n1", "ArgumentError: %%action takes one name, but 'B' follows 'A'; put"),
        (
            "%%action A",
            "CellError: the cell of action A is empty; write what it returns, or an `async def handler`",
        ),
        ("%%action A\nx = = 1", "CellError: invalid syntax (line 2)\n    x = = 1\n        ^"),
        (
            "\n\n%%action A\nif 1:\n    yield 1",
            "CellError: an action cannot yield; it must return its result (line 5)\n        yield 1\n        ^",
        ),
        (
            "%%action A\nx = 1\ndef validate(): return True",
            (
                "CellError: the cell defines validate but no handler; put the rest into an `async def handler` (line 3)\n"
                "    def validate(): return True\n    ^"
            ),
        ),
        (
            "%%action A\ndef validate():\n    yield 1\ndef handler(): pass",
            "CellError: an action cannot yield; it must return its result (line 3)\n        yield 1\n        ^",
        ),
        (
            "%%action A\n#| privat: true\n1",
            "CellError: %%action has no option 'privat'; it has description (line 2)\n    #| privat: true\n    ^",
        ),
        ("%act", "ArgumentError: %act needs the name of an action: %act NAME message (see %act?)"),
        ("%act REMID x", "UnknownActionError: no action is registered as 'REMID'; did you mean 'REMIND'?"),
        ("%act REMIND --state gone x", "ArgumentError: there is no variable 'gone'"),
        ("%action REMIND --history", "ArgumentError: %action has no option '--history'; it has none"),
        (
            "%action QQQ",
            "UnknownActionError: no action is registered as 'QQQ'; there is 'REMIND'",
        ),
        ("%act --out a REMIND --out b x", "ArgumentError: --out is given twice"),
        ("%act --otu a REMIND x", "ArgumentError: %act has no option '--otu'; did you mean '--out'?"),
        ("%%act REMIND\nx", "ArgumentError: %act takes no cell below it"),
        ("%action REMID", "UnknownActionError: no action is registered as 'REMID'; did you mean 'REMIND'?"),
        ("%action", "ArgumentError: %action NAME shows one action; %actions lists them"),
        ("%actions REMIND", "ArgumentError: %actions takes no name; write %action REMIND"),
    ],
)
def test_a_mistake_shows_only_its_sentence(shell, cell, shown):
    shell.run(REMIND)
    name, seen = shell.fail(cell)
    assert seen.strip().startswith(shown)
    assert name == shown.partition(":")[0]
    assert "Traceback" not in seen
    assert seen.strip().count("\n") == shown.count("\n")


def test_an_unknown_action_composes_nothing(shell):
    shell.run("%%provider COUNTED\nglobal count\ncount = globals().get('count', 0) + 1\nstr(count)")
    shell.fail("%act GONE hi")
    shell.run("%compose hi")
    assert shell.ip.user_ns["count"] == 1


def test_the_message_and_where_it_comes_from_reach_the_action(shell):
    shell.run("%%action DO\nf'{message.content.text}|{message.room_id}|{message.entity_id}'")
    assert shell.run("%act DO --room lobby --entity 'Ada L' what's up?").text == "what's up?|lobby|Ada L"
    assert shell.run("%act --room lobby DO -- --room is said").text == "--room is said|lobby|None"
    assert shell.run("%act DO").text == "|None|None"
    assert shell.run("%act DO is it so?").text == "is it so?|None|None"
    shell.run("%config AgentContext.room = 'office'")
    assert shell.run("%act DO hi").text == "hi|office|None"
    assert shell.run("%act DO --room lobby hi").text == "hi|lobby|None"
    assert shell.run("%act DO 'quoted as a whole'").text.startswith("quoted as a whole|")


@pytest.mark.parametrize(
    "line",
    [
        '"two words" hi',
        "'two words' hi",
        '--room lobby "two words" hi',
        '"two words" --room lobby hi',
        '"two words"\thi',
        "  'two words'   'hi' ",
    ],
)
def test_a_name_with_spaces_is_quoted_as_it_was_where_it_was_registered(shell, line):
    shell.run('%%action "two words"\nmessage.content.text')
    assert shell.run(f"%act {line}").text == "hi"


def test_a_quote_that_is_never_closed_is_said_of_the_name_and_fine_in_the_message(shell):
    shell.run("%%action DO\nmessage.content.text")
    assert "a quote is never closed: 'DO it" in shell.fail("%act 'DO it")[1]
    assert shell.run("%act DO 'twas so").text == "'twas so"


def test_a_state_may_be_given_and_the_result_kept(shell):
    shell.run("%%provider HEARD\n{'values': {'heard': message.content.text}}")
    shell.run("%%action DO\nf\"{message.content.text}, {state.values['heard']}\"")
    shell.run("%compose --out before first")
    assert shell.run("%act DO --state before second").text == "second, first"
    assert shell.run("%act DO -o kept third") is None
    assert shell.run("kept").text == "third, third"
    assert shell.run("%prompt") is not None
    assert shell.run("%%prompt P\n{{heard}}").prompt == "third"  # what %act composed is the last state


def test_a_failed_action_is_shown_as_failed_with_its_line(shell):
    shell.run("%%action DO\n\nx = 0\nreturn 1 / x")
    result = shell.run("%act DO hi")
    assert repr(result.success) == "False"
    shown = result._repr_mimebundle_()["text/plain"]
    assert shown == "DO failed: ZeroDivisionError: division by zero\n\nin line 4: return 1 / x"
    frame = traceback.extract_tb(result.error.__traceback__)[-1]
    assert (frame.lineno, frame.line) == (4, "return 1 / x")


def test_strict_raises_what_an_action_did_not_do_with_the_lines_of_its_cell_alone(shell):
    shell.run("%%action DO\n\nstate.values['nope']")
    assert not shell.run("%act DO hi").success
    name, seen = shell.fail("%act DO --strict -o kept hi")
    assert name == "ActionFailedError"
    assert seen.strip().endswith("ActionFailedError: DO failed: KeyError: 'nope'")
    assert "----> 3 " in seen
    assert "agentctx_nb" not in seen
    assert repr(shell.run("kept.error")) == "KeyError('nope')"
    shell.run("%%action NO\nreturn False")
    assert shell.fail("%act --strict NO hi") == (
        "ActionFailedError",
        "ActionFailedError: NO did not succeed, and gave no reason\n",
    )
    shell.run("%%action YES\n'done'")
    assert shell.run("%act YES --strict hi").text == "done"
    shell.run("%config AgentContext.strict = True")
    assert shell.fail("%act NO hi")[0] == "ActionFailedError"
    shell.run("%config AgentContext.strict = False")
    shell.run("%%provider BAD\n1 / 0")
    assert shell.fail("%act YES --strict hi")[0] == "StrictError"


def test_the_list_of_an_action_is_that_of_a_composition(shell):
    shell.run("%%provider A\n'a'")
    shell.run("%%provider B --private\n'b'")
    shell.run("%%action DO\nstate.text + '|' + message.content.text")
    assert shell.run("%act DO hi").text == "a|hi"
    assert shell.run("%act DO --include B hi").text == "a\nb|hi"
    assert shell.run("%act --include B --only DO hi").text == "b|hi"
    assert "add --include A,B" in shell.fail("%act DO --only hi")[1]
    shell.run("%compose --out before first")
    said = "the state of --state is composed already; leave out --include and --only"
    assert said in shell.fail("%act DO --state before --include B --only hi")[1]


def test_the_source_of_an_action_is_its_cell(shell):
    shell.run("%%action DO\nx = 'from the cell'\nx")
    assert "x = 'from the cell'" in inspect.getsource(shell.runtime.get_action("DO").handler)
    shown = repr(shell.run("%action DO"))
    assert "x = 'from the cell'" in shown
    assert "%%action DO" in shown
    action = shell.runtime.get_action("DO")
    filename = action.handler.__code__.co_filename
    assert linecache.getlines(filename)
    unload(shell.ip)
    assert not linecache.getlines(filename)
    load(shell.ip)
    assert "x = 'from the cell'" in repr(shell.run("%action DO"))


def test_a_secret_stays_hidden_in_what_is_shown(shell):
    shell.runtime.set_setting("KEY", "s3cr3tvalue", secret=True)
    shell.run("%%action s3cr3tvalue\nraise RuntimeError(runtime.get_setting('KEY'))")
    for shown in ("%act s3cr3tvalue s3cr3tvalue", "%actions", "%action s3cr3tvalue"):
        result = shell.run(shown)
        assert "s3cr3t" not in f"{result!r}{result}{result._repr_mimebundle_()}"
    assert "s3cr3tvalue" not in shell.fail("%act s3cr3tvalu x")[1]
    assert "s3cr3t" not in repr(shell.run("%%action s3cr3tvalue\n1"))


@pytest.mark.parametrize("name", ["action", "act", "actions"])
def test_help_shows_usage_and_examples(shell, name):
    text = shell.ip.find_line_magic(name).__doc__
    assert "Usage:" in text
    assert "Examples:" in text


def test_in_a_kernel_an_action_is_awaited_and_shown(kernel):
    kernel.good("%%action SLOW\nimport asyncio\nawait asyncio.sleep(0)\n'heard ' + message.content.text")
    answer = kernel.good("%act SLOW is it so?", "import asyncio; hasattr(asyncio, '_nest_patched')")
    assert answer.text == "False"
    (answer,) = kernel.run("%act SLOW is it so?")
    assert answer.text == "SLOW succeeded\n\ntext\n────\nheard is it so?"
    assert {"text/html", "text/markdown"} <= set(answer.shown[0])
    assert kernel.good("def f():\n    r = %act SLOW inside\n    return r.text\nf()").text == "'heard inside'"
    (answer,) = kernel.run("\n%%action SLOW\nx = 1\nx = = 2")
    assert answer.evalue == "invalid syntax (line 4)"
    assert "SLOW" in kernel.good("%actions").text
