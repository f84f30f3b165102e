"""Lint tells, before a template is rendered, what will be missing, doubled, or different in elizaOS."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.prompts.lint import Finding, Findings
from tests.hostile import SECRETS, TEXTS, problems

FORECAST = "It rains in Oslo, and will rain all day long."


def composed(message="will it rain?", include=None):
    secrets = {f"KEY_{i}": secret for i, secret in enumerate(("s3cret-value-123", *SECRETS))}
    runtime = AgentRuntime(secrets=secrets)
    providers = [
        {
            "name": "WEATHER",
            "get": lambda: {"text": FORECAST, "values": {"temperature": 12, "wind": 3, "forecast": FORECAST}},
            "dynamic": True,
            "relevance_keywords": ["weather", "rain"],
        },
        {"name": "USER", "get": lambda: {"values": {"name": "Ada", "visits": 3, "items": [{"title": "x"}]}}},
        {"name": "NOTES", "get": lambda: {"text": "note", "values": {"note": "n"}}, "private": True},
        {"name": "NEWS", "get": lambda: {"text": "news", "values": {"headline": "h"}}, "dynamic": True},
        {"name": "CLOCK", "get": lambda: {"text": "noon", "values": {"time": "noon"}}},
    ]
    for provider in providers:
        runtime.register_provider(provider)
    runtime.compose(message, ["NOTES", "NEWS"] if include is None else include)
    return runtime


@pytest.fixture(scope="module")
def runtime():
    return composed()


def rules(findings):
    return [finding.rule for finding in findings]


def said(findings):
    return [finding.message for finding in findings]


@pytest.mark.parametrize(
    "template",
    [
        "",
        "no tags at all",
        "{{name}} {{name.first}}",
        "{{#each items}}{{title}} {{anything}} {{@index}} {{this.x}}{{/each}}",
        "{{#with items}}{{unknown}} {{../name}}{{/with}}",
        "{{#if temperature}}It is {{temperature}}, the wind {{wind}}.{{/if}}",
        "{{#unless temperature}}no weather{{else}}{{wind}}{{/unless}}",
        "{{#temperature}}{{../wind}}{{/temperature}}",
        "{{providers}}",
        "{{#if name}}{{providers}}{{else}}{{#if forecast}}{{forecast}}{{/if}}{{/if}}",
        "{{! {{nothing}} }} {{!-- {{x}} --}}",
        "{{'name'}} {{[name]}} {{lookup items 0}} {{#if (lookup items 0)}}x{{/if}}",
        "{{#each items as |item i|}}{{item.title}} {{i}}{{/each}}",
        "{{#if true}}x{{/if}}{{#if 1}}y{{/if}}",
        "a {{visits}}{{visits}} b",
        '{"n": {{visits}} }',
        "{{{name}}} {{{name}~}} x",
        "{{#if name~}} x {{/if~}} y",
        "\\{{#if x}}",
    ],
)
def test_a_clean_template_has_no_findings(runtime, template):
    assert said(runtime.lint(template)) == []


def test_a_name_nobody_writes_is_told_with_the_nearest_that_somebody_does(runtime):
    (finding,) = runtime.lint("Hot?\n It is {{temprature}} degrees.")
    assert finding == Finding(
        2, 8, "unknown", "no provider writes `temprature`; WEATHER writes `temperature`", "temprature"
    )


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{qqq}}", "no provider writes `qqq`; if it is an extra, name it in extra="),
        ("{{#if nme}}x{{/if}}", "no provider writes `nme`; USER writes `name`"),
        ("{{#each itms}}x{{/each}}", "no provider writes `itms`; USER writes `items`"),
        ("{{^nme}}x{{else}}y{{/nme}}", "no provider writes `nme`; USER writes `name`"),
        ("{{#each items}}{{../nme}}{{/each}}", "no provider writes `nme`; USER writes `name`"),
        (
            "{{#each items}}{{#if x}}{{@root.nme}}{{/if}}{{/each}}",
            "no provider writes `nme`; USER writes `name`",
        ),
        ("{{#each items}}x{{else}}{{nme}}{{/each}}", "no provider writes `nme`; USER writes `name`"),
        ("{{lookup itms 0}}", "no provider writes `itms`; USER writes `items`"),
        ("{{#if (lookup itms 0)}}x{{/if}}", "no provider writes `itms`; USER writes `items`"),
        ("{{#if name}}{{else}}{{nme.first}}{{/if}}", "no provider writes `nme`; USER writes `name`"),
        (
            "{{CLOCK}}",
            "no provider writes `CLOCK`: CLOCK is a provider; its text is data.providers.CLOCK.text",
        ),
        ("{{nme}} {{nme}} {{nme}}", "no provider writes `nme`; USER writes `name` (and 2 more)"),
    ],
)
def test_unknown_names_are_found_wherever_they_stand(runtime, template, message):
    assert message in said(runtime.lint(template))


def test_extras_are_known_names(runtime):
    assert said(runtime.lint("{{question}} {{data.x}}", extra=["question", "data"])) == []
    assert said(runtime.lint("{{question}}", extra="question")) == []
    assert said(runtime.lint("{{question}}", extra={"question": "Rain?"})) == []
    with pytest.raises(TypeError, match="extra holds names, not 3"):
        runtime.lint("{{x}}", extra=[3])


def test_a_provider_that_has_not_run_may_write_the_name():
    runtime = composed("hello", [])
    (finding,) = runtime.lint("{{temperature}}")
    assert finding.message == (
        "no provider that has run writes `temperature`; WEATHER, NOTES and NEWS have not run yet"
    )


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (
            "{{temperature}}",
            "`temperature` is there only when WEATHER runs, which is dynamic: 'weather' or 'rain' in the message wakes it",
        ),
        (
            "{{note}}",
            "`note` is there only when NOTES runs, which is private: only an include_list that names it runs it",
        ),
        (
            "{{headline}}",
            "`headline` is there only when NEWS runs, which is dynamic and has no keywords: only an include_list that names it runs it",
        ),
        (
            "{{data.providers.WEATHER.text}}",
            "`data.providers.WEATHER` is there only when WEATHER runs, which is dynamic: 'weather' or 'rain' in the message wakes it",
        ),
    ],
)
def test_a_name_that_is_not_always_there_says_what_wakes_its_provider(runtime, template, message):
    assert [f.message for f in runtime.lint(template) if f.rule == "not always"] == [message]


def test_a_condition_guards_what_the_same_provider_writes_and_no_other():
    runtime = composed()
    assert rules(runtime.lint("{{#if temperature}}{{headline}}{{/if}}")) == ["not always"]
    assert rules(runtime.lint("{{#if temperature}}a{{else}}{{wind}}{{/if}}")) == ["not always"]
    assert rules(runtime.lint("{{#unless temperature}}{{wind}}{{/unless}}")) == ["not always"]
    runtime.register_provider({"name": "CALM", "get": lambda: {"values": {"wind": 0}}})
    runtime.compose("rain", ["NOTES", "NEWS"])
    assert rules(runtime.lint("{{wind}}")) == []


def test_a_value_of_several_dynamic_providers_names_them():
    runtime = composed()
    runtime.register_provider({"name": "SEA", "get": lambda: {"values": {"wind": 9}}, "dynamic": True})
    runtime.compose("rain", ["SEA", "NEWS", "NOTES"])
    (finding,) = runtime.lint("{{wind}}")
    assert finding.message == "`wind` is there only when WEATHER or SEA runs, none of which always does"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{data.providers.CLOK.text}}", "no provider is registered as CLOK; did you mean CLOCK?"),
        ("{{data.provider_ordr}}", "data holds `providers` and `provider_order`, no `provider_ordr`"),
        ("{{data.providers.CLOCK.txt}}", "data.providers.CLOCK has text, values and data, no `txt`"),
        ("{{data.providers.CLOCK.values.tme}}", "CLOCK writes no `tme`; it writes `time`"),
    ],
)
def test_the_way_into_the_data_is_checked(runtime, template, message):
    assert [f.message for f in runtime.lint(template) if f.rule == "unknown"] == [message]


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("{{providers}} {{#if forecast}}{{forecast}}{{/if}}", ["forecast"]),
        ("{{#if forecast}}{{forecast}}{{/if}} {{providers}}", ["forecast"]),
        ("{{providers}} {{data.providers.CLOCK.text}}", ["data.providers.CLOCK.text"]),
        (
            "{{providers}} {{#each items}}{{@root.data.providers.CLOCK.text}}{{/each}}",
            ["data.providers.CLOCK.text"],
        ),
        (
            "{{providers}} {{data.providers.WEATHER.values.forecast}}",
            ["data.providers.WEATHER.values.forecast"],
        ),
        ("{{providers}} and again {{providers}}", ["providers"]),
        ("{{providers}} {{time}} {{data.providers.CLOCK.values.time}}", []),
        ("{{#if providers}}{{#if forecast}}{{forecast}}{{/if}}{{/if}}", []),
        ("{{data.providers.CLOCK.text}}", []),
        ("{{#if time}}{{providers}}{{else}}{{providers}}{{/if}}", []),
        ("{{#if time}}{{providers}}{{else}}{{data.providers.CLOCK.text}}{{/if}}", []),
    ],
)
def test_what_would_stand_in_the_prompt_twice_is_told(runtime, template, names):
    assert [f.name for f in runtime.lint(template) if f.rule == "twice"] == names


def test_the_text_that_holds_a_value_already_is_named(runtime):
    found = [f.message for f in runtime.lint("{{providers}} {{forecast}}") if f.rule == "twice"]
    assert found == ["`forecast` stands in {{providers}} already, in the text of WEATHER"]


@pytest.mark.parametrize(
    ("template", "rule", "column"),
    [
        ("{{#if name}}A{{else if visits}}B{{/if}}", "else if", 14),
        ("{{#if name}}A{{else unless visits}}B{{/if}}", "else if", 14),
        ("{{^name}}x{{/name}}", "inverse", 1),
        ("{{#if name}}x{{^}}y{{/if}}", "inverse", 14),
        ("x {{~name}}", "tilde", 3),
        ("x {{name~}}", "tilde", 3),
        ("{{#if name}}x{{~else}}y{{/if}}", "tilde", 14),
        ("{{#if name}}x{{else~}}y{{/if}}", "tilde", 14),
        ("{{#if name}}x{{~/if}}", "tilde", 14),
        ("{{~! comment}}", "tilde", 1),
        ("{{&name}}", "ampersand", 1),
        ('{"n": {{visits}}}', "braces", 7),
        ("{{#if name}}}x{{/if}}", "braces", 1),
        ("{{{name}}}}", "braces", 1),
        ("\\{{raw}}", "escaped", 1),
        ("{{items.0}}", "index", 1),
        ("{{#if items.0}}x{{/if}}", "index", 1),
        ("{{visits}}{{visits}}", "numbers", 11),
        ("{{#if name}}{{visits}}{{! nothing }}{{visits}}{{/if}}", "numbers", 37),
        ("{{#if name}}{{visits}}{{/if}}{{visits}}", "numbers", 30),
        ("{{!-- not closed }}", "comment", 1),
        ("{{data.providers.CLOCK.text}}", "data", 1),
        ("{{#each items}}{{#with this}}{{../title}}{{/with}}{{/each}}", "parent", 30),
    ],
)
def test_what_renders_differently_in_elizaos_is_told(runtime, template, rule, column):
    assert [(f.rule, f.line, f.column) for f in runtime.lint(template)] == [(rule, 1, column)]


@pytest.mark.parametrize("name", ["if", "unless", "each", "with", "lookup", "log"])
def test_a_value_called_like_a_helper_is_told(name):
    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": lambda: {"values": {name: 1}}})
    runtime.compose("hi")
    assert rules(runtime.lint(f"{{{{{name}}}}}")) == ["helper"]
    assert rules(runtime.lint(f"{{{{#if {name}}}}}x{{{{/if}}}}")) == []


def test_a_value_called_data_is_no_way_into_the_data():
    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": lambda: {"values": {"data": {"x": 1}}}})
    runtime.compose("hi")
    assert said(runtime.lint("{{data.x}}")) == []


def test_an_escaped_tag_in_a_comment_is_not_told(runtime):
    assert rules(runtime.lint("{{!-- \\{{x}} --}} a\n\\{{y}}")) == ["escaped"]
    assert [(f.line, f.column) for f in runtime.lint("{{!-- \\{{x}} --}} a\n \\{{y}}")] == [(2, 2)]


def test_a_template_that_cannot_be_read_is_one_finding_with_its_place(runtime):
    (finding,) = runtime.lint("{{nobody}}\n {{#if x}}")
    assert (finding.line, finding.column, finding.rule) == (2, 2, "unreadable")
    assert finding.message == "{{#if}} is never closed"
    (finding,) = runtime.lint("a\nb {{*name}}")
    assert (finding.line, finding.column, finding.rule) == (2, 3, "unreadable")
    (finding,) = runtime.lint("x" * 1_000_001)
    assert (finding.line, finding.column, finding.rule) == (None, None, "unreadable")


def test_before_any_composition_names_are_not_called_unknown():
    runtime = AgentRuntime()
    (finding,) = runtime.lint("{{anything}} {{question}}")
    assert finding.rule == "not composed"
    assert "compose, then lint again" in finding.message
    assert rules(runtime.lint("{{question}} {{providers}}", extra=["question"])) == []
    assert rules(runtime.lint("{{^x}}{{/x}}", extra=["x"])) == ["inverse"]


def test_a_template_that_is_a_function_is_never_called(runtime):
    called = []
    (finding,) = runtime.lint(called.append)
    assert (finding.rule, called) == ("function", [])
    with pytest.raises(TypeError, match="a template is a string or a function of the state, not 3"):
        runtime.lint(3)


def test_nothing_is_run_by_lint():
    ran = []
    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": lambda: ran.append(1)})
    runtime.lint("{{x}}")
    assert ran == []


def test_findings_are_a_sequence_that_is_false_when_clean(runtime):
    findings = runtime.lint("{{b}}\n{{a}} {{^name}}{{/name}}")
    assert isinstance(findings, Findings)
    assert len(findings) == 3
    assert findings
    assert [(f.line, f.column) for f in findings] == [(1, 1), (2, 1), (2, 7)]
    assert not runtime.lint("{{name}}")


def test_findings_show_themselves_in_three_forms_and_as_a_frame(runtime):
    findings = runtime.lint("{{nme}} <b>\n{{^name}}{{/name}}")
    assert repr(findings) == (
        "2 findings in the template\n\n"
        "line 1, column 1: no provider writes `nme`; USER writes `name` [unknown]\n"
        "line 2, column 1: elizaOS cannot read {{^name}}; write {{#unless name}} [inverse]"
    )
    bundle = findings._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/markdown", "text/html"}
    assert [problems(form, kind) for kind, form in bundle.items()] == [[], [], []]
    frame = findings.to_frame()
    assert frame.columns.tolist() == ["line", "column", "rule", "name", "message"]
    assert frame["name"].tolist() == ["nme", ""]
    assert repr(runtime.lint("{{name}}")) == "nothing found: 1 name read"
    assert len(runtime.lint("{{name}}").to_frame()) == 0


def test_a_secret_in_a_template_is_masked_in_findings(runtime):
    findings = runtime.lint("{{s3cret-value-123}}")
    assert "s3cret" not in repr(findings) + str([*findings]) + findings.to_frame().to_string()


@pytest.mark.parametrize("label", TEXTS)
def test_any_text_is_linted_and_shown_safely(runtime, label):
    text = TEXTS[label].replace("{{", "").replace("]", "")[:20_000]
    for template in (TEXTS[label], f"{{{{[{text}]}}}}"):
        findings = runtime.lint(template)
        for kind, form in findings._repr_mimebundle_().items():
            assert problems(form, kind) == []


def test_many_findings_are_bounded_in_view_and_whole_in_the_frame(runtime):
    findings = runtime.lint("".join(f"{{{{nobody{i}}}}} " for i in range(500)))
    assert len(findings) == 500
    assert "… and 400 more: .to_frame() has all" in repr(findings)
    assert len(findings.to_frame()) == 500


def test_keys_that_are_kinds_of_text_are_known():
    class Key(StrEnum):
        CITY = "city"

    runtime = AgentRuntime()
    values = {Key.CITY: "Oslo", np.str_("wind"): 3}
    runtime.register_provider({"name": "A", "get": lambda: {"values": values}})
    state = runtime.compose("hi")
    assert state.prompt("{{city}} {{wind}}") == "Oslo 3"
    assert not runtime.lint("{{city}} {{wind}}")
    assert [finding.name for finding in runtime.lint("{{town}}")] == ["town"]


def test_a_name_may_be_one_of_the_keys_that_are_not_kept():
    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": lambda: {"values": {f"k{i}": i for i in range(1_001)}}})
    runtime.compose("hi")
    findings = runtime.lint("{{k1000}}, {{data.providers.A.values.k1000}}")
    assert [finding.rule for finding in findings] == ["data"]
    assert [finding.name for finding in runtime.lint("{{A}}")] == ["A"]


def test_what_climbs_out_of_every_block_is_told():
    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": lambda: {"values": {"city": "Oslo", "l": [1]}}})
    runtime.compose("hi")
    for template in ("{{../city}}", "{{#if city}}{{../city}}{{/if}}", "{{#each l}}{{../../city}}{{/each}}"):
        assert [finding.rule for finding in runtime.lint(template)] == ["outside"]
    assert not runtime.lint("{{#each l}}{{../city}}{{/each}}")
