"""Keywords wake on the words of a message: tables of examples."""

from __future__ import annotations

import pytest

from agentctx_nb.keywords import KeywordIndex

WORD_EXAMPLES = [
    # keyword, message, does it match
    ("rain", "Will it rain?", True),
    ("rain", "RAIN!", True),
    ("Rain", "rain", True),
    ("rain", "rain", True),
    ("rain", "(rain)", True),
    ("rain", "sun,rain,snow", True),
    ("rain", "`rain`", True),
    ("rain", "the train", False),
    ("rain", "my brain", False),
    ("rain", "3rain", False),
    ("rain", "rain3", False),
    ("rain", "rain_case", False),
    ("rain", "my_rain", False),
    ("rain", "raining", False),
    ("rain", "rain-coat", True),
    ("rain", "", False),
    ("rain", "ra in", False),
    ("rain", "r\u0430in", False),  # a Cyrillic a
    ("rain", "ra\u00adin", True),  # soft hyphen
    ("rain", "\ufeffrain", True),
    ("rain", "\uff32\uff21\uff29\uff2e", True),  # full width
    ("rain", "rain\u0301", False),  # another letter than n
    ("rain", "train rain", True),
    # plural and possessive tails
    ("stock", "stocks", True),
    ("stock", "stock's", True),
    ("stock", "stock\u2019s", True),
    ("stock", "stocks'", True),
    ("stock", "Stocks\u2019", True),
    ("stock", "stockings", False),
    ("stock", "stockes", False),
    ("stock", "stocks_", False),
    ("stock", "stockss", False),
    ("stock_", "stock_s", False),
    ("stocks", "stock", False),
    ("box", "boxes", True),
    ("class", "classes", True),
    ("class", "classs", False),
    ("dish", "dishes", True),
    ("potato", "potatoes", True),
    ("rat", "rates", False),
    ("currency", "currencies", True),
    ("day", "days", True),
    ("day", "daies", False),
    ("737", "737s", True),
    ("a", "as", False),
    ("big city", "two big cities", True),
    ("price target", "price targets", True),
    ("price target", "prices target", False),
    # runs of spaces and hyphens
    ("how to", "how  to", True),
    ("how to", "how-to", True),
    ("how to", "how\nto", True),
    ("how to", "how \u2014 to", True),
    ("how to", "how\u00a0to", True),
    ("how to", "how\u2011to", True),
    ("how to", "show to", False),
    ("how to", "how tomorrow", False),
    ("how to", "howto", False),
    ("how to", "how, to", False),
    ("e-mail", "e mail", True),
    ("e-mail", "E\u2010Mails", True),
    ("e-mail", "email", False),
    ("--help", "try --help", True),
    # apostrophes
    ("don't", "don\u2019t", True),
    ("don\u02bct", "don't", True),
    ("o'clock", "at five o\uff07clock", True),
    # folding
    ("stra\u00dfe", "STRASSE", True),
    ("STRASSE", "stra\u1e9ee", True),  # capital sharp s
    ("caf\u00e9", "cafe\u0301", True),
    ("cafe", "caf\u00e9", False),
    ("file", "\ufb01le", True),  # the fi ligature
    ("rain", "\U0001d411\U0001d400\U0001d408\U0001d40d", True),  # mathematical bold capitals
    ("J\u0323\u030c", "j\u0323\u030c", True),  # folding leaves its marks in another order
    ("\u03c3\u03bf\u03c6\u03bf\u03c2", "\u03a3\u039f\u03a6\u039f\u03a3", True),  # Greek final sigma
    # scripts without spaces
    ("\u5929\u6c14", "\u4eca\u5929\u5929\u6c14\u5f88\u597d", True),
    ("\u5929\u6c14", "\u5929 \u6c14", False),
    ("\u96e8", "rain\u96e8", True),
    ("\u30ab\u30e9\u30b9", "\uff76\uff97\uff7d\u304c\u9cf4\u304f", True),  # half-width katakana
    ("\u30ab", "\u304c\u30ac", False),  # ka is not ga
    ("\ube44", "\ube44\uac00 \uc640\uc694", True),
    ("\u0e1d\u0e19", "\u0e27\u0e31\u0e19\u0e19\u0e35\u0e49\u0e1d\u0e19\u0e15\u0e01", True),
    ("\u0e19", "\u0e19\u0e49\u0e33", True),  # whatever tone mark is on it there
    ("\u0e01\u0e32\u0e23", "\u0e01\u0e32\u0e23\u0e4c\u0e15\u0e39\u0e19", True),
    ("\u0e4c\u0e15", "\u0e01\u0e32\u0e23\u0e4c\u0e15\u0e39\u0e19", True),
    ("5g \u0e01\u0e32\u0e23", "5g-\u0e01\u0e32\u0e23\u0e4c", True),
    ("5g \u0e01\u0e32\u0e23", "15g-\u0e01\u0e32\u0e23\u0e4c", False),
    ("\u0e3f", "\u0e3f\u0e48", False),  # a symbol, not a letter
    ("\u0e9d\u0ebb\u0e99", "\u0e81\u0e9d\u0ebb\u0e99\u0e95", True),
    ("\u1797\u17d2\u179b", "\u1797\u17d2\u179b\u1780", True),
    ("bitcoin", "\u4eca\u5929bitcoin\u4ef7\u683c", True),
    ("5g\u624b\u673a", "15g\u624b\u673a", False),
    ("5g\u624b\u673a", "\u4e705g\u624b\u673a\u5417", True),
    # symbols at an end
    ("c++", "I like C++.", True),
    ("c++", "c++17", True),
    ("c++", "abc++", False),
    ("c++", "c+", False),
    (".net", "asp.net", True),
    (".net", ".network", False),
    (".net", "the .NET", True),
    ("$aapl", "buy $AAPL now", True),
    ("$aapl", "US$AAPL", True),
    ("$aapl", "$aaplx", False),
    ("#", "C#", True),
    ("\U0001f327", "rain\U0001f327now", True),
    ("\u2764", "I \u2764\ufe0f you", True),
    ("(a+)+$", "what is (a+)+$ ?", True),
    ("a.b", "axb", False),
    # combining marks belong to their letter
    ("\u0939\u093f\u0928", "\u0939\u093f\u0928\u094d\u0926\u0940", False),
    ("\u0939\u093f\u0928\u094d\u0926\u0940", "\u0939\u093f\u0928\u094d\u0926\u0940 \u092e\u0947\u0902", True),
    ("q", "q\u0307", False),
]


