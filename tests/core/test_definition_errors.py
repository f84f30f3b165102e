"""Bad input: each error names the thing and the nearest right one, and costs nothing but itself."""

from __future__ import annotations

import asyncio
import functools
import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from agentctx_nb import AgentRuntime, Provider
from agentctx_nb.errors import DefinitionError, DefinitionTypeError


def get():
    return "new"


async def kept():
    return "kept"


def yields():
    yield "text"


async def async_yields():
    yield "text"


class Unshowable:
    def __repr__(self):
        raise RuntimeError("this cannot be shown")


def fields(**changed):
    return {"name": "A", "get": get, **changed}


# What is given to register_provider, the kind of the error, what its message must say.
REJECTED = {
    "None": (None, TypeError, "a provider is a Provider or a dict of its fields, not None"),
    "a function": (get, TypeError, r"a provider is .*, not a function"),
    "a string": ("WEATHER", TypeError, "a provider is .*, not 'WEATHER'"),
    "a class": (Provider, TypeError, "a provider is a Provider"),
    "unshowable": (Unshowable(), TypeError, "a provider is .*, not an? Unshowable"),
    "an object": (object(), TypeError, "a provider is .*, not an object"),
    "2 MB": ("x" * 2_000_000, TypeError, "a provider is"),
    "no name": ({"get": get}, ValueError, "a provider needs 'name'; this one has get$"),
    "no get": ({"name": "A"}, ValueError, "provider 'A' needs 'get'"),
    "nothing": ({}, ValueError, "a provider needs 'name'; this one has nothing$"),
    "nameless": (fields(name=""), ValueError, "a provider needs a name"),
    "blank name": (fields(name=" \n"), ValueError, "a provider needs a name"),
    "name None": (fields(name=None), TypeError, "name of a provider is a string, not None"),
    "name 5": (fields(name=5), TypeError, "name of a provider is a string, not 5"),
    "get None": (fields(get=None), TypeError, "get of provider A must be callable, not None"),
    "get string": (fields(get="get"), TypeError, "get of provider A must be callable, not 'get'"),
    "get is a coroutine's result": (fields(get={"text": ""}), TypeError, "get of provider A must be callable"),
    "typo dynmic": (fields(dynmic=True), ValueError, r"'dynmic'; did you mean 'dynamic'\?"),
    "typo alwaysrun": (fields(alwaysrun=True), ValueError, "'alwaysrun'; did you mean 'always_run'"),
    "typo relevanceKeyword": (fields(relevanceKeyword=["x"]), ValueError, "did you mean 'relevance_keywords'"),
    "typo nme": ({"nme": "A", "get": get}, ValueError, "'nme'; did you mean 'name'"),
    "unknown option": (fields(zzz=1), ValueError, "no field 'zzz'; it has name, get, description"),
    "both spellings": (fields(alwaysRun=True, always_run=False), ValueError, "'always_run' twice"),
    "key no string": ({**fields(), 3: 4}, TypeError, "a key of a provider must be a string, not 3"),
    "description": (fields(description=5), TypeError, "description of provider A must be a string, not 5"),
    "dynamic 1": (fields(dynamic=1), TypeError, "dynamic of provider A must be True or False, not 1"),
    "private text": (fields(private="false"), TypeError, "private of provider A must be True or False, not 'false'"),
    "alwaysRun list": (fields(alwaysRun=[]), TypeError, r"always_run of provider A .*not \[\]"),
    "position bool": (fields(position=True), TypeError, "position of provider A must be a number, not True"),
    "position NaN": (fields(position=math.nan), ValueError, "position of provider A is NaN"),
    "position text": (fields(position="1"), TypeError, "position of provider A must be a number, not '1'"),
    "position list": (fields(position=[1]), TypeError, "position of provider A must be a number"),
    "position complex": (fields(position=1j), TypeError, "position of provider A must be a number"),
    "position decimal NaN": (fields(position=Decimal("NaN")), ValueError, "position of provider A is NaN"),
    "position numpy bool": (fields(position=np.True_), TypeError, "position of provider A must be a number"),
    "position array": (fields(position=np.array([1, 2])), TypeError, "position of provider A must be a number"),
    "timeout decimal NaN": (fields(timeout=Decimal("NaN")), ValueError, "timeout of provider A must be more than 0 s"),
    "timeout 0": (fields(timeout=0), ValueError, "timeout of provider A must be more than 0 s, not 0"),
    "timeout negative": (fields(timeout=-1), ValueError, "timeout of provider A must be more than 0 s, not -1"),
    "timeout NaN": (fields(timeout=math.nan), ValueError, "timeout of provider A must be more than 0 s"),
    "timeout text": (fields(timeout="5s"), TypeError, "timeout of provider A must be a number of seconds"),
    "timeout bool": (fields(timeout=True), TypeError, "timeout of provider A must be a number of seconds"),
    "ttl 0": (fields(ttl=0), ValueError, "ttl of provider A must be more than 0 s, not 0"),
    "ttl text": (fields(ttl="5"), TypeError, "ttl of provider A must be a number of seconds"),
    "keyword blank": (fields(relevance_keywords=["x", " "]), ValueError, "provider A: .*' ' is blank"),
    "keyword empty": (fields(relevance_keywords=""), ValueError, "provider A: .*'' is blank"),
    "keyword None": (fields(relevance_keywords=[None]), TypeError, "provider A: .*must be a string, not None"),
    "keyword number": (fields(relevance_keywords=[5]), TypeError, "provider A: .*must be a string, not 5"),
    "keywords number": (fields(relevance_keywords=5), TypeError, "provider A: .*a list of strings, not 5"),
    "keywords dict": (fields(relevance_keywords={"x": 1}), TypeError, "provider A: .*a list of strings"),
    "keyword_match": (fields(keyword_match="prefx"), ValueError, "keyword_match of provider A .*'prefix'"),
    "keyword_match None": (fields(keyword_match=[]), ValueError, "keyword_match of provider A"),
    "after number": (fields(after=5), TypeError, "after of provider A must be names of providers, not 5"),
    "after None inside": (fields(after=["B", None]), TypeError, "after of provider A must be names of providers"),
    "after blank": (fields(after=[""]), TypeError, "after of provider A must be names of providers"),
    "after dict": (fields(after={"B": 1}), TypeError, "after of provider A must be names of providers"),
    "after itself": (fields(after=["A"]), ValueError, "provider A cannot wait for itself"),
    "generator": (fields(get=yields), ValueError, "get of provider A yields; it must return"),
    "async generator": (fields(get=async_yields), ValueError, "get of provider A yields"),
    "four parameters": (fields(get=lambda a, b, c, d: 1), ValueError, r"takes more than \(runtime, message, state\): 'd'"),
    "by keyword only": (fields(get=lambda *, message: 1), ValueError, "wants 'message' by keyword"),
    "position unshowable": (fields(position=Unshowable()), TypeError, "position of provider A must be a number"),
    "position 2 MB": (fields(position="1" * 2_000_000), TypeError, "position of provider A must be a number"),
    "get an object": (fields(get=object()), TypeError, "get of provider A must be callable, not an object"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "kind", "said"), REJECTED.values(), ids=REJECTED.keys())
