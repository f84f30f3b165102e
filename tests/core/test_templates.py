"""Templates render as SPEC 6 says: names, blocks, values, missing names, errors with a place."""

from __future__ import annotations

import asyncio
import random
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from agentctx_nb import AgentRuntime, Memory, State, TemplateError
from agentctx_nb.templates import Prompt, escape_template, render_template


class Colour(Enum):
    RED = "red"


@dataclass
class Place:
    name: str
    north: float


RENDERED = [
    ("{{name}}", {"name": "Ada"}, "Ada"),
    ("{{a.b.c}}", {"a": {"b": {"c": 1}}}, "1"),
    ("{{a.1}} {{a.[0]}} {{a.length}}", {"a": ["x", "y"]}, "y x 2"),
    ("{{people.0.name}}", {"people": [{"name": "Ada"}]}, "Ada"),
    ("{{[a key]}} {{'a key'}}", {"a key": 5}, "5 5"),
    ("{{{v}}} {{&v}} {{v}}", {"v": "<b>&"}, "<b>& <b>& <b>&"),
    ("{{v}}", {"v": "{{x}}", "x": 1}, "{{x}}"),
    ("{{n}}{{m}}", {"n": 3, "m": 4}, "34"),
    ('{"n": {{n}}}', {"n": 3}, '{"n": 3}'),
    ("{{#if a}}A{{else if b}}B{{else}}C{{/if}}", {"a": False, "b": True}, "B"),
    ("{{#if a}}A{{^}}B{{/if}}", {"a": 0}, "B"),
    ("{{^a}}none{{/a}}{{^b}}some{{/b}}", {"a": [], "b": [1]}, "none"),
    ("{{^a}}none{{else}}some{{/a}}", {"a": "x"}, "some"),
    ("{{#unless a}}x{{else}}y{{/unless}}", {"a": True}, "y"),
    ("{{#a}}{{b}}{{/a}}", {"a": {"b": 4}}, "4"),
    (
        "{{#each l}}{{@index}}{{#if @first}}f{{/if}}{{#if @last}}l{{/if}}={{this}};{{/each}}",
        {"l": [5, 6]},
        "0f=5;1l=6;",
    ),
    ("{{#each d}}{{@key}}:{{this}}{{../end}}{{/each}}", {"d": {"p": 1, "q": 2}, "end": "."}, "p:1.q:2."),
    ("{{#each l as |item i|}}{{i}}{{item}}{{/each}}", {"l": ["a", "b"]}, "0a1b"),
    ("{{#each l}}x{{else}}empty{{/each}}", {"l": []}, "empty"),
    ("{{#with d}}{{p}}{{../z}}{{/with}}", {"d": {"p": 1}, "z": 2}, "12"),
    ("a{{! gone }}b{{!-- }} gone --}}c", {}, "abc"),
    ("x {{~v~}} y", {"v": 1}, "x1y"),
    ("{{#if x}}\n  hi\n{{/if}}\nend", {"x": 1}, "  hi\nend"),
    ("\\{{v}} {{v}}", {"v": 1}, "{{v}} 1"),
    ("{{lookup d key}} {{lookup l 1}}", {"d": {"k": 3}, "key": "k", "l": [7, 8]}, "3 8"),
    ("{{if}}", {"if": "a name"}, "a name"),
]


