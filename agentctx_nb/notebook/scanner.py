"""A line read word by word: where quotes count, where a list or a JSON value ends."""

from __future__ import annotations

from json import JSONDecodeError, JSONDecoder

__all__ = ["QUOTES", "Scanner", "closing_quote"]

QUOTES = "\"'"


class Scanner:
    """A line and how far it has been read; words come with their quotes."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0

    def peek(self) -> str | None:
        """Return the next word without taking it; None at the end."""
        before = self._at
        word = self.word()
        self._at = before
        return word or None

    def word(self) -> str:
        """Take the next word; empty at the end."""
        line = self._line
        start = self._at + len(line[self._at :]) - len(line[self._at :].lstrip())
        at = start
        while at < len(line) and not line[at].isspace():
            if line[at] in QUOTES and (at == start or line[at - 1] in "=,"):
                closing = closing_quote(line, at)
                # Only a word that belongs to an option has to be whole; a message may hold one quote.
                at = len(line) - 1 if closing is None else closing
            at += 1
        self._at = at
        return line[start:at]

    def value(self) -> str | None:
        """Take the value of an option; None if there is none before the next option."""
        word = self.peek()
        if word is None or word.startswith("--"):
            return None
        return self.word()

    def rest_of_list(self, value: str) -> str:
        """Take the further items of a list that has spaces around its commas."""
        while (following := self.peek()) is not None and not following.startswith("--"):
            if not (value.endswith(",") or following.startswith(",")):
                break
            value += self.word()
        return value

    def rest_of_json(self, value: str) -> str:
        """Take all of the JSON that begins with ``value``, the word just taken; spaces do not end it."""
        start = self._at - len(value)
        try:
            _, end = JSONDecoder().raw_decode(self._line, start)
        except (JSONDecodeError, RecursionError):
            return value  # whoever reads it says what is wrong
        if self._line[end : end + 1].strip():
            return value
        self._at = end
        return self._line[start:end]

    def rest(self) -> str:
        """Take all that is left, as typed, without the space around it."""
        rest = self._line[self._at :].strip()
        self._at = len(self._line)
        return rest


def closing_quote(text: str, opening: int) -> int | None:
    """Return the place of the quote that closes the one at ``opening``; a backslash keeps one from closing."""
    at = opening + 1
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == text[opening]:
            return at
        at += 1
    return None
