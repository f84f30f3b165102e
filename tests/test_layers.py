"""Imports point one way: standard library, core, then memory, search, library and render, then notebook."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "agentctx_nb"
MODULES = sorted(PACKAGE.rglob("*.py"))
HEAVY = {"pandas", "numpy", "IPython", "traitlets", "ipywidgets"}
CORE_ROOMS = {"looking", "prompts", "running", "secrecy", "usage"}
SIDE_ROOMS = {"knowledge", "library", "memory", "render", "search", "ship"}
DOORS = {
    ("__init__.py", "load_ipython_extension"),
    ("__init__.py", "unload_ipython_extension"),
    ("inspecting.py", "explore"),  # somebody asks a runtime or a state for widgets
    ("state_views.py", "explore"),
}


def room(path):
    """Return the layer a module lives in: a folder's name, or "core" for what stands at the top or in a part of it."""
    folder = path.relative_to(PACKAGE).parts[0]
    return "core" if folder == path.name or folder in CORE_ROOMS else folder


def imports(path):
    """Yield (absolute name, enclosing function or None) for each import that runs, TYPE_CHECKING left out."""

    def visit(node, function):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for child in node.orelse:
                yield from visit(child, function)
            return
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, function
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import in line {node.lineno}"
            for alias in node.names:
                yield f"{node.module}.{alias.name}", function
        inner = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else None
        for child in ast.iter_child_nodes(node):
            yield from visit(child, function or inner)

    yield from visit(ast.parse(path.read_text(encoding="utf-8")), None)


def own_room(name):
    """Return the layer an imported name belongs to, or None for what is not ours."""
    parts = name.split(".")
    if parts[0] != "agentctx_nb":
        return None
    if parts[1:2] and parts[1] in CORE_ROOMS:
        return "core"
    return parts[1] if len(parts) > 1 and (PACKAGE / parts[1]).is_dir() else "core"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_one_way(path):
    here = room(path)
    for name, function in imports(path):
        there = own_room(name)
        if there == "notebook" and here != "notebook":
            assert (path.name, function) in DOORS, f"imports {name}"
        if function is None and path.parent != PACKAGE and here != "notebook":
            assert there in {None, "core", here}, f"{here} imports {name}"
        if function is None and here == "core" and path.name != "__init__.py":
            assert there not in SIDE_ROOMS, f"the core imports {name} at its top"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_outside_the_notebook_only_the_standard_library_is_imported_at_the_top(path):
    if room(path) != "notebook":
        outside = {
            name.split(".")[0]
            for name, function in imports(path)
            if function is None and own_room(name) is None
        }
        # The vector index is numpy through and through; what keeps the core light is that it imports it late.
        allowed = {"numpy"} if room(path) == "search" else set()
        assert outside - allowed <= sys.stdlib_module_names


def test_a_fresh_interpreter_loads_nothing_heavy():
    code = f"import sys, agentctx_nb; print(*sorted({HEAVY} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent, check=True
    )
    assert done.stdout.split() == []


def test_a_composition_in_a_fresh_interpreter_loads_nothing_heavy():
    code = (
        "import sys; from agentctx_nb import AgentRuntime; runtime = AgentRuntime();"
        "runtime.register_provider({'name': 'A', 'get': lambda: 'a'});"
        "assert runtime.compose('hi').text == 'a';"
        f"print(*sorted({HEAVY} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent, check=True
    )
    assert done.stdout.split() == []
