"""The committed tutorials are executed, small, clean, and end in a check.

Their outputs are compared by nbval in a run of its own (see the Makefile); here are the rules it does not know.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
TUTORIALS = sorted(FOLDER.glob("*.ipynb"))
EXACT = re.compile(r"nbval.(ignore|skip)", re.IGNORECASE)


@pytest.fixture(params=TUTORIALS, ids=lambda path: path.name)
def tutorial(request):
    return request.param


@pytest.fixture
def notebook(tutorial):
    return nbformat.read(tutorial, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_tutorials():
    assert FOLDER / "01_quickstart.ipynb" in TUTORIALS


def test_every_cell_is_executed_in_order(notebook):
    counts = [cell.execution_count for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1))


def test_nothing_is_on_stderr_and_no_cell_fails_that_may_not(notebook):
    for cell in code_cells(notebook):
        for output in cell.outputs:
            assert output.get("name") != "stderr", cell.source
            assert output.output_type != "error" or "raises-exception" in cell.metadata.get("tags", []), (
                cell.source
            )


def test_no_widget_state_and_no_timing_is_kept(notebook):
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert [cell.source for cell in notebook.cells if set(cell.metadata) - {"tags"}] == []


def test_no_output_carries_a_script_a_widget_or_an_address(notebook):
    for cell in code_cells(notebook):
        for output in cell.outputs:
            data = output.get("data", {})
            assert not [kind for kind in data if "widget" in kind or "javascript" in kind]
            shown = " ".join([*map(str, data.values()), str(output.get("text", ""))])
            assert not re.search(r"<script|0x[0-9a-f]{6,}|https?://", shown), shown


def test_every_output_is_compared(notebook):
    for cell in code_cells(notebook):
        assert not EXACT.search(cell.source)
        assert not [tag for tag in cell.metadata.get("tags", []) if EXACT.search(tag)]


def test_the_last_cell_checks_what_the_page_claims(notebook):
    lines = code_cells(notebook)[-1].source.splitlines()
    assert lines
    assert all(line.startswith("assert ") for line in lines)


def test_a_tutorial_stays_small(tutorial):
    assert tutorial.stat().st_size < 200_000
