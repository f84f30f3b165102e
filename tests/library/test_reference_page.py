"""Every example of the reference page, in Python, in the order of the page; its use of the state in a second file.

The page is written in TypeScript. Providers are registered as it writes them, as a dict in camelCase, and where a call
takes one dict there, both that dict and the keywords of Python are tried.
"""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest

from agentctx_nb import AgentRuntime, Entity, Memory, Provider, ProviderResult
from agentctx_nb.library import find_place, find_symbols, reference_providers
from agentctx_nb.moments import from_milliseconds, iso, milliseconds

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MESSAGE = {"text": "hello", "entityId": "u1", "roomId": "lobby"}
WORDS = ("install", "package", "guide", "deploy", "server", "cat")


class Words:
    """An embedder that counts the words it knows: as near as a reader of these tests would expect."""

    name, dim, default_threshold = "words", len(WORDS) + 1, 0.5

    def embed(self, texts, kind="document"):
        rows = np.array(
            [[*(text.casefold().count(word) for word in WORDS), 0.1] for text in texts], dtype=np.float32
        )
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def runtime():
    return AgentRuntime(clock=lambda: NOON, embedder=Words(), secrets={"STOCK_API_KEY": "a-key-of-finnhub"})


def compose(runtime, message=MESSAGE, *lists, **options):
    """Return the state, any failure raised."""

    async def run():
        return await runtime.compose_state(message, *lists, strict=True, **options)

    return asyncio.run(run())


def keep(runtime, *writes):
    async def run():
        for write in writes:
            await write()

    asyncio.run(run())


def as_keywords(method):
    """Return ``method`` taking its arguments by keyword, and by the names of Python."""
    return lambda given: method(
        **{re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): value for name, value in given.items()}
    )


both_styles = pytest.mark.parametrize(
    "style", [lambda method: method, as_keywords], ids=["one dict", "keywords"]
)


def test_the_library_has_a_provider_for_each_of_the_page_in_its_order():
    assert [provider.name for provider in reference_providers()] == [
        "CURRENT_TIME",
        "USER_PROFILE",
        "WEATHER",
        "ADMIN_STATS",
        "RECENT_MESSAGES",
        "KNOWLEDGE_BASE",
        "USER_PREFERENCES",
        "FACTS",
        "STOCK_PRICES",
    ]
    assert [provider.name for provider in reference_providers() if provider.dynamic] == [
        "WEATHER",
        "KNOWLEDGE_BASE",
        "STOCK_PRICES",
    ]


# Provider Type, ProviderResult Type --------------------------------------------------------------


def test_a_provider_has_the_fields_of_the_page_with_their_defaults():
    provider = Provider(name="P", get=lambda: None)
    assert (provider.description, provider.dynamic, provider.position) == (None, False, 0)
    assert (provider.private, provider.always_run, provider.relevance_keywords) == (False, False, ())


def test_all_fields_of_the_page_are_taken_from_a_dict_in_either_spelling(runtime):
    fields = {
        "name": "P",
        "description": "d",
        "dynamic": True,
        "position": -5,
        "private": False,
        "get": lambda: None,
    }
    camel = runtime.register_provider({**fields, "alwaysRun": True, "relevanceKeywords": ["k"]})
    snake = runtime.register_provider({**fields, "always_run": True, "relevance_keywords": ["k"]})
    assert camel == snake
    assert (camel.always_run, camel.relevance_keywords, camel.position) == (True, ("k",), -5)


@pytest.mark.parametrize(
    "result",
    [
        {"text": "t", "values": {"v": 1}, "data": {"d": [2]}},
        ProviderResult(text="t", values={"v": 1}, data={"d": [2]}),
    ],
    ids=["dict", "ProviderResult"],
)
def test_a_result_has_text_values_and_data(runtime, result):
    runtime.register_provider({"name": "P", "get": lambda: result})
    state = compose(runtime)
    assert (state.text, state.values["v"], state.data.providers.P.data.d) == ("t", 1, [2])


@pytest.mark.parametrize("result", [{}, {"text": "t"}, {"values": {"v": 1}}, {"data": {"d": 1}}])
def test_every_field_of_a_result_may_be_left_out(runtime, result):
    runtime.register_provider({"name": "P", "get": lambda: result})
    assert compose(runtime).text == result.get("text", "")


# Registering Providers ---------------------------------------------------------------------------


def test_current_time(runtime):
    async def get(runtime, message, state):
        now = runtime.clock()
        return {
            "text": f"Current time: {iso(now)}",
            "values": {"currentTime": iso(now), "timestamp": milliseconds(now)},
            "data": {"date": now},
        }

    runtime.register_provider({"name": "CURRENT_TIME", "get": get})
    state = compose(runtime)
    assert state.text == "Current time: 2026-01-01T12:00:00.000Z"
    assert state.values["timestamp"] == 1767268800000
    assert state.data.providers.CURRENT_TIME.data["date"] is NOON


