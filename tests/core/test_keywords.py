"""The keyword index as it is filled, emptied and asked for near misses; keywords it refuses."""

from __future__ import annotations

import pytest

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.keywords import KeywordIndex, NearMiss, check_keywords


def test_all_overlapping_keywords_are_reported_in_their_own_order() -> None:
    index = KeywordIndex()
    index.add("WEATHER", ["rain coat", "snow", "rain", "heavy rain", "heavy rain coat"])
    assert index.match("a heavy rain coat") == {
        "WEATHER": ("rain coat", "rain", "heavy rain", "heavy rain coat")
    }


def test_providers_come_in_the_order_they_were_added() -> None:
    index = KeywordIndex()
    for name in ("Z", "A", "M"):
        index.add(name, ["rain"])
    assert list(index.match("rain")) == ["Z", "A", "M"]


def test_keywords_that_fold_alike_are_all_reported_as_written() -> None:
    index = KeywordIndex()
    index.add("P", ["Rain", "rain", "RAIN"])
    assert index.match("rains") == {"P": ("Rain", "rain", "RAIN")}


def test_each_provider_has_its_own_mode() -> None:
    index = KeywordIndex()
    index.add("WORD", ["rain"])
    index.add("PREFIX", ["rain"], mode="prefix")
    index.add("SUBSTRING", ["rain"], mode="substring")
    assert list(index.match("training")) == ["SUBSTRING"]
    assert list(index.match("raining")) == ["PREFIX", "SUBSTRING"]
    assert list(index.match("rain")) == ["WORD", "PREFIX", "SUBSTRING"]


def test_adding_a_provider_again_replaces_its_keywords() -> None:
    index = KeywordIndex()
    index.add("P", ["rain", "heavy snow"], mode="substring")
    assert index.match("rain") == {"P": ("rain",)}
    index.add("P", ["sun"])
    assert index.match("rain and heavy snow") == {}
    assert index.match("sun") == {"P": ("sun",)}
    assert len(index) == 1


def test_removing_a_provider_leaves_the_others() -> None:
    index = KeywordIndex()
    index.add("A", ["rain", "heavy rain"])
    index.add("B", ["rain"])
    assert list(index.match("heavy rain")) == ["A", "B"]
    index.remove("A")
    index.remove("NOBODY")
    assert index.match("heavy rain") == {"B": ("rain",)}


def test_an_index_is_true_only_while_it_holds_keywords() -> None:
    index = KeywordIndex()
    index.add("NONE", [])
    assert not index
    index.add("P", ["rain", "snow"])
    assert index
    assert len(index) == 2
    index.remove("P")
    assert not index
    assert index.match("rain") == {}


def test_an_unknown_mode_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(DefinitionError, match="did you mean 'prefix'"):
        KeywordIndex().add("P", ["rain"], mode="prefx")  # type: ignore[arg-type]


def test_an_emptied_index_keeps_nothing_of_what_it_held() -> None:
    index = KeywordIndex()
    for round_ in range(3):
        index.add("A", [f"rain{round_}", "heavy rain", "\u5929\u6c14", "c++"])
        index.add("B", [f"rain{round_}", "sn"], mode="substring")
        index.match("heavy rain")
    index.remove("A")
    index.remove("B")
    left = [index._owners, index._patterns, index._kept]
    for lookup in (index._edged, index._anywhere):
        left += [lookup._patterns, lookup._heads, lookup._sizes]
    assert left == [{}] * len(left)


def test_what_is_kept_between_messages_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentctx_nb.keywords._MOST_KEPT", 50)
    index = KeywordIndex()
    index.add("P", ["rain", "snow"])
    for number in range(300):
        assert index.match(f"word{number} rain") == {"P": ("rain",)}
        assert len(index._kept) <= 50
    before = len(index._kept)
    index.match("x" * 1_000)
    assert len(index._kept) == before


# ---- near misses


def test_a_keyword_inside_a_longer_word_is_a_near_miss() -> None:
    index = KeywordIndex()
    index.add("WEATHER", ["rain", "snow"])
    (miss,) = index.near_misses("The Train is late")
    assert miss == ("WEATHER", "rain", "Train")
    assert miss == NearMiss(provider="WEATHER", keyword="rain", word="Train")


def test_a_keyword_that_matched_elsewhere_is_no_near_miss() -> None:
    index = KeywordIndex()
    index.add("A", ["rain"])
    index.add("B", ["rains"])
    assert index.near_misses("trains in the rain") == [("B", "rains", "trains")]


def test_near_misses_follow_the_keywords_and_then_the_message() -> None:
    index = KeywordIndex()
    index.add("B", ["rain", "c++", "how to"])
    index.add("A", ["rain"], mode="prefix")
    index.add("S", ["rain"], mode="substring")
    assert index.near_misses("brain train abc++ brain show tomorrow") == [
        ("B", "rain", "brain"),
        ("B", "rain", "train"),
        ("B", "c++", "abc++"),
        ("B", "how to", "show tomorrow"),
        ("A", "rain", "brain"),
        ("A", "rain", "train"),
    ]


def test_a_keyword_has_at_most_ten_near_misses() -> None:
    index = KeywordIndex()
    index.add("P", ["rain"])
    assert len(index.near_misses(" ".join(f"train{number}" for number in range(50)))) == 10


def test_near_misses_look_at_the_first_part_of_a_huge_message_only() -> None:
    index = KeywordIndex()
    index.add("P", ["rain", "brain"])
    text = "x" * 99_994 + " brains train"  # cut off inside "brains"
    assert index.match(text) == {"P": ("brain",)}
    assert index.near_misses(text) == [("P", "rain", "brain")]
    assert index.near_misses("x" * 99_995 + " rainbow") == []


# ---- checking what the user wrote


def test_keywords_are_returned_as_written() -> None:
    assert check_keywords(None) == ()
    assert check_keywords("how to") == ("how to",)
    assert check_keywords([" Rain ", "C++", "Rain"]) == (" Rain ", "C++", "Rain")
    assert check_keywords(word for word in ("a", "b")) == ("a", "b")
    assert check_keywords({"b", "a", "c"}) == ("a", "b", "c")
    assert check_keywords([]) == ()


@pytest.mark.parametrize("blank", ["", "  ", "\t\n", "\u00a0", "\u200b", "\ufe0f", " - ", "\u2014"])
def test_a_blank_keyword_is_refused(blank: str) -> None:
    for keywords in (blank, ["rain", blank]):
        with pytest.raises(DefinitionError, match="blank") as caught:
            check_keywords(keywords)
        assert repr(blank) in str(caught.value)


@pytest.mark.parametrize("wrong", [7, b"rain", {"rain": 1}, object, ["rain", 7], ["rain", None], [["rain"]]])
def test_keywords_of_a_wrong_type_are_refused(wrong: object) -> None:
    with pytest.raises(DefinitionTypeError, match="must be a string"):
        check_keywords(wrong)
    with pytest.raises(DefinitionTypeError, match="not 7"):
        check_keywords(["rain", 7])


# ---- the model: the rules, one character at a time, one keyword at a time
