"""What showing a state of 1,000 providers with 10 MB of data takes: its display, and each of its views.

    python benchmarks/display.py [--rounds 5]

CPU time of making all forms a cell sends (text, Markdown, HTML), the best of the rounds, and the bytes of the HTML.
The state is composed anew for each round, so that nothing worked out before is used again.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from goals import ROUNDS, Row, at_least_one, duration, interruptible, report

from agentctx_nb import AgentRuntime

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentctx_nb import State

PROVIDERS, EACH = 1_000, 10_000
MUST, AIM = 0.3, 0.1
VIEWS: dict[str, Callable[[State, State], Any]] = {
    "the state itself": lambda state, other: state,
    "why()": lambda state, other: state.why(),
    "source_map()": lambda state, other: state.source_map(),
    "values_view()": lambda state, other: state.values_view(),
    "data_tree()": lambda state, other: state.data_tree(),
    "timeline()": lambda state, other: state.timeline(),
    "find('fact 77')": lambda state, other: state.find("fact 77"),
    "diff(other)": lambda state, other: state.diff(other),
    "without('P0001')": lambda state, other: state.without("P0001"),
    "report": lambda state, other: state.report,
}
# They do more than show: the goals, which are for showing a state, say nothing of them.
READS = {"find('fact 77')": "reads all the data", "without('P0001')": "merges all of it again"}


def runtime_of(*, rows: int) -> AgentRuntime:
    """Return a runtime whose providers leave text, a value and data of nested rows: 10 KB each with all rows."""
    runtime = AgentRuntime(
        secrets={f"TOKEN_{number}": f"secret-{number}-of-the-bench" for number in range(10)}
    )

    def get_of(number: int) -> Callable[[], dict[str, Any]]:
        data = {
            "rows": [
                {"id": row, "note": f"row {row} of {number}, <b>as it is</b>" * 2} for row in range(rows)
            ]
        }
        return lambda: {
            "text": f"fact {number}: the & of <tag> {number}",
            "values": {f"key{number}": number},
            "data": data,
        }

    for number in range(PROVIDERS):
        runtime.register_provider({"name": f"P{number:04d}", "get": get_of(number)})
    return runtime


def main() -> None:
    """Measure each view, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=at_least_one, default=5, help=ROUNDS)
    chosen = parser.parse_args()
    row_bytes = len("row 77 of 777, <b>as it is</b>" * 2) + 16
    runtime = runtime_of(rows=EACH // row_bytes)
    spent: dict[str, list[float]] = {view: [] for view in VIEWS}
    size: dict[str, int] = {}
    for _ in range(chosen.rounds):
        for view, make in VIEWS.items():
            state, other = runtime.compose("hello"), runtime.compose("another")
            begun = time.process_time()
            html = make(state, other)._repr_mimebundle_()["text/html"]
            spent[view].append(time.process_time() - begun)
            size[view] = len(html.encode())
    rows = [
        Row(
            f"{view} of {PROVIDERS:,} providers and 10 MB of data to HTML, CPU",
            duration(min(times)),
            READS.get(view, ""),
            min(times),
            "s",
            None if view in READS else MUST,
            None if view in READS else AIM,
            note=f"{size[view] / 1e3:,.1f} kB of HTML, the first time {duration(times[0])}",
        )
        for view, times in spent.items()
    ]
    report("display", rows)


if __name__ == "__main__":
    interruptible(main)
