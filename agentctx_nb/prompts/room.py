"""How much one rendering may write, and how often it may go round: counted as it goes, before memory is gone."""

from __future__ import annotations

from agentctx_nb.errors import TemplateError

__all__ = ["LONGEST_PROMPT", "MOST_ROUNDS", "MOST_VALUES", "Room", "check_rounds"]

LONGEST_PROMPT = 10_000_000
MOST_ROUNDS = 300_000
MOST_VALUES = 300_000


class Room:
    """What is left of each; taking more raises `TemplateError`."""

    __slots__ = ("_characters", "_rounds", "_values")

    def __init__(self) -> None:
        self._characters = LONGEST_PROMPT
        self._rounds = MOST_ROUNDS
        self._values = MOST_VALUES

    def write(self, characters: int) -> None:
        """Take room for so many characters."""
        self._characters -= characters
        if self._characters < 0:
            raise TemplateError(f"the prompt grows past {LONGEST_PROMPT:,} characters")

    def go_round(self, characters: int) -> None:
        """Take room for one round of a block, with the characters it writes itself."""
        self._rounds -= 1
        if self._rounds < 0:
            check_rounds(MOST_ROUNDS + 1)
        self.write(characters)

    def show(self) -> None:
        """Take room for one value inside of another that is written whole."""
        self._values -= 1
        if self._values < 0:
            raise TemplateError(
                f"the values hold more than {MOST_VALUES:,} others; write a part of them instead"
            )


def check_rounds(rounds: int) -> None:
    """Raise where something is too long to go through."""
    if rounds > MOST_ROUNDS:
        raise TemplateError(f"the blocks of the template go round more than {MOST_ROUNDS:,} times")