def test_a_wrong_provider_is_rejected_with_one_clear_line_and_nothing_is_lost(given, kind, said):
    runtime = AgentRuntime(count_tokens=len)
    runtime.register_provider({"name": "A", "get": kept})
    with pytest.raises(kind, match=said) as caught:
        runtime.register_provider(given)
    message = str(caught.value)
    assert isinstance(caught.value, DefinitionError)
    assert isinstance(caught.value, DefinitionTypeError) == (kind is TypeError)
    assert "\n" not in message
    assert len(message) < 300
    assert not re.search("0x[0-9a-f]{6}", message)
    assert [provider.name for provider in runtime.list_providers(include_private=True)] == ["A"]
    assert runtime.registered("A").version == 1
    assert runtime.compose("hi").text == "kept"


@pytest.mark.parametrize("name", ["dynamic", "position", "timeout", "relevance_keywords", "after"])
def test_a_provider_object_checks_what_a_dict_checks(name):
    with pytest.raises(DefinitionTypeError, match="provider A"):
        Provider("A", get, **{name: 1j})


def test_the_decorator_checks_its_options_and_registers_nothing_wrong(runtime):
    with pytest.raises(DefinitionError, match="'dynmic'; did you mean 'dynamic'"):
        runtime.provider("A", dynmic=True)(get)
    with pytest.raises(DefinitionError, match="a provider needs a name"):
        runtime.provider("")(get)
    with pytest.raises(DefinitionTypeError, match="with the parentheses"):
        runtime.provider(get)
    with pytest.raises(DefinitionTypeError, match="must be callable"):
        runtime.provider("A")(None)
    assert runtime.providers == []


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"only_include": "yes"}, TypeError, "only_include is True or False, not 'yes'"),
        ({"only_include": 1}, TypeError, "only_include is True or False, not 1"),
        ({"timeout": 0}, ValueError, "timeout must be more than 0 s, not 0"),
        ({"timeout": -1}, ValueError, "timeout must be more than 0 s, not -1"),
        ({"timeout": math.nan}, ValueError, "timeout must be more than 0 s"),
        ({"timeout": "1"}, TypeError, "timeout is a number of seconds, not '1'"),
        ({"timeout": True}, TypeError, "timeout is a number of seconds, not True"),
        ({"timeout": 10**400}, ValueError, "timeout is a number of seconds, which a long int is not"),
        ({"timeout": 10**5000}, ValueError, "timeout is a number of seconds, which an int is not"),
        ({"refresh": ["A"]}, ValueError, "refresh= needs previous="),
        ({"refresh": []}, ValueError, "refresh= needs previous="),
        ({"previous": {}, "refresh": []}, TypeError, "previous= is a State, not dict"),
        ({"only_include": Unshowable()}, TypeError, "only_include is True or False"),
        ({"timeout": Unshowable()}, TypeError, "timeout is a number of seconds"),
    ],
)
def test_a_wrong_option_of_a_composition_is_an_error_before_anything_runs(runtime, options, kind, said):
    ran = []
    runtime.register_provider({"name": "A", "get": lambda: ran.append(1)})
    with pytest.raises(kind, match=said) as caught:
        runtime.compose("hi", **options)
    assert isinstance(caught.value, DefinitionError)
    with pytest.raises(kind, match=said):
        asyncio.run(runtime.compose_state("hi", **options))
    assert ran == []


