"""What rendering a prompt costs beside the library called bare: a template of 2 KB with 50 values.

    python benchmarks/templates.py [--rounds 21]

Both sides in one run, interleaved, CPU time, the median of the rounds. The goal is that our share (names,
texts of values, missing names, the map of who wrote what) is at most as much again as the library's own.
"""

from __future__ import annotations

import argparse
import statistics
import time
from importlib.metadata import version
from typing import TYPE_CHECKING

from dotpromptz_handlebars import Handlebars
from goals import ROUNDS, Row, at_least_one, duration, interruptible, report

from agentctx_nb.templates import render_template

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 30
VALUES = {f"value_{i}": f"what the provider wrote, number {i}" for i in range(50)}
TEMPLATE = "".join(f"Line {i} of the prompt: {{{{value_{i}}}}}, and more.\n" for i in range(50))


def cpu_us(render: Callable[[], object]) -> float:
    """Return the CPU microseconds of one rendering."""
    start = time.process_time()
    for _ in range(REPEATS):
        render()
    return (time.process_time() - start) / REPEATS * 1e6


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=at_least_one, default=21, help=ROUNDS)
    rounds = parser.parse_args().rounds
    bare = Handlebars(escape_html=False).compile(TEMPLATE)
    library, ours = [], []
    for _ in range(rounds):
        library.append(cpu_us(lambda: bare(VALUES)))
        ours.append(cpu_us(lambda: render_template(TEMPLATE, extra=VALUES)))
    low, high = statistics.median(library), statistics.median(ours)
    what = f"rendering a template of {len(TEMPLATE):,} characters with {len(VALUES)} values, CPU"
    beside = f"the library bare {duration(low / 1e6)}"
    row = Row(what, duration(high / 1e6), beside, high / low, "×", 2, note=f"medians of {rounds} rounds")
    report("templates", [row], versions=f"dotpromptz-handlebars {version('dotpromptz-handlebars')}")


if __name__ == "__main__":
    interruptible(main)