# Provider Types ----------------------------------------------------------------------------------


async def user_profile(runtime, message):
    entity = await runtime.get_entity_by_id(message.entity_id)
    return {
        "text": f"User: {entity.names[0]}\nJoined: {iso(from_milliseconds(entity.created_at))}",
        "values": {"userName": entity.names[0], "userId": entity.id},
        "data": {"entity": entity},
    }


@both_styles
def test_a_static_provider_runs_on_every_message(runtime, style):
    given = {"id": "u1", "names": ["Ada"], "createdAt": 1735689600000}
    entity = given if style is not as_keywords else Entity(id="u1", names=["Ada"], created_at=1735689600000)
    keep(runtime, lambda: runtime.create_entity(entity))
    runtime.register_provider({"name": "USER_PROFILE", "get": user_profile})
    for text in ("hello", "what's the weather?"):
        state = compose(runtime, {**MESSAGE, "text": text})
        assert state.text == "User: Ada\nJoined: 2025-01-01T00:00:00.000Z"
    assert (state.values["userName"], state.values["userId"]) == ("Ada", "u1")
    assert state.data.providers.USER_PROFILE.data.entity.names == ["Ada"]


async def fetch_weather(location):
    return SimpleNamespace(temperature=72, conditions="sunny")


async def weather(runtime, message):
    location = find_place(message.content.text)
    weather = await fetch_weather(location)
    return {
        "text": f"Weather in {location}: {weather.temperature}°F, {weather.conditions}",
        "values": {"temperature": weather.temperature, "conditions": weather.conditions},
        "data": {"weather": weather},
    }


WEATHER = {
    "name": "WEATHER",
    "description": "Current weather information",
    "dynamic": True,
    "relevanceKeywords": ["weather", "temperature", "forecast", "rain"],
    "get": weather,
}


def test_a_dynamic_provider_runs_when_a_keyword_is_in_the_message(runtime):
    runtime.register_provider(WEATHER)
    state = compose(runtime, "What's the weather like today in Boston?")
    assert state.text == "Weather in Boston: 72°F, sunny"
    assert (state.values["temperature"], state.values["conditions"]) == (72, "sunny")
    assert state.data.providers.WEATHER.data.weather.temperature == 72
    assert state.report["WEATHER"].reason == "keyword 'weather'"
    # the page's own sentence names no place
    assert compose(runtime, "What's the weather like today?").report["WEATHER"].ran


def test_a_dynamic_provider_runs_when_it_is_named_and_not_otherwise(runtime):
    runtime.register_provider(WEATHER)
    assert "WEATHER" not in compose(runtime, "hello from Boston").data.providers
    assert compose(runtime, "hello in Boston", ["WEATHER"]).text == "Weather in Boston: 72°F, sunny"


def test_a_private_provider_must_be_called_explicitly(runtime):
    async def get(runtime):
        stats = {"activeUsers": 3, "messageCount": 42}
        return {
            "text": f"System stats: {stats['activeUsers']} users, {stats['messageCount']} messages",
            "data": {"stats": stats},
        }

    runtime.register_provider({"name": "ADMIN_STATS", "private": True, "get": get})
    assert runtime.providers == []
    assert compose(runtime, "admin stats").text == ""
    state = compose(runtime, MESSAGE, ["ADMIN_STATS"])
    assert state.text == "System stats: 3 users, 42 messages"
    assert state.data.providers.ADMIN_STATS.data.stats == {"activeUsers": 3, "messageCount": 42}


# Example Providers -------------------------------------------------------------------------------


@both_styles
def test_recent_messages(runtime, style):
    async def get(runtime, message):
        recent = await style(runtime.get_memories)(
            {"roomId": message.room_id, "count": 10, "tableName": "messages"}
        )
        formatted = "\n".join(f"{m.content.user}: {m.content.text}" for m in recent)
        return {"text": f"Recent messages:\n{formatted}", "data": {"messages": recent}}

    runtime.register_provider({"name": "RECENT_MESSAGES", "position": -1, "get": get})
    runtime.register_provider({"name": "EARLIER", "get": lambda: "registered later, placed later"})
    for at, text in enumerate(("hi", "how are you?"), 1):
        memory = {"content": {"text": text, "user": "ada"}, "roomId": "lobby", "createdAt": at}
        keep(runtime, lambda memory=memory: runtime.create_memory(memory, "messages"))
    keep(runtime, lambda: runtime.create_memory({"text": "elsewhere", "roomId": "hall"}, "messages"))
    state = compose(runtime)
    assert state.text == "Recent messages:\nada: how are you?\nada: hi\nregistered later, placed later"
    assert len(state.data.providers.RECENT_MESSAGES.data.messages) == 2