@pytest.mark.parametrize(("template", "values", "expected"), RENDERED)
def test_a_template_renders(template, values, expected):
    assert render_template(template, extra=values) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (2.0, "2"),
        (2.5, "2.5"),
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (0.00001, "0.00001"),
        (float("nan"), "NaN"),
        (2**70, str(2**70)),
        ([1, None, [2, "a"]], "1,,2,a"),
        ((1, 2), "1,2"),
        ({"b", "a"}, "a,b"),
        ({"a": 1, "b": [True, None, 2.0]}, '{"a":1,"b":[true,null,2]}'),
        ({"é": "ü"}, '{"é":"ü"}'),
        (datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "2026-01-02T03:04:00+00:00"),
        (Decimal("1.50"), "1.50"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b"),
        (Colour.RED, "red"),
        (Place("Oslo", 59.0), '{"name":"Oslo","north":59}'),
        (np.int64(3), "3"),
        (np.bool_(True), "true"),
        (np.array([1.0, 2.5]), "1,2.5"),
        (pd.NA, ""),
        (pd.NaT, ""),
        (pd.Timestamp("2026-01-02"), "2026-01-02T00:00:00"),
        (pd.Series([1, 2]), "1,2"),
        (pd.DataFrame({"a": [1], "b": ["x"]}), ""),
        (Memory("hi", room_id="r"), '{"content":{"text":"hi"},"room_id":"r"}'),
    ],
)
def test_a_value_stands_in_the_prompt_as_text(value, expected):
    if isinstance(value, pd.DataFrame):
        assert render_template("{{#each v}}{{a}}{{b}}{{/each}}", extra={"v": value}) == "1x"
    else:
        assert render_template("{{v}}", extra={"v": value}) == expected


@pytest.mark.parametrize("value", [object(), b"bytes", lambda: 1, len])
def test_what_has_no_text_is_an_error_that_names_the_key(value):
    with pytest.raises(TemplateError, match=r"deep\.v") as caught:
        render_template("{{deep.v}}", extra={"deep": {"v": value}})
    assert "0x" not in str(caught.value)
    assert render_template("fine {{w}}", extra={"v": value, "w": 1}) == "fine 1"


@pytest.mark.parametrize(
    ("value", "holds"),
    [
        (0, False),
        ("", False),
        ([], False),
        (None, False),
        (False, False),
        (1, True),
        ("0", True),
        ({}, True),
        ([0], True),
    ],
)
def test_truth_is_that_of_handlebars(value, holds):
    assert render_template("{{#if v}}yes{{else}}no{{/if}}", extra={"v": value}) == ("yes" if holds else "no")


def test_python_attributes_are_never_reached_and_callables_never_called():
    called = []
    prompt = render_template("{{v.upper}}{{v.__class__}}{{d.items}}", extra={"v": "text", "d": {"a": 1}})
    assert prompt == ""
    assert prompt.missing == ("v.upper", "v.__class__", "d.items")
    with pytest.raises(TemplateError, match="a function"):
        render_template("{{f}}", extra={"f": lambda: called.append(1)})
    assert called == []


def state_of(**results):
    runtime = AgentRuntime(secrets={"KEY": "s3cret-value-123"})
    for name, result in results.items():
        runtime.register_provider({"name": name, "get": lambda *_, result=result: result})
    return runtime, runtime.compose("hi")


def test_names_come_from_the_extras_then_the_values_then_the_data():
    runtime, state = state_of(A={"values": {"x": "value", "y": "kept"}, "data": {"n": {"deep": 7}}})
    prompt = runtime.compose_prompt(state, "{{x}} {{y}} {{data.providers.A.data.n.deep}}", x="extra")
    assert prompt == "extra kept 7"
    assert state.prompt(lambda given: "{{y}}" if given.text == state.text else "") == "kept"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("a\n {{#if x}}", r"line 2, column 2: \{\{#if\}\} is never closed"),
        ("{{/if}}", "line 1, column 1: .* never opened"),
        ("{{#if a}}{{/each}}", "closes the 'if' opened at line 1, column 1"),
        ("{{x", "line 1, column 1: a tag is never closed"),
        ("{{ }}", "a tag is empty"),
        ("{{> part}}", "partials are not supported"),
        ("{{uper name}}", "there is no helper 'uper'"),
        ("{{#ech x y}}{{/ech}}", "there is no block helper 'ech'; did you mean 'each'"),
        ("{{#if (upper x)}}{{/if}}", "line 1, column 1: there is no helper 'upper'"),
        ("{{else}}", "an else stands outside a block"),
        ("{{#if a}}1{{else}}2{{else}}3{{/if}}", "a second else"),
        ("{{#if}}x{{/if}}", "#if needs a value"),
        ("{{#each a}}" * 200, "nested more than 100 deep"),
        ("{{a}}" * 20_001, "more than 20,000 tags"),
        ("x" * 1_000_001, "1,000,001 characters"),
    ],
)
def test_an_error_names_line_and_column(template, said):
    with pytest.raises(TemplateError, match=said):
        render_template(template, extra={"x": 1})


