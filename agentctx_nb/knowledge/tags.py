"""The tags of a page and the text between them, in one pass.

The standard library's parser reads on to the end from every tag, comment or quote that nothing closes, so that a
page of them takes hours. Here what was once not found further on is not looked for again.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Piece", "attributes_of", "pieces"]

_TEXT = re.compile(r"(?:[^<]++|<(?![a-zA-Z!?/]))++")
_NAME = re.compile(r"</?([a-zA-Z][^\s/>]*+)")
_REST = re.compile(r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?)*+>""")
_ATTRIBUTE = re.compile(r"""([^\s=/"']++)\s*+(?:=\s*+("[^"]*+"|'[^']*+'|[^\s"']*+))?""")
_LONG_NUMBER = re.compile(r"&#(?:0*+[1-9][0-9]{7,}+|[xX]0*+[1-9a-fA-F][0-9a-fA-F]{6,}+);?")
_ZEROS = re.compile(r"&#([xX]?)0++(?=[0-9a-fA-F])")
_HIDDEN = {"<!--": "-->", "<![CDATA[": "]]>"}
_RAW = {"script", "style"}  # no tag in them is one
_RAW_IF_CLOSED = {"textarea", "title"}


class Piece(NamedTuple):
    """A tag with its name in small letters, or a text with its characters as they are read; ``line`` from 1."""

    kind: Literal["start", "end", "text"]
    text: str
    line: int
    attributes: str = ""  # as they are written


def pieces(text: str) -> Iterator[Piece]:
    """Yield what a page consists of; comments and declarations are left out, a tag nothing closes is text.

    >>> [piece[:2] for piece in pieces("<P class=a>1 &lt; 2<br/><!-- no --> <b")]
    [('start', 'p'), ('text', '1 < 2'), ('start', 'br'), ('end', 'br'), ('text', ' '), ('text', '<b')]
    """
    last = text.rfind(">")  # no tag ends after it
    sought_in_vain: set[str] = set()
    at = line_at = 0
    line = 1
    while at < len(text):
        line += text.count("\n", line_at, at)
        line_at = at
        plain = _TEXT.match(text, at)
        if plain:
            yield Piece("text", _read(plain[0]), line)
            at = plain.end()
            continue
        name = _NAME.match(text, at) if at < last else None
        if name is None:
            end = _end_of_hidden(text, at, last, sought_in_vain)
            if end is None:  # the text behind it is looked at by itself
                rest = at + 1 if at < last else len(text)
                yield Piece("text", _read(text[at:rest]), line)
                end = rest
            at = end
            continue
        at = _end_of_tag(text, name.end(), sought_in_vain)
        tag = name[1].lower()
        if text[name.start() + 1] == "/":
            yield Piece("end", tag, line)
            continue
        yield Piece("start", tag, line, text[name.end() : at - 1])
        if text[at - 2] == "/":
            yield Piece("end", tag, line)
        elif tag in _RAW or tag in _RAW_IF_CLOSED:
            inside = _end_of_raw(text, at, tag, sought_in_vain)
            if inside > at:
                said = text[at:inside]
                yield Piece(
                    "text", said if tag in _RAW else _read(said), line + text.count("\n", line_at, at)
                )
            at = inside


def attributes_of(written: str) -> dict[str, str]:
    """Return attributes by name, in small letters; of one given twice the first.

    >>> attributes_of(" role='navigation' hidden ROLE=x")
    {'role': 'navigation', 'hidden': ''}
    """
    found: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(written):
        quoted = value[:1] in {'"', "'"} and value
        found.setdefault(name.lower(), unescape(value[1:-1] if quoted else value))
    return found


def _end_of_tag(text: str, at: int, sought_in_vain: set[str]) -> int:
    """Return where a tag ends of whose name ``at`` is the end, and behind which there is a ``>``."""
    if "quoted" not in sought_in_vain:
        rest = _REST.match(text, at)
        if rest:
            return rest.end()
        sought_in_vain.add("quoted")  # quotes that pair up wrongly hide every ">" from here on
    return text.index(">", at) + 1


def _end_of_hidden(text: str, at: int, last: int, sought_in_vain: set[str]) -> int | None:
    """Return where a comment or a declaration ends, None where none begins or nothing closes it."""
    if at >= last:
        return None
    for opening, closing in _HIDDEN.items():
        if text.startswith(opening, at):
            end = -1 if opening in sought_in_vain else text.find(closing, at + 2)
            if end < 0:
                sought_in_vain.add(opening)
                return None
            return end + len(closing)
    return text.index(">", at) + 1


def _end_of_raw(text: str, at: int, tag: str, sought_in_vain: set[str]) -> int:
    """Return where the closing tag of an element begins that holds text only."""
    if tag in sought_in_vain:
        return at
    closing = re.compile(rf"</{tag}(?=[\s/>])", re.IGNORECASE).search(text, at)
    if closing:
        return closing.start()
    sought_in_vain.add(tag)
    return len(text) if tag in _RAW else at


def _read(text: str) -> str:
    """Return text with its references read; numbers of thousands of digits are no characters."""
    if "&" not in text:
        return text
    if "&#" in text:
        text = _LONG_NUMBER.sub("\ufffd", _ZEROS.sub(r"&#\1", text))
    return unescape(text)
