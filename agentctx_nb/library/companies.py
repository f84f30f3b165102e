"""Well-known companies by the names people use, and which of those names are plain words as well."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["COMPANIES", "KNOWN_SYMBOLS", "PLAIN_WORDS"]

COMPANIES: Mapping[str, str] = MappingProxyType(
    {
        "3m": "MMM", "abbvie": "ABBV", "accenture": "ACN", "adobe": "ADBE", "airbnb": "ABNB", "alibaba": "BABA",
        "alphabet": "GOOGL", "amazon": "AMZN", "amd": "AMD", "american airlines": "AAL",
        "american express": "AXP", "amex": "AXP", "apple": "AAPL", "applied materials": "AMAT", "asml": "ASML",
        "astrazeneca": "AZN", "at&t": "T", "bank of america": "BAC", "berkshire hathaway": "BRK.B",
        "berkshire": "BRK.B", "blackrock": "BLK", "block": "XYZ", "boeing": "BA", "booking": "BKNG",
        "bp": "BP", "broadcom": "AVGO", "caterpillar": "CAT", "chevron": "CVX", "chipotle": "CMG",
        "cisco": "CSCO", "citigroup": "C", "cloudflare": "NET", "coca cola": "KO", "coca-cola": "KO",
        "coinbase": "COIN", "comcast": "CMCSA", "costco": "COST", "crowdstrike": "CRWD", "datadog": "DDOG",
        "deere": "DE", "dell": "DELL", "delta": "DAL", "delta airlines": "DAL", "disney": "DIS",
        "doordash": "DASH", "dropbox": "DBX", "ebay": "EBAY", "eli lilly": "LLY", "etsy": "ETSY",
        "exxon": "XOM", "exxonmobil": "XOM", "facebook": "META", "fedex": "FDX", "ferrari": "RACE",
        "ford": "F", "gamestop": "GME", "gap": "GAP", "general electric": "GE", "general motors": "GM",
        "goldman sachs": "GS", "google": "GOOGL", "home depot": "HD", "honda": "HMC", "honeywell": "HON",
        "hp": "HPQ", "ibm": "IBM", "intel": "INTC", "intuit": "INTU", "johnson & johnson": "JNJ",
        "johnson and johnson": "JNJ", "jpmorgan": "JPM", "jp morgan": "JPM", "lockheed martin": "LMT",
        "lowes": "LOW", "lucid": "LCID", "lululemon": "LULU", "lyft": "LYFT", "mastercard": "MA",
        "mcdonald's": "MCD", "mcdonalds": "MCD", "merck": "MRK", "meta": "META", "micron": "MU",
        "microsoft": "MSFT", "moderna": "MRNA", "morgan stanley": "MS", "netflix": "NFLX", "nike": "NKE",
        "nio": "NIO", "nokia": "NOK", "novo nordisk": "NVO", "nvidia": "NVDA", "oracle": "ORCL",
        "palantir": "PLTR", "paypal": "PYPL", "peloton": "PTON", "pepsi": "PEP", "pepsico": "PEP",
        "pfizer": "PFE", "pinterest": "PINS", "procter & gamble": "PG", "qualcomm": "QCOM", "reddit": "RDDT",
        "rivian": "RIVN", "robinhood": "HOOD", "roblox": "RBLX", "roku": "ROKU", "salesforce": "CRM",
        "sap": "SAP", "servicenow": "NOW", "shell": "SHEL", "shopify": "SHOP", "snap": "SNAP",
        "snapchat": "SNAP", "snowflake": "SNOW", "sony": "SONY", "spotify": "SPOT", "starbucks": "SBUX",
        "super micro": "SMCI", "supermicro": "SMCI", "target": "TGT", "tesla": "TSLA",
        "texas instruments": "TXN", "toyota": "TM", "tsmc": "TSM", "twilio": "TWLO", "uber": "UBER",
        "unitedhealth": "UNH", "ups": "UPS", "verizon": "VZ", "visa": "V", "walmart": "WMT",
        "wells fargo": "WFC", "workday": "WDAY", "zoom": "ZM",
    }
)  # fmt: skip

PLAIN_WORDS = frozenset(
    (
        "alphabet", "amazon", "apple", "block", "booking", "bp", "caterpillar", "chevron", "delta", "dell",
        "ford", "gap", "google", "hp", "intel", "lucid", "merck", "meta", "micron", "oracle", "sap", "shell", "snap",
        "snowflake", "target", "uber", "ups", "visa", "zoom",
    )
)  # fmt: skip
"""Names that are words too: "apple" alone is a fruit, "apple stock" is not."""

# Symbols that are no word, so that small letters are enough for them; a few funds beside the companies.
KNOWN_SYMBOLS = frozenset(
    {symbol for symbol in COMPANIES.values() if len(symbol) > 2}
    | {"ARKK", "BRK.A", "GOOG", "IWM", "JEPI", "QQQ", "SCHD", "SOFI", "TQQQ", "VOO", "VTI"}
) - {
    "BLK", "CAT", "COIN", "COST", "CRM", "DAL", "DASH", "DELL", "DIS", "GAP", "HON", "HOOD", "LOW", "MCD", "META",
    "MMM", "MRNA", "NET", "NIO", "NOK", "NOW", "PEP", "PINS", "RACE", "SAP", "SHOP", "SNAP", "SNOW", "SPOT", "UBER",
    "UPS", "XYZ",
}  # fmt: skip
