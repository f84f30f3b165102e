"""Reader of notebooks: Markdown cells as Markdown, code cells as fences, outputs only if asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentctx_nb.knowledge.blocks import Block, HeadingPath, UnreadableError
from agentctx_nb.knowledge.marked import read_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_notebook"]


def read_notebook(text: str, *, outputs: bool = False) -> list[Block]:
    """Return the blocks of a notebook of format 3 or 4; their lines count inside their cell.

    Raises
    ------
    UnreadableError
        It is no notebook.
    """
    try:
        given = json.loads(text)
    except json.JSONDecodeError as error:
        raise UnreadableError(f"no notebook: {error.msg} in line {error.lineno:,}") from error
    except RecursionError as error:
        raise UnreadableError("no notebook: nested too deeply") from error
    except ValueError as error:  # a number of thousands of digits
        raise UnreadableError("no notebook: it holds a number that is too long") from error
    cells = _cells(given)
    if cells is None:
        raise UnreadableError("no notebook: it has no list of cells")
    language = _language(given)
    path = HeadingPath()
    blocks: list[Block] = []
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict):
            continue
        source = _text(cell.get("source", cell.get("input")))
        kind = cell.get("cell_type")
        if kind == "heading":  # of format 3
            source, kind = "#" * _level(cell) + " " + source, "markdown"
        if kind == "markdown":
            blocks += read_markdown(source, path=path, cell=number)
        elif source.strip():
            head, tail = (f"```{language}", "```") if kind == "code" else ("", "")
            blocks.append(_block(source, path.path, number, head, tail))
        if outputs and kind == "code":
            blocks += [_block(said, path.path, number, "```text", "```") for said in _outputs(cell)]
    return blocks


def _block(text: str, headings: tuple[str, ...], cell: int, head: str, tail: str) -> Block:
    above = text[: len(text) - len(text.lstrip("\n"))].count("\n")
    return Block(text.strip("\n").rstrip(), 1 + above, headings, "whole", head, tail, cell=cell)


def _cells(given: Any) -> list[Any] | None:
    if not isinstance(given, dict):
        return None
    cells = given.get("cells")
    sheets = given.get("worksheets")
    if cells is None and isinstance(sheets, list):
        parts = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        cells = [cell for part in parts if isinstance(part, list) for cell in part]
    return cells if isinstance(cells, list) else None


def _language(given: dict[str, Any]) -> str:
    about = given.get("metadata")
    for key in ("language_info", "kernelspec"):
        named = about.get(key) if isinstance(about, dict) else None
        name = (
            named.get("name" if key == "language_info" else "language") if isinstance(named, dict) else None
        )
        if isinstance(name, str) and name.isalnum():
            return name
    return "python"


def _level(cell: dict[str, Any]) -> int:
    level = cell.get("level")
    return level if isinstance(level, int) and 1 <= level <= 6 else 1


def _outputs(cell: dict[str, Any]) -> Iterator[str]:
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        said = _text(output.get("text")) or _text(data.get("text/plain") if isinstance(data, dict) else None)
        if said.strip():
            yield said


def _text(source: Any) -> str:
    if isinstance(source, list):
        source = "".join([line for line in source if isinstance(line, str)])
    return source.replace("\r\n", "\n").replace("\r", "\n") if isinstance(source, str) else ""
