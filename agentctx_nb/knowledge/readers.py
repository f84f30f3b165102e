"""Which reader a file gets, by the end of its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentctx_nb.knowledge.blocks import Block, Document
from agentctx_nb.knowledge.decoding import decode
from agentctx_nb.knowledge.hypertext import read_html
from agentctx_nb.knowledge.marked import read_markdown
from agentctx_nb.knowledge.notebooks import read_notebook
from agentctx_nb.knowledge.plain import read_restructured, read_text
from agentctx_nb.knowledge.portable import read_pdf
from agentctx_nb.knowledge.python_code import read_python

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["is_known", "parses_in_place", "read", "suffix_of"]

_TEXTS: dict[str, Callable[[str], list[Block]]] = {
    ".htm": read_html,
    ".html": read_html,
    ".markdown": read_markdown,
    ".md": read_markdown,
    ".mdx": read_markdown,
    ".qmd": read_markdown,
    ".rmd": read_markdown,
    ".rst": read_restructured,
    ".text": read_text,
    ".txt": read_text,
    ".xhtml": read_html,
}
_PYTHON = {".py", ".pyi", ".pyw"}
_DECLARING = {".htm", ".html", ".xhtml", *_PYTHON}
_BARE = {"changelog", "changes", "faq", "news", "notes", "readme"}  # text by the name alone


def suffix_of(name: str) -> str:
    """Return the end of a file's name that says its kind, in lower case.

    >>> suffix_of("Guide.MD"), suffix_of("README"), suffix_of(".profile")
    ('.md', '', '')
    """
    stem, dot, end = name.rpartition(".")
    return f".{end.lower()}" if dot and stem else ""


def is_known(name: str) -> bool:
    """Whether a file of this name is read without being asked for by name."""
    suffix = suffix_of(name)
    return suffix in _TEXTS or suffix in _PYTHON or suffix in {".ipynb", ".pdf"} or name.lower() in _BARE


def parses_in_place(name: str) -> bool:
    """Whether the reader belongs in the main thread: Python's parser warns, and silencing is not thread-safe."""
    return suffix_of(name) in _PYTHON


def read(name: str, data: bytes, *, outputs: bool = False) -> Document:
    """Return what is in a file; one of a kind without a reader is read as plain text.

    Raises
    ------
    UnreadableError
        It is no text, or damaged.
    MissingExtraError
        What reads it is not installed.
    """
    suffix = suffix_of(name)
    if suffix == ".pdf":
        return read_pdf(data)
    text, note = decode(data, declares=suffix in _DECLARING)
    if suffix == ".ipynb":
        return Document(tuple(read_notebook(text, outputs=outputs)), note)
    if suffix in _PYTHON:
        made = read_python(text)
        return Document(made.blocks, "; ".join([part for part in (note, made.note) if part]))
    return Document(tuple(_TEXTS.get(suffix, read_text)(text)), note)
