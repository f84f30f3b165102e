from __future__ import annotations

import asyncio
import logging

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.library import STOCK_PRICES
from agentctx_nb.library.http_client import ServiceError
from agentctx_nb.library.stock_prices import _line
from tests.library.loopback import KEY, Reply

QUOTE = "/api/v1/quote"


def ask(service, message, *, secrets=None, **settings):
    """Return the state of ``message`` composed with STOCK_PRICES alone."""

    async def run():
        given = {"STOCK_API_KEY": KEY} if secrets is None else secrets
        async with AgentRuntime(settings={**service.settings, **settings}, secrets=given) as runtime:
            runtime.register_provider(STOCK_PRICES)
            return await runtime.compose_state(message, ["STOCK_PRICES"], only_include=True)

    return asyncio.run(run())


def data(state):
    return state.data.providers["STOCK_PRICES"].data


def test_the_lines_are_the_page_s(service):
    state = ask(service, "price of $AAPL, MSFT and brk.b?")
    assert state.text.splitlines() == [
        "Stock prices:",
        "AAPL: $189.5 (+1.2%)",
        "MSFT: $420 (-0.5%)",
        "BRK.B: $455.13 (0%)",
    ]


def test_data_hold_the_prices(service):
    (price,) = data(ask(service, "AAPL"))["prices"]
    assert (price["symbol"], price["price"], price["change"]) == ("AAPL", 189.5, 1.2)
    assert (price["previousClose"], price["high"], price["low"], price["open"]) == (187.25, 190.1, 187, 187.2)
    assert (price["changeAmount"], price["tradedAt"]) == (2.25, "2026-01-01T12:00:00.000Z")


def test_a_price_below_a_dollar_keeps_the_digits_that_count(service):
    state = ask(service, "$NVDA")
    assert state.text == "Stock prices:\nNVDA: $0.1235 (0%)"
    assert data(state)["prices"][0]["tradedAt"] is None


def test_the_key_travels_in_a_header_only(service):
    ask(service, "AAPL")
    (asked,) = service.asked
    assert asked.query == {"symbol": "AAPL"}
    assert asked.headers["x-finnhub-token"] == KEY


def test_all_symbols_are_asked_for_at_once(service):
    service.delay = 0.2
    assert len(ask(service, "AAPL MSFT BRK.B NVDA").text.splitlines()) == 5
    assert service.most_at_once == 4


@pytest.mark.parametrize("text", ["is the stock market open?", "", "what does IPO mean"])
def test_a_message_without_a_symbol_asks_nothing_and_says_nothing(service, text):
    state = ask(service, text)
    assert (state.text, state.report["STOCK_PRICES"].outcome, service.asked) == ("", "empty", [])


@pytest.mark.parametrize("secrets", [{}, {"STOCK_API_KEY": ""}, {"STOCK_API_KEY": "  "}])
@pytest.mark.filterwarnings("ignore:the secret")
def test_without_a_key_there_is_a_sentence_in_the_log_and_no_text(service, caplog, secrets):
    with caplog.at_level(logging.WARNING):
        state = ask(service, "AAPL", secrets=secrets)
    assert (state.text, dict(state.errors), state.report["STOCK_PRICES"].outcome) == ("", {}, "empty")
    assert "there is no STOCK_API_KEY; get a free key from finnhub.io" in caplog.text
    assert service.asked == []


def test_the_key_may_be_a_plain_setting(service):
    assert "AAPL: $189.5" in ask(service, "AAPL", secrets={}, STOCK_API_KEY=f" {KEY}\n").text


def test_an_unknown_symbol_is_said_in_the_log_and_the_others_are_shown(service, caplog):
    with caplog.at_level(logging.WARNING):
        state = ask(service, "$AAPL $QQQQZ $ZZZZ")
    assert state.text == "Stock prices:\nAAPL: $189.5 (+1.2%)"
    assert data(state)["unknown"] == ["QQQQZ", "ZZZZ"]
    assert "STOCK_PRICES: Finnhub knows no QQQQZ, no ZZZZ" in caplog.text