def test_an_error_carries_its_place_as_data():
    with pytest.raises(TemplateError) as caught:
        render_template("one\ntwo {{/if}}")
    assert (caught.value.line, caught.value.column) == (2, 5)


def test_spans_say_who_wrote_each_character():
    runtime, state = state_of(
        WEATHER={"values": {"t": 72}}, USER={"values": {"name": "Ada"}, "data": {"d": "x"}}
    )
    prompt = runtime.compose_prompt(
        state, "Hi {{name}}: {{t}}{{more}}{{data.providers.USER.data.d}}.", more="!"
    )
    parts = [(prompt[start:end], source) for start, end, source in prompt.spans]
    assert parts == [
        ("Hi ", "template"), ("Ada", "USER"), (": ", "template"), ("72", "WEATHER"), ("!", "extra"), ("x", "USER"),
        (".", "template"),
    ]  # fmt: skip


def test_a_prompt_is_raw_in_code_and_masked_where_it_is_shown():
    runtime, state = state_of(A={"values": {"key": "s3cret-value-123"}})
    prompt = runtime.compose_prompt(state, "key {{key}}")
    assert isinstance(prompt, Prompt)
    assert str(prompt) == "key s3cret-value-123"
    assert "s3cret" not in repr(prompt)
    assert repr(prompt) == "'key [secret KEY]'"


def test_escaped_text_renders_as_itself_wherever_it_stands():
    draw = random.Random(1)
    for _ in range(3000):
        text = "".join(draw.choice("{}\\ a~!#^/&>\n\"'") for _ in range(draw.randint(0, 9)))
        escaped = escape_template(text)
        assert render_template(escaped) == text
        assert render_template("{{x}}" + escaped + "{{x}}", extra={"x": "X"}) == f"X{text}X"
        assert render_template(escaped + "{{#if x}}y{{/if}}", extra={"x": "X"}) == text + "y"


