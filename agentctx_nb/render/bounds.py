"""How much is shown, and safe text of any value: masked, visible, cut, and the same every time.

The order never changes: mask first, so that no cut leaves part of a secret; then cut; then make
visible what could hide or reorder text. Escaping for a format comes last, in the writer of that format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from agentctx_nb.names import kind_name

__all__ = [
    "LIMITS",
    "Limits",
    "Mask",
    "cell_text",
    "cut",
    "cut_middle",
    "fitting",
    "masked_start",
    "no_mask",
    "one_line",
    "visible",
    "without_addresses",
]

# Replaces registered secrets in a text by a fixed mask.
Mask: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one output shows: counts of rows, columns and characters, and bytes of finished markup."""

    rows: int = 100
    columns: int = 30
    cell: int = 120
    name: int = 32
    line: int = 600
    text: int = 10_000
    table_bytes: int = 36_000
    text_bytes: int = 24_000


LIMITS = Limits()

_DEPTH = 40
_LABELS = 1_000  # characters that a text may lose to labels before more of it is looked at
_LONGEST_SHAPE = 20_000  # characters of a vendor's key or a private key block
_LARGEST_SORTED_SET = 1_000
# Any: their methods are called past whatever a subclass overrides.
_BRACKETS: dict[Any, tuple[str, str]] = {
    dict: ("{", "}"),
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("{", "}"),
}
_NUMBERS = (bool, int, float, complex, type(None))
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

# Characters that break a line, move the cursor, reorder text or cannot be seen at all, and lone
# surrogates, which no UTF-8 file can hold. Joiners stay: emoji and several scripts need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


def no_mask(text: str) -> str:
    """Return ``text`` as it is: what masks where no secret is registered."""
    return text


