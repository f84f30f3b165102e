"""What the magics say beside their results: names that are taken, texts in variables, providers to come."""

from __future__ import annotations

import re
import warnings

import pytest
from IPython.utils.capture import capture_output


def said(shell, cell):
    """Run a cell that must not fail and return all that appeared below it."""
    with capture_output() as captured:
        result = shell.ip.run_cell(cell, store_history=True)
    assert result.success, captured.stdout
    shown = "".join(out.data["text/plain"] for out in captured.outputs)
    return shown + captured.stderr + re.sub(r"^Out\[\d+\]: |\n$", "", captured.stdout)


@pytest.mark.parametrize(
    "cell", ["%compose -o runtime hi", "%compose --out runtime hi", "%act -o runtime DO hi"]
)
def test_a_result_never_takes_the_place_of_the_runtime(shell, cell):
    runtime = shell.runtime
    shell.run("%%action DO\n'done'")
    name, seen = shell.fail(cell)
    assert (name, shell.runtime) == ("ArgumentError", runtime)
    assert "--out runtime would take the place of the runtime; give another name" in seen


def test_a_runtime_whose_name_is_taken_says_its_other_name_once(shell):
    runtime = shell.runtime
    shell.run("runtime = 5")
    note = "runtime is 5 here; the magics work on agentctx_runtime"
    assert note in said(shell, "%%provider A\n'a'")
    assert note not in said(shell, "%compose hi")
    assert shell.run("agentctx_runtime") is runtime
    shell.run("runtime = agentctx_runtime")
    assert note not in said(shell, "%compose hi")


def test_the_name_of_a_text_is_composed_as_typed_and_says_how_to_compose_the_text(shell):
    shell.run("%%provider ECHO\nf'heard {message.content.text}'")
    shell.run("text = 'rain?'; number = 5")
    note = "$text is the message as it stands; the text in the variable is %compose --message $text"
    seen = said(shell, "%compose $text")
    assert note in seen
    assert shell.run("%compose $text").text == "heard $text"
    for line in ("'$text'", "-- $text", "$nobody", "$number", "--message $text", "is it $text", "$text;"):
        assert "as it stands" not in said(shell, f"%compose {line}")
    assert shell.run("%compose --message $text").text == "heard rain?"
    assert "%pin --message $text" in said(shell, "%pin $text")


def test_waiting_for_a_provider_nobody_registered_is_said_at_registration(shell):
    shell.run("%%provider WEATHER\n'rain'")
    seen = said(shell, "%%provider A --after NOBODY,WETHER,WEATHER\n'a'")
    assert "; nobody is registered as 'NOBODY' yet; " in seen
    assert "nobody is registered as 'WETHER' yet; did you mean 'WEATHER'?" in seen
    assert "as 'WEATHER' yet" not in seen
    assert "yet" not in said(shell, "%%provider B --after WEATHER,A\n'b'")


def test_a_warning_about_a_cell_stands_in_its_own_line(shell):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seen = said(shell, "%%provider W --private --always-run\n'w'")
    assert seen == (
        "registered W (private; always runs); "
        "provider W is private and always runs: hidden from the list, yet in every text"
    )


def test_a_provider_is_removed_and_comes_back(shell):
    shell.run("%%provider W\n'first'")
    shell.run("%%provider W\n'second'")
    assert said(shell, "%provider W --remove") == "removed W; %provider W --rollback 2 puts it back"
    assert shell.runtime.providers == []
    assert shell.fail("%provider W --remove")[0] == "UnknownProviderError"
    assert "v3" in said(shell, "%provider W --rollback 2")
    assert shell.run("%compose hi").text == "second"
    assert "--remove and --history are 2 things to do" in shell.fail("%provider W --remove --history")[1]
    assert "--remove belongs to %provider NAME" in shell.fail("%%provider W --remove\n1")[1]
    assert said(shell, "%provider W --remove;") == ""
    assert shell.runtime.providers == []


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("%compose --incl A hi", "; did you mean '--include'?"),
        ("%compose --mesage hi", "; did you mean '--message'?"),
        ("%pin --out a", "; it has --include, --only,"),
        ("%pin --strict hi", "; it has --include, --only,"),
        ("%%provider A --alwaysrun\n1", "; did you mean '--always-run'?"),
        ("%%provider A --always_run\n1", "; did you mean '--always-run'?"),
        ("%%provider A --p 1\n1", "; it has --dynamic, --keywords,"),
        ("%%provider A --pr\n1", "; did you mean '--private'?"),
        ("%%provider A\n#| keyword: a\n1", "; did you mean 'keywords'?"),
    ],
)
def test_an_option_is_suggested_only_where_it_may_have_been_meant(shell, line, hint):
    seen = shell.fail(line)[1]
    assert hint in seen
    assert seen.count("did you mean") == hint.count("did you mean")
    assert " or '" not in seen


NEW = "from agentctx_nb import AgentRuntime\nruntime = AgentRuntime('shop')"