def woken(keyword: str, message: str, mode: str = "word") -> bool:
    index = KeywordIndex()
    index.add("P", [keyword], mode=mode)  # type: ignore[arg-type]
    found = index.match(message)
    assert found in ({}, {"P": (keyword,)})
    return bool(found)


@pytest.mark.parametrize(("keyword", "message", "expected"), WORD_EXAMPLES)
def test_a_keyword_matches_as_a_whole_word(keyword: str, message: str, expected: bool) -> None:
    assert woken(keyword, message) is expected


@pytest.mark.parametrize(
    ("keyword", "message", "expected"),
    [
        ("rain", "raining", True),
        ("rain", "rain", True),
        ("rain", "rain_case", True),
        ("rain", "train", False),
        ("rain", "_rain", False),
        ("how to", "how tomorrow", True),
        ("how to", "show tomorrow", False),
        ("c++", "c++17", True),
        ("\u5929", "\u4eca\u5929\u6c14", True),
        ("caf\u00e9", "caf\u00e9teria", True),
        ("cit", "cities", True),
    ],
)
def test_a_prefix_keyword_only_has_to_begin_a_word(keyword: str, message: str, expected: bool) -> None:
    assert woken(keyword, message, "prefix") is expected


@pytest.mark.parametrize(
    ("keyword", "message", "expected"),
    [
        ("rain", "training", True),
        ("rain", "RA\u00adIN", True),
        ("rain", "ra in", False),
        ("how to", "show-tomorrow", True),
        ("t-r", "hot  rain", True),
        ("+", "c++", True),
        ("\u6c14", "\u5929\u6c14", True),
        ("city", "cities", False),
    ],
)
def test_a_substring_keyword_matches_anywhere(keyword: str, message: str, expected: bool) -> None:
    assert woken(keyword, message, "substring") is expected


# ---- the index as a whole
