"""Run the first tutorial the way a newcomer would and print what it composed.

    python notebooks/demo.py

The executed copy is written into ``build/``; the committed notebook is not touched.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import nbformat

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))  # build.py stands beside this file, wherever it is started from

from build import execute  # noqa: E402  it is found only after the line above

TUTORIAL = HERE / "01_quickstart.ipynb"
EXECUTED = HERE.parent / "build" / TUTORIAL.name


def shown(cell: Any) -> str:
    """Return the plain text a cell showed."""
    texts = []
    for output in cell.outputs:
        text = output.text if output.output_type == "stream" else output.get("data", {}).get("text/plain", "")
        texts.append("".join(text).rstrip())
    return "\n".join(texts)


def main() -> None:
    """Execute, print the cells tagged ``demo`` with what they showed, and say where the rest is."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # a Windows terminal may be set to less
    notebook = execute(TUTORIAL)
    EXECUTED.parent.mkdir(exist_ok=True)
    nbformat.write(notebook, EXECUTED)
    for cell in notebook.cells:
        if "demo" in cell.metadata.get("tags", []):
            print(indented(cell.source))
            if text := shown(cell):
                print(f"\n{text}\n")
    here = Path.cwd()
    where = EXECUTED.relative_to(here) if EXECUTED.is_relative_to(here) else EXECUTED
    print(f"All {len(notebook.cells)} cells ran. The executed notebook is {where}.")
    print("`make lab` opens the tutorial in JupyterLab.")


def indented(source: str) -> str:
    """Return ``source`` as a cell is written in a terminal."""
    return "\n".join(f">>> {line}" for line in source.splitlines())


if __name__ == "__main__":
    main()
