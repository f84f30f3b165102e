"""%%prompt and %prompt: what is kept, what it is filled in from, what is shown."""

from __future__ import annotations

import pytest

from agentctx_nb.notebook.prompt_magics import spoken_message

ECHO = "%%provider ECHO\n{'text': f'heard [{message.content.text}]', 'values': {'heard': message.content.text, 'mood': 'calm'}}"


def test_a_cell_is_kept_as_typed_and_filled_in_from_a_message(shell):
    shell.run(ECHO)
    shell.run("x = 1; y = 2")
    view = shell.run("%%prompt REPLY --message 'hi {x} $y'\n{{heard}} {x} $y {{{mood}}} %who\n!ls\n\n")
    assert shell.runtime.prompts == {"REPLY": "{{heard}} {x} $y {{{mood}}} %who\n!ls\n"}
    assert view.prompt == "hi {x} $y {x} $y calm %who\n!ls\n"
    assert view.prompt.spans[0] == (0, 9, "ECHO")
    assert "registered REPLY, composed for 'hi {x} $y': " in repr(view)


def test_without_a_message_it_is_filled_in_from_the_state_composed_last(shell):
    shell.run(ECHO)
    assert "not filled in, for nothing is composed yet; add --message TEXT" in repr(
        shell.run("%%prompt REPLY\n{{heard}}")
    )
    assert list(shell.runtime.reads()) == []
    shell.run("%compose first")
    assert "filled in from the state composed last" in repr(shell.run("%prompt REPLY"))
    assert shell.run("%prompt REPLY").prompt == "first"
    assert shell.run("%prompt REPLY --message second one, is it?").prompt == "second one, is it?"
    assert shell.run("%prompt REPLY").prompt == "second one, is it?"
    assert [read.reader for read in shell.runtime.reads()] == ["prompt REPLY"]


def test_a_state_may_be_named(shell):
    shell.run(ECHO)
    shell.run("%%prompt REPLY\n{{heard}}")
    shell.run("%compose --out kept kept one")
    shell.run("%compose another")
    for given in ("kept", "$kept"):
        view = shell.run(f"%prompt REPLY --state {given}")
        assert view.prompt == "kept one"
    assert "filled in from kept" in repr(shell.run("%prompt REPLY --state kept"))


def test_extras_are_variables_under_their_own_names(shell):
    shell.run(ECHO)
    shell.run("question = 'why?'; rows = [{'n': 1}, {'n': 2}]")
    view = shell.run(
        "%%prompt REPLY --extra question,rows --message hi\n{{question}}{{#each rows}}{{n}}{{/each}}"
    )
    assert view.prompt == "why?12"
    assert view.tags[0]["filled by"] == "extra"


def test_missing_names_are_empty_kept_or_an_error(shell):
    shell.run(ECHO)
    shell.run("%%prompt REPLY --message hi\na{{hear}}b")
    assert shell.run("%prompt REPLY").prompt == "ab"
    assert shell.run("%prompt REPLY --missing keep").prompt == "a{{hear}}b"
    assert "nobody wrote: hear (did you mean heard?)" in repr(shell.run("%prompt REPLY"))
    name, seen = shell.fail("%prompt REPLY --missing error")
    assert name == "TemplateError"
    assert seen.strip() == "TemplateError: line 1, column 2: nobody wrote 'hear'; did you mean 'heard'?"


def test_a_cell_that_fails_leaves_the_older_prompt_and_its_version(shell):
    shell.run(ECHO)
    shell.run("%%prompt REPLY\ngood {{heard}}")
    name, seen = shell.fail("%%prompt REPLY --message hi --missing error\nbad {{haerd}}")
    assert name == "PromptCellError"
    assert seen.startswith("PromptCellError: line 2, column 5: nobody wrote 'haerd'; did you mean 'heard'?")
    shell.run("%config AgentContext.strict = True")
    shell.run("%%provider BAD\n1 / 0")
    assert shell.fail("%%prompt REPLY --message hi\nbad, too")[0] == "StrictError"
    assert shell.fail("%%prompt OTHER --message hi\nbad, too")[0] == "StrictError"
    assert dict(shell.runtime.prompts) == {"REPLY": "good {{heard}}"}
    shell.run("%provider BAD --remove")
    view = shell.run("%%prompt REPLY --message hi\nbetter {{heard}}")
    assert repr(view).startswith("replaced REPLY, v2, composed for 'hi'")


