"""%provider NAME: what a provider is, what came of it last, what it was before, and going back."""

from __future__ import annotations

import pytest

from agentctx_nb.notebook.extension import load, unload


def shown(shell, line):
    return repr(shell.run(line))


def history(shell, name="A"):
    return [tuple(row.values()) for row in shell.run(f"%provider {name} --history")]


def test_the_last_outcome_is_that_of_the_last_composition_of_this_shell(shell):
    shell.run("%%provider A\n'text'")
    assert "last outcome: none yet, nothing was composed by a magic" in shown(shell, "%provider A")
    shell.run("%compose hi;")
    assert "last outcome: ok (static), 4 characters" in shown(shell, "%provider A")
    shell.run("%%provider B --dynamic --keywords rain\n'b'")
    assert "none yet, it was registered after the last composition" in shown(shell, "%provider B")
    shell.run("%compose hi;")
    assert "last outcome: skipped (skipped: dynamic, no keyword in message)" in shown(shell, "%provider B")


def test_a_failure_is_told_with_its_error_and_an_outcome_of_older_code_as_such(shell):
    shell.run("%%provider A\n1 / 0")
    shell.run("%compose hi;")
    failed = "last outcome: failed (static), ZeroDivisionError: division by zero, in A, line 2"
    assert failed in shown(shell, "%provider A")
    shell.run("%%provider A\n1 / 1")
    assert "last outcome of v1: failed (static)" in shown(shell, "%provider A")


def test_a_secret_in_an_outcome_or_a_source_is_masked(shell):
    shell.runtime.set_setting("KEY", "s3cr3t-value", secret=True)
    shell.run("%%provider A\nraise RuntimeError(runtime.get_setting('KEY'))  # s3cr3t-value")
    shell.run("%%provider A\nraise RuntimeError('s3cr3t-value')")
    shell.run("%compose hi;")
    for line in ("%provider A", "%provider A --history", "%provider A --rollback 1"):
        assert "s3cr3t" not in shown(shell, line)


def test_the_history_lists_each_version_with_what_it_changed(shell):
    shell.run('%%provider A\n"""What it is."""\n# a remark\nx = 1\nx')
    shell.run('%%provider A\n"""What it is."""\nx = 1\n\nx')
    shell.run('%%provider A --position 2 --timeout 3\n"""What it is."""\nx = 1\nx')
    shell.run("%%provider A --position 2\nasync def get(runtime):\n    '''Told.'''\n    return 'other'")
    shell.runtime.provider("A")(lambda: "from a module")
    assert history(shell) == [
        (
            5,
            "in use",
            __name__,
            'shell.runtime.provider("A")(lambda: "from a module")',
            "description, position, code",
        ),
        (4, "replaced by v5", "cell", "return 'other'", "description, timeout, code"),
        (3, "replaced by v4", "cell", "x = 1", "position, timeout"),
        (2, "replaced by v3", "cell", "x = 1", "nothing"),
        (1, "replaced by v2", "cell", "x = 1", ""),
    ]


def test_rolling_back_is_a_new_version_that_runs_as_the_old_one_did(shell):
    shell.run("%%provider A --position -1\n'old'")
    shell.run("%%provider B\n'b'")
    shell.run("%%provider A --position 5\n'new'")
    assert shell.run("%compose hi").text == "b\nnew"
    assert shown(shell, "%provider A --rollback 1") == "rolled A back to v1, now v3"
    assert shell.run("%compose hi").text == "old\nb"
    assert "'old'" in shown(shell, "%provider A")
    assert [row[:3] for row in history(shell)] == [
        (3, "in use", "cell"),
        (2, "replaced by v3", "cell"),
        (1, "replaced by v2", "cell"),
    ]


def test_a_removed_provider_has_a_history_and_can_be_put_back(shell):
    shell.run("%%provider A\n'a'")
    shell.runtime.unregister_provider("A")
    assert [row[:2] for row in history(shell)] == [(1, "removed")]
    shell.run("%provider A --rollback 1")
    assert shell.run("%compose hi").text == "a"
    assert [row[:2] for row in history(shell)] == [(2, "in use"), (1, "replaced by v2")]


def test_sources_of_earlier_versions_are_there_after_reloads(shell):
    for number in range(3):
        shell.run(f"%%provider A\n'version {number}'")
    for _ in range(5):
        unload(shell.ip)
        load(shell.ip)
    assert [row[3] for row in history(shell)] == ["'version 2'", "'version 1'", "'version 0'"]


def test_a_version_that_was_put_back_is_told_as_one(shell):
    for code in ("'old'", "'new'"):
        shell.run(f"%%provider A\n{code}")
    shell.run("%provider A --rollback 1")
    assert [row[0] for row in history(shell)] == [3, 2, 1]
    assert [row[4] for row in history(shell)] == ["back to v1", "code", ""]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            "%provider A --rollback 7",
            "ArgumentError: no version 7 of A is kept; %provider A --history lists 1, 2",
        ),
        ("%provider A --rollback 1.5", "ArgumentError: no version 1.5 of A is kept"),
        ("%provider A --rollback 2", "ArgumentError: version 2 of A is the one that is registered"),
        ("%provider A --rollback", "ArgumentError: --rollback needs a value: --rollback N"),
        ("%provider A --rollback one", "ArgumentError: --rollback N: 'one' is not a number"),
        (
            "%provider A --rollback 1 --history",
            "ArgumentError: --rollback and --history are 2 things to do",
        ),
        (
            "%provider AA --history",
            "UnknownProviderError: no provider is registered as 'AA'; did you mean 'A'?",
        ),
        ("%provider --history", "ArgumentError: %provider NAME shows one provider; %providers lists them"),
        ("%provider A --hist", "ArgumentError: %provider has no option '--hist'; did you mean '--history'?"),
        (
            "%provider A --dynamic",
            "ArgumentError: %provider NAME shows a provider; options belong to %%provider",
        ),
        (
            "%%provider A --history\n1",
            "ArgumentError: --history belongs to %provider NAME, on a line with one % sign",
        ),
    ],
)
def test_a_mistake_is_one_sentence_and_changes_nothing(shell, line, shown):
    for text in ("old", "new"):
        shell.run(f"%%provider A\n'{text}'")
    _, seen = shell.fail(line)
    assert seen.startswith(shown)
    assert seen.count("\n") == 1
    assert shell.runtime.registered("A").version == 2


@pytest.mark.parametrize(
    "line",
    [
        "%provider A ;",
        "%provider A --history;",
        "%provider A --rollback 1;",
        "%providers ;",
        "%providers;",
        "x = %providers;\nx",
    ],
)
def test_a_semicolon_silences(shell, line):
    for text in ("old", "new"):
        shell.run(f"%%provider A\n'{text}'")
    assert shell.run(line) is None
