from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading

import pytest

from agentctx_nb import AgentRuntime, Memory, Provider, ProviderResult
from agentctx_nb.errors import DefinitionError, DefinitionTypeError, MissingExtraError
from agentctx_nb.library import http_provider
from agentctx_nb.library.http_client import ServiceError
from tests.library.loopback import Reply


def ask(service, provider, message="hi", **options):
    """Return the state of ``message`` composed with ``provider`` alone."""

    async def run():
        async with AgentRuntime(
            settings={"BASE": service.url, "LIMIT": 3, "FRESH": True}, **options
        ) as runtime:
            runtime.register_provider(provider)
            return await runtime.compose_state(message, [provider.name], only_include=True)

    return asyncio.run(run())


def entry(state):
    (name,) = state.data.provider_order
    return state.data.providers[name]


def test_the_answer_is_fetched_and_shaped_and_kept_as_data(service):
    service.script("/news", Reply(200, {"title": "Rain in Spain"}))
    state = ask(service, http_provider("NEWS", "{{BASE}}/news", shape=lambda news: f"News: {news['title']}"))
    assert state.text == "News: Rain in Spain"
    assert entry(state).data == {"apiData": {"title": "Rain in Spain"}}


async def shaped_later(data):
    await asyncio.sleep(0)
    return {"text": data["title"], "values": {"title": data["title"]}}


@pytest.mark.parametrize(
    ("shape", "text", "values", "data"),
    [
        (None, '{"title": "ü"}', {}, {"apiData": {"title": "ü"}}),
        (lambda data: ProviderResult(text="t", values={"n": 1}), "t", {"n": 1}, {}),
        (shaped_later, "ü", {"title": "ü"}, {}),
        (lambda data: None, "", {}, {}),
        (lambda data: "", "", {}, {"apiData": {"title": "ü"}}),
    ],
)
def test_a_shape_returns_whatever_a_get_may(service, shape, text, values, data):
    service.script("/news", Reply(200, {"title": "ü"}))
    found = entry(ask(service, http_provider("NEWS", "{{BASE}}/news", shape=shape)))
    assert (found.text, dict(found.values), dict(found.data)) == (text, values, data)


def test_an_answer_that_is_no_json_is_taken_as_text(service):
    service.script(
        "/plain", Reply(200, "Grüße".encode("latin-1"), {"Content-Type": "text/plain; charset=latin-1"})
    )
    assert ask(service, http_provider("PLAIN", "{{BASE}}/plain")).text == "Grüße"


def test_names_in_the_address_are_values_settings_or_of_the_message_and_encoded(service):
    runtime = AgentRuntime(settings={"BASE": service.url, "LIMIT": 3, "FRESH": True})
    runtime.register_provider(Provider("CITY", lambda: {"values": {"city": "São Paulo & co", "LIMIT": 7}}))
    runtime.register_provider(
        http_provider("ECHO", "{{BASE}}/echo?q={{ text }}&city={{city}}&n={{LIMIT}}&f={{FRESH}}&r={{roomId}}&e={{entityId}}", after=["CITY"])
    )  # fmt: skip

    async def run():
        async with runtime:
            return await runtime.compose_state(Memory("a&b=c/ü?", room_id="r 1", entity_id="u"), strict=True)

    data = asyncio.run(run()).data.providers["ECHO"].data["apiData"]
    assert data["query"] == {
        "q": "a&b=c/ü?", "city": "São Paulo & co", "n": "7", "f": "true", "r": "r 1", "e": "u",
    }  # fmt: skip


def test_params_headers_and_body_are_filled_too(service):
    provider = http_provider(
        "ECHO",
        "{{BASE}}/echo",
        method="POST",
        params={"q": "{{text}} & more", "n": 5},
        headers={"X-Token": "{{TOKEN}}"},
        body={"asked": ["{{text}}", 1, None], "deep": {"room": "{{roomId}}"}},
    )
    state = ask(service, provider, Memory("hi", room_id="r"), secrets={"TOKEN": "s3cret-t0ken"})
    assert entry(state).data["apiData"] == {
        "method": "POST",
        "query": {"q": "hi & more", "n": "5"},
        "token": "s3cret-t0ken",
        "body": {"asked": ["hi", 1, None], "deep": {"room": "r"}},
    }


async def address_later(message):
    return f"{message.metadata['base']}/echo?late=1"


@pytest.mark.parametrize(
    ("url", "query"),
    [
        (lambda message: f"{message.metadata['base']}/echo?n={len(message.content.text)}", {"n": "2"}),
        (address_later, {"late": "1"}),
    ],
)
def test_the_address_may_be_a_function_of_the_message(service, url, query):
    state = ask(service, http_provider("ECHO", url), Memory("hi", metadata={"base": service.url}))
    assert entry(state).data["apiData"]["query"] == query


