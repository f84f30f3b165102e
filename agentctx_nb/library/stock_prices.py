"""STOCK_PRICES: what the stocks a message speaks of cost, by Finnhub, all asked for at once.

Settings: ``STOCK_API_KEY`` (a free one from finnhub.io; best given as a secret), ``STOCK_BASE_URL`` and
``STOCK_TIMEOUT`` (seconds). The key travels in a header, so that no address in an error or a log holds it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeGuard

from agentctx_nb.library.answers import is_number
from agentctx_nb.library.http_client import TIMEOUT_SECONDS, ServiceError, fetch
from agentctx_nb.library.service_settings import address, number
from agentctx_nb.library.symbols import find_symbols
from agentctx_nb.moments import iso
from agentctx_nb.provider import Provider, ProviderResult

if TYPE_CHECKING:
    from agentctx_nb.model import Memory

__all__ = ["STOCK_PRICES"]

_LAST_SECOND = 253_402_300_799  # of the year 9999, after which Python has no dates
_MOST_SYMBOLS = 20  # the free plan allows 30 requests in a second
_REFUSALS = {
    401: "Finnhub does not accept the key in STOCK_API_KEY",
    403: "Finnhub does not give this price to the plan of STOCK_API_KEY",
    429: "Finnhub's limit of requests is reached; ask again in a minute",
}


async def _stock_prices(runtime: Any, message: Memory) -> ProviderResult:
    symbols = find_symbols(message.content.text)
    if not symbols:
        return ProviderResult()
    key = runtime.get_setting("STOCK_API_KEY")
    if not isinstance(key, str) or not key.strip():
        runtime.logger.warning(
            "STOCK_PRICES: there is no STOCK_API_KEY; get a free key from finnhub.io and set it as a secret"
        )
        return ProviderResult()
    asked, left_out = symbols[:_MOST_SYMBOLS], symbols[_MOST_SYMBOLS:]
    if left_out:
        runtime.logger.warning(
            "STOCK_PRICES: %d symbols are too many, left out: %s", len(symbols), ", ".join(left_out)
        )
    base = address(runtime, "STOCK_BASE_URL", "https://finnhub.io/api/v1")
    timeout = number(runtime, "STOCK_TIMEOUT", TIMEOUT_SECONDS, least=0.01, most=600)
    answers = await asyncio.gather(*(_price(runtime, symbol, base, key.strip(), timeout) for symbol in asked))
    prices = [answer for answer in answers if isinstance(answer, dict)]
    failures = [answer for answer in answers if isinstance(answer, ServiceError)]
    unknown = [symbol for symbol, answer in zip(asked, answers, strict=True) if answer is None]
    if failures and not prices:
        raise failures[0]  # nothing to show is no empty result, but a failed one
    failed = {
        symbol: str(answer)
        for symbol, answer in zip(asked, answers, strict=True)
        if isinstance(answer, ServiceError)
    }
    for symbol, why in failed.items():
        runtime.logger.error("STOCK_PRICES: no price of %s: %s", symbol, why)
    if unknown:
        runtime.logger.warning("STOCK_PRICES: Finnhub knows no %s", ", no ".join(unknown))
    return ProviderResult(
        text="\n".join(["Stock prices:", *map(_line, prices)]) if prices else "",
        data={"prices": prices, "unknown": unknown, "failed": failed},
    )


async def _price(
    runtime: Any,
    symbol: str,
    base: str,
    key: str,
    timeout: float,  # noqa: ASYNC109  handed to fetch
) -> dict[str, Any] | ServiceError | None:
    """Return the price of one symbol, what went wrong with it, or None where nobody trades it."""
    try:
        answer = await fetch(
            runtime,
            base + "/quote",
            service="Finnhub",
            params={"symbol": symbol},
            headers={"X-Finnhub-Token": key},
            timeout=timeout,
        )
        if answer.status_code in _REFUSALS:
            return ServiceError(_REFUSALS[answer.status_code], status=answer.status_code)
        answer.raise_for_status()
        return _read(symbol, answer.json())
    except ServiceError as exc:
        return exc


def _read(symbol: str, quote: Any) -> dict[str, Any] | None:
    """Return a quote under the names of the reference page; zeros and nulls say that there is no such symbol."""
    price = quote.get("c") if isinstance(quote, Mapping) else None
    if not is_number(price):
        raise ServiceError("Finnhub answered without a price")
    if price == 0:
        return None
    change = quote.get("dp")
    traded = quote.get("t")
    return {
        "symbol": symbol,
        "price": _rounded(price),
        "change": round(change, 2) if is_number(change) else None,
        "changeAmount": quote.get("d"),
        "high": quote.get("h"),
        "low": quote.get("l"),
        "open": quote.get("o"),
        "previousClose": quote.get("pc"),
        "tradedAt": iso(datetime.fromtimestamp(traded, UTC)) if _is_moment(traded) else None,
    }


def _is_moment(seconds: object) -> TypeGuard[float]:
    return is_number(seconds, largest=_LAST_SECOND) and seconds > 0


def _line(price: Mapping[str, Any]) -> str:
    """Return the line of one stock.

    >>> _line({"symbol": "AAPL", "price": 189.5, "change": 1.2}), _line({"symbol": "F", "price": 11.0, "change": -0.5})
    ('AAPL: $189.5 (+1.2%)', 'F: $11 (-0.5%)')
    """
    change = price["change"]
    if change is None:
        return f"{price['symbol']}: ${_plain(price['price'])}"
    return f"{price['symbol']}: ${_plain(price['price'])} ({'+' if change > 0 else ''}{_plain(change)}%)"


def _rounded(price: float) -> float:
    """Return a price in whole cents, one below a dollar in four digits that count."""
    return round(price, 2) if abs(price) >= 1 else float(f"{price:.4g}")


def _plain(number_shown: float) -> str:
    """Return a number without zeros behind its fraction, as a template of the reference page shows it."""
    text = format(Decimal(repr(float(number_shown))), "f")
    text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


STOCK_PRICES = Provider(
    "STOCK_PRICES",
    _stock_prices,
    description="Current stock prices of the companies the message names",
    dynamic=True,
    relevance_keywords=("stock", "price", "trading", "market"),
)
