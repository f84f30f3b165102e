"""%learn and %remember: what they read, where it goes, what they show."""

from __future__ import annotations

import asyncio

import pytest
from IPython.utils.capture import capture_output

from agentctx_nb import AgentRuntime

MADE = (
    "from agentctx_nb import AgentRuntime\n"
    "def toy(texts):\n"
    "    return [[len(text) % 7 + 1, text.count('a') + 1, text.count('o')] for text in texts]\n"
    "runtime = AgentRuntime(embedder=toy)\n"
)


@pytest.fixture
def learning(shell):
    """The shell with a runtime whose embedder costs nothing."""
    shell.run(MADE)
    return shell


@pytest.fixture
def docs(tmp_path):
    root = tmp_path / "my docs"
    root.mkdir()
    (root / "a.md").write_text("# Tea\n\nTea is hot.")
    (root / "b.txt").write_text("Plain words.")
    return root


def rows(shell, table, room="agent"):
    found = asyncio.run(shell.runtime.get_memories(table_name=table, room_id=room))
    return sorted(memory.content.text for memory in found)


def test_a_folder_is_learned_and_shown_as_a_table(learning, docs):
    learned = learning.run(f"%learn '{docs}'")
    assert learned.counts == {"learned": 2}
    assert "a.md" in repr(learned)
    assert rows(learning, "documents") == ["# Tea\n\nTea is hot.", "Plain words."]
    assert learning.run(f"%learn '{docs}'").counts == {"unchanged": 2}


def test_options_say_where_it_goes_and_which_files(learning, docs):
    learned = learning.run(
        f'kept = %learn "{docs}" --table notes --room lobby --pattern *.txt --no-progress\nkept'
    )
    assert (learned.table_name, learned.room_id, len(learned)) == ("notes", "lobby", 1)
    assert rows(learning, "notes", "lobby") == ["Plain words."]
    assert rows(learning, "documents") == []


def test_a_semicolon_silences(learning, docs):
    assert learning.run(f"%learn '{docs}';") is None
    assert len(rows(learning, "documents")) == 2


def test_the_runtime_the_user_made_is_the_one_that_learns(shell, docs):
    shell.ip.user_ns["runtime"] = AgentRuntime(
        agent_id="mine", embedder=lambda texts: [[1.0, 2.0] for _ in texts]
    )
    assert shell.run(f"%learn '{docs}'").room_id == "mine"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("%learn", "ArgumentError: %learn takes one path: %learn PATH (see %learn?)"),
        (
            "%learn a b",
            'ArgumentError: %learn takes one path: %learn PATH (see %learn?), not 2; put "..." around',
        ),
        ("%learn nowhere", "DefinitionError: there is no file or folder 'nowhere'"),
        ("%learn x --tabel y", "ArgumentError: %learn has no option '--tabel'; did you mean '--table'?"),
        ("%learn x --table", "ArgumentError: --table needs a value: --table NAME"),
        (
            "%remember",
            "ArgumentError: %remember needs a table and a text: %remember TABLE text (see %remember?)",
        ),
        ("%remember facts", "ArgumentError: %remember needs a table and a text"),
        ("%remember --room a facts --room b x", "ArgumentError: --room is given twice"),
    ],
)
def test_a_mistake_shows_only_its_sentence(learning, cell, shown):
    name, seen = learning.fail(cell)
    assert seen.strip().startswith(shown)
    assert name == shown.partition(":")[0]
    assert "Traceback" not in seen
    assert "\n" not in seen.strip()