@both_styles
def test_knowledge_base(runtime, style):
    async def get(runtime, message, state):
        query_embedding = await runtime.embed(message.content.text)
        relevant = await style(runtime.search_memories)(
            {
                "tableName": "documents",
                "roomId": runtime.agent_id,
                "embedding": query_embedding,
                "match_threshold": 0.75,
                "match_count": 3,
            }
        )
        if len(relevant) == 0:
            return {"text": ""}
        formatted = "\n\n".join(doc.content.text for doc in relevant)
        return {"text": f"Relevant documentation:\n{formatted}", "data": {"documents": relevant}}

    runtime.register_provider(
        {
            "name": "KNOWLEDGE_BASE",
            "dynamic": True,
            "relevanceKeywords": ["documentation", "how to", "guide"],
            "get": get,
        }
    )

    async def write():
        for text in (
            "Install the package",
            "Install a package, a guide",
            "Deploy to the server",
            "The cat sleeps",
        ):
            vector = await runtime.embed(text, kind="document")
            await runtime.create_memory(
                {"text": text, "roomId": runtime.agent_id, "embedding": vector}, "documents"
            )

    keep(runtime, write)
    state = compose(runtime, "how to install the package")
    assert state.text == "Relevant documentation:\nInstall the package\n\nInstall a package, a guide"
    assert [doc.similarity >= 0.75 for doc in state.data.providers.KNOWLEDGE_BASE.data.documents] == [
        True,
        True,
    ]
    assert compose(runtime, "how to sing").text == ""
    assert "KNOWLEDGE_BASE" not in compose(runtime, "install the package").data.providers


def test_user_preferences(runtime):
    async def get(runtime, message):
        entity = await runtime.get_entity_by_id(message.entity_id)
        preferences = entity.metadata.get("preferences") or {}
        lines = []
        if preferences.get("language"):
            lines.append(f"Preferred language: {preferences['language']}")
        if preferences.get("timezone"):
            lines.append(f"Timezone: {preferences['timezone']}")
        return {"text": "\n".join(lines), "values": preferences, "data": {"preferences": preferences}}

    runtime.register_provider({"name": "USER_PREFERENCES", "get": get})
    preferences = {"language": "English", "timezone": "Europe/London"}
    keep(runtime, lambda: runtime.create_entity({"id": "u1", "metadata": {"preferences": preferences}}))
    state = compose(runtime)
    assert state.text == "Preferred language: English\nTimezone: Europe/London"
    assert state.values["timezone"] == "Europe/London"


@both_styles
def test_facts(runtime, style):
    async def get(runtime, message):
        facts = await style(runtime.get_memories)(
            {"roomId": message.room_id, "tableName": "facts", "count": 20}
        )
        if len(facts) == 0:
            return {"text": ""}
        formatted = "\n".join(f"- {fact.content.text}" for fact in facts)
        return {"text": f"Known facts:\n{formatted}", "data": {"facts": facts}}

    runtime.register_provider({"name": "FACTS", "description": "Known facts about the user", "get": get})
    assert compose(runtime).text == ""
    for at, text in enumerate(("likes tea", "lives in Oslo"), 1):
        memory = Memory(text, room_id="lobby", created_at=at)
        keep(runtime, lambda memory=memory: runtime.create_memory(memory, "facts"))
    assert compose(runtime).text == "Known facts:\n- lives in Oslo\n- likes tea"


async def fetch_stock_price(symbol, api_key):
    assert api_key == "a-key-of-finnhub"
    return {"AAPL": {"price": 189.5, "change": 1.2}, "MSFT": {"price": 420, "change": -0.5}}[symbol]


async def stock_prices(runtime, message):
    symbols = find_symbols(message.content.text)
    if len(symbols) == 0:
        return {"text": ""}
    api_key = runtime.get_setting("STOCK_API_KEY")
    fetched = await asyncio.gather(*(fetch_stock_price(symbol, api_key) for symbol in symbols))
    prices = [{"symbol": symbol, **price} for symbol, price in zip(symbols, fetched, strict=True)]
    formatted = "\n".join(
        f"{p['symbol']}: ${p['price']} ({'+' if p['change'] > 0 else ''}{p['change']}%)" for p in prices
    )
    return {"text": f"Stock prices:\n{formatted}", "data": {"prices": prices}}


STOCK_PRICES = {
    "name": "STOCK_PRICES",
    "dynamic": True,
    "relevanceKeywords": ["stock", "price", "trading", "market"],
    "get": stock_prices,
}


def test_stock_prices(runtime):
    runtime.register_provider(STOCK_PRICES)
    state = compose(runtime, "What's the stock price of $AAPL and MSFT?")
    assert state.text == "Stock prices:\nAAPL: $189.5 (+1.2%)\nMSFT: $420 (-0.5%)"
    assert state.data.providers.STOCK_PRICES.data.prices[0]["symbol"] == "AAPL"
    assert compose(runtime, "How is the stock market?").text == ""
