"""Find the stocks a message speaks of: ``$AAPL``, ``AAPL``, ``NASDAQ: AAPL``, ``BRK.B``, "apple stock"."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from agentctx_nb.library.companies import COMPANIES, KNOWN_SYMBOLS, PLAIN_WORDS
from agentctx_nb.library.symbol_words import NO_SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["find_symbols"]

_MOST_READ = 5_000  # characters
_LOOKED_AT = 60  # characters beside a name
_CURRENCIES = frozenset(("USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "NZD", "CNY"))
_OF_COMPANIES = frozenset(COMPANIES.values())

_FRONT = r"(?<![\w$.&/@#-])"
_BACK = r"(?![\w$&@]|[.\-/]\w)"
_SHARE = r"[A-Za-z]{1,5}(?:[.\-/][A-Za-z])?"  # the letter behind is the class of share, as in BRK.B
_ABROAD = (
    r"(?:[A-Z][A-Z\d]{1,5}|\d{4,6})\.(?:AS|AX|BR|DE|HK|KS|L|MC|MI|NS|PA|SS|ST|SW|SZ|T|TO|V)"  # the exchange
)

_MARKED = re.compile(
    rf"(?<![\w$])\$({_ABROAD}|{_SHARE}){_BACK}"
    rf"|\b(?:NASDAQ|NYSE|AMEX|ARCA|NYSEARCA|OTC)\s?:\s?({_SHARE}){_BACK}"
    rf"|\b(?i:ticker|symbol)(?i:\s+(?:is|for|symbol))?\s*:?\s+([A-Z]{{1,5}}(?:[.\-/][A-Z])?){_BACK}"
    rf"|{_FRONT}({_ABROAD}){_BACK}"
    rf"|(?<!'){_FRONT}([B-HJ-Z])(?=\s(?:stocks?|shares?|share price)\b)"
    rf"|\b(?i:shares of|stock of)\s([B-HJ-Z]){_BACK}"
)
_CAPITALS = re.compile(rf"{_FRONT}([A-Z]{{2,5}}(?:[.\-/][A-C])?)(?:'s|s)?{_BACK}")
_SMALL = re.compile(rf"{_FRONT}([a-z]{{3,5}}(?:[.\-/][ab])?)(?:'s)?{_BACK}")
_NAMES = re.compile(
    r"(?<![\w$@#-])("
    + "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in sorted(COMPANIES, key=len, reverse=True))
    + r")(?:'s)?(?![\w@&]|[.\-]\w)",
    re.IGNORECASE,
)

_STOCK_AFTER = re.compile(
    r"\s+(?:common\s+|class\s+[ab]\s+|current\s+|latest\s+)?"
    r"(?:stocks?|shares?|ticker|corp|corporation|inc|plc|earnings|market\s+cap)\b",
    re.IGNORECASE,
)
_STOCK_BEFORE = re.compile(
    r"(?:\b(?:stocks?|shares?|quotes?)\s+(?:prices?\s+)?(?:of|for|in|from)|\b(?:stock|share)\s+prices?:?"
    r"|\b(?:invest(?:ing|ed)?\s+in|ticker|stocks?:))\s+$",
    re.IGNORECASE,
)
_PRICE_BEFORE = re.compile(r"\b(?:prices?|quotes?|trading)\s+(?:of|for|at)\s+$", re.IGNORECASE)
_ENDS = re.compile(r"\s*(?:$|[?.!,;)]|(?:and|or|vs|now|today|right|currently|please)\b)", re.IGNORECASE)
_TRADES = re.compile(
    r"\s+(?:(?:is|are|was|been|currently|now)\s+)*"
    r"(?:doing|trading|traded?|trades|clos(?:e|ed|ing)|opened|up|down|price|falling|rising|fell|rose|dropp(?:ed|ing)|at)\b",
    re.IGNORECASE,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?\n]\s*)[\s\"'(]*$")
_BETWEEN_TWO = re.compile(r"(?:'s)?\s*(?:,|&|/|,?\s(?:and|or|vs|versus|to|with)\b)\s*", re.IGNORECASE)


class _Hit(NamedTuple):
    """A symbol, where it stands, and whether it is one by itself or only beside another."""

    start: int
    end: int
    symbol: str
    sure: bool


def find_symbols(text: str | None) -> list[str]:
    """Return the symbols ``text`` names, each once, in the order of the text.

    Capitals are a symbol unless people write them for something else (CEO, USA, IT); after ``$`` any letters
    are. A company is known by its name, where that is no plain word or the words around it speak of stocks.

    >>> find_symbols("Is $aapl above MSFT? My CEO in the USA holds BRK.B and Tesla shares.")
    ['AAPL', 'MSFT', 'BRK.B', 'TSLA']
    >>> find_symbols("I ate an apple"), find_symbols("apple stock price")
    ([], ['AAPL'])
    """
    if not text:
        return []
    text = unicodedata.normalize("NFC", text[:_MOST_READ]).replace("\u2019", "'")
    hits: list[_Hit] = []
    for hit in (*_marked(text), *_named(text), *_capitals(text), *_small(text)):  # the surer reading first
        if not any(hit.start < other.end and other.start < hit.end for other in hits):
            hits.append(hit)
    hits.sort()
    return list(dict.fromkeys(hit.symbol for hit in _with_neighbours(text, hits)))


def _marked(text: str) -> Iterator[_Hit]:
    """Yield what is marked as a symbol: by ``$``, by the name of an exchange, by the word "ticker"."""
    for found in _MARKED.finditer(text):
        group = found.lastindex or 0
        symbol = _symbol(found[group])
        if not (text[found.start()] == "$" and symbol in _CURRENCIES):
            yield _Hit(found.start(), found.end(), symbol, sure=True)


def _named(text: str) -> Iterator[_Hit]:
    """Yield companies by their names."""
    for found in _NAMES.finditer(text):
        name = " ".join(found[1].casefold().split())
        before, after = _before(text, found.start()), text[found.end() : found.end() + _LOOKED_AT]
        sure = name not in PLAIN_WORDS or bool(_STOCK_AFTER.match(after) or _STOCK_BEFORE.search(before))
        if not sure and _PRICE_BEFORE.search(before):
            sure = bool(_ENDS.match(after))
        if not sure and found[1][0].isupper() and name not in {"target", "gap"}:
            inside = not (found[1].isupper() or _SENTENCE_START.search(before))
            sure = inside or bool(_TRADES.match(after))
        yield _Hit(found.start(), found.end(), COMPANIES[name], sure)


def _capitals(text: str) -> Iterator[_Hit]:
    """Yield words in capitals that are no abbreviation of something else."""
    found_all = list(_CAPITALS.finditer(text))
    shouted = text.isupper() and any(found[1] in NO_SYMBOLS for found in found_all)
    for found in found_all:
        symbol = _symbol(found[1])
        if symbol.partition(".")[0] in NO_SYMBOLS:
            if symbol in _OF_COMPANIES:
                yield _Hit(found.start(), found.end(), symbol, bool(_STOCK_AFTER.match(text, found.end())))
            continue
        before = _before(text, found.start())
        known = symbol in KNOWN_SYMBOLS or "." in symbol
        spoken_of = (
            _STOCK_AFTER.match(text, found.end())
            or _STOCK_BEFORE.search(before)
            or _PRICE_BEFORE.search(before)
        )
        yield _Hit(found.start(), found.end(), symbol, not shouted or known or bool(spoken_of))


def _small(text: str) -> Iterator[_Hit]:
    """Yield well-known symbols in small letters."""
    for found in _SMALL.finditer(text):
        symbol = _symbol(found[1])
        if symbol in KNOWN_SYMBOLS:
            yield _Hit(found.start(), found.end(), symbol, sure=True)


def _with_neighbours(text: str, hits: list[_Hit]) -> list[_Hit]:
    """Return the sure ones, and those that stand beside a sure one in a list: "apple and tesla stock"."""
    sure = [hit.sure for hit in hits]
    for order in (range(1, len(hits)), range(len(hits) - 2, -1, -1)):
        step = 1 if order.step > 0 else -1
        for at in order:
            left, right = sorted((hits[at], hits[at - step]))
            if sure[at - step] and _BETWEEN_TWO.fullmatch(text, left.end, right.start):
                sure[at] = True
    return [hit for hit, kept in zip(hits, sure, strict=True) if kept]


def _before(text: str, at: int) -> str:
    """Return what stands right before ``at``."""
    return text[max(0, at - _LOOKED_AT) : at]


def _symbol(written: str) -> str:
    """Return a symbol as exchanges write it.

    >>> _symbol("brk-b")
    'BRK.B'
    """
    return written.upper().replace("-", ".").replace("/", ".")
