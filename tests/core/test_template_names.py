"""Names in templates: what they reach, odd ones, and those nobody wrote."""

from __future__ import annotations

import pytest

from agentctx_nb import AgentRuntime, TemplateError
from agentctx_nb.templates import render_template


def test_a_missing_name_is_empty_and_told_or_an_error_or_kept():
    extra = {"known": None}
    prompt = render_template("a{{nope}}b{{known}}{{deep.er}}{{nope}}", extra=extra)
    assert (str(prompt), prompt.missing) == ("ab", ("nope", "deep.er"))
    with pytest.raises(TemplateError, match=r"line 2, column 2: nobody wrote 'nope'"):
        render_template("x\n {{nope}}", extra=extra, missing="error")
    assert render_template("{{nope}} {{known}}|", extra=extra, missing="keep") == "{{nope}} |"
    assert render_template("{{#if nope}}x{{/if}}", missing="error") == ""
    with pytest.raises(ValueError, match="missing is 'empty', 'error' or 'keep'"):
        render_template("", missing="skip")


NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize(
    ("template", "expected"),  # as handlebars 4.7.10 renders them
    [
        ("{{#if nan}}t{{else}}f{{/if}}{{#if nan includeZero=true}}t{{else}}f{{/if}}", "ff"),
        ("{{#unless nan}}u{{/unless}}{{#nan}}in{{/nan}}{{^nan}}out{{/nan}}", "uin"),
        ("{{#with nan}}in{{else}}out{{/with}}{{lookup nan 'x'}}", "outNaN"),
        ("{{#with rows}}{{length}}{{/with}}{{#s}}{{length}}{{/s}}", "23"),
        (
            "{{length}}{{#with rows}}{{../length}}{{#if length}}y{{/if}}{{#length}}a{{/length}}{{/with}}",
            "77ya",
        ),
        ("{{#with rows as |length|}}{{length}}{{/with}}{{#d}}{{length}}{{/d}}{{#n}}{{length}}{{/n}}", "1,29"),
        ("{{rows/length}} {{length.length}}", "2 "),
        ("{{user.[full name]}}{{user.[full name].length}}{{#if user.[full name]}}y{{/if}}", "Ada3y"),
        ('{{user.[a.0.b]}}{{user.q.[it"s]}}{{user.q.[x=y]}}', "345"),
        ("{{#with s}}{{[0]}}{{/with}}{{#with rows}}{{[0]}}{{/with}}", "a1"),
        ('{{#with "a\\"}}{{this}}{{/with}}', "a\\"),
    ],
)
def test_odd_names_lengths_and_no_numbers_are_those_of_handlebars(template, expected):
    user = {"full name": "Ada", "a.0.b": 3, "q": {'it"s': 4, "x=y": 5}}
    extra = {
        "nan": NOT_A_NUMBER,
        "rows": [1, 2],
        "s": "abc",
        "user": user,
        "n": 3,
        "length": 7,
        "d": {"length": 9},
    }
    assert render_template(template, extra=extra) == expected


def test_what_a_provider_with_blanks_in_its_name_wrote_is_reached_and_told():
    runtime = AgentRuntime()
    result = {"text": "mine", "data": {"a key": 1}}
    runtime.register_provider({"name": "MY PROV", "get": lambda: result})
    state = runtime.compose("hi")
    prompt = state.prompt("{{data.providers.[MY PROV].text}}{{data.providers.[MY PROV].data.[a key]}}")
    assert prompt == "mine1"
    assert [source for _, _, source in prompt.spans] == ["MY PROV", "MY PROV"]


MISSING = [
    ("{{#if user.city}}x{{/if}}{{none}}", ()),
    ("{{#if none.x}}x{{/if}}{{none}}{{user.none}}", ()),
    ("{{../city}}", ("../city",)),
    ("{{#if t}}{{../city}}{{/if}}", ("../city",)),
    ("{{#if city}}{{../city}}{{/if}}", ("../city",)),
    ("{{#with user}}{{../city}}{{../none}}{{../../city}}{{/with}}", ("../../city",)),
    ("{{lookup user nope}}", ("lookup user nope",)),
    ("{{lookup nope 'x'}}", ("lookup nope 'x'",)),
    ("{{lookup user 'nope'}}{{lookup user 'none'}}", ("lookup user 'nope'",)),
    ("{{lookup l 9}}{{lookup city 99}}", ("lookup l 9", "lookup city 99")),
    ("{{#each l}}{{name}}{{this}}{{/each}}", ("name",)),
    ("{{#each l as |one|}}{{one}}{{one.x}}{{/each}}", ("one.x",)),
    ("{{#each l}}{{@index}}{{/each}}{{@index}}", ("@index",)),
    ("{{#each people}}{{city}}{{../city}}{{nope}}{{/each}}", ("nope",)),
    ("{{l.0.x}}{{l.7}}{{city.9}}{{none.x}}", ("l.0.x", "l.7", "city.9", "none.x")),
    ("{{#each nones}}{{this}}{{/each}}", ()),
    ("{{@root.none}}{{@root.nope}}{{this.none}}{{./nope}}", ("@root.nope", "./nope")),
]


@pytest.mark.parametrize(("template", "missing"), MISSING)
def test_missing_is_what_is_printed_and_not_there_and_nothing_else(template, missing):
    extra = {
        "t": True, "city": "C", "none": None, "user": {"a": 1, "none": None}, "l": ["x", "y"],
        "people": [{"city": None}, {"city": 2}], "nones": [None, 1],
    }  # fmt: skip
    assert render_template(template, extra=extra).missing == missing
