"""Blocks packed into chunks of a bounded size, each under one heading."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentctx_nb.knowledge.blocks import Block

__all__ = ["Chunk", "split"]

_SENTENCE_END = re.compile(r"[.!?…:;][\"'”’)\]]*\s|[。！？]|\n")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_JOINERS = "\u200d\ufe0e\ufe0f"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a file; ``line``, ``page`` and ``cell`` say where it begins, from 1."""

    text: str
    line: int
    headings: tuple[str, ...] = ()
    page: int | None = None
    cell: int | None = None


def split(blocks: Iterable[Block], *, chunk_chars: int, overlap_chars: int = 0) -> list[Chunk]:
    """Return the chunks of a file, none longer than ``chunk_chars`` characters.

    A heading begins a new chunk and is repeated on top of each further one below it. Blocks that fit
    together share a chunk. Code and tables are cut only where they fit in none, between lines; a
    paragraph that fits in none is cut at a sentence, a word, or as a last resort anywhere, and its parts
    share about ``overlap_chars`` characters.
    """
    packer = _Packer(chunk_chars, overlap_chars)
    for block in blocks:
        if block.full.strip():
            packer.add(block)
    packer.flush()
    return packer.chunks


class _Packer:
    def __init__(self, limit: int, overlap: int) -> None:
        self.chunks: list[Chunk] = []
        self._limit = limit
        self._overlap = overlap
        self._parts: list[str] = []
        self._size = 0
        self._first: Block | None = None  # what the open chunk begins with
        self._line = 1
        self._last: Block | None = None
        self._next_line = 1
        self._bare = True  # the open chunk is headings only
        self._title: Block | None = None

    def add(self, block: Block) -> None:
        """Take the next block."""
        if self._first is not None and not self._belongs(block):
            self.flush()
        if block.kind == "heading":
            short = len(block.text) <= self._limit // 4
            self._title = block if short else None
        text = block.full
        alone = len(text) <= self._limit  # it fits into a chunk of its own
        # Headings stay with the beginning of what must be cut anyway.
        closes = not self._bare or self._size > self._limit // 2 or (alone and block.kind == "whole")
        if self._first is not None and closes and not self._fits(block, text):
            self.flush()
        if self._first is None and block.kind != "heading":
            self._put_above(block, most=self._limit - len(text) if alone else self._limit // 4)
        if self._fits(block, text):
            self._append(block, text, block.line)
            return
        for number, (piece, line) in enumerate(self._cut(block)):
            if number:
                self.flush()
                self._put_above(block, most=self._limit // 4)
            self._append(block, piece, line)

    def flush(self) -> None:
        """Close the open chunk."""
        if self._first is not None:
            text = _UNSTORABLE.sub("\ufffd", "".join(self._parts)).strip("\n").rstrip()
            last = self._last or self._first
            self.chunks.append(Chunk(text, self._line, last.headings, self._first.page, self._first.cell))
        self._parts, self._size, self._first, self._last, self._bare = [], 0, None, None, True

    def _belongs(self, block: Block) -> bool:
        last = self._last or self._first
        assert last is not None
        if block.page != last.page:
            return False
        if block.kind == "heading":
            return self._bare and block.headings[: len(last.headings)] == last.headings
        return block.headings == last.headings

    def _fits(self, block: Block, text: str) -> bool:
        return self._size + len(self._gap(block)) + len(text) <= self._limit

    def _gap(self, block: Block) -> str:
        last = self._last
        if last is None:
            return "\n" if self._parts else ""
        adjacent = block.cell == last.cell and block.line == self._next_line
        return "\n" if adjacent and not block.under else "\n\n"

    def _append(self, block: Block, text: str, line: int) -> None:
        gap = self._gap(block)
        text = gap + text
        if self._first is None:
            self._first, self._line = block, line
        self._parts.append(text)
        self._size += len(text)
        self._last = block
        self._next_line = line + text.count("\n", len(gap)) + 1
        self._bare = self._bare and block.kind == "heading"

    def _put_above(self, block: Block, *, most: int) -> None:
        """Begin a chunk with what ``block`` stands under, where ``most`` characters leave the room."""
        title = self._title
        above = block.under
        if not above and title is not None and title.headings == block.headings and title.page == block.page:
            above = title.text
        if above and len(above) + 2 <= most:
            self._parts = [above if block.under else above + "\n"]
            self._size = len(self._parts[0])

    def _cut(self, block: Block) -> Iterator[tuple[str, int]]:
        """Yield parts of a block that is too long, each with its first line's number."""
        head, tail, text, line = block.head, block.tail, block.text, block.line
        above = self._size + 2
        around = sum(len(part) + 1 for part in (head, tail) if part)
        if around > self._limit // 4:
            head, tail, text, around = "", "", block.full, 0
        elif head:
            line += head.count("\n") + 1
        room = max(self._limit - around - above, self._limit // 4)
        if block.kind == "whole":
            pieces = _lines(text, room)
        else:
            pieces = _sentences(text, room, min(self._overlap, room // 4))
        for piece, number in pieces:
            yield "\n".join([part for part in (head, piece, tail) if part]), line + number


def _lines(text: str, room: int) -> Iterator[tuple[str, int]]:
    """Yield (part, lines before it) with as many whole lines as fit, after a blank one where there is one."""
    held: list[str] = []
    size = start = 0
    for number, line in enumerate(text.split("\n")):
        if held and size + len(line) > room:
            blank = next((i for i in range(len(held) - 1, len(held) // 2, -1) if not held[i].strip()), None)
            upto = len(held) if blank is None else blank + 1
            if part := _without_blank_ends(held[:upto]):
                yield part, start
            held, start = held[upto:], start + upto
            size = sum(len(kept) + 1 for kept in held)
        if len(line) > room:
            if part := _without_blank_ends(held):
                yield part, start
            for piece, _ in _sentences(line, room, 0):
                yield piece, number
            held, start, size = [], number + 1, 0
            continue
        held.append(line)
        size += len(line) + 1
    if part := _without_blank_ends(held):
        yield part, start


def _without_blank_ends(lines: list[str]) -> str:
    return "\n".join(lines).strip("\n").rstrip()


def _sentences(text: str, room: int, overlap: int) -> Iterator[tuple[str, int]]:
    """Yield (part, lines before it), each part ending at a sentence or word where one ends late enough."""
    start = counted = lines = 0
    while start < len(text):
        end = len(text) if len(text) - start <= room else _break(text, start, room)
        lines += text.count("\n", counted, start)
        counted = start
        piece = text[start:end]
        blank = piece[: len(piece) - len(piece.lstrip())]
        if len(blank) < len(piece):
            yield piece[len(blank) :].rstrip(), lines + blank.count("\n")
        if end == len(text):
            return
        start = _word_start(text, max(start + 1, end - overlap), end)


def _break(text: str, start: int, room: int) -> int:
    middle, limit = start + room // 2, start + room
    window = text[middle:limit]
    ends = [found.end() for found in _SENTENCE_END.finditer(window)]
    if ends:
        return middle + ends[-1]
    for back in range(len(window) - 1, -1, -1):
        if window[back].isspace():
            return middle + back + 1
    end = limit
    while end > middle and (
        unicodedata.combining(text[end]) or text[end] in _JOINERS or text[end - 1] == "\u200d"
    ):
        end -= 1
    return end if end > middle else limit


def _word_start(text: str, earliest: int, end: int) -> int:
    """Return where a word begins from ``earliest`` on, ``end`` if none does before it."""
    for place in range(earliest, end):
        if text[place - 1].isspace() and not text[place].isspace():
            return place
    return end
