"""Options that stand behind a message, where they are text: said in one line, since nothing else shows it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentctx_nb.notebook.reading import without_quotes

if TYPE_CHECKING:
    from agentctx_nb.notebook.arguments import Command

__all__ = ["swallowed"]


def swallowed(command: Command, line: str, message: str) -> str:
    """Return what to say of the options of ``command`` that a message at the end of ``line`` holds; mostly nothing.

    A message in quotes, or behind ``--``, is meant as it stands.

    >>> from agentctx_nb.notebook.commands import COMPOSE
    >>> swallowed(COMPOSE, "hi --strict", "hi --strict")
    '--strict is part of the message, as all behind its first word is; write options before the message'
    >>> swallowed(COMPOSE, "-- hi --strict", "hi --strict"), swallowed(COMPOSE, "how do --flags work?", "how do --flags work?")
    ('', '')
    """
    before = line.rstrip().removesuffix(message).split()
    if before[-1:] == ["--"] or without_quotes(message) != message:
        return ""
    known = {f"--{option.name}" for option in command.options}
    found = dict.fromkeys(
        word for word in re.findall(r"(?<!\S)--[a-z-]+(?![^\s=])", message) if word in known
    )
    if not found:
        return ""
    are = "is" if len(found) == 1 else "are"
    return (
        f"{' and '.join(found)} {are} part of the message, as all behind its first word is; "
        "write options before the message"
    )