def test_nothing_but_unknown_symbols_gives_no_text(service):
    state = ask(service, "$ZZZZ")
    assert (state.text, dict(state.errors)) == ("", {})
    assert data(state) == {"prices": [], "unknown": ["ZZZZ"], "failed": {}}


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(429, {"error": "API limit reached."}, {"Retry-After": "60"}), "limit of requests is reached; ask again in a minute"),
        (Reply(403, {"error": "You don't have access."}), "does not give this price to the plan of STOCK_API_KEY"),
        (Reply(401, {"error": "Invalid API key"}), "does not accept the key in STOCK_API_KEY"),
        (Reply(404, b"gone"), "Finnhub answered 404 (Not Found)"),
        (Reply(200, b"oops"), "Finnhub did not answer in JSON but 'oops'"),
        (Reply(200, {}), "Finnhub answered without a price"),
    ],
    ids=lambda value: value.status if isinstance(value, Reply) else None,
)  # fmt: skip
def test_what_goes_wrong_with_one_is_in_the_log_and_the_others_are_shown(service, caplog, reply, words):
    service.script(QUOTE, reply)
    with caplog.at_level(logging.WARNING):
        state = ask(service, "AAPL AAPL MSFT")
    (failed, why), *others = data(state)["failed"].items()
    assert (others, len(data(state)["prices"])) == ([], 1)
    assert words in why
    assert f"STOCK_PRICES: no price of {failed}: " in caplog.text
    assert words in caplog.text
    assert state.text.startswith("Stock prices:\n")
    assert dict(state.errors) == {}


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), 10**400, "8", None, True, [8], {}], ids=type)
def test_an_answer_without_numbers_is_a_failed_one_or_says_less(service, odd):
    service.script(QUOTE, Reply(200, {"c": odd}))
    assert str(ask(service, "AAPL").errors["STOCK_PRICES"]) == "Finnhub answered without a price"
    service.script(QUOTE, Reply(200, odd if isinstance(odd, list | dict) else [odd]))
    assert str(ask(service, "AAPL").errors["STOCK_PRICES"]) == "Finnhub answered without a price"
    service.script(QUOTE, Reply(200, {"c": 8} | dict.fromkeys(["d", "dp", "h", "l", "o", "pc", "t"], odd)))
    state = ask(service, "AAPL")
    assert state.text == "Stock prices:\nAAPL: $8"
    assert (data(state)["prices"][0]["tradedAt"], data(state)["prices"][0]["change"]) == (None, None)


@pytest.mark.parametrize("moment", [-1, 253_402_300_800, 1e300, 0])
def test_a_moment_no_calendar_has_is_left_out(service, moment):
    service.script(QUOTE, Reply(200, {"c": 8, "t": moment}))
    assert data(ask(service, "AAPL"))["prices"][0]["tradedAt"] is None


def test_a_wrong_key_for_all_is_a_failed_outcome_not_an_empty_one(service, caplog):
    with caplog.at_level(logging.WARNING):
        state = ask(service, "AAPL MSFT", secrets={"STOCK_API_KEY": "not-the-right-one"})
    assert (state.text, state.report["STOCK_PRICES"].outcome) == ("", "failed")
    error = state.errors["STOCK_PRICES"]
    assert isinstance(error, ServiceError)
    assert (error.status, str(error)) == (401, "Finnhub does not accept the key in STOCK_API_KEY")
    assert str(error) in caplog.text
    assert "not-the-right-one" not in caplog.text


def test_a_busy_moment_is_waited_for(service):
    service.script(QUOTE, Reply(429, headers={"Retry-After": "0"}), Reply(502))
    assert "AAPL: $189.5" in ask(service, "AAPL").text
    assert len(service.asked) == 3


def test_a_key_that_is_no_header_fails_without_showing_it(service, caplog):
    state = ask(service, "AAPL", secrets={"STOCK_API_KEY": "schlüssel-zum-glück"})
    assert state.report["STOCK_PRICES"].outcome == "failed"
    assert "a request to Finnhub cannot be sent" in str(state.errors["STOCK_PRICES"])
    assert "schlüssel-zum-glück" not in caplog.text


def test_a_slow_service_is_given_up_after_its_timeout(service):
    service.delay = 0.5
    state = ask(service, "AAPL", STOCK_TIMEOUT="0.05")
    assert str(state.errors["STOCK_PRICES"]) == "Finnhub did not answer within 0.05 s"


def test_more_symbols_than_the_service_allows_in_a_second_are_left_out_aloud(service, caplog):
    named = [f"${first}{second}Q" for first in "ABCDEF" for second in "KLMN"]
    with caplog.at_level(logging.WARNING):
        ask(service, " ".join(named))
    assert len(service.asked) == 20
    assert "24 symbols are too many, left out: FKQ, FLQ, FMQ, FNQ" in caplog.text


@pytest.mark.parametrize(
    ("price", "change", "line"),
    [
        (189.5, 1.2, "X: $189.5 (+1.2%)"),
        (100.0, -3.0, "X: $100 (-3%)"),
        (1234567.89, 0.01, "X: $1234567.89 (+0.01%)"),
        (0.0012, -0.0, "X: $0.0012 (0%)"),
        (5, None, "X: $5"),
    ],
)
def test_numbers_are_written_as_a_template_of_the_page_writes_them(price, change, line):
    assert _line({"symbol": "X", "price": price, "change": change}) == line


def test_it_is_woken_by_the_page_s_keywords_only():
    runtime = AgentRuntime()
    runtime.register_provider(STOCK_PRICES)
    for text in ("stock", "What's the price?", "trading hours", "the market"):
        assert "STOCK_PRICES" in runtime.match(text).woken
    assert "STOCK_PRICES" not in runtime.match("hello there").woken
