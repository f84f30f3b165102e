"""The benchmarks themselves: goals are judged the right way round, and a peer that is not there is named."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import json
import os
import re
import shutil
import signal
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
    goals.show()
    assert goals.Row("what", "", "", 0.5, "×").met() == ""
    assert "missed: nothing" in capsys.readouterr().out


def test_the_table_of_all_holds_every_row_that_was_kept_and_names_what_missed(goals, capsys):
    goals.report("late", [goals.Row("slow thing", "3 ms", "peer 1 ms", 3.0, "×", 2, 1)])
    goals.report("early", [goals.Row("quick thing", "1 ms", "peer 3 ms", 0.33, "×", 2, 1)])
    capsys.readouterr()
    goals.show()
    shown = capsys.readouterr().out
    assert "| slow thing | 3 ms | peer 1 ms | 3.00 × | 2 × | 1 × | no |" in shown
    assert "| quick thing | 1 ms | peer 3 ms | 0.33 × | 2 × | 1 × | aim |" in shown
    assert "missed: slow thing\n" in shown


def test_a_table_of_nothing_says_so(goals, capsys):
    goals.show()
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
        question = growth.Question("x", (10, 100, 1_000, 10_000), power, "x", growth.providers)
        question.seconds = [1e-6 * size**power for size in question.sizes]
        assert question.slope() == pytest.approx(power)
        assert growth.row(question).met() == "must"
    steep = growth.Question("x", (10, 100, 1_000), 1, "x", growth.providers, [1.0, 100.0, 1e4])
    assert growth.row(steep).met() == "no"
    steep.ours = False  # what is done by hand has no goal
    assert growth.row(steep).met() == ""


def test_growth_is_drawn_in_characters_without_matplotlib(goals, monkeypatch, tmp_path):
    growth = importlib.import_module("growth")
    monkeypatch.setattr(growth, "KEPT", tmp_path)
    monkeypatch.setattr(growth, "find_spec", lambda _: None)
    question = growth.Question("by size", (10, 100, 1_000), 1, "x", growth.providers, [1e-6, 1e-5, 1e-4])
    assert growth.plot([question]).startswith("growth.txt")
    drawn = (tmp_path / "growth.txt").read_text().splitlines()
    assert drawn[0] == "by size: slope of the upper half of the points 1.00"
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
    goals.show()
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
        ("minilm", ["--minilm", "no-such-folder"]),
        ("minilm", ["--minilm", str(FOLDER)]),  # no model is in it
        ("retrieval", ["--sources", "no-such-folder"]),
        ("retrieval", ["--minilm", str(FOLDER)]),
        ("templates", ["--rounds", "0"]),
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


@pytest.mark.parametrize("name", ["peers", "keywords", "startup"])
def test_peers_that_are_named_are_there_or_it_is_an_error(name, tmp_path):
    def of(peers, *options):
        return subprocess.run(
            [sys.executable, FOLDER / f"{name}.py", *options], capture_output=True, text=True, cwd=ROOT,
            env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PEERS": peers}, check=False, timeout=60,
        ).stderr  # fmt: skip

    (tmp_path / "x").mkdir()
    assert "there is no folder no-such-folder; peers.py --set-up no-such-folder makes it" in of(
        "no-such-folder"
    )
    assert "argument --rounds" in of("~/x", "--rounds", "0")  # and the folder was right


def test_an_interrupt_is_one_line(goals, monkeypatch, capsys):
    def main():
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["benchmarks/growth.py"])
    with pytest.raises(SystemExit) as ended:
        goals.interruptible(main)
    assert ended.value.code == 130
    assert capsys.readouterr().err.strip() == "growth.py was interrupted; nothing of it is kept"


def test_the_broken_line_goes_through_the_last_point(goals):
    growth = importlib.import_module("growth")
    lines, names = [], []

    class Axes:
        def loglog(self, sizes, seconds, *_style, label, **_more):
            lines.append((label, [*zip(sizes, seconds, strict=True)]))

        def set_xlabel(self, name, **_more):
            names.append(name)

        def __getattr__(self, _name):
            return lambda *_given, **_named: None

    growth.draw(Axes(), growth.Question("q", (1, 10, 100), 1, "values", growth.values, [5.0, 6.0, 40.0]))
    (_, work), (_, found) = lines
    assert work == [(1, pytest.approx(0.4)), (10, pytest.approx(4)), (100, 40)]
    assert found[-1] == work[-1]
    assert names == ["values"]


def test_each_option_does_what_its_line_says(goals):
    options = importlib.import_module("options")

    async def counted(case):
        outcomes = [row.outcome for row in (await case.state()).report]
        return {outcome: outcomes.count(outcome) for outcome in outcomes}

    found = {case.what: asyncio.run(counted(case)) for case in options.cases()}
    assert found.pop("`ttl=60` on each, all kept") == {"cached": 100}
    assert found.pop("1 of them failing") == {"failed": 1, "ok": 99}
    assert found.pop("20 of them failing") == {"failed": 20, "ok": 80}
    assert found.pop("100 dynamic ones, of which ten wake") == {"ok": 10, "skipped": 90}
    assert found.pop("300 dynamic ones, of which ten wake") == {"ok": 10, "skipped": 290}
    assert [what for what, outcomes in found.items() if outcomes != {"ok": 100}] == []


def test_an_option_is_measured_beside_the_same_without_it(goals):
    options = importlib.import_module("options")
    case = options.with_failures(20)
    asyncio.run(options.measure(case, rounds=2))
    row = options.row(case)
    assert [len(times) for times in case.times] == [2, 2]
    assert row.reached == pytest.approx(min(case.times[0]) / min(case.times[1]))
    assert row.note.startswith("80 ok, 20 failed")
    assert row.met() == ""


def test_growth_says_how_far_it_is(goals, monkeypatch, capsys):
    growth = importlib.import_module("growth")
    question = growth.Question("a composition, by providers", (1, 2, 4), 1, "providers", growth.providers)
    monkeypatch.setattr(growth, "ENOUGH", 1e-9)
    monkeypatch.setattr(growth, "QUESTIONS", (question,))
    monkeypatch.setattr(growth, "plot", lambda _questions: "growth.txt")
    monkeypatch.setattr(sys, "argv", ["growth.py", "--rounds", "1", "--without-memory"])
    growth.main()
    said = capsys.readouterr().err
    assert re.fullmatch(r"1 of 1: a composition, by providers \.\.\. slope \d+\.\d\d, \d+ s\n", said)


def test_what_is_downloaded_is_said_before(goals, monkeypatch, tmp_path, capsys):
    retrieval = importlib.import_module("retrieval")

    def no_network(*_command, **_options):
        raise OSError("no network")

    monkeypatch.setattr(retrieval.shutil, "which", lambda name: name)
    monkeypatch.setattr(retrieval.subprocess, "run", no_network)
    with pytest.raises(retrieval.NotToBeHadError):
        retrieval.fetch_debian(tmp_path)
    said = capsys.readouterr().err
    assert "git-doc" in said
    assert str(tmp_path) in said


# --- make ----------------------------------------------------------------------------------------------------

with_make = pytest.mark.skipif(os.name == "nt" or not shutil.which("make"), reason="needs make")


def program(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + lines)
    path.chmod(0o755)


def make(folder, *words, env=None):
    return subprocess.Popen(
        ["make", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={"PATH": os.environ["PATH"]} | (env or {}), start_new_session=True,
    )  # fmt: skip


@pytest.fixture
def house(tmp_path):
    """A folder with the Makefile, an environment that is ready, two benchmarks, and rows of an earlier run."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    program(tmp_path / ".venv" / "bin" / "python", f'exec {sys.executable} "$@"\n')
    (tmp_path / ".venv" / "pyvenv.cfg").touch()
    (tmp_path / "benchmarks").mkdir()
    shutil.copy(FOLDER / "goals.py", tmp_path / "benchmarks")
    row = (
        "from goals import Row, interruptible, keep\nkeep('quick', [Row('quick thing', '', '', 1.0, 's')])\n"
    )
    (tmp_path / "benchmarks" / "quick.py").write_text(row)
    wait = "import time\nfrom goals import interruptible\n"
    slow = wait + "interruptible(lambda: print('now', flush=True) or time.sleep(60))\n"
    (tmp_path / "benchmarks" / "slow.py").write_text(slow)
    (tmp_path / "build" / "bench").mkdir(parents=True)
    (tmp_path / "build" / "bench" / "slow.json").write_text('{"foot": "earlier", "rows": []}')
    for name in (".ok", ".ok-bench"):
        (tmp_path / ".venv" / name).touch()
    return tmp_path