def test_no_address_means_nothing_to_fetch(service):
    state = ask(service, http_provider("ECHO", lambda message: None, on_error="raise"))
    assert (state.text, state.report["ECHO"].outcome, service.asked) == ("", "empty", [])


def wrong_shape(data):
    return data["missing"]


@pytest.mark.parametrize(
    ("url", "reply", "shape", "words"),
    [
        (
            "{{BASE}}/x",
            Reply(500, {"message": "on fire"}),
            None,
            "X answered 500 (Internal Server Error): on fire",
        ),
        ("{{BASE}}/x", Reply(200, {}), wrong_shape, "KeyError: 'missing'"),
        ("{{NOWHERE}}/x", Reply(), None, "provider X asks for {{NOWHERE}}, which is no value, no setting"),
        ("ftp://x/y", Reply(), None, "a request to X cannot be sent"),
        ("http://127.0.0.1:1/", Reply(), None, "X cannot be reached"),
    ],
)
def test_an_error_is_logged_and_the_text_stays_empty_as_on_the_page(
    service, caplog, url, reply, shape, words
):
    service.script("/x", reply)
    with caplog.at_level(logging.ERROR):
        state = ask(service, http_provider("X", url, shape=shape, tries=1))
    assert (state.text, dict(state.errors), state.report["X"].outcome) == ("", {}, "empty")
    (record,) = caplog.records
    assert record.getMessage().startswith("Failed to fetch external data ")
    assert words in record.fields["error"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"url": "http://localhost:99999"}, "ports are from 1 to 65535, not 99999"),
        ({"url": "http://localhost:-1"}, "ports are from 1 to 65535, not -1"),
        ({"url": "http://localhost:http"}, "Invalid port"),
        ({"url": lambda message: 5}, "TypeError"),
        ({"headers": {"X-A": 5}}, "TypeError"),
        ({"body": {1, 2}}, "TypeError"),
        ({"params": 7}, ""),
    ],
)
def test_a_request_that_cannot_be_sent_says_so(service, given, words):
    state = ask(service, http_provider("X", on_error="raise", **{"url": "{{BASE}}/echo", **given}))
    error = state.errors["X"]
    assert isinstance(error, DefinitionError)
    assert str(error).startswith("a request to X cannot be sent: ")
    assert words in str(error)


@pytest.mark.parametrize("answer", [b"[" * 100_000, b"9" * 5000, b"\xff\xfe"])
def test_an_answer_no_reader_of_json_takes_is_a_text(service, answer):
    service.script("/x", Reply(200, answer, {"Content-Type": "text/plain; charset=undefined"}))
    state = ask(service, http_provider("X", "{{BASE}}/x", shape=lambda data: f"{type(data).__name__}"))
    assert state.text == "str"


def test_on_request_an_error_makes_the_provider_fail(service, caplog):
    service.script("/x", Reply(404))
    state = ask(service, http_provider("X", "{{BASE}}/x", on_error="raise"))
    assert state.report["X"].outcome == "failed"
    assert isinstance(state.errors["X"], ServiceError)
    assert state.errors["X"].status == 404


def test_a_secret_in_an_address_is_not_in_the_log(service, caplog):
    provider = http_provider("X", "{{BASE}}/none?key={{KEY}}")
    ask(service, provider, secrets={"KEY": "a-key-nobody-sees"})
    ask(service, http_provider("X", "http://[{{KEY}}/"), secrets={"KEY": "a-key-nobody-sees"})
    assert len(caplog.records) == 2
    assert "a-key-nobody-sees" not in caplog.text


def test_tries_and_timeout_are_the_caller_s(service):
    service.script("/x", Reply(503), Reply(503), Reply(200, "up"))
    assert ask(service, http_provider("X", "{{BASE}}/x", tries=1)).text == ""
    assert ask(service, http_provider("X", "{{BASE}}/x", tries=2)).text == "up"
    service.delay = 0.5
    error = ask(
        service, http_provider("X", "{{BASE}}/echo", request_timeout=0.05, tries=1, on_error="raise")
    ).errors["X"]
    assert str(error) == "X did not answer within 0.05 s"


def test_a_deadline_of_the_provider_cancels_the_request(service):
    service.delay = 5
    state = ask(service, http_provider("X", "{{BASE}}/echo", timeout=0.1))
    assert state.report["X"].outcome == "timed_out"


