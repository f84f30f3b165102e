"""A text with its escapes read, and where each character of it stood: secrets are compared after decoding.

No list of written forms is ever complete: each encoder has its own idea of what may stay as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

__all__ = ["ALWAYS_SOUGHT", "Decoded", "decoded_turns", "may_be_coded"]

MOST_TURNS = 3  # an address inside JSON inside a page
_MARKS = "%&\\"
_GAP = "\u1e9f"  # a letter that nobody writes: what stands beside it is no word by itself
ALWAYS_SOUGHT = frozenset(_MARKS + "#;")  # an escape may be escaped itself
_HEX = "[0-9A-Fa-f]"
# A line of MIME base64 ends after 76 characters, one of a PEM file after 64.
_ESCAPE = re.compile(
    rf"%{_HEX}{{2}}(?:%{_HEX}{{2}})*+"
    rf"|&(?:\#[0-9]{{1,7}}|\#[xX]{_HEX}{{1,6}}|[A-Za-z][A-Za-z0-9]{{1,30}});"
    rf"|\\u{_HEX}{{4}}(?:\\u{_HEX}{{4}})*+|\\U{_HEX}{{8}}|\\x{_HEX}{{2}}|\\[\"'/\\nrtbf]"
)
_FULL = "[A-Za-z0-9+/]{60}"
_BROKEN = re.compile(
    rf"(?:\n(?<={_FULL}\n)|\r(?<={_FULL}\r)\n?|\\n(?<={_FULL}\\n)|\\r(?<={_FULL}\\r)\\n)"
    r"[ \t]{0,16}(?=[A-Za-z0-9+/=]{4})"
)
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


class Decoded(NamedTuple):
    """The ``text``, and what of it was written otherwise: from ``starts[n]`` on it stands ``shifts[n]`` further on."""

    text: str
    starts: list[int]
    shifts: list[int]

    def place(self, at: int) -> int:
        """Return where the character ``at`` stands in the text as it was written."""
        return at + self.shifts[bisect_right(self.starts, at) - 1]


def decoded_turns(text: str, sought: AbstractSet[str], *, reach: int) -> Iterator[list[Decoded]]:
    r"""Yield ``text`` decoded once, twice, …, as long as that changes it; each with the turns that led to it.

    Only escapes that stand for one of the characters ``sought`` are read. What is further than ``reach`` from
    each of them is left out.

    >>> [turns[-1].text for turns in decoded_turns("a%2526b &lt; c", {"&", "%"}, reach=20)]
    ['a%26b &lt; c', 'a&b &lt; c']
    """
    turns: list[Decoded] = []
    for _ in range(MOST_TURNS):
        found = _decoded(text, sought, reach)
        if found is None:
            return
        turns.append(found)
        yield turns
        text = found.text


def may_be_coded(text: str) -> bool:
    """Tell whether ``text`` holds a character that an escape begins with."""
    return "\n" in text or "\\" in text or "%" in text or "&" in text or "\r" in text


def _decoded(text: str, sought: AbstractSet[str], reach: int) -> Decoded | None:
    if not may_be_coded(text):
        return None
    hits: list[re.Match[str]] = []
    known: dict[str, list[tuple[str, int]]] = {}
    if "%" in text or "&" in text or "\\" in text:
        for written in set(_ESCAPE.findall(text)):
            read = _read(written)
            if not sought.isdisjoint("".join([char for char, _ in read])):
                known[written] = read
        if known:
            hits += [hit for hit in _ESCAPE.finditer(text) if hit[0] in known]
    if "\n" in text or "\r" in text or "\\" in text:
        broken = list(_BROKEN.finditer(text))
        if broken:
            hits = sorted([*hits, *broken], key=_start)
    if not hits:
        return None
    parts: list[str] = []
    starts, shifts = [0], [0]
    done = length = 0
    for hit in hits:
        written = hit[0]
        if written not in known:
            known[written] = [("", len(written))]  # the end of a line inside base64
        start = hit.start()
        if start - done > 2 * reach:
            if done:
                parts.append(text[done : done + reach])
                length += reach
            parts.append(_GAP)
            done = start - reach
            length += 1
            starts.append(length)
            shifts.append(done - length)
        parts.append(text[done:start])
        length += start - done
        done = hit.end()
        for char, size in known[written]:
            # Each character that was read has a place of its own: a run of them may begin or end a secret.
            parts.append(char)
            start += size
            length += len(char)
            starts.append(length)
            shifts.append(start - length)
    parts.append(text[done : done + reach])
    if done + reach < len(text):
        parts.append(_GAP)
    return Decoded("".join(parts), starts, shifts)


def _start(hit: re.Match[str]) -> int:
    return hit.start()


def _read(written: str) -> list[tuple[str, int]]:
    """Return what an escape stands for: characters, each with how many it was written in."""
    if written[0] == "%":
        raw = bytes.fromhex(written.replace("%", ""))
        return [
            (char, 3 * len(char.encode("utf-8", "surrogateescape")))
            for char in raw.decode("utf-8", "surrogateescape")
        ]
    if written[0] == "&":
        from html import unescape

        return [(unescape(written), len(written))]
    if written[1] == "u":
        units = b"".join(bytes.fromhex(unit) for unit in written.split("\\u")[1:])
        return [
            (char, 6 * len(char.encode("utf-16-be", "surrogatepass")) // 2)
            for char in units.decode("utf-16-be", "surrogatepass")
        ]
    if written[1] == "U":
        number = int.from_bytes(bytes.fromhex(written[2:]))
        return [(chr(number) if number <= 0x10FFFF else written, len(written))]
    if written[1] == "x":
        return [(chr(bytes.fromhex(written[2:])[0]), len(written))]
    return [(_SHORT.get(written[1], written[1]), len(written))]
