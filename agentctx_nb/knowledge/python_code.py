"""Reader of Python files: one block a function or method, the rest between them."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from agentctx_nb.knowledge.blocks import Block, Document
from agentctx_nb.knowledge.plain import paragraphs, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["read_python"]

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def read_python(text: str) -> Document:
    """Return the blocks of a module; one that is no valid Python is read as plain text, which the note says."""
    try:
        with warnings.catch_warnings():  # the warnings about its escapes are its author's
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        return Document(tuple(read_text(text)), f"read as plain text: {error.msg} in line {error.lineno}")
    except (RecursionError, MemoryError, ValueError):
        return Document(tuple(read_text(text)), "read as plain text: too deeply nested to parse")
    lines = text.split("\n")
    return Document(tuple(_blocks(tree.body, lines, first=1, last=len(lines), names=(), under="")))


def _blocks(
    body: Sequence[ast.stmt],
    lines: Sequence[str],
    *,
    first: int,
    last: int,
    names: tuple[str, ...],
    under: str,
) -> Iterator[Block]:
    """Yield the blocks of lines ``first`` to ``last``, in which the statements of ``body`` stand."""
    at = first
    definitions = [node for node in body if isinstance(node, _DEFINITIONS)]
    for node in definitions:
        start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        while start > at and lines[start - 2].lstrip().startswith("#"):  # the comment right above
            start -= 1
        end = node.end_lineno or node.lineno
        if start < at:  # two on one line, behind a semicolon
            continue
        yield from _rest(lines, at, start - 1, names, under)
        inside = (*names, node.name)
        if isinstance(node, ast.ClassDef) and any(isinstance(child, _DEFINITIONS) for child in node.body):
            yield from _of_class(node, lines, start, end, inside, under)
        else:
            yield from _rest(lines, start, end, inside, under, together=True)
        at = end + 1
    yield from _rest(lines, at, last, names, under)


def _of_class(
    node: ast.ClassDef, lines: Sequence[str], start: int, end: int, names: tuple[str, ...], under: str
) -> Iterator[Block]:
    heading = lines[node.lineno - 1]
    inside = "\n".join([part for part in (under, heading) if part])
    opening = node.body[0].lineno - 1
    if opening < node.lineno:  # all on one line
        yield from _rest(lines, start, end, names, under, together=True)
        return
    decorated = [decorator.lineno for decorator in getattr(node.body[0], "decorator_list", [])]
    opening = min([opening, *(line - 1 for line in decorated)])
    docstring = isinstance(node.body[0], ast.Expr)
    until = (node.body[0].end_lineno or opening) if docstring else opening
    yield from _rest(lines, start, until, names, under, together=True)
    yield from _blocks(node.body, lines, first=until + 1, last=end, names=names, under=inside)


def _rest(
    lines: Sequence[str],
    first: int,
    last: int,
    names: tuple[str, ...],
    under: str,
    *,
    together: bool = False,
) -> Iterator[Block]:
    """Yield the lines ``first`` to ``last``: one block if they belong together, else one a paragraph."""
    part = lines[first - 1 : last]
    runs = list(paragraphs(part, first=first))
    if together and runs:
        start = runs[0][0]
        end = runs[-1][0] + len(runs[-1][1]) - 1
        runs = [(start, list(lines[start - 1 : end]))]
    for line, run in runs:
        yield Block("\n".join(run), line, names, "whole", under=under)
