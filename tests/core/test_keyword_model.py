"""The keyword index against a naive model of its rules, and against hostile input."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentctx_nb.keywords import KeywordIndex


def woken(keyword: str, message: str, mode: str = "word") -> bool:
    index = KeywordIndex()
    index.add("P", [keyword], mode=mode)  # type: ignore[arg-type]
    return index.match(message) == {"P": (keyword,)}


APOSTROPHES = "'`\u00b4\u02bc\u2018\u2019\uff07"
DASHES = "-\u2010\u2011\u2013\u2014\u2212"
INVISIBLE = "\u00ad\u2060\ufe0f\ufeff"
PLAIN = str.maketrans(
    {**dict.fromkeys(APOSTROPHES, "'"), **dict.fromkeys(DASHES, " "), **dict.fromkeys(INVISIBLE)}
)


def model_fold(text: str) -> str:
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text.translate(PLAIN)).casefold()
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).translate(PLAIN)).strip(" ")


def is_mark(char: str) -> bool:
    return unicodedata.category(char) in ("Mn", "Mc", "Me") or char in "\u200c\u200d"


def is_word(char: str) -> bool:
    name = unicodedata.name(char, "")
    unspaced = name.startswith(("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER"))
    return (char.isalnum() or char == "_") and not unspaced


def is_unspaced(char: str) -> bool:
    """Whether it is a letter, or a sign on one, of a script that writes no spaces."""
    scripts = ("CJK", "HIRAGANA", "KATAKANA", "COMBINING KATAKANA", "HANGUL", "THAI", "LAO", "KHMER")
    return unicodedata.category(char)[0] in "LM" and unicodedata.name(char, "").startswith(scripts)


def base(text: str, place: int) -> str:
    """The character that the one at ``place`` stands on: itself if it is no mark."""
    while place >= 0 and is_mark(text[place]):
        place -= 1
    return text[place] if place >= 0 and text[place] != " " else "\u0301"  # a mark with nothing under it


def in_word(text: str, place: int) -> bool:
    char = base(text, place)
    return is_word(char) or is_mark(char)


def model_plurals(keyword: str) -> set[str]:
    found = {keyword}
    if in_word(keyword, len(keyword) - 1) and keyword[-1] != "_":
        start = len(keyword)
        while start and keyword[start - 1] != " " and in_word(keyword, start - 1):
            start -= 1
        last = keyword[start:]
        if len(last) > 1:
            found |= {keyword + "s"} if not last.endswith("s") else set()
            found |= {keyword + "es"} if re.search("(s|x|z|ch|sh|o)$", last) else set()
            if len(last) > 2 and last[-1] == "y" and last[-2].isalpha() and last[-2] not in "aeiou":
                found.add(keyword[:-1] + "ies")
    return found


def model_match(keyword: str, message: str, mode: str) -> bool:
    keyword, message = model_fold(keyword), model_fold(message)
    if mode == "substring" or all(char == " " or is_unspaced(char) for char in keyword):
        return keyword in message
    for form in model_plurals(keyword) if mode == "word" else {keyword}:
        for start in range(len(message)):
            if not message.startswith(form, start):
                continue
            end = start + len(form)
            before, after = message[start - 1] if start else " ", (message + " ")[end]
            if is_mark(form[0]):
                left = before == " "
            else:
                left = not is_word(form[0]) or before == " " or not in_word(message, start - 1)
            right = after == " " or not (is_mark(after) or (is_word(after) and in_word(message, end - 1)))
            if left and (right or mode == "prefix" or is_unspaced(keyword[-1])):
                return True
    return False


ALPHABET = "aabbssxyEeo1_  --''.+\u00df\u1e9e\u00e9\u0301\u0323\u0130\u2019\u2014\u00a0\u00ad\ufe0f\u200d"
ALPHABET += (
    "\u5929\u6c14\u304b\u3099\uff76\uff9e\uac00\u0e19\u0e49\u0939\u093f\u094d\u2764\U0001f327\ufb01\u0149"
)
TEXTS = st.text(ALPHABET, max_size=14)
KEYWORDS = st.text(ALPHABET, min_size=1, max_size=5).filter(model_fold)
MODES = st.sampled_from(["word", "prefix", "substring"])


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.tuples(st.lists(KEYWORDS, max_size=4), MODES), max_size=4),
    st.lists(st.one_of(TEXTS, st.text(max_size=12)), min_size=1, max_size=3),
    st.booleans(),
    st.data(),
)
def test_the_index_agrees_with_the_rules_applied_one_by_one(
    providers: list[tuple[list[str], str]], texts: list[str], replace: bool, data: st.DataObject
) -> None:
    index = KeywordIndex()
    listed = {f"P{number}": each for number, each in enumerate(providers)}
    for name, (keywords, mode) in listed.items():
        if replace:  # whatever was there before must not be seen
            index.add(name, ["a", "b b", "\u5929"], mode="prefix")
            index.match("a b b \u5929")
        index.add(name, keywords, mode=mode)  # type: ignore[arg-type]
    every = [keyword for keywords, _ in providers for keyword in keywords]
    if every:  # a message made of the keywords hits far more often than a random one
        parts = st.lists(st.one_of(st.sampled_from(every), st.text(ALPHABET, max_size=2)), max_size=5)
        texts = [*texts, "".join(data.draw(parts))]
    for text in texts:
        expected = {
            name: hits
            for name, (keywords, mode) in listed.items()
            if (hits := tuple(keyword for keyword in keywords if model_match(keyword, text, mode)))
        }
        assert index.match(text) == expected
        misses = {(miss.provider, miss.keyword) for miss in index.near_misses(text)}
        assert misses == {
            (name, keyword)
            for name, (keywords, mode) in listed.items()
            for keyword in keywords
            if model_fold(keyword) in model_fold(text) and not model_match(keyword, text, mode)
        }


@settings(max_examples=200, deadline=None)
@given(
    st.text("ab .\u5929", min_size=60, max_size=140).filter(model_fold), st.text("ab .", max_size=3), MODES
)
@example("ab " * 40, "", "word")
@example("a" * 64, "a", "word")
@example("a" * 65, "a", "prefix")
def test_a_long_keyword_is_held_to_the_same_rules(keyword: str, around: str, mode: str) -> None:
    for text in (around + keyword + around, keyword[1:] + around, keyword[:-1] + " " + keyword):
        assert woken(keyword, text, mode) is model_match(keyword, text, mode)


# ---- hostile input

HUGE = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        "a" * HUGE,
        " " * HUGE,
        "-" * HUGE,
        "\u0301\u0323" * (HUGE // 2),
        "a" + "\u0301\u0323" * (HUGE // 2),
        "\u0f73" * (HUGE // 4),
        "a " * HUGE,
        "a." * (HUGE // 8),
        "\0" * (HUGE // 8),
        "\u5929" * (HUGE // 8),
        "\ufdfa" * 20_000,
    ],
    ids=lambda text: f"{text[:2]!a} x {len(text)}",
)
def test_a_huge_message_takes_seconds_at_most(text: str) -> None:
    index = KeywordIndex()
    keywords = ["a" * 40 + "b", "a " * 40 + "b", "a." * 40 + "b", "\u5929" * 40 + "b", "a" * 100_000 + "b"]
    index.add("WORD", keywords)
    index.add("ANYWHERE", keywords, mode="substring")
    start = time.thread_time()
    assert index.match(text) == {}
    index.near_misses(text)
    assert time.thread_time() - start < 10  # quadratic work would be hours, so any machine may run this


def test_huge_keywords_and_metacharacters_are_only_text() -> None:
    index = KeywordIndex()
    keywords = ["x" * 100_000, "y " * 50_000, "(a+)+$", ".*", "[", "\\", "\u0301\u0323" * 50_000]
    index.add("P", keywords)
    assert index.match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa xyz [ (a+)+ .") == {"P": ("[",)}
    assert index.match(" ".join(keywords[:2]))["P"] == tuple(keywords[:2])
    assert index.match("\\ and .*") == {"P": (".*", "\\")}


def test_a_lone_surrogate_does_no_harm() -> None:
    assert woken("rain", "\ud800 rain")
    assert woken("\ud800", "x\ud800")