def test_fields_of_a_provider_are_taken_in_either_spelling():
    provider = http_provider(
        "X", "http://x", description="d", dynamic=True, relevanceKeywords=["x"], ttl=5, position=2
    )
    assert (provider.dynamic, provider.relevance_keywords, provider.ttl, provider.position) == (
        True,
        ("x",),
        5,
        2,
    )


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        (
            {"url": 5},
            DefinitionTypeError,
            "url of provider X is a string or a function of the message, not 5",
        ),
        ({"shape": "title"}, DefinitionTypeError, "shape of provider X must be callable, not 'title'"),
        ({"on_error": "rase"}, DefinitionError, "is 'empty' or 'raise', not 'rase'; did you mean 'raise'?"),
        ({"request_timeout": 0}, DefinitionError, "request_timeout of provider X is seconds above 0, not 0"),
        ({"request_timeout": "5"}, DefinitionError, "request_timeout of provider X is seconds above 0"),
        ({"tries": 0}, DefinitionError, "tries of provider X is a whole number from 1 up, not 0"),
        ({"dynmic": True}, DefinitionError, "did you mean 'dynamic'?"),
        ({"get": str}, DefinitionError, "has no field 'get'"),
    ],
)
def test_what_is_written_wrongly_is_said_at_once(given, kind, words):
    with pytest.raises(kind) as caught:
        http_provider("X", **{"url": "http://x", **given})
    assert words in str(caught.value)


def test_without_httpx2_the_error_names_the_extra(service, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx2", None)
    monkeypatch.delitem(sys.modules, "httpx2")
    monkeypatch.setattr(sys, "meta_path", [_No("httpx2"), *sys.meta_path])
    error = ask(service, http_provider("X", "{{BASE}}/x", on_error="raise")).errors["X"]
    assert isinstance(error, MissingExtraError)
    assert str(error) == "asking X needs httpx2, which is not installed: pip install 'agentctx_nb[http]'"


class _No:
    """A finder that says a module is not installed."""

    def __init__(self, name):
        self.name = name

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


# The client -------------------------------------------------------------------------------------


def test_requests_of_one_loop_share_a_client_and_its_connection(service):
    async def run():
        async with AgentRuntime(settings={"BASE": service.url}) as runtime:
            runtime.register_provider(http_provider("ECHO", "{{BASE}}/echo"))
            for _ in range(3):
                assert (await runtime.compose_state("hi")).text
            assert service.connections == 1

    asyncio.run(run())


def test_closing_the_runtime_closes_the_client_and_using_it_again_makes_another(service):
    runtime = AgentRuntime(settings={"BASE": service.url})
    runtime.register_provider(http_provider("ECHO", "{{BASE}}/echo"))

    async def run():
        await runtime.compose_state("hi")
        client = await client_of(runtime)
        await runtime.close()
        assert client.is_closed
        another = await client_of(runtime)
        assert another is not client
        await runtime.close()
        assert another.is_closed

    asyncio.run(run())


async def client_of(runtime):
    from agentctx_nb.library.http_client import _client

    return await _client(runtime, "a test")


def test_each_loop_has_its_own_client_closed_at_the_end_of_the_loop(service):
    runtime = AgentRuntime(settings={"BASE": service.url})
    runtime.register_provider(http_provider("ECHO", "{{BASE}}/echo"))
    clients = []

    async def run():
        assert (await runtime.compose_state("hi")).text
        clients.append(await client_of(runtime))
        assert not clients[-1].is_closed

    for _ in range(2):
        asyncio.run(run())  # no close: the loop's end has to do
    assert clients[0] is not clients[1]
    assert [client.is_closed for client in clients] == [True, True]
    gc.collect()  # an open connection would warn here, and warnings are errors
    asyncio.run(runtime.close())


def test_synchronous_compositions_share_a_client(service):
    runtime = AgentRuntime(settings={"BASE": service.url})
    runtime.register_provider(http_provider("ECHO", "{{BASE}}/echo"))
    for _ in range(3):
        assert runtime.compose("hi").text
    assert service.connections == 1
    from agentctx_nb.bridge import run_sync

    run_sync(runtime.close)


def test_closing_from_another_thread_s_loop_closes_the_client_of_a_running_one(service):
    runtime = AgentRuntime(settings={"BASE": service.url})
    runtime.register_provider(http_provider("ECHO", "{{BASE}}/echo"))

    async def run():
        await runtime.compose_state("hi")
        client = await client_of(runtime)
        closing = threading.Thread(target=lambda: asyncio.run(runtime.close()))
        closing.start()
        for _ in range(200):
            if client.is_closed:
                break
            await asyncio.sleep(0.01)
        closing.join()
        assert client.is_closed

    asyncio.run(run())
