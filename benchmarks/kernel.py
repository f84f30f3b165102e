"""What a `%compose` of 10 providers takes in a real kernel, over an empty cell in the same kernel; and other cells.

    python benchmarks/kernel.py [--rounds 31]

Wall time from sending a cell to its reply and the kernel being idle again, which is what a front end waits for. The
cells take turns; medians. A second kernel, in which the extension is not loaded, tells what it costs cells that do not
use it, and cells that await.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goals import ROUNDS, Row, at_least_one, interruptible, keep, leave_out, report

if TYPE_CHECKING:
    from jupyter_client.blocking.client import BlockingKernelClient
    from jupyter_client.manager import KernelManager

PROVIDERS = 10
PREPARE = """
import asyncio
%load_ext agentctx_nb
def trivial(number):
    async def get(runtime, message, state):
        return {"text": f"provider {number} says hello", "values": {f"k{number}": number}, "data": {"i": number}}
    return get
for number in range(10):
    runtime.register_provider({"name": f"P{number:04d}", "get": trivial(number)})
"""
EMPTY, PLAIN, AWAITING = "", "x = 1 + 1", "await asyncio.sleep(0)"
COMPOSE, KEPT_ONLY, CALLED = (
    "%compose hello there",
    "%compose -o state hello there",
    "await runtime.compose_state('hello')",
)
OURS = (EMPTY, PLAIN, AWAITING, COMPOSE, KEPT_ONLY, CALLED)
BARE = (EMPTY, PLAIN, AWAITING)


class Kernel:
    """A kernel of this interpreter, and its client."""

    def __init__(self, home: str, prepare: str) -> None:
        from jupyter_client.kernelspec import KernelSpec
        from jupyter_client.manager import KernelManager

        self.manager: KernelManager = KernelManager()
        self.manager._kernel_spec = KernelSpec(  # noqa: SLF001  no name of an installed one: it is this interpreter
            argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            display_name="measured",
            language="python",
        )
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self.manager.start_kernel(
            env=environment | {"IPYTHONDIR": home}, cwd=str(Path.cwd()), stderr=subprocess.DEVNULL
        )
        self.client: BlockingKernelClient = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        self.seconds(prepare)

    def seconds(self, cell: str) -> float:
        """Run a cell, which must not fail, and return how long it took."""
        begun = time.perf_counter()
        name = self.client.execute(cell)
        self._await(self.client.get_iopub_msg, name, is_idle)
        reply = self._await(self.client.get_shell_msg, name, lambda message: True)
        took = time.perf_counter() - begun
        if reply["content"]["status"] != "ok":
            sys.exit(f"{cell!r} failed: {reply['content'].get('evalue')}")
        return took

    def _await(self, get: Any, name: str, wanted: Any) -> dict[str, Any]:
        while True:
            message: dict[str, Any] = get(timeout=60)
            if message["parent_header"].get("msg_id") == name and wanted(message):
                return message

    def end(self) -> None:
        """Stop the kernel."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def is_idle(message: dict[str, Any]) -> bool:
    """Tell whether a message says that the kernel is done with its cell."""
    return bool(message["msg_type"] == "status" and message["content"]["execution_state"] == "idle")


def measure(ours: Kernel, bare: Kernel, *, rounds: int) -> dict[tuple[str, str], list[float]]:
    """Return the milliseconds of each cell in each kernel, in each round."""
    turns = [("ours", ours, cell) for cell in OURS] + [("bare", bare, cell) for cell in BARE]
    times: dict[tuple[str, str], list[float]] = {(name, cell): [] for name, _, cell in turns}
    for turn in range(rounds + 2):
        for name, kernel, cell in turns if turn % 2 else reversed(turns):
            took = kernel.seconds(cell)
            if turn > 1:  # the first ones import what shows a state
                times[name, cell].append(took * 1e3)
    return times


def rows_of(times: dict[tuple[str, str], list[float]]) -> list[Row]:
    """Return the rows of the table."""
    middle = {key: statistics.median(spent) for key, spent in times.items()}

    def over(
        what: str,
        cell: str,
        than: tuple[str, str],
        name: str,
        goals: tuple[float | None, float | None] = (None, None),
    ) -> Row:
        # Within a round, so that what else the machine did meets both.
        pairs = zip(times["ours", cell], times[than], strict=True)
        reached = statistics.median(our - other for our, other in pairs)
        beside = f"{name} {middle[than]:.2f} ms"
        fastest = min(times["ours", cell]) - min(times[than])
        note = f"smallest over smallest {fastest:+.2f} ms"
        return Row(
            what, f"{middle['ours', cell]:.2f} ms", beside, reached, "ms", goals[0], goals[1], note=note
        )

    empty = ("ours", EMPTY)
    return [
        over(
            f"`%compose` of {PROVIDERS} providers over an empty cell, round trip",
            COMPOSE,
            empty,
            "empty cell",
            (15, 8),
        ),
        over("`%compose -o state`, kept and not shown, over an empty cell", KEPT_ONLY, empty, "empty cell"),
        over("`await runtime.compose_state(…)`, shown, over an empty cell", CALLED, empty, "empty cell"),
        over("a cell that awaits, extension loaded", AWAITING, ("bare", AWAITING), "not loaded"),
        over("a cell of plain Python, extension loaded", PLAIN, ("bare", PLAIN), "not loaded"),
        over("an empty cell, extension loaded", EMPTY, ("bare", EMPTY), "not loaded"),
    ]


def main() -> None:
    """Start the kernels, measure, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=at_least_one, default=31, help=ROUNDS)
    chosen = parser.parse_args()
    missing = [name for name in ("jupyter_client", "ipykernel") if find_spec(name) is None]
    if missing:
        leave_out(" and ".join(missing))
        keep("kernel", [])
        return
    with tempfile.TemporaryDirectory() as home:  # nobody's own profile
        kernels = [Kernel(home, PREPARE), Kernel(home, "import asyncio")]
        try:
            times = measure(*kernels, rounds=chosen.rounds)
        finally:
            for kernel in kernels:
                kernel.end()
    names = ("ipykernel", "ipython", "jupyter_client")
    report("kernel", rows_of(times), versions=", ".join(f"{name} {version(name)}" for name in names))


if __name__ == "__main__":
    interruptible(main)
