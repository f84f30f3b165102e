"""Who read which value: counted for actions and templates, with what nobody read listed."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.usage.read_recorder import MOST_ROWS, ReadRecorder
from agentctx_nb.usage.reads import Read
from tests.hostile import SECRET, problems


@pytest.fixture
def runtime():
    runtime = AgentRuntime()
    runtime.register_provider(
        {
            "name": "WEATHER",
            "get": lambda: {
                "text": "Rain.",
                "values": {"temperature": 4, "wind": 9, "place": {"name": "Oslo"}},
                "data": {"days": {"mon": "rain"}, "source": "met"},
            },
        }
    )
    runtime.register_provider(
        {"name": "NEWS", "get": lambda: {"text": "None.", "values": {"headline": "x", "wind": 1}}}
    )
    return runtime


def act(runtime, handler, *, validate=None, name="DO", state=None):
    runtime.register_action({"name": name, "handler": handler, "validate": validate})
    return asyncio.run(runtime.run_action(name, "hi", state))


def rows(runtime):
    return [(read.key, read.provider) for read in runtime.reads()]


@pytest.mark.parametrize(
    ("read", "noted"),
    [
        (lambda state: state.values["temperature"], [("temperature", "WEATHER")]),
        (lambda state: state.values.get("wind"), [("wind", "NEWS")]),
        (lambda state: "wind" in state.values, [("wind", "NEWS")]),
        (lambda state: state.values.get("nothing", 5), [("nothing", "(nobody)")]),
        (lambda state: state.values["place"]["name"], [("place", "WEATHER")]),
        (lambda state: state.text, [("state.text", "(the text)")]),
        (lambda state: state.values["providers"], [("providers", "(the text)")]),
        (
            lambda state: state.data.providers.WEATHER.data.days.mon,
            [("data.providers.WEATHER.data.days.mon", "WEATHER")],
        ),
        (lambda state: state.data.providers["WEATHER"]["data"], [("data.providers.WEATHER.data", "WEATHER")]),
        (
            lambda state: state.data["providers"]["WEATHER"].data["source"],
            [("data.providers.WEATHER.data.source", "WEATHER")],
        ),
        (
            lambda state: state.data.providers.get("WEATHER").text,
            [("data.providers.WEATHER.text", "WEATHER")],
        ),
        (lambda state: "WEATHER" in state.data.providers, [("data.providers.WEATHER", "WEATHER")]),
        (lambda state: state.data.providers.GONE.data.zone, [("data.providers.GONE", "(nobody)")]),
        (
            lambda state: state.data.providers.WEATHER.data.nights,
            [("data.providers.WEATHER.data.nights", "(nobody)")],
        ),
        (
            lambda state: dict(state.data.providers.WEATHER.values),
            [("data.providers.WEATHER.values", "WEATHER")],
        ),
        (lambda state: list(state.data.provider_order), [("data.provider_order", "")]),
        (lambda state: len(state.values), []),
    ],
)
def test_what_an_action_reads_is_noted_with_who_wrote_it(runtime, read, noted):
    def handler(runtime, message, state):
        read(state)

    assert act(runtime, handler).success
    assert rows(runtime) == noted


@pytest.mark.parametrize(
    "everything",
    [
        dict,
        lambda values: {**values},
        json.dumps,
        lambda values: list(values.items()),
        lambda values: list(values.values()),
        lambda values: values.copy(),
        copy.copy,
        copy.deepcopy,
        lambda values: pickle.loads(pickle.dumps(values)),
        repr,
        str,
        lambda values: f"{values}",
        lambda values: values | {"more": 1},
        lambda values: {"more": 1} | values,
        lambda values: values == {},
        lambda values: values != {},
    ],
)
def test_who_takes_all_values_has_read_each(runtime, everything):
    seen = []

    def handler(runtime, message, state):
        seen.append(everything(state.values))

    act(runtime, handler)
    assert {key for key, _ in rows(runtime)} == {"temperature", "wind", "place", "headline", "providers"}
    assert seen == [everything(runtime.compose("hi").values)]


def test_validate_reads_too_and_each_run_counts_once(runtime):
    def validate(runtime, message, state):
        return state.values["wind"] and state.values["wind"]

    for _ in range(2):
        act(runtime, lambda runtime, message, state: state.values["wind"], validate=validate)
    assert list(runtime.reads()) == [Read("action DO", "wind", "NEWS", 2)]


def test_what_was_read_before_a_handler_failed_counts(runtime):
    def handler(runtime, message, state):
        raise ValueError(state.values["wind"])

    assert not act(runtime, handler).success
    assert rows(runtime) == [("wind", "NEWS")]


def test_a_template_notes_what_it_looked_up_and_not_the_extras(runtime):
    state = runtime.compose("hi")
    template = "{{temperature}} {{mood}} {{q}} {{data.providers.WEATHER.data.days.mon}} {{#if wind}}{{providers}}{{else}}{{headline}}{{/if}}"
    assert runtime.compose_prompt(state, template, q="extra") == "4  extra rain Rain.\nNone."
    assert rows(runtime) == [
        ("temperature", "WEATHER"),
        ("data.providers.WEATHER.data.days.mon", "WEATHER"),
        ("wind", "NEWS"),
        ("providers", "(the text)"),
        ("mood", "(nobody)"),
    ]


@pytest.mark.parametrize(
    ("template", "noted"),
    [
        ("{{#each data.providers.WEATHER.data.days}}{{this}}{{/each}}", ["data.providers.WEATHER.data.days"]),
        ("{{#with data.providers.WEATHER}}{{text}}{{/with}}", ["data.providers.WEATHER.text"]),
        ("{{#with place}}{{name}}{{town}}{{/with}}", ["place"]),
        ("{{#if umbrella}}{{else if coat}}{{/if}}", ["umbrella", "coat"]),
        ("{{data.providers.GONE.data.x}}", ["data.providers.GONE"]),
        (
            "{{#each data.providers.WEATHER.data.days as |day|}}{{day}}{{/each}}",
            ["data.providers.WEATHER.data.days"],
        ),
        ("{{place.name}}", ["place"]),
        ("{{lookup place 'name'}}", ["place"]),
        ("{{data.providers.WEATHER.data}}", ["data.providers.WEATHER.data"]),
        ("no name", []),
    ],
)
def test_blocks_and_paths_are_noted_at_the_key_they_lead_to(runtime, template, noted):
    runtime.compose("hi").prompt(template)
    assert [key for key, _ in rows(runtime)] == noted


def test_readers_are_called_by_name_or_by_how_they_begin(runtime):
    state = runtime.compose("hi")
    runtime.register_prompt("REPLY", "{{wind}}")
    runtime.compose_prompt(state, runtime.prompts["REPLY"])
    state.prompt("\nDear {{wind}},\nall is well")

    def short(state):
        return f"{state.values['temperature']}" + "{{wind}}"

    assert state.prompt(short) == "41"
    assert [read.reader for read in runtime.reads()] == [
        "prompt REPLY",
        "template 'Dear {{wind}},'",
        "template short",
        "template short",
    ]
    assert rows(runtime)[2:] == [("temperature", "WEATHER"), ("wind", "NEWS")]


def test_an_action_that_renders_a_template_makes_the_template_the_reader(runtime):
    def handler(runtime, message, state):
        return state.prompt("{{wind}}") + runtime.compose_prompt(state, "{{temperature}}")

    assert act(runtime, handler).text == "14"
    assert [(read.reader, read.key) for read in runtime.reads()] == [
        ("template '{{wind}}'", "wind"),
        ("template '{{temperature}}'", "temperature"),
    ]


def test_what_nobody_reads_is_listed_by_who_wrote_it(runtime):
    state = runtime.compose("hi")
    assert runtime.reads().unread == {
        "WEATHER": ("place", "temperature", "wind"),
        "NEWS": ("headline", "wind"),
    }
    state.prompt("{{wind}} {{data.providers.WEATHER.values.temperature}}")
    # NEWS wins over WEATHER, so it is the wind of NEWS that was read
    assert runtime.reads().unread == {"WEATHER": ("place", "wind"), "NEWS": ("headline",)}
    state.prompt("{{data.providers.WEATHER.values}} {{headline}}")
    assert runtime.reads().unread == {}
    assert "no value is unread" in repr(runtime.reads())


def test_the_reads_show_themselves_in_three_forms_and_as_a_frame(runtime):
    runtime.compose("hi").prompt("{{wind}}")
    reads = runtime.reads()
    shown = reads._repr_mimebundle_()
    assert set(shown) == {"text/plain", "text/markdown", "text/html"}
    for kind, form in shown.items():
        assert problems(form, kind) == []
        assert "headline" in form
        assert "NEWS" in form
    assert "4 values nobody has read, by the provider that wrote them:" in shown["text/plain"]
    assert reads.to_frame().to_dict("records") == [
        {"reader": "template '{{wind}}'", "key": "wind", "provider": "NEWS", "times": 1}
    ]
    assert len(reads) == 1


def test_a_runtime_in_which_nothing_happened_has_nothing_to_tell():
    reads = AgentRuntime().reads()
    assert (list(reads), dict(reads.unread)) == ([], {})
    assert "no rows" in repr(reads)


def test_a_secret_in_a_key_is_hidden():
    runtime = AgentRuntime(secrets={"KEY": SECRET})
    runtime.register_provider({"name": "A", "get": lambda: {"values": {SECRET: 1, f"other {SECRET}": 2}}})
    act(runtime, lambda runtime, message, state: state.values[SECRET])
    reads = runtime.reads()
    shown = [repr(reads), repr(list(reads)), repr(reads.unread), *reads._repr_mimebundle_().values()]
    assert [form for form in [*shown, reads.to_frame().to_string()] if SECRET[:12] in form] == []


def test_states_nobody_composed_and_copies_can_be_rendered_without_a_note(runtime):
    from copy import deepcopy

    assert deepcopy(runtime.compose("hi")).prompt("{{wind}}") == "1"
    assert rows(runtime) == []


def test_the_oldest_rows_go_when_there_are_too_many():
    recorder = ReadRecorder()
    for number in range(MOST_ROWS + 5):
        recorder.add(f"reader {number}", [(("values", "x"), "A")])
    kept = recorder.rows()
    assert (len(kept), kept[0][0]) == (MOST_ROWS, "reader 5")
