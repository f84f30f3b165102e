"""Execute every tutorial in place, the same way each time; ``--check`` only says which ones are out of date.

    python notebooks/build.py [--check] [notebook ...]

The kernel runs with a fixed hash seed, time zone, language and width. A tutorial that shows a time gives its
runtime a clock of its own, and one that draws random numbers seeds them. What is kept are sources, outputs and
counts; widgets, their state, timings and the kernel's own version are dropped.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent
FIXED = {
    "COLUMNS": "100",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
}


def execute(path: Path) -> Any:
    """Return the notebook at ``path`` with every cell run; a cell that fails and may not raises."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],  # ipykernel 7 warns of every kernel on a local port
        timeout=60,
        resources={"metadata": {"path": str(path.parent)}},
        store_widget_state=False,
        record_timing=False,
    )
    client.execute(env={**os.environ, **FIXED})
    return normalised(notebook)


def normalised(notebook: Any) -> Any:
    """Return ``notebook`` without what differs from one machine or run to the next."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{number:02}"
        kept = {"tags": cell.metadata["tags"]} if cell.metadata.get("tags") else {}
        cell.metadata = nbformat.NotebookNode(kept)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(
                "application/vnd.jupyter.widget-view+json", None
            )  # of a kernel that is gone
            if output.output_type == "error":
                # The stack names files of this machine; name and message are the lesson.
                output.traceback = [f"{output.ename}: {output.evalue}"]
    return notebook


def main() -> int:
    """Execute or check the tutorials named on the command line, or all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail when a tutorial is out of date"
    )
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: every notebook beside this script")
    options = parser.parse_args()
    stale = []
    for path in options.notebooks or sorted(HERE.glob("*.ipynb")):
        fresh = nbformat.writes(execute(path)) + "\n"
        if fresh == path.read_text(encoding="utf-8"):
            print(f"{path.name}: up to date")
        elif options.check:
            stale.append(path.name)
            print(f"{path.name}: out of date; run `make notebooks`")
        else:
            path.write_text(fresh, encoding="utf-8")
            print(f"{path.name}: executed")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
