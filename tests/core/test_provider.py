"""A Provider's fields, the shapes a get may have, and the shapes of what it may return."""

from __future__ import annotations

import asyncio
import functools
import threading
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from types import MappingProxyType

import pytest

from agentctx_nb import AgentRuntime, Memory, Provider, ProviderResult
from agentctx_nb.provider import as_provider, read_result


def nothing():
    return None


def test_the_defaults_are_those_of_the_contract():
    provider = Provider("A", nothing)
    assert (provider.description, provider.dynamic, provider.position) == (None, False, 0)
    assert (provider.private, provider.always_run, provider.relevance_keywords) == (False, False, ())
    assert (provider.timeout, provider.ttl, provider.after, provider.keyword_match) == (
        None,
        None,
        (),
        "word",
    )


def test_a_dict_in_camel_case_gives_the_provider_that_snake_case_gives():
    camel = {
        "name": "A", "get": nothing, "description": "d", "dynamic": True, "position": -1, "private": True,
        "alwaysRun": True, "relevanceKeywords": ["x"], "timeout": 1, "ttl": 2, "after": ["B"],
        "keywordMatch": "prefix",
    }  # fmt: skip
    snake = dict(camel)
    for old, new in (
        ("alwaysRun", "always_run"),
        ("relevanceKeywords", "relevance_keywords"),
        ("keywordMatch", "keyword_match"),
    ):
        snake[new] = snake.pop(old)
    expected = Provider(
        "A",
        nothing,
        "d",
        True,
        -1,
        True,
        True,
        ("x",),
        timeout=1,
        ttl=2,
        after=("B",),
        keyword_match="prefix",
    )
    assert as_provider(camel) == as_provider(snake) == expected


def test_a_provider_cannot_be_edited_and_keeps_no_hold_on_what_it_was_made_of():
    keywords, after = ["rain"], ["B"]
    provider = Provider("A", nothing, dynamic=True, relevance_keywords=keywords, after=after)
    with pytest.raises(FrozenInstanceError):
        provider.position = 5
    keywords.append("snow")
    after.append("C")
    assert (provider.relevance_keywords, provider.after) == (("rain",), ("B",))


def test_keywords_and_after_given_as_one_string_are_one_name():
    provider = Provider("A", nothing, relevance_keywords="how to", after="B")
    assert (provider.relevance_keywords, provider.after) == (("how to",), ("B",))


def test_names_in_a_set_come_in_one_order():
    assert Provider("A", nothing, after={"D", "B", "C", "E"}).after == ("B", "C", "D", "E")
    assert Provider("A", nothing, relevance_keywords={"d", "b", "c"}).relevance_keywords == ("b", "c", "d")


def test_none_stands_for_the_default_of_an_option():
    provider = Provider(
        "A",
        nothing,
        position=None,
        dynamic=None,
        private=None,
        always_run=None,
        relevance_keywords=None,
        after=None,
    )
    assert provider == Provider("A", nothing)
    assert as_provider({"name": "A", "get": nothing, "position": None}).position == 0


async def no_parameters():
    return "0"


async def runtime_only(runtime):
    return f"1 {type(runtime).__name__}"


async def two(runtime, message):
    return f"2 {message.content.text}"


async def three(runtime, message, state):
    return f"3 {message.content.text} {type(state.text).__name__}"


async def everything(*args):
    return f"* {len(args)}"


async def one_and_the_rest(runtime, *rest):
    return f"1* {len(rest)}"


async def other_names(first, second, third):
    return f"{type(first).__name__} {second.content.text}"


async def beyond(runtime, message, state, retries=3, *, base="x"):
    return f"{retries} {base}"


async def defaults_within(runtime=None, message=None):
    return f"{type(runtime).__name__} {message.content.text}"


async def keywords_only(runtime, **rest):
    return f"{type(runtime).__name__} {rest}"


def plain(runtime, message):
    return f"def {message.content.text}"


def gives_an_awaitable(runtime, message):
    return two(runtime, message)


class Callables:
    async def method(self, runtime, message):
        return f"method {message.content.text}"

    @staticmethod
    async def static(runtime):
        return "static"

    async def __call__(self, runtime, message):
        return f"object {message.content.text}"


GETS = [
    (no_parameters, "0"),
    (runtime_only, "1 AgentRuntime"),
    (two, "2 hi"),
    (three, "3 hi str"),
    (everything, "* 3"),
    (one_and_the_rest, "1* 2"),
    (other_names, "AgentRuntime hi"),
    (beyond, "3 x"),
    (defaults_within, "AgentRuntime hi"),
    (keywords_only, "AgentRuntime {}"),
    (plain, "def hi"),
    (lambda: "lambda", "lambda"),
    (lambda *args: f"lambda {len(args)}", "lambda 3"),
    (gives_an_awaitable, "2 hi"),
    (Callables().method, "method hi"),
    (Callables.static, "static"),
    (Callables(), "object hi"),
    (functools.partial(beyond, retries=9), "9 x"),
    (
        functools.partial(lambda extra, runtime, message: f"{extra} {message.content.text}", "first"),
        "first hi",
    ),
]


