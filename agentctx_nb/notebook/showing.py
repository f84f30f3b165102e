"""A magic on a line of its own shows what it has, also where IPython shows no value: in a loop or a function.

IPython shows the value of a cell's last expression only. A magic is written to be seen, as ``%timeit``, which
prints; so its call is wrapped where its value would be dropped, unless it is assigned.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeGuard

from agentctx_nb.notebook.awaiting import TWINS_PLACE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["ShowingTransformer"]


class ShowingTransformer:
    """Wraps ``get_ipython().run_line_magic('compose', …)``; one of IPython's ``input_transformers_post``."""

    def __init__(self, shell: InteractiveShell, names: Collection[str]) -> None:
        self._shell = shell
        self._names = names  # of our magics

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the cell's lines with the magics wrapped whose values nobody would see."""
        text = "".join(lines)
        if "run_line_magic" not in text or self._shell.ast_node_interactivity == "none":
            return lines
        try:
            tree = ast.parse(text)
            calls = [*self._dropped(tree, last=tree.body[-1] if tree.body else None)]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return lines  # IPython reports what Python cannot read
        written = [line.encode() for line in text.split("\n")]  # Python ends lines nowhere else
        for call in reversed(calls):  # from the end, so that places stay right
            for at, column, new in (
                (call.end_lineno, call.end_col_offset, ")"),
                (call.lineno, call.col_offset, f"get_ipython(){TWINS_PLACE}.show("),
            ):
                line = written[at - 1]  # type: ignore[operator]  # parsed nodes have their places
                written[at - 1] = line[:column] + new.encode() + line[column:]  # type: ignore[operator]
        return b"\n".join(written).decode().splitlines(keepends=True) if calls else lines

    def _dropped(self, node: ast.AST, *, last: ast.stmt | None) -> Iterator[ast.Call]:
        """Yield our calls below ``node`` that are a statement; ``last`` is the one IPython shows by itself."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr):
                if child is not last and self._is_ours(child.value):
                    yield child.value
            elif not isinstance(child, ast.expr):
                yield from self._dropped(child, last=last)

    def _is_ours(self, call: ast.expr) -> TypeGuard[ast.Call]:
        """Whether it is a line magic as IPython spells it; a call that a person wrote in Python is a value."""
        return (
            isinstance(call, ast.Call)
            and ast.unparse(call.func) == "get_ipython().run_line_magic"
            and len(call.args) == 2
            and all(isinstance(given, ast.Constant) for given in call.args)
            and call.args[0].value in self._names  # type: ignore[attr-defined]
        )