def test_a_new_runtime_says_that_providers_stand_on_the_one_before(shell):
    assert "no provider is registered on runtime, the runtime named 'agent'; %%provider NAME" in said(
        shell, "%compose hi"
    )
    shell.run("%%provider A\n'a'")
    assert "no provider" not in said(shell, "%compose hi")
    shell.run(NEW)
    note = (
        "no provider is registered on runtime, the runtime named 'shop'; "
        "1 provider stands on another, named 'agent': run their cells again"
    )
    shell.run("%%action DO\n'done'")
    for line in (
        "%compose hi",
        "%pin hi",
        "%%prompt P --message hi\nhi",
        "%prompt P --message hi",
        "%act DO hi",
    ):
        assert note in said(shell, line), line
    for line in ("%compose hi;", "%pin hi;", "%prompt P --message hi;", "%prompt P"):
        assert "no provider" not in said(shell, line), line
    shell.run("%%provider B\n'b'")
    assert "no provider" not in said(shell, "%compose hi")


def test_a_runtime_that_was_made_and_lost_again_is_told_with_the_one_the_magics_work_on(shell):
    shell.run(NEW)
    shell.run("%%provider A\n'a'")
    shell.run("runtime = 5")
    seen = said(shell, "%compose hi")
    assert "no provider is registered on agentctx_runtime, the runtime named 'agent'; " in seen
    note = "your cells registered theirs on another before, named 'shop': run them again"
    assert note in seen
    shell.run(NEW)
    shell.run("%%provider A\n'a'")
    shell.run(NEW)
    assert f"on runtime, the runtime named 'shop'; {note}" in said(shell, "%compose hi")


def test_an_action_without_any_provider_says_nothing_of_them(shell):
    shell.run("%%action DO\n'done'")
    assert "no provider" not in said(shell, "%act DO hi")


def test_a_runtime_whose_last_provider_was_removed_says_so_and_no_more(shell):
    shell.run("%%provider A\n'a'")
    shell.run("%provider A --remove")
    seen = said(shell, "%compose hi")
    assert "no provider is registered on runtime, the runtime named 'agent'" in seen
    assert "another" not in seen


@pytest.mark.parametrize(
    ("body", "slip"),
    [
        ("async def got(runtime, message, state):\n    return 5", "it only defines got, which nothing calls"),
        ("x = 1\ndef Get():\n    return x", "it only defines Get, which nothing calls"),
        ("text = 'Points: 5'", "it gives nothing back; end it in `return text`"),
        ("n = 0\nn += 1", "it gives nothing back; end it in `return n`"),
        ("text: str = 'a'", "it gives nothing back; end it in `return text`"),
    ],
)
def test_a_cell_that_looks_as_if_it_gave_something_says_that_it_does_not(shell, body, slip):
    assert said(shell, f"%%provider A\n{body}").startswith(f"registered A; {slip}")


@pytest.mark.parametrize(
    "body",
    [
        "text = 'a'\nreturn text",
        "text = 'a'\ntext",
        "def get():\n    return 5",
        "def get(): return 5\ndef helper(): return 6",
        "global count\ncount = 5",
        "runtime.kept = 5",
        "if message: return 5",
        "import os",
        "for n in range(3): print(n)",
    ],
)
def test_a_cell_that_gives_something_or_does_something_says_nothing_of_it(shell, body):
    assert said(shell, f"%%provider A\n{body}") == "registered A"


def test_an_action_that_only_defines_another_function_says_so_and_may_give_nothing_back(shell):
    assert "; it only defines handel, which nothing calls; the function of a cell is named handler" in said(
        shell, "%%action A\ndef handel(): pass"
    )
    assert "nothing" not in said(shell, "%%action A\nkept = 5")


def test_removing_a_provider_names_those_that_wait_for_it(shell):
    shell.run("%%provider W\n'w'")
    shell.run("%%provider D --after W --private\n'd'")
    seen = said(shell, "%provider W --remove")
    assert seen == "removed W; after= of D still names it; %provider W --rollback 1 puts it back"


def test_keywords_that_wake_nothing_are_told_by_the_cell_alone(shell, caplog):
    assert "which wake nothing without --dynamic" in said(shell, "%%provider A --keywords rain\n'a'")
    assert caplog.records == []


def test_a_preset_that_is_kept_is_confirmed_with_what_looks_like_a_slip_in_it(shell):
    shell.run("%%provider WEATHER\n'rain'")
    for line, note in (
        ("--include WEATHER --only --save quick hi", "kept preset quick: --include, --only"),
        ("--preset quick --timeout 3 --save quick hi", "replaced preset quick: --include, --only, --timeout"),
        ("--save mine hi", "kept preset mine, which holds no options; write them on the line that saves it"),
        (
            "--include WEATHR,NOBODYX --save broken hi",
            "broken: --include; nobody is registered as 'WEATHR' yet; did you mean 'WEATHER'?; nobody is",
        ),
    ):
        assert note in said(shell, f"%compose {line}")
    assert "preset" not in said(shell, "%compose --include WEATHER --save still hi;")
    assert "preset" not in said(shell, "%compose --preset quick hi")


def test_a_strict_composition_names_the_provider_that_was_meant(shell):
    shell.run("%%provider WEATHER\n'rain'")
    seen = shell.fail("%compose --include WEATHR,WEATHR2,ZZZZZZ --only --strict hi")[1]
    assert seen.splitlines()[-1] == (
        "StrictError: strict composition: unknown WEATHR (did you mean WEATHER?), "
        "unknown WEATHR2 (did you mean WEATHER?), unknown ZZZZZZ"
    )
