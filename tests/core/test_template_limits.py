"""A template costs what it is long: inputs here would take minutes, or all memory, if anything were read twice."""

from __future__ import annotations

import pytest

from agentctx_nb import AgentRuntime, TemplateError
from agentctx_nb.prompts.tags import tags_of
from agentctx_nb.templates import render_template


def nested(made, deep):
    value = "x"
    for _ in range(deep):
        value = made(value)
    return value


PAIRS = nested(lambda v: [v, v], 60)
TWINS = nested(lambda v: {"p": v, "q": v}, 60)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ('{{x "' + r"\a" * 200_000 + "}}", "line 1, column 1: a quote is never closed"),
        ("{{x '" + r"\a" * 200_000 + "}}", "a quote is never closed"),
        ("{{x " + "[ " * 400_000 + "}}", r"a \[ is never closed"),
        ("{{x " + "| " * 400_000 + "}}", "no helper 'x'"),
        ("{{!--x}}" * 120_000, "more than 20,000 tags"),
        ("{{{x}} " * 140_000, "more than 20,000 tags"),
        ("{{#x" * 200_000, "a tag is never closed"),
        ("{{x" + ".length" * 100_000 + "}}", "more than 100 steps"),
        ("{{" + "lookup (" * 100_000 + "a" + ")" * 100_000 + "}}", "more than 100 calls"),
    ],
)
def test_reading_a_template_takes_one_pass(template, said):
    with pytest.raises(TemplateError, match=said):
        render_template(template)


def test_tags_past_the_limit_are_not_even_read():
    with pytest.raises(TemplateError, match="more than 20,000 tags"):
        tags_of("{{a}}" * 20_001 + "{{never closed")


def test_places_are_right_in_one_long_line_and_in_many():
    tags = tags_of("é" * 1000 + "{{a}}\n\n {{b}}{{c}}\n\\{{d}} {{e}}")
    assert [(tag.line, tag.column) for tag in tags] == [(1, 1001), (3, 2), (3, 7), (4, 8)]


def test_lint_takes_one_pass():
    runtime = AgentRuntime()
    assert not runtime.lint("\\{{ " * 100_000)
    findings = list(runtime.lint("\\{{a}} " * 50_000))
    assert [(f.line, f.column) for f in findings] == [(1, 1)]
    assert "(and 49999 more)" in findings[0].message
    assert [(f.line, f.column) for f in runtime.lint("a\nbc \\{{a}}")] == [(2, 4)]


@pytest.mark.parametrize("value", [PAIRS, TWINS])
def test_what_holds_a_value_twice_over_and_over_is_never_made_plain_whole(value):
    assert render_template("{{#if v}}yes{{/if}}{{#with v}}w{{/with}}", extra={"v": value}) == "yesw"
    with pytest.raises(TemplateError, match="line 1, column 2: the values hold more than 300,000 others"):
        render_template(" {{v}}", extra={"v": value})


def test_a_list_is_not_read_to_tell_how_long_it_is():
    class Counted(list):
        read = 0

        def __iter__(self):
            Counted.read += 1
            return super().__iter__()

        def __getitem__(self, place):
            Counted.read += 1
            return super().__getitem__(place)

    rows = Counted([{"n": i} for i in range(300)])
    prompt = render_template("{{#each rows}}{{n}}/{{../rows.length}} {{/each}}", extra={"rows": rows})
    assert prompt.startswith("0/300 1/300 ")
    assert Counted.read == 1


def test_a_table_is_unpacked_once_in_a_rendering():
    class Table:
        unpacked = 0

        def to_dict(self):
            Table.unpacked += 1
            return {"n": 1}

    assert render_template("{{#each l}}{{../t.n}}{{/each}}", extra={"l": [1] * 50, "t": Table()}) == "1" * 50
    assert Table.unpacked == 1


LONG = "z" * 20_000


@pytest.mark.parametrize(
    "inside",
    [
        LONG,
        f"{{{{#if one}}}}{{{{else}}}}{LONG}{{{{/if}}}}",
        f"{{{{#if @root.a}}}}{{{{#with @root}}}}{LONG}{{{{/with}}}}{{{{/if}}}}",
    ],
)
def test_the_limit_of_a_prompt_counts_the_text_of_blocks_while_they_go_round(inside):
    template = f"{{{{#each a}}}}{{{{#each @root.a}}}}{{{{#each @root.a}}}}{inside}{{{{/each}}}}{{{{/each}}}}{{{{/each}}}}"
    with pytest.raises(TemplateError, match="grows past 10,000,000 characters"):
        render_template(template, extra={"a": list(range(2_000))})


def test_the_limit_of_a_prompt_counts_the_text_around_the_blocks():
    template = "z" * 600_000 + "{{#each a}}" + "z" * 100_000 + "{{/each}}"
    assert len(render_template(template, extra={"a": [1] * 94})) == 10_000_000
    with pytest.raises(TemplateError, match="grows past 10,000,000 characters"):
        render_template(template, extra={"a": [1] * 95})


def test_blocks_that_write_nothing_cannot_go_round_for_ever():
    template = "{{#each a}}{{#each @root.a}}{{#each @root.a}}{{/each}}{{/each}}{{/each}}"
    with pytest.raises(TemplateError, match="go round more than 300,000 times"):
        render_template(template, extra={"a": list(range(2_000))})
    with pytest.raises(TemplateError, match="go round more than 300,000 times"):
        render_template("{{#each a}}{{/each}}", extra={"a": [0] * 300_001})


@pytest.mark.parametrize("value", [["z" * 1_000_000] * 100_000, {"k": ["z" * 1_000_000] * 100_000}])
def test_a_value_too_long_for_any_prompt_is_never_joined(value):
    with pytest.raises(TemplateError, match="line 1, column 1: the prompt grows past"):
        render_template("{{v}}", extra={"v": value})


def test_any_characters_may_stand_in_a_template():
    odd = "".join(map(chr, range(0xFDD0, 0xFDF0))) + "".join(map(chr, range(0x10FF00, 0x110000)))
    assert render_template(f"{odd}{{{{v}}}}{odd}", extra={"v": odd}) == odd * 3


def test_lint_looks_for_what_is_like_the_first_unknown_names_only(monkeypatch):
    from agentctx_nb import errors

    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": lambda: {"values": {f"known_{i}": i for i in range(400)}}})
    runtime.compose("hi")
    compared = []
    nearest = errors._nearest
    monkeypatch.setattr(errors, "_nearest", lambda name, *more: compared.append(name) or nearest(name, *more))
    findings = list(runtime.lint("{{knwn_7}}" + "".join(f"{{{{unknwn_{i}}}}}" for i in range(400))))
    assert "A writes `known_7`" in findings[0].message
    assert len(findings) >= 400
    assert len(compared) <= errors.MOST_SOUGHT
