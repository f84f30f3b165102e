"""Bytes to text: which encoding a file is in, and whether it is text at all."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress

from agentctx_nb.knowledge.blocks import UnreadableError

__all__ = ["decode"]

# UTF-32 first: its mark begins as the one of UTF-16 does.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LINE_ENDS = re.compile(r"\r\n?")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_DECLARATION = 2048  # bytes at the top of a file, where it is
_SAMPLE = 65_536  # characters; what is no text shows it early
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w.:-]+)"  # HTML
    rb"|^[ \t\f]*#[^\n]{0,200}?coding[:=][ \t]*([\w.-]+)",  # Python, PEP 263
    re.IGNORECASE | re.MULTILINE,
)


def decode(data: bytes, *, declares: bool = False) -> tuple[str, str]:
    r"""Return the text with ``\n`` at every line's end, and a note where the encoding was a guess.

    A byte order mark decides, then UTF-8, then what the file ``declares`` itself (HTML, Python), then
    Windows-1252, the Latin-1 of the web.

    Raises
    ------
    UnreadableError
        It is no text.

    >>> decode("naïve\r\n".encode("latin-1"))
    ('naïve\n', 'no UTF-8; read as Windows-1252')
    """
    text, note = _decoded(data, declares=declares)
    if "\x00" in text:
        raise UnreadableError("no text: it holds NUL bytes")
    return _LINE_ENDS.sub("\n", text), note


def _decoded(data: bytes, *, declares: bool) -> tuple[str, str]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding), ""
            except UnicodeDecodeError as error:
                said = encoding.removesuffix("-sig").upper()
                raise UnreadableError(f"it begins as {said} but byte {error.start:,} is not") from error
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        pass
    declared = _DECLARED.search(data[:_DECLARATION]) if declares else None
    if declared:
        # The name may be of no codec, or of one that makes no text, such as hex.
        with suppress(LookupError, ValueError):
            return data.decode((declared[1] or declared[2]).decode("ascii")), ""
    return _western(data)


def _western(data: bytes) -> tuple[str, str]:
    if b"\x00" in data:
        raise UnreadableError("no text: it holds NUL bytes")
    try:
        text, name = data.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:
        text, name = data.decode("latin-1"), "Latin-1"
    sample = text[:_SAMPLE]
    if len(_CONTROLS.findall(sample)) * 20 > len(sample):
        raise UnreadableError("no text: neither UTF-8 nor printable")
    return text, f"no UTF-8; read as {name}"
