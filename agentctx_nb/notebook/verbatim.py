"""Two things IPython does to a cell before any magic sees it, undone for ours.

A line that ends in a question mark asks for help on its last word, so ``%compose will it rain?`` would
look up ``rain``. And a cell magic with nothing below it never gets called, so it could not say what is missing.
"""

from __future__ import annotations

import re
import tokenize

__all__ = ["VerbatimTransformer"]

QUESTION = re.compile(
    r"(?P<before>\s*(?:[^%'\"#=]+=\s*)?)"
    r"%(?P<magic>compose|remember|\w+(?=[ \t].*%(?:compose|remember)[ \t]))[ \t]+(?P<line>.*[^\s?].*\?)\s*$"
)
SPOKEN = re.compile(r"%(?:compose|remember)")  # what follows them is a person's words
OTHER_ESCAPE = re.compile(r"\s*(?:[^%!'\"#=]+=\s*)?[%!]")
OUR_CELL = re.compile(r"%%(?:providers?|compose)(?!\S)")


class VerbatimTransformer:
    """Writes such lines as the calls they are; one of IPython's ``input_transformers_cleanup``."""

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the cell's lines with the questions and the empty cells among them spelled out."""
        if lines and lines[0].startswith("%%"):
            return [*lines, "\n"] if len(lines) == 1 and OUR_CELL.match(lines[0]) else lines
        if not any(SPOKEN.search(line) and line.rstrip().endswith("?") for line in lines):
            return lines
        written: list[str] = []
        above: list[str] = []  # the same lines with nothing in them that Python cannot read
        for line in lines:
            found = QUESTION.match(line)
            if found and not _inside(above):
                call = f"get_ipython().run_line_magic({found['magic']!r}, {found['line']!r})"
                written.append(f"{found['before']}{call}\n")
            else:
                written.append(line)
            escaped = OTHER_ESCAPE.match(line) and not _inside(above)
            above.append(line[: len(line) - len(line.lstrip())] + "pass\n" if escaped else line)
        return written


def _inside(above: list[str]) -> bool:
    """Whether the next line continues a string or a bracket."""
    try:
        for _ in tokenize.generate_tokens(iter(above).__next__):
            pass
    except (tokenize.TokenError, SyntaxError) as error:
        said = str(error)
        return "multi-line" in said or "triple-quoted" in said
    return False
