"""A magic on a line of its own shows what it has wherever it stands; one that is assigned or silenced shows nothing."""

from __future__ import annotations

import pytest
from IPython.utils.capture import capture_output

from agentctx_nb.notebook.showing import ShowingTransformer

ECHO = "%%provider ECHO\nf'heard {message.content.text}'"


@pytest.fixture
def seen(ip, monkeypatch):
    """A function that runs a cell that must not fail and returns the texts displayed below it, its result last."""
    from agentctx_nb.notebook.extension import load

    monkeypatch.setattr(type(ip), "_instance", ip)  # display() asks for the one shell there is
    load(ip)

    def run(cell):
        with capture_output() as captured:
            result = ip.run_cell(cell, store_history=True)
        assert result.success, captured.stdout
        shown = [out.data["text/plain"] for out in captured.outputs]
        last = [] if result.result is None else [ip.display_formatter.format(result.result)[0]["text/plain"]]
        return [*shown, *last]

    run(ECHO)
    return run


def heard(shown):
    return [text.partition("heard ")[2].split("\n")[0] for text in shown]


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        ("for n in range(2):\n    %compose one", ["one", "one"]),
        ("def f():\n    %compose will it rain?\n    return None\nf()", ["will it rain?"]),
        ("%compose one\n%compose two", ["one", "two"]),
        ("%compose é\nx = 1", ["é"]),
        ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    %compose one\nelse:\n    %compose two", ["one"]),
        ("with open('/dev/null') as f:\n    if f:\n        x = %compose kept\n        %compose one", ["one"]),
        ("match 1:\n    case 1:\n        %compose one", ["one"]),
        ("%%time\nfor n in range(2):\n    %compose one\n", ["one", "one"]),
    ],
)
def test_it_shows_itself_where_ipython_would_drop_it(seen, cell, texts):
    assert heard(seen(cell)) == texts


@pytest.mark.parametrize(
    "cell",
    [
        "for n in range(2):\n    x = %compose one",
        "for n in range(2):\n    %compose one;",
        "def f():\n    %compose -o y one\nf()",
        "%compose one;\n%compose two;",
        "for n in range(2):\n    get_ipython().run_line_magic('compose', str(n))",
        "for n in range(2):\n    %pwd",
    ],
)
def test_one_assigned_or_silenced_and_what_is_not_ours_show_nothing(seen, cell):
    assert seen(cell) == []


def test_the_last_line_is_shown_once_by_ipython_itself(seen, ip):
    assert heard(seen("%compose one")) == ["one"]
    with capture_output() as captured:
        assert ip.run_cell("%compose one").result.text == "heard one"
    assert captured.outputs == []
    seen("%config InteractiveShell.ast_node_interactivity = 'all'")
    assert heard(seen("%compose one\nfor n in range(1):\n    %compose two")) == ["one", "two"]


def test_a_shell_that_shows_no_values_shows_none_of_ours(seen):
    seen("%config InteractiveShell.ast_node_interactivity = 'none'")
    assert seen("%compose one\nfor n in range(2):\n    %compose two") == []


def test_what_python_cannot_read_is_left_as_it_is(ip):
    lines = ["get_ipython().run_line_magic('compose', 'a')\n", "x = (\n"]
    assert ShowingTransformer(ip, {"compose"})(lines) is lines


def test_a_kernel_shows_each_in_a_loop_and_in_a_function(kernel):
    kernel.good(ECHO)
    shown = kernel.good(
        "for n in range(2):\n    %compose one\ndef f():\n    %compose two\nf()\n%compose three\n%compose four"
    ).shown
    assert heard([bundle["text/plain"] for bundle in shown]) == ["one", "one", "two", "three", "four"]
    assert all("text/html" in bundle for bundle in shown)
