"""The benchmarks themselves: goals are judged the right way round, and a peer that is not there is named."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"
WORKER = FOLDER / "workers" / "in_python.py"


@pytest.fixture
def goals(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(FOLDER))
    module = importlib.import_module("goals")
    monkeypatch.setattr(module, "KEPT", tmp_path / "bench")
    return module


@pytest.fixture
def peers(goals):
    return importlib.import_module("peers")


@pytest.mark.parametrize(
    ("reached", "at_least", "met"),
    [
        (0.5, False, "aim"),
        (0.6, False, "must"),
        (0.76, False, "no"),
        (17, True, "aim"),
        (13, True, "must"),
        (12.9, True, "no"),
    ],
)
def test_a_goal_is_the_most_of_a_cost_and_the_least_of_a_gain(goals, reached, at_least, met):
    must, aim = (13, 17) if at_least else (0.75, 0.5)
    assert goals.Row("what", "", "", reached, "×", must, aim, at_least).met() == met


def test_a_row_without_goals_is_neither_met_nor_missed(goals, capsys):
    goals.report("one", [goals.Row("what", "1 µs", "peer 2 µs", 0.5, "×")])
    goals.main()
    assert goals.Row("what", "", "", 0.5, "×").met() == ""
    assert "missed: nothing" in capsys.readouterr().out


def test_the_table_of_all_holds_every_row_that_was_kept_and_names_what_missed(goals, capsys):
    goals.report("late", [goals.Row("slow thing", "3 ms", "peer 1 ms", 3.0, "×", 2, 1)])
    goals.report("early", [goals.Row("quick thing", "1 ms", "peer 3 ms", 0.33, "×", 2, 1)])
    capsys.readouterr()
    goals.main()
    shown = capsys.readouterr().out
    assert "| slow thing | 3 ms | peer 1 ms | 3.00 × | 2 × | 1 × | no |" in shown
    assert "| quick thing | 1 ms | peer 3 ms | 0.33 × | 2 × | 1 × | aim |" in shown
    assert "missed: slow thing\n" in shown


def test_a_table_of_nothing_says_so(goals, capsys):
    goals.main()
    assert "run a benchmark first" in capsys.readouterr().out


def test_the_examples_of_the_goals_are_true(goals):
    assert doctest.testmod(goals).failed == 0


def test_peers_that_are_not_there_are_left_out_by_saying_so(peers, tmp_path, capsys):
    assert peers.start(tmp_path, "node", "elizaos") == {}
    said = capsys.readouterr().out
    assert f"{peers.NODE_PEER} is not there and left out" in said
    assert f"{peers.PYTHON_PEER} is not there and left out" in said


@pytest.mark.parametrize("contestant", ["ours", "floor"])
def test_a_contestant_answers_with_the_time_of_one_composition(contestant):
    question = json.dumps({"count": 3, "wait_ms": 1})
    done = subprocess.run(
        [sys.executable, WORKER, contestant],
        input=f"{question}\n{question}\n", capture_output=True, text=True, cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)}, check=True, timeout=60,
    )  # fmt: skip
    about, *answers = map(json.loads, done.stdout.splitlines())
    assert set(about) == {"package", "runs_on"}
    least = 1e6 if contestant == "ours" else 3e6  # one by one, their waits add up
    assert [answer["wall"] > least for answer in answers] == [True, True]


def test_growth_is_the_slope_of_the_log_log_plot(goals):
    growth = importlib.import_module("growth")
    for power in (0, 1, 2):
        question = growth.Question("x", (10, 100, 1_000, 10_000), power, growth.providers)
        question.seconds = [1e-6 * size**power for size in question.sizes]
        assert question.slope() == pytest.approx(power)
        assert growth.row(question).met() == "must"
    steep = growth.Question("x", (10, 100, 1_000), 1, growth.providers, [1.0, 100.0, 1e4])
    assert growth.row(steep).met() == "no"
    steep.ours = False  # what is done by hand has no goal
    assert growth.row(steep).met() == ""


def test_growth_is_drawn_in_characters_without_matplotlib(goals, monkeypatch, tmp_path):
    growth = importlib.import_module("growth")
    monkeypatch.setattr(growth, "KEPT", tmp_path)
    monkeypatch.setattr(growth, "find_spec", lambda _: None)
    question = growth.Question("by size", (10, 100, 1_000), 1, growth.providers, [1e-6, 1e-5, 1e-4])
    assert growth.plot([question]).startswith("growth.txt")
    drawn = (tmp_path / "growth.txt").read_text().splitlines()
    assert drawn[0] == "by size: slope 1.00"
    assert [line.index("*") for line in drawn[1:]] == [11, 21, 31]


def test_make_bench_runs_every_benchmark_and_the_page_names_it():
    named = re.search(r"^BENCHMARKS = (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    there = {path.stem for path in FOLDER.glob("*.py")} - {"goals"}
    page = (FOLDER / "README.md").read_text()
    assert sorted(named) == sorted(there)
    assert [name for name in there if f"`{name}.py`" not in page] == []


def test_below_the_table_of_all_stands_what_was_not_measured(goals, monkeypatch, capsys):
    monkeypatch.setattr(goals, "_left_out", [])
    goals.leave_out("a peer", "pip install peer")
    assert "a peer is not there and left out; pip install peer" in capsys.readouterr().out
    goals.report("keywords", [goals.Row("quick thing", "1 ms", "", 1.0, "ms", 2, 1)])
    goals.main()
    shown = capsys.readouterr().out
    assert "missed: nothing of what was measured\n" in shown
    assert "left out, and so not measured: keywords: a peer\n" in shown
    not_run = shown.rpartition("not run: ")[2].strip().split(", ")
    assert not_run == sorted({path.stem for path in FOLDER.glob("*.py")} - {"goals", "keywords"})


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("startup", ["--rounds", "0"]),
        ("keywords", ["--rounds", "-1"]),
        ("growth", ["--rounds", "x"]),
        ("learn", ["0"]),
        ("peers", ["--peers", "no-such-folder"]),
        ("search", ["--rows", "1"]),
        ("goals", ["-x"]),
    ],
)
def test_a_wrong_option_is_one_sentence(name, options):
    done = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py", *options], capture_output=True, text=True, cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)}, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert f"{name}.py: error: " in done.stderr
    assert "at_least_one" not in done.stderr


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_each_benchmark_says_what_it_takes(name):
    done = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py", "--help"], capture_output=True, text=True, cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)}, check=True, timeout=60,
    )  # fmt: skip
    assert f"{name}.py [-h]" in done.stdout
    lines = done.stdout.splitlines()
    alone = [at for at, line in enumerate(lines) if re.fullmatch(r"  (--[\w-]+|chunks)( \w+)?", line)]
    assert all(lines[at + 1].startswith(" " * 10) for at in alone), "an option says nothing"