def test_a_table_that_is_new_is_told_with_how_the_line_is_read(learning):
    note = "Ada is a new table: the first word names it, and what follows is remembered"
    for line, is_new in (("Ada likes red.", True), ("Ada likes red.", False), ("Ada likes blue.", False)):
        with capture_output() as captured:
            learning.ip.run_cell(f"%remember {line}")
        shown = "".join(out.data["text/plain"] for out in captured.outputs) + captured.stdout
        assert (note in shown) is is_new
        assert "in Ada, room agent: likes" in shown


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("Ada's office costs $5 and {x}", "Ada's office costs $5 and {x}"),
        ('"quoted as a whole"', "quoted as a whole"),
        ("does Ada like tea?", "does Ada like tea?"),
        ("-- --room is a word", "--room is a word"),
    ],
)
def test_a_fact_is_stored_as_typed_with_its_vector(learning, typed, text):
    learning.run("x = 1")
    assert repr(learning.run(f"%remember facts {typed}")) == f"remembered in facts, room agent: {text}"
    (kept,) = asyncio.run(learning.runtime.get_memories(table_name="facts", room_id="agent"))
    assert kept.content.text == text
    assert len(kept.embedding) == 3


def test_running_a_notebook_again_remembers_nothing_twice(learning):
    learning.run("%remember facts Ada likes tea.")
    assert (
        repr(learning.run("%remember facts Ada likes tea."))
        == "known already in facts, room agent: Ada likes tea."
    )
    learning.run("%remember facts --room lobby Ada likes tea.")
    learning.run("%remember --room lobby notes Ada likes tea.")
    assert [len(rows(learning, *where)) for where in (["facts"], ["facts", "lobby"], ["notes", "lobby"])] == [
        1,
        1,
        1,
    ]


def test_a_secret_stays_hidden_in_what_is_shown(learning, docs):
    learning.runtime.set_setting("KEY", "s3cr3t-value", secret=True)
    (docs / "s3cr3t-value.md").write_text("x")
    assert "s3cr3t" not in repr(learning.run(f"%learn '{docs}'"))
    assert "s3cr3t" not in repr(learning.run("%remember facts the key is s3cr3t-value"))


@pytest.mark.parametrize("name", ["%learn", "%remember"])
def test_help_shows_usage_and_examples(shell, name):
    text = shell.ip.find_line_magic(name[1:]).__doc__
    assert "Usage:" in text
    assert "Examples:" in text


def test_a_cell_that_can_await_patches_nothing_and_the_others_wait_too(start_kernel, docs):
    kernel = start_kernel(MADE)
    answer = kernel.good(
        f"%learn '{docs}'", "%remember facts Is it so?", "import asyncio; hasattr(asyncio, '_nest_patched')"
    )
    assert answer.text == "False"
    kernel.good(f"def f():\n    x = %learn '{docs}'\n    return x.counts\nassert f() == {{'unchanged': 2}}")
    answer = kernel.good(f"%time %learn '{docs}'", f"%learn '{docs}'")
    assert "2 unchanged" in answer.text
    assert (answer.stdout, answer.stderr) == ("", "")
    assert set(answer.shown[0]) >= {"text/plain", "text/html", "text/markdown"}


def test_an_interrupt_stops_learning_and_the_next_run_goes_on(start_kernel, tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    for number in range(300):
        (root / f"{number:03}.md").write_text("\n\n".join(["words " * 150] * 2))
    kernel = start_kernel(
        "import time\nfrom agentctx_nb import AgentRuntime\ncalls = []\n"
        "def slow(texts):\n"
        "    calls.append(len(texts))\n"
        "    if len(calls) == 3: print('started', flush=True)\n"
        "    time.sleep(5 if len(calls) == 3 else 0)\n"
        "    return [[1.0, 2.0] for _ in texts]\n"
        "runtime = AgentRuntime(embedder=slow)"
    )
    answer, seconds = kernel.interrupt_when(f"%learn '{root}'")
    assert answer.ename == "KeyboardInterrupt"
    assert seconds < 4
    counts = kernel.good(f"x = %learn '{root}'\nx.counts")
    assert "'unchanged': 1" in counts.text
    assert kernel.good("len(await runtime.get_memories(table_name='documents'))").text == "600"
