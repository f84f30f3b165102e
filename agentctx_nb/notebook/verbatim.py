"""Four things IPython does to a cell before any magic sees it, undone for ours.

A line that ends in a question mark asks for help on its last word, so ``%compose will it rain?`` would
look up ``rain``. A semicolon is taken for a part of the name in ``%pin;``. A cell magic below a comment is
taken for a line of Python. And one with nothing below it never gets called, so it could not say what is missing.
"""

from __future__ import annotations

import re
import tokenize
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["BodyTransformer", "VerbatimTransformer"]

SPOKEN = (
    r"(?:act|compose|pin|prompt(?=[ \t].*--message[ \t])|remember)"  # what follows them is a person's words
)
QUESTION = re.compile(
    r"(?P<before>\s*(?:[^%'\"#=]+=\s*)?)"
    rf"%(?P<magic>{SPOKEN}|\w+(?=[ \t].*%{SPOKEN}[ \t]))[ \t]+(?P<line>.*[^\s?].*\?)\s*$"
)
SPEAKS = re.compile(f"%{SPOKEN}")
OTHER_ESCAPE = re.compile(r"\s*(?:[^%!'\"#=]+=\s*)?[%!]")
CELL_MAGIC = re.compile(r"%%(\w+)(?!\S)")


class VerbatimTransformer:
    """Writes such lines as the calls they are; one of IPython's ``input_transformers_cleanup``."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names  # of our magics
        self._silent = re.compile(
            rf"(?P<before>\s*(?:[^%'\"#=]+=\s*)?)%(?P<magic>{'|'.join(sorted(names))})(?P<line>;)\s*$"
        )

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the cell's lines with those among them spelled out that IPython would misread."""
        lines = lines[self._comments(lines) :]
        if lines and lines[0].startswith("%%"):
            return lines
        if not any(self._is_ours(line) for line in lines):
            return lines
        written: list[str] = []
        above: list[str] = []  # the same lines with nothing in them that Python cannot read
        for line in lines:
            found = QUESTION.match(line) or self._silent.match(line)
            if found and not _inside(above):
                call = f"get_ipython().run_line_magic({found['magic']!r}, {found['line']!r})"
                written.append(f"{found['before']}{call}\n")
            else:
                written.append(line)
            escaped = OTHER_ESCAPE.match(line) and not _inside(above)
            above.append(line[: len(line) - len(line.lstrip())] + "pass\n" if escaped else line)
        return written

    def _comments(self, lines: list[str]) -> int:
        """Return how many lines of comment stand above one of our cell magics; no other kind of line may."""
        for place, line in enumerate(lines):
            if line.strip() and not line.lstrip().startswith("#"):
                cell = CELL_MAGIC.match(line)
                return place if cell and cell[1] in self._names else 0
        return 0

    def _is_ours(self, line: str) -> bool:
        return bool(SPEAKS.search(line) and line.rstrip().endswith("?")) or bool(self._silent.match(line))


class BodyTransformer:
    """Gives one of our cell magics that has nothing below it an empty line, so that it is called at all.

    A terminal that asks whether a cell is complete takes an empty line for its end, and does not ask what
    has side effects.
    """

    has_side_effects = True

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the cell's lines, and an empty one where the only one is the line of a cell magic."""
        cell = CELL_MAGIC.match(lines[0]) if len(lines) == 1 else None
        return [*lines, "\n"] if cell and cell[1] in self._names else lines


def _inside(above: list[str]) -> bool:
    """Whether the next line continues a string or a bracket."""
    try:
        for _ in tokenize.generate_tokens(iter(above).__next__):
            pass
    except (tokenize.TokenError, SyntaxError) as error:
        said = str(error)
        return "multi-line" in said or "triple-quoted" in said
    return False
