"""The real services, asked only with AGENTCTX_LIVE=1 (and FINNHUB_KEY for prices); see conftest."""

from __future__ import annotations

import asyncio
import os
import re

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.library import STOCK_PRICES, WEATHER


def ask(provider, message, **given):
    async def run():
        async with AgentRuntime(**given) as runtime:
            runtime.register_provider(provider)
            return await runtime.compose_state(message, [provider.name], only_include=True, strict=True)

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("what's the weather in bergen?", "Bergen"),
        ("weather in Portland, OR", "Portland, Oregon"),
        ("forecast for Paris, Texas", "Paris, Texas"),
        ("is it raining in são paulo", "São Paulo"),
        ("weather for 90210", "Beverly Hills"),
    ],
)
@pytest.mark.parametrize(("units", "unit"), [("metric", "°C"), ("imperial", "°F")])
def test_open_meteo_answers_as_documented(text, place, units, unit):
    state = ask(WEATHER, text, settings={"WEATHER_UNITS": units})
    first, *days, credit = state.text.splitlines()
    assert re.fullmatch(rf"Weather in {place}: -?\d+{unit}, [a-z ]+", first)
    assert "unknown" not in first
    assert [day.split(":")[0] for day in days[:2]] == ["Today", "Tomorrow"]
    assert "Open-Meteo" in credit


def test_open_meteo_knows_no_atlantis_of_that_spelling():
    assert ask(WEATHER, "weather in Xqzzyvtown").text == ""


def test_finnhub_answers_as_documented():
    key = os.environ["FINNHUB_KEY"]
    state = ask(STOCK_PRICES, "$AAPL BRK.B $QQQQZZ", secrets={"STOCK_API_KEY": key})
    assert re.fullmatch(
        r"Stock prices:\nAAPL: \$[\d.]+ \([+-]?[\d.]+%\)\nBRK\.B: \$[\d.]+ \([+-]?[\d.]+%\)", state.text
    )
    assert state.data.providers["STOCK_PRICES"].data["unknown"] == ["QQQQZZ"]


def test_finnhub_refuses_a_wrong_key_with_401():
    with pytest.raises(ExceptionGroup) as caught:
        ask(STOCK_PRICES, "$AAPL", secrets={"STOCK_API_KEY": "surely-not-a-key"})
    assert caught.value.exceptions[0].status == 401