@pytest.mark.parametrize(
    "seconds", [5, 2.5, Fraction(5, 2), Decimal("2.5"), np.int64(5), np.float32(2.5), math.inf]
)
def test_any_positive_number_of_seconds_is_a_deadline(runtime, seconds):
    runtime.register_provider({"name": "A", "get": kept, "timeout": seconds, "ttl": seconds})
    assert runtime.compose("hi").text == "kept"
    runtime.register_provider({"name": "A", "get": kept})
    assert runtime.compose("hi", timeout=seconds).text == "kept"


def test_an_unknown_argument_is_a_type_error(runtime):
    with pytest.raises(TypeError, match="includelist"):
        runtime.compose("hi", includelist=["A"])


def test_a_get_whose_parameters_cannot_be_read_is_called_with_all_three(runtime):
    runtime.register_provider({"name": "A", "get": functools.partial(max, 1)})
    assert "TypeError" in runtime.compose("hi").report["A"].error


@pytest.mark.parametrize("limit", ["timeout", "ttl"])
def test_a_limit_beyond_any_float_is_refused_when_it_is_registered(runtime, limit):
    with pytest.raises(DefinitionError, match=f"{limit} of provider A is more seconds than can be counted"):
        runtime.register_provider({"name": "A", "get": kept, limit: 10**400})
    assert runtime.providers == []


@pytest.mark.parametrize("name", [5, None, [], {"A": 1}, b"A", Unshowable()])
def test_what_is_no_name_of_a_provider_is_a_type_error_wherever_one_is_asked_for(runtime, name):
    runtime.register_provider({"name": "A", "get": kept})
    report = runtime.compose("hi").report
    for ask in (runtime.get_provider, runtime.registered, runtime.unregister_provider):
        with pytest.raises(DefinitionTypeError, match="the name of a provider is a string, not"):
            ask(name)
    with pytest.raises(DefinitionTypeError, match="a report is read by the name of a provider, not by"):
        report[name]
    assert name not in report
    with pytest.raises(DefinitionTypeError, match="the name of an action is a string, not"):
        asyncio.run(runtime.run_action(name, "hi"))
    assert runtime.compose("hi").text == "kept"


@pytest.mark.parametrize("store", [5, object(), dict, ["agent.db"], b"agent.db"])
def test_what_is_no_store_is_a_type_error_at_once(store):
    with pytest.raises(DefinitionTypeError, match="store is a"):
        AgentRuntime(store=store)


@pytest.mark.parametrize("option", ["name", "select", "clock", "count_tokens", "env_prefix"])
def test_an_option_of_a_runtime_is_told_in_one_short_line(option):
    for wrong in (["x" * 1000], Unshowable(), object()):
        with pytest.raises(DefinitionTypeError) as caught:
            AgentRuntime(**{option: wrong})
        assert len(str(caught.value)) < 200
        assert " at 0x" not in str(caught.value)


def test_an_error_about_a_provider_shows_no_secret():
    runtime = AgentRuntime(secrets={"KEY": "k3y-0f-the-d00r"})
    for field in ("position", "timeout", "dynamic", "description", "keyword_match"):
        wrong = ["k3y-0f-the-d00r"] if field == "description" else "k3y-0f-the-d00r"
        with pytest.raises(DefinitionError, match=r"\[secret KEY\]"):
            runtime.register_provider({"name": "A", "get": kept, field: wrong})