def test_running_a_cell_again_replaces_the_prompt_in_its_place(shell):
    for name, text in (("A", "a"), ("B", "b"), ("A", "new")):
        view = shell.run(f"%%prompt {name}\n{text}")
    assert repr(view).startswith("replaced A, v2, not filled in")
    assert dict(shell.runtime.prompts) == {"A": "new", "B": "b"}
    assert [row["prompt"] for row in shell.run("%prompt")] == ["A", "B"]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (
            "%%prompt REPLY\nfine\n  {{#if x}}",
            "PromptCellError: line 3, column 3: {{#if}} is never closed\n      {{#if x}}\n      ^",
        ),
        ("\n\n%%prompt REPLY\n{{x", "PromptCellError: line 4, column 1: a tag is never closed"),
        (
            "%%prompt REPLY --message hi --missing error\nfine {{gone}}",
            "PromptCellError: line 2, column 6: nobody wrote 'gone'\n    fine {{gone}}\n         ^",
        ),
        ("%%prompt\nx", "ArgumentError: %%prompt needs a name: %%prompt NAME (see %prompt?)"),
        ("%%prompt REPLY", "ArgumentError: the cell below %%prompt REPLY is empty; write the template in it"),
        ("%%prompt A B\nx", "ArgumentError: %%prompt takes one name, but 'B' follows 'A'; write --message"),
        (
            "%%prompt A --mesage x\nhi",
            "ArgumentError: %%prompt has no option '--mesage'; did you mean '--message'",
        ),
        ("%prompt A --mesage x", "ArgumentError: %prompt has no option '--mesage'; did you mean '--message'"),
        ("%prompt REPLI", "UnknownPromptError: no prompt is registered as 'REPLI'; did you mean 'REPLY'?"),
        ("%prompt REPLY --state nothing", "ArgumentError: there is no variable 'nothing'"),
        ("%prompt REPLY --state kep", "ArgumentError: there is no variable 'kep'; did you mean 'kept'?"),
        ("%prompt REPLY --state number", "ArgumentError: --state takes a composed state, and number is 5"),
        (
            "%prompt REPLY --extra numbr",
            "ArgumentError: there is no variable 'numbr'; did you mean 'number'?",
        ),
        (
            "%prompt REPLY --missing kep",
            "ArgumentError: --missing POLICY: it is empty, error or keep, not 'kep'",
        ),
        (
            "%prompt REPLY --state kept --message hi",
            "ArgumentError: --message composes a state and --state takes one",
        ),
        (
            "%prompt REPLY --mesage hi",
            "ArgumentError: %prompt has no option '--mesage'; did you mean '--message'",
        ),
        ("%prompt --missing keep", "ArgumentError: %prompt needs a name: %prompt NAME (see %prompt?)"),
    ],
)
def test_a_mistake_shows_only_its_sentence_and_leaves_the_old_prompt_standing(shell, cell, shown):
    shell.run(ECHO)
    shell.run("%compose --out kept hi")
    shell.run("number = 5")
    shell.run("%%prompt REPLY\nold {{gone}}" if "gone" in cell else "%%prompt REPLY\nold")
    name, seen = shell.fail(cell)
    assert seen.strip().startswith(shown)
    assert name == shown.partition(":")[0]
    assert "Traceback" not in seen
    assert seen.strip().count("\n") == 2 if name == "PromptCellError" else "\n" not in seen.strip()
    if "gone" not in cell:
        assert shell.runtime.prompts == {"REPLY": "old"}


def test_the_error_tells_line_and_column_of_the_cell(shell):
    result = shell.ip.run_cell("%%prompt REPLY\nfine\n{{#if x}}")
    assert (result.error_in_exec.line, result.error_in_exec.column) == (3, 1)


@pytest.mark.parametrize(
    ("line", "split"),
    [
        ("REPLY --message hi", ("REPLY --message hi", None)),
        ("REPLY --message is it so?", ("REPLY ", "is it so?")),
        ("REPLY --message 'is it' --missing keep", ("REPLY --message 'is it' --missing keep", None)),
        ("REPLY --message 'it' and 'that'", ("REPLY ", "'it' and 'that'")),
        ("REPLY --message $text --missing keep", ("REPLY --message $text --missing keep", None)),
        ("REPLY --message $AAPL is up", ("REPLY ", "$AAPL is up")),
        ("REPLY", ("REPLY", None)),
        ("REPLY --message", ("REPLY --message", None)),
    ],
)
def test_an_unquoted_message_runs_to_the_end_of_the_line(line, split):
    assert spoken_message(line) == split


def test_a_message_that_failed_to_compose_in_part_still_fills_in_the_rest(shell):
    shell.run(ECHO)
    shell.run("%%provider BROKEN\n1 / 0")
    assert shell.run("%%prompt REPLY --message hi\n{{heard}}").prompt == "hi"


def test_a_secret_is_raw_for_code_and_hidden_in_what_is_shown(shell):
    shell.runtime.set_setting("KEY", "s3cr3t-value", secret=True)
    shell.run("%%provider A\n{'values': {'key': runtime.get_setting('KEY')}}")
    view = shell.run("%%prompt REPLY --message hi\nuse {{key}} or s3cr3t-value")
    assert view.prompt == "use s3cr3t-value or s3cr3t-value"
    assert "s3cr3t" not in f"{view}{view!r}{view._repr_mimebundle_()}{view.prompt!r}"
    assert "s3cr3t" not in shell.fail("%%prompt REPLY\n{{#if s3cr3t-value}}")[1]
    assert "s3cr3t" not in repr(shell.run("%prompt"))


def test_help_shows_usage_and_examples(shell):
    text = shell.ip.find_cell_magic("prompt").__doc__
    assert "Usage:" in text
    assert "Examples:" in text


def test_in_a_kernel_the_composition_is_awaited_and_the_line_is_that_of_the_cell(kernel):
    kernel.good(
        "import traceback\nloops = lambda: sum('run_' in frame.name for frame in traceback.extract_stack())",
        "%%provider SLOW\nimport asyncio\nawait asyncio.sleep(0)\n"
        "{'values': {'heard': message.content.text, 'loops': loops()}}",
        "%%prompt REPLY --message is it so?\n{{heard}} {x}",
    )
    kernel.good("%%prompt LOOPS\n{{loops}}")
    awaited = kernel.good("view = %prompt LOOPS --message how deep?\nint(view.prompt)").text
    nested = kernel.good("runtime.compose('and so?').values['loops']").text
    assert int(awaited) < int(nested)
    assert "and so? {x}" in kernel.good("%prompt REPLY --message and so?").text
    assert kernel.good("view = %prompt REPLY --message so?\nview.prompt").text == "'so? {x}'"
    (answer,) = kernel.run("\n\n%%prompt REPLY\nfine\n{{x")
    assert (answer.ename, answer.evalue.split(":")[0]) == ("PromptCellError", "line 5, column 1")
    assert "Traceback" not in answer.traceback
    assert "text/html" in kernel.run("%prompt REPLY")[0].shown[0]
