"""A magic call at the top level of a cell is awaited, as if the user had written ``await``.

IPython awaits cells but not magics (IPython issues 11314 and 14157). Where the kernel runs the cell, the
call is rewritten to an ``await`` of the magic's async twin, so that nothing has to nest in the kernel's
event loop. Inside functions, ``%time`` and the like the plain magic waits by itself. The twins are no
magics, or Tab and ``%lsmagic`` would list them: they stand among the objects that IPython keeps magics of.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping

    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["TWINS", "TWINS_PLACE", "AwaitingTransformer", "Twins"]

TWINS = "agentctx_nb"
"""The key of the twins in the registry of a shell's ``magics_manager``."""

TWINS_PLACE = f".magics_manager.registry[{TWINS!r}]"
CALLS = ("run_line_magic", "run_cell_magic")
NO_AWAIT = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ClassDef,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


class Twins:
    """The async twins of magics by name, called as a shell calls its magics."""

    def __init__(self, by_name: Mapping[str, Callable[..., Awaitable[Any]]]) -> None:
        self._by_name = by_name

    def run_line_magic(self, name: str, line: str) -> Awaitable[Any]:
        """Start a magic that stands on a line."""
        return self._by_name[name](line)

    def run_cell_magic(self, name: str, line: str, cell: str) -> Awaitable[Any]:
        """Start a magic with a cell below it."""
        return self._by_name[name](line, cell)

    def show(self, value: Any) -> None:
        """Display what a magic gave where nobody else would, unless it gave nothing."""
        from IPython.display import display

        if value is not None:
            display(value)  # type: ignore[no-untyped-call]


class AwaitingTransformer:
    """Rewrites ``get_ipython().run_line_magic('compose', …)``; one of IPython's ``input_transformers_post``."""

    def __init__(self, shell: InteractiveShell, awaited: Callable[[], Collection[str]]) -> None:
        self._shell = shell
        self._awaited = awaited  # asked for each cell: the magics that wait for something now

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the cell's lines, rewritten if a kernel is about to run them and can await."""
        text = "".join(lines)
        awaited = self._awaited()
        if not any(repr(name) in text for name in awaited) or not self._can_await():
            return lines
        try:
            return self.rewrite(text, ast.parse(text), awaited).splitlines(keepends=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return lines  # IPython reports what Python cannot read; what is too deep for us waits by itself

    def rewrite(self, text: str, tree: ast.Module, awaited: Collection[str]) -> str:
        """Return ``text`` with each call of ``awaited`` at the top level of ``tree`` awaited."""
        lines = [line.encode() for line in text.split("\n")]  # Python ends lines nowhere else
        for call, shell in reversed([*self._calls(tree, awaited)]):  # from the end, so that places stay right
            for at, column, new in (
                (call.end_lineno, call.end_col_offset, ")"),
                (shell.end_lineno, shell.end_col_offset, TWINS_PLACE),
                (call.lineno, call.col_offset, "(await "),
            ):
                line = lines[at - 1]  # type: ignore[operator]  # parsed nodes have their places
                lines[at - 1] = line[:column] + new.encode() + line[column:]  # type: ignore[operator]
        return b"\n".join(lines).decode()

    def _calls(self, node: ast.AST, awaited: Collection[str]) -> Iterator[tuple[ast.Call, ast.expr]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, NO_AWAIT):
                continue
            if (
                isinstance(child, ast.Call)
                and isinstance(child.func, ast.Attribute)
                and child.func.attr in CALLS
                and ast.unparse(child.func.value) == "get_ipython()"
                and child.args
                and isinstance(child.args[0], ast.Constant)
                and child.args[0].value in awaited
            ):
                yield child, child.func.value
            else:
                yield from self._calls(child, awaited)

    def _can_await(self) -> bool:
        from IPython.core.async_helpers import _asyncio_runner

        if not self._shell.autoawait or self._shell.loop_runner is not _asyncio_runner:
            return False
        # %time and others transform their cell by themselves and run it without awaiting it.
        frame = sys._getframe(2)  # noqa: SLF001
        while frame is not None and frame.f_code.co_name == "transform_cell":
            frame = frame.f_back  # type: ignore[assignment]
        return (
            frame is not None
            and frame.f_code.co_name == "do_execute"
            and str(frame.f_globals.get("__name__")).startswith("ipykernel.")
        )
