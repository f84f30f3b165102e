"""What ``import agentctx_nb`` costs over ``import asyncio``, which a kernel has loaded anyway.

    python benchmarks/startup.py [--peers DIR] [--rounds 15]

CPU time of fresh interpreters, which take turns; medians. Python elizaos stands beside it where it is set up.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from goals import ROUNDS, Row, at_least_one, interruptible, leave_out, report
from peers import PYTHON_PEER, SETS_UP, add_peers_option, commands

HEAVY = ("pandas", "numpy", "IPython", "traitlets", "ipywidgets", "httpx", "sqlite3")
# The clock of a process starts with it, so this is all of it: the start of the interpreter as well.
COST = """
import asyncio, json, sys, time
before = time.process_time()
{statement}
print(json.dumps([time.process_time(), time.process_time() - before, sorted(set({heavy!r}) & set(sys.modules))]))
"""
STATEMENTS = {"asyncio": "pass", "ours": "import agentctx_nb"}
PEER = "from elizaos.runtime import AgentRuntime"


def run(python: str, statement: str) -> tuple[float, float, list[str]]:
    """Return the CPU milliseconds of a whole interpreter and of the statement, and what heavy it loaded."""
    # A user imports compiled modules, whatever this process was told about writing them.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    code = COST.format(statement=statement, heavy=HEAVY)
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, env=environment)
    whole, alone, loaded = json.loads(done.stdout)
    return whole * 1e3, alone * 1e3, loaded


def main() -> None:
    """Measure, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add_peers_option(parser)
    parser.add_argument("--rounds", type=at_least_one, default=15, help=ROUNDS)
    chosen = parser.parse_args()
    contestants = {key: (sys.executable, statement) for key, statement in STATEMENTS.items()}
    theirs = commands(chosen.peers)["elizaos"][0]
    if Path(theirs).exists():
        contestants["elizaos"] = (theirs, PEER)
    else:
        leave_out(PYTHON_PEER, SETS_UP.format(chosen.peers))
    whole: dict[str, list[float]] = {key: [] for key in contestants}
    alone: dict[str, list[float]] = {key: [] for key in contestants}
    heavy: set[str] = set()
    for turn in range(chosen.rounds + 1):
        for key, (python, statement) in contestants.items():
            measured = run(python, statement)
            if turn:  # the first one may have had to compile
                whole[key].append(measured[0])
                alone[key].append(measured[1])
            if key == "ours":
                heavy.update(measured[2])
    middle = {key: statistics.median(times) for key, times in whole.items()}
    inside = {key: statistics.median(times) for key, times in alone.items()}
    loads = f"loads {', '.join(sorted(heavy))}" if heavy else f"loads none of {', '.join(HEAVY)}"
    note = (
        f"median of {chosen.rounds}, {min(alone['ours']):.1f} to {max(alone['ours']):.1f}; whole interpreters differ by"
        f" {middle['ours'] - middle['asyncio']:.1f} ms; {loads}"
    )
    what = "`import agentctx_nb` over `import asyncio`, CPU"
    beside = f"`import asyncio` {middle['asyncio']:.1f} ms"
    rows = [Row(what, f"{inside['ours']:.1f} ms", beside, inside["ours"], "ms", 15, 6, note=note)]
    if "elizaos" in contestants:
        what = f"`import agentctx_nb` beside `{PEER}`, CPU"
        ratio = inside["ours"] / inside["elizaos"]
        rows.append(
            Row(what, f"{inside['ours']:.1f} ms", f"{PYTHON_PEER} {inside['elizaos']:.0f} ms", ratio, "×")
        )
    report("startup", rows)


if __name__ == "__main__":
    interruptible(main)
