from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import pytest

from agentctx_nb.tokens import TokenCounter, best_counter, counter_name, estimate_tokens

# Counted once with o200k_base.
COUNTED = [
    ("The weather in Berlin is mild today, but tomorrow it will rain.", 14),
    ("async def get(runtime, message, state):\n    return {'text': 'hello'}\n", 17),
    ('{"id": 12345, "price": 99.5, "ok": true, "name": "Ada"}', 26),
    ("今天天气怎么样？我想知道明天会不会下雨。", 15),
    ("今日の天気はどうですか。明日は雨が降りますか。", 17),
    ("오늘 날씨는 어때요? 내일 비가 올까요?", 15),
    ("Какая сегодня погода? Завтра будет дождь?", 12),
]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_the_estimate_is_near_what_a_tokenizer_counts(text, tokens):
    assert abs(estimate_tokens(text) - tokens) / tokens <= 0.35


def test_the_estimate_beats_a_quarter_of_the_length():
    ours = sum(abs(estimate_tokens(text) - tokens) / tokens for text, tokens in COUNTED)
    quarter = sum(abs(len(text) / 4 - tokens) / tokens for text, tokens in COUNTED)
    assert ours < quarter / 2


def test_no_text_is_no_token_and_any_text_is_at_least_one():
    assert estimate_tokens("") == 0
    assert [estimate_tokens(text) for text in (" ", "a", "\n", "\ud800", "\x00")] == [1, 1, 1, 2, 1]


def test_two_megabytes_and_hostile_runs_are_counted_in_little_time():
    for text in ("word " * 400_000, " " * 500_000, "\n" * 500_000, "あ" * 500_000, "aB1" * 300_000):
        started = time.perf_counter()
        assert estimate_tokens(text) > 0
        assert time.perf_counter() - started < 5


def test_a_long_text_costs_what_its_parts_cost():
    sentence = "The weather in Berlin is mild today. "
    assert estimate_tokens(sentence * 10_000) == pytest.approx(10_000 * estimate_tokens(sentence), rel=0.1)


def test_a_text_that_was_estimated_is_not_looked_at_again(monkeypatch):
    text = "The weather in Berlin is mild today, as it was yesterday."
    tokens = estimate_tokens(text)
    monkeypatch.setattr("agentctx_nb.tokens._weigh", lambda _: 1_000)
    assert estimate_tokens("".join(list(text))) == tokens  # another object
    assert estimate_tokens(text + "!") == 1_000


def test_no_text_is_kept_by_its_estimate():
    text = "The weather in Berlin is mild today, " * 3
    before = sys.getrefcount(text)
    estimate_tokens(text)
    assert sys.getrefcount(text) == before


def test_without_the_extra_the_estimate_counts(monkeypatch):
    monkeypatch.setitem(sys.modules, "toktok", None)
    assert best_counter() == ("estimate", estimate_tokens)


def test_with_the_extra_toktok_counts_text_in_parts_it_can_take(monkeypatch):
    seen: list[str] = []

    def batch_count(texts, encoding):
        assert encoding == "o200k_base"
        seen.extend(texts)
        return [len(text.split()) for text in texts]

    monkeypatch.setitem(sys.modules, "toktok", SimpleNamespace(batch_count=batch_count))
    name, count = best_counter()
    assert name == "toktok o200k_base"
    assert count("half \ud800 one") == 3
    assert seen == ["half \ufffd one"]
    seen.clear()
    assert count("word " * 300_000) == 300_000  # no word is cut in two
    assert len(seen) == 3


def test_any_callable_is_a_counter_and_has_a_name():
    class Counter:
        def __call__(self, text: str, /) -> int:
            return len(text)

    counter: TokenCounter = Counter()
    assert counter_name(counter) == "Counter"
    assert counter_name(len) == "len"
    assert counter_name(estimate_tokens) == "estimate"
