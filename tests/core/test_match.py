"""runtime.match(text): what a text would wake and what nearly, without running anything."""

from __future__ import annotations

import pytest

from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.keywords import NearMiss


@pytest.fixture
def ran(runtime):
    """Register providers that note when they run, and return their notes."""
    notes = []
    for name, flags in (
        ("WEATHER", {"dynamic": True, "relevance_keywords": ["rain", "how to"]}),
        ("STOCKS", {"dynamic": True, "relevance_keywords": ["stock", "price"]}),
        ("STATIC", {"relevance_keywords": ["rain"]}),
        ("PRIVATE", {"private": True, "dynamic": True, "relevance_keywords": ["rain"]}),
        ("ALWAYS", {"always_run": True, "dynamic": True, "relevance_keywords": ["rain"]}),
    ):
        runtime.register_provider({"name": name, "get": lambda: notes.append(1), **flags})
    return notes


def test_woken_maps_names_to_all_keywords_that_hit_and_nothing_runs(runtime, ran):
    match = runtime.match("How-to trade stocks in the rain, and stock's price")
    assert match.woken == {"WEATHER": ("rain", "how to"), "STOCKS": ("stock", "price"), "ALWAYS": ("rain",)}
    assert ran == []


def test_only_dynamic_providers_that_are_not_private_are_told_of(runtime, ran):
    match = runtime.match("rain on the train")
    assert set(match.woken) == {"WEATHER", "ALWAYS"}
    assert {miss.provider for miss in runtime.match("train").near_misses} == {"WEATHER", "ALWAYS"}


def test_a_near_miss_names_the_word_the_keyword_stands_inside(runtime, ran):
    misses = runtime.match("My brain missed the Train; overpriced.").near_misses
    assert NearMiss("WEATHER", "rain", "brain") in misses
    assert NearMiss("WEATHER", "rain", "Train") in misses
    assert NearMiss("STOCKS", "price", "overpriced") in misses
    assert tuple(misses[0]) == ("WEATHER", "rain", "brain")
    assert runtime.match("My brain").woken == {}


def test_a_keyword_that_hits_is_no_near_miss(runtime, ran):
    assert runtime.match("rain in the train").near_misses == []


@pytest.mark.parametrize("text", ["", "   ", "sunny"])
def test_a_text_that_holds_nothing_matches_nothing(runtime, ran, text):
    match = runtime.match(text)
    assert (match.woken, list(match.near_misses)) == ({}, [])


def test_what_match_says_is_what_a_composition_does(runtime, ran):
    for text in ("rain", "train", "stocks", "how  to", "", "raining", "3rain", "rain_case", "RAIN!"):
        woken = runtime.match(text).woken
        state = runtime.compose(text)
        by_keyword = {row.provider for row in state.report if row.reason.startswith("keyword")}
        assert by_keyword == set(woken) - {"ALWAYS"}
        for name in by_keyword:
            assert state.report[name].keyword == ", ".join(woken[name])


def test_match_follows_the_registry(runtime, ran):
    runtime.register_provider(
        {"name": "WEATHER", "get": print, "dynamic": True, "relevance_keywords": ["snow"]}
    )
    runtime.unregister_provider("ALWAYS")
    assert runtime.match("rain and snow").woken == {"WEATHER": ("snow",)}
    runtime.register_provider({"name": "WEATHER", "get": print, "relevance_keywords": ["snow"]})
    assert runtime.match("rain and snow").woken == {}


def test_keyword_match_loosens_the_rule(runtime):
    for mode in ("word", "prefix", "substring"):
        runtime.register_provider(
            {"name": mode, "get": print, "dynamic": True, "relevanceKeywords": ["rain"], "keywordMatch": mode}
        )
    assert set(runtime.match("rain").woken) == {"word", "prefix", "substring"}
    assert set(runtime.match("raining").woken) == {"prefix", "substring"}
    assert set(runtime.match("train").woken) == {"substring"}


# One example of each sentence about keywords, through a composition; tests/core/test_keywords.py has the rest.
SENTENCES = [
    ("Both sides NFKC-normalised and case-folded", "Straße", "STRASSE", True),
    ("... full width", "rain", "ｒａｉｎ", True),
    ("apostrophes unified", "what's new", "What’s new?", True),
    ("a plural tail", "stock", "stocks", True),
    ("a possessive tail", "stock", "stock’s", True),
    ("not inside a word", "rain", "train brain 3rain rain_case raining", False),
    ("runs of spaces and hyphens", "how to", "how  to", True),
    ("... and hyphens", "how-to", "how to", True),
    ("... not none at all", "how to", "howto", False),
    ("Chinese", "天气", "今天天气怎么样", True),
    ("Thai", "ฝน", "วันนี้ฝนตก", True),
    ("Korean", "날씨", "오늘날씨는", True),
    ("a symbol at the end", "c++", "I write C++!", True),
    ("... not glued on its alphanumeric side", "c++", "abc++", False),
    ("... needs no edge on the symbol's side", "c++", "c++17", True),
    ("an emoji", "☔", "today☔again", True),
    ("decided by the keyword, never by the message", "rain", "今天rain吗", True),
]


@pytest.mark.parametrize(
    ("sentence", "keyword", "message", "wakes"), SENTENCES, ids=[s[0] for s in SENTENCES]
)
def test_each_sentence_about_keywords(runtime, sentence, keyword, message, wakes):
    runtime.register_provider(
        {"name": "X", "get": lambda: "x", "dynamic": True, "relevance_keywords": keyword}
    )
    assert (runtime.compose(message).text == "x") == wakes
    assert (runtime.match(message).woken == {"X": (keyword,)}) == wakes


@pytest.mark.parametrize("text", [None, 5, b"rain", ["rain"]])
def test_what_is_no_text_is_a_type_error(runtime, text):
    with pytest.raises(DefinitionTypeError, match="match takes the text of a message"):
        runtime.match(text)


def test_what_is_printed_names_the_near_misses_too(runtime):
    for n in range(7):
        runtime.register_provider(
            {"name": f"P{n}", "get": lambda: "x", "dynamic": True, "relevance_keywords": ["rain"]}
        )
    near = [f"NearMiss(provider='P{n}', keyword='rain', word='raining')" for n in range(5)]
    assert (
        repr(runtime.match("raining hard")) == f"Match(woken={{}}, near_misses=[{', '.join(near)}, … 2 more])"
    )
    assert repr(runtime.match("rain")).startswith("Match(woken={'P0': ('rain',)")
    assert "near_misses" not in repr(runtime.match("hello"))
