"""What is shown of a rendered prompt."""

from __future__ import annotations

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.render.prompt_view import prompt_view, prompts_table
from tests.hostile import SECRETS, TEXTS, problems

FORMS = ("text/plain", "text/markdown", "text/html")


@pytest.fixture
def runtime():
    runtime = AgentRuntime(count_tokens=len)
    runtime.register_provider(
        {
            "name": "WEATHER",
            "get": lambda: {
                "text": "Rain.",
                "values": {"temperature": 4, "rain": True},
                "data": {"days": [{"day": "Monday"}, {"day": "Tuesday"}]},
            },
        }
    )
    runtime.register_provider({"name": "NEWS", "get": lambda: {"text": "None.", "values": {"headline": "x"}}})
    return runtime


def shown(runtime, template, *, missing="empty", **extra):
    state = runtime.compose("hi")
    prompt = runtime.compose_prompt(state, template, missing=missing, **extra)
    return prompt_view(runtime, "REPLY", template, prompt, state=state, extra=extra, said="REPLY, tested")


def filled(runtime, template, **options):
    return [tuple(row.values()) for row in shown(runtime, template, **options).tags]


def test_each_tag_is_listed_with_who_fills_it(runtime):
    template = (
        "{{temperature}} {{headline}}\n{{q}} {{mood}}\n{{providers}}\n{{data.providers.NEWS.text}}"
        "{{!-- no tag --}}\\{{neither}}"
    )
    assert filled(runtime, template, q="why") == [
        ("{{temperature}}", 1, "WEATHER", 1, 1),
        ("{{headline}}", 1, "NEWS", 1, 1),
        ("{{q}}", 2, "extra", 3, 1),
        ("{{mood}}", 2, "(nobody)", 0, 0),
        ("{{providers}}", 3, "WEATHER, NEWS", 11, 3),
        ("{{data.providers.NEWS.text}}", 4, "NEWS", 5, 1),
    ]


def test_names_in_blocks_belong_to_who_wrote_what_the_block_is_about(runtime):
    template = (
        "{{#each data.providers.WEATHER.data.days}}{{day}}{{@index}}{{#if day}}{{this.day}}{{../headline}}{{/if}}{{/each}}"
        "{{#if rain}}a{{else if headline}}b{{else}}{{unseen}}{{/if}}{{^mood}}c{{/mood}}"
    )
    assert filled(runtime, template) == [
        ("{{#each data.providers.WEATHER.data.days}}", 1, "WEATHER", "", ""),
        ("{{day}}", 1, "WEATHER", 13, 2),
        ("{{@index}}", 1, "WEATHER", 2, 2),
        ("{{#if day}}", 1, "WEATHER", "", ""),
        ("{{this.day}}", 1, "WEATHER", 13, 2),
        ("{{../headline}}", 1, "NEWS", 2, 2),
        ("{{#if rain}}", 1, "WEATHER", "", ""),
        ("{{else if headline}}", 1, "NEWS", "", ""),
        ("{{unseen}}", 1, "(nobody)", 0, 0),
        ("{{^mood}}", 1, "(nobody)", "", ""),
    ]


def test_the_size_the_missing_names_and_the_text_are_told(runtime):
    view = shown(runtime, "{{temprature}} {{zzz}}ab")
    lines = repr(view).split("\n")
    assert lines[0] == "REPLY, tested: 3 characters, 3 tokens (len)"
    assert lines[2] == "nobody wrote: temprature (did you mean temperature?), zzz"
    assert lines[-1] == " ab"
    assert (str(view), view.prompt) == (" ab", " ab")
    assert view.prompt.missing == ("temprature", "zzz")


def test_a_counter_that_fails_hides_nothing():
    runtime = AgentRuntime(count_tokens=lambda text: 1 // 0)
    assert "2 characters" in repr(shown(runtime, "ab"))
    assert "estimate, as your counter failed with ZeroDivisionError" in repr(shown(runtime, "ab"))


def test_a_template_without_tags_and_an_empty_one_are_shown(runtime):
    assert "no rows" in repr(shown(runtime, "plain"))
    assert "(empty)" in repr(shown(runtime, ""))


def test_many_missing_names_are_counted(runtime):
    view = shown(runtime, "".join([f"{{{{q{n}x}}}}" for n in range(50)]))
    assert "and 40 more" in repr(view)


@pytest.mark.parametrize("label", TEXTS)
def test_hostile_values_and_templates_are_shown_safely(label):
    text = TEXTS[label][:3_000]
    runtime = AgentRuntime(secrets=dict(zip("ABC", SECRETS, strict=True)))
    runtime.register_provider(
        {"name": f"P {text[:50]}".strip(), "get": lambda: {"text": text, "values": {"v": text}}}
    )
    literal = text.replace("{{", "{ {").rstrip("\\")
    view = shown(runtime, literal + "{{v}}{{providers}}{{more}}{{[" + "x" * 300 + "]}}", more=text)
    bundle = view._repr_mimebundle_()
    for kind in FORMS:
        assert problems(bundle[kind], kind) == []
        assert len(bundle[kind]) < 100_000
    assert view.prompt.endswith(text)
    assert not [secret for secret in SECRETS if secret in str(view) + view.to_frame().to_string()]


def test_the_prompts_are_listed_with_the_names_they_print(runtime):
    assert "%%prompt NAME" in repr(prompts_table(runtime))
    runtime.register_prompt("REPLY", "{{a}} {{#if b}}{{c}}{{else}}{{a}}{{/if}}")
    assert [tuple(row.values()) for row in prompts_table(runtime)] == [("REPLY", 1, 40, "a, c")]