def test_two_threads_render_the_same_template_apart():
    results = {}

    def render(i):
        for _ in range(200):
            results[i] = str(
                render_template("{{#each l}}{{v}}{{../n}}{{/each}}", extra={"n": i, "l": [{"v": "a"}] * 5})
            )

    threads = [threading.Thread(target=render, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: f"a{i}" * 5 for i in range(4)}


def test_a_cyclic_value_is_an_error_and_not_a_crash():
    cyclic: dict = {"a": 1}
    cyclic["self"] = cyclic
    with pytest.raises(TemplateError, match="too deep"):
        render_template("{{v}}", extra={"v": cyclic})
    assert render_template("{{v.self.self.a}}", extra={"v": cyclic}) == "1"


def test_a_condition_takes_exactly_one_value():
    for template in ("{{#if a b}}x{{/if}}", "{{#each a b}}x{{/each}}", "{{#if a}}x{{else if a b}}y{{/if}}"):
        with pytest.raises(TemplateError, match="takes one value, not 2") as caught:
            render_template(template, extra={"a": 1, "b": 2})
        assert caught.value.line == 1
    assert render_template("{{#if (lookup a 0) includeZero=true}}x{{/if}}", extra={"a": [0]}) == "x"


def test_what_only_the_library_cannot_read_has_a_place_too():
    with pytest.raises(TemplateError, match=r"^line 2, column 3: \*name cannot be read") as caught:
        render_template("a\nb {{*name}} {{c}}")
    assert (caught.value.line, caught.value.column) == (2, 3)


@pytest.mark.parametrize(
    "template", ["{{d.x}}", "{{#if d.x}}a{{/if}}", "{{#each d}}{{this}}{{/each}}", "{{d}}"]
)
def test_a_mapping_that_raises_when_it_is_read_is_an_error_of_ours(template):
    class Odd(dict):
        def __getitem__(self, key):
            raise RuntimeError("not today")

    with pytest.raises(TemplateError, match="not today") as caught:
        render_template(template, extra={"d": Odd(x=1)})
    assert "d.x cannot be read: RuntimeError" in str(caught.value)


def test_a_mapping_that_raises_in_another_way_is_an_error_of_ours():
    class Odd(dict):
        def __contains__(self, key):
            raise RuntimeError("not today")

        def __iter__(self):
            raise RuntimeError("not today")

    for template in ("{{d.x}}", "{{#each d}}{{this}}{{/each}}"):
        with pytest.raises(TemplateError, match="not today"):
            render_template(template, extra={"d": Odd(x=1)})


def test_extras_may_be_called_as_parameters_are():
    runtime, state = state_of(A={"values": {"x": 1}})
    extra = {"template": "t", "self": "s", "state": "u"}
    assert state.prompt("{{template}}{{self}}{{state}}", **extra) == "tsu"
    assert runtime.compose_prompt(state, "{{template}}{{self}}{{state}}", **extra) == "tsu"
    with pytest.raises(
        ValueError, match="missing is 'empty', 'error' or 'keep', not 3; no extra can have this name"
    ):
        state.prompt("{{missing}}", missing=3)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{#if a}} {{b}}{{/if}}", " B"),
        ("{{#if no}}x{{else each l}}{{this}};{{/if}}", "1;2;"),
        ("{{#if no}}x{{else with d}}{{k}}{{/if}}", "v"),
        ("{{^l}}empty{{else}}{{this}},{{/l}}", "1,2,"),
        ("{{^d}}nobody{{else}}{{k}}{{/d}}", "v"),
        ("a\\ {{~b}}", "a\\B"),
        ("{ {{~b~}} }", "{B}"),
        ("{{b.[0]}}{{b.0.x}}{{#if b.[0]}}y{{/if}}", "By"),
        ("{{#l.length}}n{{/l.length}}{{#no.length}}m{{/no.length}}", "n"),
        ('{{lookup no "x"}} {{lookup l "length"}}', "false 2"),
        ("{{~{b}~}} !", "B!"),
    ],
)
def test_what_the_library_gets_wrong_is_right(template, expected):
    assert (
        render_template(template, extra={"a": 1, "b": "B", "no": False, "l": [1, 2], "d": {"k": "v"}})
        == expected
    )


def test_a_long_chain_of_else_ifs_renders_or_is_an_error_with_a_place():
    chain = "{{#if a}}0" + "".join(f"{{{{else if b{i}}}}}{i}" for i in range(90)) + "{{/if}}"
    assert render_template(chain, extra={"b89": 1}) == "89"
    with pytest.raises(TemplateError, match=r"line 1, column .* nested more than 100 deep"):
        render_template("{{#if a}}0" + "{{else if b}}1" * 101 + "{{/if}}")


def test_the_page_example_renders():
    async def main():
        runtime = AgentRuntime()
        runtime.register_provider(
            {"name": "T", "get": lambda: {"values": {"currentTime": "noon", "temperature": 20.0}}}
        )
        state = await runtime.compose_state("hello")
        return runtime.compose_prompt(
            state, "At {{currentTime}}, {{temperature}}°. Say: {{userMessage}}", userMessage="hi"
        )

    assert asyncio.run(main()) == "At noon, 20°. Say: hi"
    assert State().prompt("{{providers}}") == ""


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (pd.DataFrame({"a": [1]}).groupby("a"), "v is of type DataFrameGroupBy and cannot stand in a prompt"),
        (np.dtype("f4"), "v is of type"),
        (np.sum, "v is a function"),
        ([np.float64], r"v\.0 is a function"),
    ],
)
def test_objects_of_numpy_and_pandas_without_a_text_are_named_by_their_key(value, said):
    with pytest.raises(TemplateError, match=said) as caught:
        render_template("{{v}}", extra={"v": value})
    assert "0x" not in str(caught.value)


def test_a_hidden_value_of_numpy_is_empty():
    assert (
        render_template("{{v}}|{{w}}", extra={"v": np.ma.masked, "w": np.ma.array([1, 2], mask=[0, 1])})
        == "|1,"
    )
