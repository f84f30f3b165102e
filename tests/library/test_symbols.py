from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentctx_nb.library.companies import COMPANIES, KNOWN_SYMBOLS, PLAIN_WORDS
from agentctx_nb.library.symbol_words import NO_SYMBOLS
from agentctx_nb.library.symbols import find_symbols

PHRASINGS = [
    # marked with a dollar
    ("$AAPL", ["AAPL"]),
    ("how is $aapl doing", ["AAPL"]),
    ("$tsla $msft", ["TSLA", "MSFT"]),
    ("Is $T a buy?", ["T"]),
    ("$brk.b", ["BRK.B"]),
    ("thoughts on $BRK-B?", ["BRK.B"]),
    ("$AI is up", ["AI"]),
    ("$AAPL/$MSFT pair", ["AAPL", "MSFT"]),
    ("$AAPL's price", ["AAPL"]),
    ("$AAPL.", ["AAPL"]),
    ("it costs $100 or $5k", []),
    ("paid in $USD", []),
    ("US$ 20", []),
    # in capitals
    ("AAPL", ["AAPL"]),
    ("What is the price of AAPL?", ["AAPL"]),
    ("price AAPL", ["AAPL"]),
    ("AAPL, MSFT and GOOG", ["AAPL", "MSFT", "GOOG"]),
    ("AAPL MSFT NVDA", ["AAPL", "MSFT", "NVDA"]),
    ("compare AMD vs NVDA", ["AMD", "NVDA"]),
    ("AAPL AAPL $AAPL aapl", ["AAPL"]),
    ("Buy QQQ or VOO?", ["QQQ", "VOO"]),
    ("NVDA's earnings", ["NVDA"]),
    ("(AAPL)", ["AAPL"]),
    ("AAPL?", ["AAPL"]),
    ("How did PLTR close yesterday?", ["PLTR"]),
    ("show me GE and KO", ["GE", "KO"]),
    ("BRK.B", ["BRK.B"]),
    ("BRK/B price", ["BRK.B"]),
    ("BRK-A vs BF.B", ["BRK.A", "BF.B"]),
    # marked by words
    ("(NASDAQ: AAPL)", ["AAPL"]),
    ("NYSE:F", ["F"]),
    ("NYSE: AI", ["AI"]),
    ("ticker F", ["F"]),
    ("the ticker symbol is V", ["V"]),
    ("shares of F", ["F"]),
    ("F stock", ["F"]),
    # other exchanges
    ("price of VOD.L", ["VOD.L"]),
    ("7203.T and 0700.HK", ["7203.T", "0700.HK"]),
    ("SAP.DE, RY.TO", ["SAP.DE", "RY.TO"]),
    # by name
    ("apple stock", ["AAPL"]),
    ("Apple's stock price", ["AAPL"]),
    ("what's apple's share price", ["AAPL"]),
    ("stock price of apple", ["AAPL"]),
    ("price of Apple today", ["AAPL"]),
    ("How is Apple trading?", ["AAPL"]),
    ("Apple is up today, why?", ["AAPL"]),
    ("how is tesla doing", ["TSLA"]),
    ("Tesla", ["TSLA"]),
    ("Microsoft and Google shares", ["MSFT", "GOOGL"]),
    ("apple and microsoft stock", ["AAPL", "MSFT"]),
    ("compare nvidia with intel", ["NVDA", "INTC"]),
    ("coca cola shares", ["KO"]),
    ("AT&T stock", ["T"]),
    ("is Bank of America a good buy", ["BAC"]),
    ("berkshire hathaway", ["BRK.B"]),
    ("HP stock", ["HPQ"]),
    ("should I invest in meta", ["META"]),
    ("facebook stock", ["META"]),
    ("GM stock", ["GM"]),
    ("BA and LMT", ["BA", "LMT"]),
    ("Johnson & Johnson stock", ["JNJ"]),
    ("what’s Amazon’s stock at", ["AMZN"]),
    ("TESLA stock please", ["TSLA"]),
    # symbols in small letters
    ("aapl price", ["AAPL"]),
    ("price of tsla and msft", ["TSLA", "MSFT"]),
    ("brk.b price", ["BRK.B"]),
    # shouted
    ("WHAT IS THE PRICE OF AAPL STOCK", ["AAPL"]),
    ("HOW IS TESLA STOCK DOING TODAY", ["TSLA"]),
    ("PRICE OF ZYXI NOW", ["ZYXI"]),
    # mixed
    ("Is $aapl above MSFT? My CEO in the USA holds BRK.B and Tesla shares.", ["AAPL", "MSFT", "BRK.B", "TSLA"]),
]  # fmt: skip