@pytest.mark.parametrize(("get", "expected"), GETS, ids=[str(i) for i in range(len(GETS))])
def test_a_get_is_given_what_it_takes_by_place(runtime, get, expected):
    runtime.register_provider({"name": "A", "get": get})
    assert runtime.compose("hi").text == expected
    assert runtime.compose("hi").text == expected  # the second run goes another way


def test_an_argument_bound_by_keyword_is_not_filled_again(runtime):
    bound = functools.partial(defaults_within, message=Memory("bound"))
    runtime.register_provider({"name": "A", "get": bound})
    assert runtime.compose("hi").text == "AgentRuntime bound"


@pytest.mark.parametrize("kind", ["async", "def"])
@pytest.mark.parametrize(
    ("result", "text", "values", "data"),
    [
        ({"text": "t", "values": {"v": 1}, "data": {"d": 2}}, "t", {"v": 1}, {"d": 2}),
        (ProviderResult(text="t", values={"v": 1}, data={"d": 2}), "t", {"v": 1}, {"d": 2}),
        (ProviderResult(), "", {}, {}),
        ({"text": "t"}, "t", {}, {}),
        ({"values": {"v": None}}, "", {"v": None}, {}),
        ({"data": {"d": 2}}, "", {}, {"d": 2}),
        ({}, "", {}, {}),
        ({"text": None, "values": None, "data": None}, "", {}, {}),
        ("t", "t", {}, {}),
        ("", "", {}, {}),
        (None, "", {}, {}),
        (MappingProxyType({"text": "t", "values": MappingProxyType({"v": 1})}), "t", {"v": 1}, {}),
    ],
)
def test_a_result_may_be_a_result_a_dict_a_string_or_none(kind, result, text, values, data):
    runtime = AgentRuntime(count_tokens=len)

    async def get():
        return result

    runtime.register_provider({"name": "A", "get": get if kind == "async" else lambda: result})
    state = runtime.compose("hi")
    entry = state.data.providers.A
    assert (state.text, entry.text, dict(entry.values), dict(entry.data)) == (text, text, values, data)
    assert state.errors == {}


@pytest.mark.parametrize("kind", [dict, MappingProxyType, lambda fields: ProviderResult(**fields)])
def test_a_checked_result_holds_its_own_values_and_the_very_data(kind):
    values, data = {"v": 1}, {"d": 2}
    part = read_result(kind({"text": "t", "values": values, "data": data}))
    assert (part.text, part.values, part.data) == ("t", {"v": 1}, {"d": 2})
    assert part.values is not values
    assert part.data is data


def test_an_async_get_runs_on_the_loop_and_a_def_in_a_thread_of_its_own(runtime):
    async def on_the_loop():
        return str(threading.get_ident())

    class OnTheLoop:
        async def __call__(self):
            return str(threading.get_ident())

    runtime.register_provider({"name": "ASYNC", "get": on_the_loop})
    runtime.register_provider({"name": "OBJECT", "get": OnTheLoop()})
    runtime.register_provider({"name": "DEF", "get": lambda: str(threading.get_ident())})
    here = str(threading.get_ident())
    providers = runtime.compose("hi").data.providers
    assert providers.ASYNC.text == providers.OBJECT.text == here != providers.DEF.text


def test_a_subclass_of_str_counts_as_text(runtime):
    class Title(str):
        __slots__ = ()

    runtime.register_provider({"name": "A", "get": lambda: Title("bare")})
    runtime.register_provider({"name": "B", "get": lambda: {"text": Title("in a dict")}})
    assert runtime.compose("hi").text == "bare\nin a dict"


def test_the_decorator_registers_and_hands_the_function_back(runtime):
    @runtime.provider("WEATHER", dynamic=True, relevance_keywords=["weather", "rain"])
    async def weather(runtime, message, state):
        """Say what the sky does.

        At length.
        """
        return "It rains."

    assert asyncio.run(weather(None, None, None)) == "It rains."
    provider = runtime.get_provider("WEATHER")
    assert provider.get is weather
    assert (provider.dynamic, provider.relevance_keywords) == (True, ("weather", "rain"))
    assert provider.description == "Say what the sky does."
    assert runtime.compose("rain?").text == "It rains."


def test_the_decorator_reads_camel_case_and_lets_a_description_given_win(runtime):
    @runtime.provider("A", alwaysRun=True, description="given")
    def get():
        """From the docstring."""

    assert runtime.get_provider("A").always_run is True
    assert runtime.get_provider("A").description == "given"


def test_the_decorator_takes_the_name_of_the_function_where_none_is_given(runtime):
    @runtime.provider()
    def weather():
        return "sun"

    assert runtime.get_provider("WEATHER").get is weather


def test_a_result_can_be_subclassed_as_any_dataclass():
    @dataclass(frozen=True)
    class Rated(ProviderResult):
        stars: int = 0

    class Preset(ProviderResult):
        text = "preset"

    assert Rated() == Rated("", {}, {}, 0)
    assert read_result(Rated(text="Rain.", stars=3)).text == "Rain."
    assert Preset("given").text == "given"
    assert [field.name for field in fields(ProviderResult)] == ["text", "values", "data"]
    assert replace(ProviderResult("a", {"x": 1}), text="b") == ProviderResult("b", {"x": 1}, {})
