"""Find: who put a text into a state or a prompt; nothing is found in a secret, and nothing of one is shown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.looking.finding import MOST_LEAVES, MOST_PLACES
from agentctx_nb.provider import Provider
from agentctx_nb.runtime import AgentRuntime
from agentctx_nb.state import State
from agentctx_nb.templates import Prompt, render_template
from tests.hostile import LARGEST, SECRET, SECRETS, TEXTS, VALUES, BadMapping, mask, problems


@pytest.fixture
def runtime():
    return AgentRuntime(secrets={f"KEY{n}": secret for n, secret in enumerate(SECRETS)})


def returning(result):
    return lambda: result


def composed(runtime, **results):
    for name, result in results.items():
        runtime.register_provider(Provider(name, returning(result)))
    return runtime.compose("hi")


def places(found):
    return [(place.provider, place.where, place.path, place.line) for place in found]


def harmless(found):
    bundle = found._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/markdown", "text/html"]
    assert {kind: problems(form, kind) for kind, form in bundle.items()} == {kind: [] for kind in bundle}
    assert sum(len(form.encode()) for form in bundle.values()) < LARGEST
    assert found._repr_mimebundle_() == bundle
    assert (
        problems("\n".join(place.excerpt + place.path + place.provider for place in found), "text/plain")
        == []
    )


# In a state ------------------------------------------------------------------------------------


def test_it_tells_the_provider_the_line_the_value_and_the_path(runtime):
    state = composed(
        runtime,
        TIME="It is Monday.\nStill.",
        WEATHER={"text": "It is 72 degrees.", "values": {"temp": 72}, "data": {"now": {"t": [1, 72.0]}}},
        USER={"text": "Ada", "values": {"id": "u-7201"}},
    )
    found = state.find("72")
    assert places(found) == [
        ("WEATHER", "text", "", 3), ("WEATHER", "value", "temp", None), ("USER", "value", "id", None),
        ("WEATHER", "data", "now.t[1]", None),
    ]  # fmt: skip
    assert [place.excerpt for place in found] == ["It is 72 degrees.", "72", "u-7201", "72"]


def test_nothing_found_is_false_and_says_so():
    found = State(text="rain").find("sun")
    assert not found
    assert len(found) == 0
    assert "“sun” stands nowhere" in repr(found)
    harmless(found)


def test_something_found_is_true_and_shows_itself_as_a_table():
    found = State(text="rain").find("rain")
    assert found
    assert repr(found).splitlines()[0] == "“rain” stands at 1 place"
    assert list(found.to_frame()["excerpt"]) == ["rain"]


@pytest.mark.parametrize(
    ("sought", "value"), [(72, 72), ("72", 72.0), ("72.5", 72.5), (72.5, "at 72.5"), ("true", True)]
)
def test_a_number_is_found_as_it_is_written(sought, value):
    assert places(State(values={"v": value}).find(sought)) == [("(the caller)", "value", "v", None)]


@pytest.mark.parametrize(
    "value", [72, 72.0, "72 km", "72km", "(72)", "$72.00", "at 72.", "5-72", "[1,72]", "72%", b"72"]
)
def test_a_number_is_found_where_it_stands_as_a_whole(value):
    assert places(State(values={"v": value}).find(72)) == [("(the caller)", "value", "v", None)]


@pytest.mark.parametrize(
    "value",
    [
        172,
        720,
        72.5,
        0.72,
        -72,
        "172",
        "72.5",
        "1.72",
        "72,000",
        "x72",
        "72ab34",
        "-72",
        ".72",
        "7_2",
        "72_0",
    ],
)
def test_a_number_is_not_found_in_another_one_or_in_a_name(value):
    assert not State(values={"v": value}).find(72)


@pytest.mark.parametrize(
    ("sought", "text", "found"),
    [
        (72.5, "72.5 172.5 72.51 72.50", [1, 1]), (-72, "-72 72 5-72 -720", [1]), (172, "172 1,172 172,000", [1]),
        (1e-07, "1e-7 1e-71", [1]), (72, "172\n72\n720 72", [2, 3]),
    ],
)  # fmt: skip
def test_numbers_of_every_kind_are_found_whole_in_a_text(sought, text, found):
    assert [place.line for place in State(text=text).find(sought)] == found


def test_a_text_of_digits_is_found_wherever_it_stands():
    assert [place.excerpt for place in State(values={"a": 172, "b": "x720"}).find("72")] == ["172", "x720"]


def test_a_number_is_found_in_an_array_and_as_a_key(runtime):
    state = composed(runtime, A={"data": {"a": np.arange(1000.0), "row5": {"72": 1, "172": 2}}})
    assert [place.path for place in state.find(72)] == ["a[72]", "row5.72"]


def test_a_number_that_is_a_secret_is_found_under_its_label():
    runtime = AgentRuntime(secrets={"PIN": "72727272"})
    found = composed(runtime, A="It is 72727272.").find(72727272)
    assert len(found) == 1
    assert "72727272" not in repr(found)


@pytest.mark.parametrize("value", [71, "7 2", None, True, [], {"a": 7}])
def test_a_number_is_not_found_in_what_is_not_written_so(value):
    assert not State(values={"v": value}).find("72")


def test_a_value_that_was_shadowed_is_told_as_one(runtime):
    state = composed(runtime, A={"values": {"city": "Bergen"}}, B={"values": {"city": "Oslo"}})
    assert places(state.find("Bergen")) == [("A", "value", "city (shadowed)", None)]
    assert places(state.find("Oslo")) == [("B", "value", "city", None)]


def test_keys_are_found_once_and_places_in_lists_are_no_keys(runtime):
    data = {"forecast7": {"a": 1, "b": [0, 0, 0, 0, 0, 0, 0, 0], "c": {"x": 1}}}
    state = composed(runtime, A={"values": {"day7": None}, "data": data})
    found = state.find("7")
    assert [(place.where, place.path, place.excerpt) for place in found] == [
        ("value", "day7", "key day7"), ("data", "forecast7", "key forecast7"),
    ]  # fmt: skip


def test_every_place_of_a_text_is_told_and_upper_case_differs():
    assert [place.line for place in State(text="rain\nRain\nrain, rain").find("rain")] == [1, 3, 3]


def test_an_excerpt_is_of_its_own_line_and_says_what_is_left_out():
    state = State(text="above\n" + "x" * 100 + " here " + "y" * 100 + "\nbelow")
    excerpt = state.find("here")[0].excerpt
    assert excerpt.startswith("…x")
    assert excerpt.endswith("y…")
    assert "above" not in excerpt
    assert len(excerpt) < 70


def test_a_text_over_two_parts_is_the_first_ones(runtime):
    state = composed(runtime, A="one", B="two")
    assert places(state.find("e\nt")) == [("A", "text", "", 1)]


def test_tables_and_bytes_are_looked_into(runtime):
    frame = pd.DataFrame({"t": [1, 72]})
    state = composed(
        runtime, A={"data": {"frame": frame, "grid": np.array([[1, 2], [3, 72]]), "raw": b"a 72"}}
    )
    assert [place.path for place in state.find("72")] == ["frame.t[1]", "grid[1, 1]", "raw"]


def test_an_edited_text_has_no_writer_any_more(runtime):
    state = composed(runtime, A="one")
    state.text = "one more"
    assert places(state.find("more")) == [("(edited)", "text", "", 1)]


@pytest.mark.parametrize("wrong", ["", None, True, ["72"], b"72"])
def test_what_cannot_be_looked_for_is_refused(wrong):
    with pytest.raises(DefinitionError, match="find") as caught:
        State().find(wrong)
    assert isinstance(caught.value, DefinitionTypeError) is (wrong != "")


# Secrets ---------------------------------------------------------------------------------------


def test_a_secret_is_found_under_its_label_and_never_shown(runtime):
    state = composed(
        runtime, A={"text": f"key {SECRET}!", "values": {"v": SECRET}, "data": {SECRET: [SECRET]}}
    )
    found = state.find(SECRET)
    assert [place.where for place in found] == ["text", "value", "data", "data"]
    assert SECRET not in repr(found.text) + repr(found.places)
    harmless(found)


@pytest.mark.parametrize("part", ["hunter2h", "2hunter", "r2"])
def test_a_part_of_a_secret_is_found_nowhere(runtime, part):
    secret = SECRETS[1]
    state = composed(
        runtime, A={"text": secret, "values": {secret: secret}, "data": {"x": [secret, {secret: 1}]}}
    )
    assert not state.find(part)


def test_a_secret_across_two_parts_is_not_found_by_its_half():
    runtime = AgentRuntime(secrets={"PEM": "first-half-of-it\nsecond-half-of-it"})
    state = composed(runtime, A="key: first-half-of-it", B="second-half-of-it\nend")
    assert not state.find("half-of-it")
    assert places(state.find("end")) == [("B", "text", "", 3)]


# In a prompt -----------------------------------------------------------------------------------


def test_a_prompt_tells_the_provider_and_the_tag_that_put_it_there(runtime):
    state = composed(runtime, WEATHER={"text": "It is 72.", "values": {"temp": 72}})
    prompt = state.prompt("At 72:\n{{providers}}\n{{temp}} {{more}}", more="172")
    assert places(prompt.where("72")) == [
        ("template", "template", "", 1), ("WEATHER", "tag", "{{providers}}", 2), ("WEATHER", "tag", "{{temp}}", 3),
        ("extra", "tag", "{{more}}", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("template", "tag"),
    [
        ("{{#each rows}}{{n}}{{/each}}", "{{n}}"),
        ("{{#each rows}}{{#if n}}{{this.n}}{{/if}}{{/each}}", "{{this.n}}"),
        ("{{#each rows as |row|}}{{row.n}}{{/each}}", "{{row.n}}"),
        ("{{#with rows.[0]}}{{#each tags}}{{this}}{{/each}}{{/with}}", "{{this}}"),
        ("{{#with city}}{{#with ../rows.[0]}}{{n}}{{/with}}{{/with}}", "{{n}}"),
        ("{{#with city}}{{@root.rows.[0].n}}{{/with}}", "{{@root.rows.[0].n}}"),
        ("{{#each nobody}}{{else}}{{rows.[0].n}}{{/each}}", "{{rows.[0].n}}"),
        ("{{#unless rows}}{{else with rows.[0]}}{{n}}{{/unless}}", "{{n}}"),
        ("{{lookup rows.[0] 'n'}}", "{{lookup rows.[0] 'n'}}"),
        ("{{#each data.providers.LIST.data.rows}}{{n}}{{/each}}", "{{n}}"),
        ("{{#each rows}}{{/each}}{{#rows}}{{n}}{{/rows}}", "{{n}}"),
        ("{{#if city}}{{rows.[0].n}}{{/if}}", "{{rows.[0].n}}"),
        ("{{#each rows as |row|}}{{#with ../city}}{{row.n}}{{/with}}{{/each}}", "{{row.n}}"),
    ],
)
def test_what_a_block_steps_into_is_its_providers(runtime, template, tag):
    rows = [{"n": "needle", "tags": ["needle"], "city": "x"}]
    state = composed(
        runtime,
        LIST={"values": {"rows": rows}, "data": {"rows": rows}},
        OTHER={"values": {"city": "Oslo", "n": "other"}},
    )
    assert places(state.prompt(template).where("needle")) == [("LIST", "tag", tag, 1)]


def test_a_step_out_of_a_block_is_another_providers(runtime):
    state = composed(runtime, LIST={"values": {"rows": [1]}}, OTHER={"values": {"city": "Oslo"}})
    prompt = state.prompt("{{#each rows}}{{../city}}{{@index}}{{/each}}{{city}}")
    assert [writer for _, _, writer in prompt.spans] == ["OTHER", "LIST", "OTHER"]


def test_a_prompt_is_still_a_string():
    prompt = render_template("It is {{t}}.", extra={"t": 72})
    assert prompt.find("72") == 6
    assert prompt.index("72") == 6


def test_a_prompt_made_by_hand_is_the_templates():
    assert places(Prompt("by hand").where("hand")) == [("template", "template", "", 1)]
    assert not Prompt("").where("x")


def test_a_tag_of_the_template_is_told_as_it_was_written_with_its_line():
    prompt = render_template("a\n{{#if yes}}\n{{ name }}{{/if}}", extra={"yes": True, "name": "Ada"})
    assert [(prompt[start:end], tag, line) for start, end, tag, line in prompt.tags] == [
        ("Ada", "{{ name }}", 3)
    ]


def test_the_parts_of_the_composed_text_in_a_prompt_are_their_providers(runtime):
    prompt = composed(runtime, A="one", B="two").prompt("{{providers}}!")
    assert prompt.spans == [(0, 3, "A"), (3, 4, "template"), (4, 7, "B"), (7, 8, "template")]


# Bounds ----------------------------------------------------------------------------------------


def test_the_places_and_the_search_are_bounded_and_say_so():
    found = State(text="x " * 1_000).find("x")
    assert (len(found), found.complete) == (MOST_PLACES, False)
    assert "stands at 200 places and maybe more" in repr(found)
    found = State(values={"v": list(range(MOST_LEAVES + 10))}).find(str(MOST_LEAVES + 5))
    assert (len(found), found.complete) == (0, False)
    assert State(values={"v": list(range(100))}).find("99").complete


def test_what_is_held_twice_is_looked_into_once():
    shared = ["needle"]
    assert [place.path for place in State(values={"v": {"a": shared, "b": shared}}).find("needle")] == [
        "v.a[0]"
    ]


@pytest.mark.parametrize("label", VALUES)
def test_a_search_in_hostile_data_is_harmless(label):
    value = VALUES[label]()
    state = State(values={"value": value, "list": [value]})
    state.mask = mask
    for sought in ("1", SECRET):
        harmless(state.find(sought))


@pytest.mark.parametrize("label", TEXTS)
def test_a_search_for_hostile_text_is_harmless(runtime, label):
    text = TEXTS[label]
    name = text[:300].strip() or "BLANK"
    state = composed(
        runtime, **{name: {"text": text, "values": {text[:300]: text}, "data": {text[:300]: [text]}}}
    )
    for sought in {text[:50_000], text.strip()[:1]} - {""}:
        found = state.find(sought)
        harmless(found)
        harmless(state.prompt("a {{providers}} b").where(sought))
    assert not text.strip() or state.find(text[:20])


def test_ten_thousand_providers_are_bounded(runtime):
    harmless(
        composed(
            runtime, **{f"P{n}": {"text": "needle", "data": {"x": "needle"}} for n in range(10_000)}
        ).find("needle")
    )


def test_values_and_data_that_will_not_be_read_are_left_alone(runtime):
    state = composed(runtime, A={"data": BadMapping(a="needle")})
    assert [place.path for place in state.find("needle")] == ["a"]
