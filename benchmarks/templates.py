"""What rendering a prompt costs beside the library called bare: a template of 2 KB with 50 values.

    python benchmarks/templates.py

Both sides in one run, interleaved, CPU time, the median of the rounds. The goal is that our share (names,
texts of values, missing names, the map of who wrote what) is at most as much again as the library's own.
"""

from __future__ import annotations

import platform
import statistics
import time
from importlib.metadata import version
from typing import TYPE_CHECKING

from dotpromptz_handlebars import Handlebars

from agentctx_nb.templates import render_template

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS, REPEATS = 21, 30
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
    bare = Handlebars(escape_html=False).compile(TEMPLATE)
    library, ours = [], []
    for _ in range(ROUNDS):
        library.append(cpu_us(lambda: bare(VALUES)))
        ours.append(cpu_us(lambda: render_template(TEMPLATE, extra=VALUES)))
    low, high = statistics.median(library), statistics.median(ours)
    print(f"Python {platform.python_version()}, dotpromptz-handlebars {version('dotpromptz-handlebars')}")
    print(
        f"template of {len(TEMPLATE):,} characters, {len(VALUES)} values; medians of {ROUNDS} rounds, CPU\n"
    )
    print("| the library bare | ours | ratio | at most |\n| --- | --- | --- | --- |")
    print(f"| {low:.0f} µs | {high:.0f} µs | {high / low:.2f} | 2.0 |")


if __name__ == "__main__":
    main()