NO_SYMBOL = [
    "",
    "   ",
    "I",
    "A stock",
    "I think IT is fine",
    "Our CEO lives in the USA",
    "What is the stock market?",
    "Is the stock market open?",
    "IT stocks are up",
    "AI stocks and EV stocks",
    "the S&P 500 and the NASDAQ",
    "US market outlook for Q3",
    "What does IPO mean? And ETF, EPS, P/E?",
    "I ate an apple",
    "apple prices at the farmers market",
    "the gap between price and value",
    "Target price reached",
    "my price target is high",
    "How do I price a product?",
    "Do you accept visa?",
    "price of gold in USD",
    "price of gas",
    "BTC and ETH prices",
    "PLEASE HELP ME NOW",
    "WHY IS IT SO HIGH",
    "SELL everything NOW, the CEO said OK",
    "e.g. the U.S. at 5 P.M. or I.T.",
    "She has a PhD and works in R&D",
    "email me@AAPL.com or see foo/AAPL/bar",
    "the file README.MD",
    "trading hours in NYC",
    "What is a spy novel? I snap a picture, zoom in.",
    "the meta question",
    "google it",
    "the API returns JSON over HTTP",
    "mmm, soup and dal",
    "mRNA and mrna vaccines",
    "#AAPL_x",
    "Call me ASAP, FYI",
    "Good morning GM everyone",
]


@pytest.mark.parametrize(("text", "symbols"), PHRASINGS)
def test_symbols_are_found_in_the_order_of_the_text(text, symbols):
    assert find_symbols(text) == symbols


@pytest.mark.parametrize("text", NO_SYMBOL)
def test_words_in_capitals_and_plain_words_are_no_symbols(text):
    assert find_symbols(text) == []


def test_the_table_has_at_least_sixty_phrasings():
    assert len({text for text, _ in PHRASINGS}) == len(PHRASINGS) >= 60
    assert len(set(NO_SYMBOL)) == len(NO_SYMBOL) >= 30


@pytest.mark.parametrize("symbol", sorted(KNOWN_SYMBOLS))
def test_every_known_symbol_is_found_in_capitals_and_in_small_letters(symbol):
    assert find_symbols(f"what about {symbol} today") == [symbol]
    assert find_symbols(f"what about {symbol.lower()} today") == [symbol]


@pytest.mark.parametrize("name", sorted(COMPANIES))
def test_every_company_is_found_by_its_name_beside_the_word_stock(name):
    assert find_symbols(f"{name} stock") == [COMPANIES[name]]
    assert find_symbols(f"what is the {name.title()} share price?") == [COMPANIES[name]]


def test_the_tables_hold_together():
    assert set(COMPANIES) >= PLAIN_WORDS
    assert not KNOWN_SYMBOLS & NO_SYMBOLS
    assert all(word == word.upper() for word in NO_SYMBOLS)


@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            (
                "$",
                "AAPL",
                "apple",
                " ",
                "stock",
                ".",
                "-",
                "B",
                " and ",
                ",",
                "'s",
                "T",
                "price of ",
                "$brk.b",
            )
        )
    ).map("".join)
)
def test_any_text_gives_symbols_and_each_once(text):
    found = find_symbols(text)
    assert len(set(found)) == len(found)
    assert all(symbol == symbol.upper() != "" for symbol in found)


def test_a_long_message_is_read_at_its_beginning_only():
    assert find_symbols("AAPL " + "x" * 1_000_000) == ["AAPL"]
    assert find_symbols("stock " * 100_000 + "AAPL") == []