def visible(text: str) -> str:
    r"""Return ``text`` with each control, bidirectional or invisible character written as its escape.

    Newlines and tabs stay; a Windows line end becomes a newline.

    >>> print(visible("a\u202eb\x1b[2J\ud800"))
    a\u202eb\x1b[2J\ud800
    """
    return _UNSEEN.sub(_escaped, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    r"""Return ``text`` visible and on one line.

    >>> one_line("first\nsecond\tthird")
    'first↵second third'
    """
    return visible(text).replace("\n", "↵").replace("\t", " ")


def cut(text: str, most: int) -> str:
    """Return at most ``most`` characters of ``text``, ending in an ellipsis where some are missing.

    >>> cut("forecast", 5)
    'fore…'
    """
    return text if len(text) <= most else text[: max(most - 1, 0)] + "…"


def cut_middle(text: str, most: int) -> str:
    """Return at most ``most`` characters of ``text``, its start and its end: names often differ in their end.

    >>> cut_middle("FORECAST_OF_TOMORROW", 11)
    'FOREC…ORROW'
    """
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def cell_text(value: object, *, mask: Mask = no_mask, most: int = LIMITS.cell) -> str:
    """Return short text of any value, on one line; a string stands for itself.

    Containers are walked and not printed, so cycles, depth and megabytes cost nothing, strings in
    them are masked before they are quoted, and sets come out in order. Addresses are left out.

    >>> cell_text({"city": "Oslo", "days": {3, 1}, "get": object()})
    "{'city': 'Oslo', 'days': {1, 3}, 'get': <object object>}"
    """
    if issubclass(type(value), str):
        shown = masked_start(_plain(value), most + 1, mask=mask)
    else:
        walk = _Walk(mask, most + 1, set())
        walk.write(value, 0)
        shown = mask("".join(walk.parts))[: most + 1]
    return cut(one_line(shown), most)


def masked_start(text: str, most: int, *, mask: Mask) -> str:
    """Return the first ``most`` characters of the masked ``text``, at the cost of little more than those.

    What is masked with them reaches so far beyond that a secret which begins in view also ends there.
    """
    beyond = max(_LONGEST_SHAPE, getattr(mask, "longest", 0))
    reach = most + beyond + _LABELS
    while len(text) > reach:
        shown = mask(text[:reach])
        if len(shown) >= most + beyond:  # else labels are so much shorter that the end comes into view
            return shown[:most]
        reach *= 2
    return mask(text)[:most]


def without_addresses(text: str) -> str:
    """Return ``text`` without the addresses that reprs of objects hold: they differ from run to run.

    >>> without_addresses("no answer from <Client object at 0x7f11a2b3c4d0>")
    'no answer from <Client object>'
    """
    return _ADDRESS.sub("", text)


def fitting(pieces: Iterable[str], most: int) -> Iterator[str]:
    """Yield ``pieces`` as long as their UTF-8 bytes together stay within ``most``."""
    left = most
    for piece in pieces:
        left -= len(piece.encode())
        if left < 0:
            return
        yield piece


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def _plain(value: Any) -> str:
    return str.__str__(value)  # a subclass may have a __str__ that raises or lies


class _Walk:
    """One value being written, up to ``left`` characters; ``open`` holds the containers around it."""

    __slots__ = ("left", "mask", "open", "parts")

    def __init__(self, mask: Mask, left: int, around: set[int]) -> None:
        self.mask = mask
        self.left = left
        self.open = around
        self.parts: list[str] = []

    def put(self, text: str) -> None:
        self.parts.append(text)
        self.left -= len(text)

    def write(self, value: Any, depth: int) -> None:
        kind: Any = type(value)
        if issubclass(kind, str):
            self.put(repr(masked_start(_plain(value), max(self.left, 0) + 1, mask=self.mask)))
        elif kind is MappingProxyType:
            self.container(value, dict, depth)
        elif base := next((base for base in _BRACKETS if issubclass(kind, base)), None):
            self.container(value, base, depth)
        else:
            self.put(masked_start(_object_text(value), max(self.left, 0) + 1, mask=self.mask))

    def container(self, value: Any, base: Any, depth: int) -> None:
        opening, closing = _BRACKETS[base]
        if id(value) in self.open:
            self.put(f"{opening}cycle{closing}")
            return
        if depth >= _DEPTH:
            self.put(f"{opening}…{closing}")
            return
        self.open.add(id(value))
        self.put(opening)
        try:
            if base is dict:
                self.pairs(value, depth)
            elif base in (set, frozenset):
                self.unordered(value, base)
            else:
                self.items(base.__iter__(value), depth)
        except Exception as exc:  # noqa: BLE001  it is edited, or lies about itself, while it is read
            self.put(f"… {kind_name(exc)}")
        self.open.discard(id(value))
        self.put(closing)

    def items(self, items: Iterable[Any], depth: int) -> None:
        for place, item in enumerate(items):
            if self.left <= 0:
                return
            if place:
                self.put(", ")
            self.write(item, depth + 1)

    def pairs(self, value: Any, depth: int) -> None:
        pairs = value.items() if type(value) is MappingProxyType else dict.items(value)
        for place, (key, item) in enumerate(pairs):
            if self.left <= 0:
                return
            if place:
                self.put(", ")
            self.write(key, depth + 1)
            self.put(": ")
            self.write(item, depth + 1)

    def unordered(self, value: Any, base: Any) -> None:
        count = base.__len__(value)
        if count > _LARGEST_SORTED_SET:  # hash order differs from run to run, and sorting all is slow
            self.put(f"… {count:,} items")
            return
        texts = []
        for item in base.__iter__(value):
            walk = _Walk(self.mask, self.left, self.open)
            walk.write(item, _DEPTH - 1)
            texts.append("".join(walk.parts))
        self.put(", ".join(sorted(texts)))


def _object_text(value: Any) -> str:
    """Return the repr of one object without its address, or what went wrong."""
    kind = type(value)
    number = any(kind is one for one in _NUMBERS)  # not asked of a metaclass of theirs
    if not number and (array := _array_text(value)) is not None:
        return array
    try:
        return without_addresses(_plain(repr(value)))
    except Exception as exc:  # noqa: BLE001  a repr may raise anything; an int of 5,000 digits does
        return f"<{kind_name(value)}: its repr raised {kind_name(exc)}>"


def _array_text(value: Any) -> str | None:
    """Return the shape of an array or frame, the bare number of a numpy scalar, else None."""
    kind = type(value)
    try:
        if str(kind.__module__).partition(".")[0] not in {"numpy", "pandas"}:
            return None
        shape = getattr(value, "shape", None)
        if not isinstance(shape, tuple):
            return None
        return f"<{kind.__name__} {' × '.join(f'{n:,}' for n in shape)}>" if shape else str(value)
    except Exception:  # noqa: BLE001  a subclass may do as it likes; its repr is tried next
        return None