@with_make
@pytest.mark.parametrize(
    ("names", "peers", "said"),
    [
        ("quick nothere", "", "there is no benchmark nothere; these can be: quick slow"),
        ("", "", "no benchmark is named; these can be: quick slow"),
        ("quick", "nowhere", "there is no folder nowhere, which PEERS names"),
    ],
)
def test_nothing_is_thrown_away_before_names_are_known_to_be_right(house, names, peers, said):
    done = make(house, "bench", f"BENCHMARKS={names}", env={"PEERS": peers})
    out, err = done.communicate(timeout=60)
    assert done.returncode == 2
    assert said in err
    assert "quick thing" not in out
    assert (house / "build" / "bench" / "slow.json").exists()


@with_make
def test_an_interrupted_make_bench_shows_what_was_measured(house):
    running = make(house, "bench", "BENCHMARKS=quick slow quick")
    assert running.stdout is not None
    shown = ""
    while not shown.endswith("now\n"):
        shown += running.stdout.readline()
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode != 0
    assert "| quick thing |" in out
    assert "did not end well: slow" in out
    assert "slow.py was interrupted" in err
    assert "Traceback" not in err
    assert "earlier" not in out


PYTHON = 'case "$*" in *version.split*) echo "{version}";; *"-m venv"*) echo "$*" >>made;; esac\n'


@with_make
@pytest.mark.parametrize(
    ("named", "version", "made"),
    [
        ("", "3.13.5 of b", None),
        ("PY=./python", "3.12.1 of a", None),
        ("PY=./python", "3.13.5 of b", "-m venv --clear .venv\n"),
    ],
)
def test_an_environment_is_made_anew_for_another_python_that_is_named(house, named, version, made):
    program(house / ".venv" / "bin" / "python", PYTHON.format(version="3.12.1 of a"))
    program(house / "python", PYTHON.format(version=version))
    done = make(house, "env", *filter(None, [named]), env={} if named else {"PY": "./python"})
    out, _ = done.communicate(timeout=60)
    assert done.returncode == 0
    there = (house / "made").read_text() if (house / "made").exists() else None
    assert there == made
    assert (".venv was made with Python 3.12.1 of a, not with ./python: it is made anew" in out) is (
        made is not None
    )


@with_make
def test_an_environment_stays_where_the_python_that_is_named_cannot_make_one(house):
    program(house / ".venv" / "bin" / "python", PYTHON.format(version="3.12.1 of a"))
    done = make(house, "env", "PY=./nowhere")
    _, err = done.communicate(timeout=60)
    assert done.returncode == 2
    assert "which ./nowhere is not" in err + _
    assert (house / ".venv" / ".ok").exists()
