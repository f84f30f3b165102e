"""The source map: each part under its writer's name, shares that add up, nothing hidden that is not said."""

from __future__ import annotations

import re

import pytest

from agentctx_nb.render.covered import cover
from agentctx_nb.runtime import AgentRuntime
from agentctx_nb.state import State
from agentctx_nb.templates import Prompt, render_template
from tests.hostile import MASKED, SECRET, SECRETS, TEXTS, mask
from tests.viewed import harmless


def characters(text):
    return len(text)


@pytest.fixture
def runtime():
    return AgentRuntime(
        secrets={f"KEY{n}": secret for n, secret in enumerate(SECRETS)}, count_tokens=characters
    )


def returning(result):
    return lambda: result


def composed(runtime, **results):
    for name, result in results.items():
        runtime.register_provider({"name": name, "get": returning(result)})
    return runtime.compose("hi")


def weather(runtime):
    return composed(
        runtime,
        TIME="It is Monday.",
        QUIET=None,
        WEATHER={"text": "72 degrees.\nRain later.", "values": {"temp": 72}},
    )


# A state ---------------------------------------------------------------------------------------


def test_each_part_of_the_text_stands_under_the_name_of_its_provider(runtime):
    shown = weather(runtime).source_map().to_text()
    assert "[1] TIME · 13 tokens, 36.1 %\n│ It is Monday.\n[2] WEATHER" in shown
    assert "│ 72 degrees.\n│ Rain later.\n" in shown


def test_all_three_forms_tell_the_same_parts_and_shares(runtime):
    for form in weather(runtime).source_map()._repr_mimebundle_().values():
        words = re.sub(r"<[^>]*>", " ", form)
        for fact in (
            "2 parts, 37 characters, 36 tokens (characters)",
            "[1] TIME",
            "[2] WEATHER",
            "Rain later.",
        ):
            assert fact in re.sub(r"\s+", " ", words) or fact in form
        assert "1 provider ran and gave no text" in form


def test_the_legend_counts_the_whole_and_its_shares_are_of_all_tokens(runtime):
    legend = list(weather(runtime).source_map())
    assert legend == [
        {"provider": "TIME", "part": 1, "chars": 13, "tokens": 13, "share %": 36.1},
        {"provider": "WEATHER", "part": 2, "chars": 23, "tokens": 23, "share %": 63.9},
    ]
    frame = weather(runtime).source_map().to_frame()
    assert frame.loc["WEATHER", "share %"] == pytest.approx(63.9)


def test_no_colour_stands_alone_and_every_shade_lets_the_page_through(runtime):
    shown = weather(runtime).source_map().to_html()
    shades = re.findall(r"background-color: ([^;\"]*)", shown)
    assert len(shades) == 2
    assert len(set(shades)) == 2
    assert all(re.fullmatch(r"rgba\(\d{1,3}, \d{1,3}, \d{1,3}, 0\.\d+\)", shade) for shade in shades)
    assert re.search(r"background-color[^>]*>\s*<strong>\[1\] TIME</strong>", shown)
    assert not re.search(r"(?<!-)color:", shown)


def test_a_long_part_is_cut_in_its_middle_and_says_how_much_is_left_out(runtime):
    state = composed(runtime, LONG="a" * 50_000 + "the end", SHORT="all of this")
    view = state.source_map()
    for form in view._repr_mimebundle_().values():
        left_out = int(re.search(r"… ([\d,]+) characters left out …", form)[1].replace(",", ""))
        assert form.count("a") + left_out >= 50_000
        assert "the end" in form
        assert "all of this" in form
    assert view.legend[0]["chars"] == 50_007


def test_more_parts_than_are_shown_are_counted(runtime):
    view = composed(runtime, **{f"P{n}": f"text {n}" for n in range(130)}).source_map()
    assert "showing 100 of 130 parts; the others hold 240 characters" in view.to_text()
    assert len(view) == 130


def test_a_text_edited_by_its_owner_has_no_parts_and_says_so(runtime):
    state = weather(runtime)
    state.text = state.text.replace("Monday", "Friday")
    assert "[1] (edited)" in state.source_map().to_text()
    assert "nobody knows its parts" in state.source_map().to_text()
    state.text = None
    harmless(state.source_map())


def test_a_failed_provider_is_not_counted_among_the_silent_ones(runtime):
    note = composed(runtime, QUIET=None, BAD=object()).source_map().legend.note
    assert note == "1 provider ran and gave no text; 1 provider failed"


def test_an_empty_state_has_an_empty_map():
    harmless(State().source_map())
    assert "(no text)" in State().source_map().to_text()


def test_a_secret_across_two_parts_is_covered_in_both(runtime):
    runtime = AgentRuntime(secrets={"PEM": "first-half-of-it\nsecond-half-of-it"})
    state = composed(runtime, A="key: first-half-of-it", B="second-half-of-it, and more")
    shown = state.source_map().to_text()
    assert "half-of-it" not in shown
    assert "│ key: [secret PEM]" in shown
    assert "│ , and more" in shown


def test_a_secret_is_covered_before_a_part_is_cut(runtime):
    state = composed(runtime, A="x" * 6_650 + SECRET + "y" * 50_000, B="z" * 20_000)
    harmless(state.source_map())


@pytest.mark.parametrize("label", TEXTS)
def test_a_map_of_hostile_text_is_harmless(runtime, label):
    text = TEXTS[label]
    state = composed(runtime, **{text[:300].strip() or "BLANK": text, "AFTER": "after", "AGAIN": text})
    harmless(state.source_map())


def test_what_html_writes_long_is_shown_shorter(runtime):
    shown = composed(runtime, QUOTES='"' * 50_000).source_map().to_html()
    assert len(shown.encode()) < 40_000
    assert "characters left out" in shown


def test_ten_thousand_providers_are_bounded(runtime):
    harmless(composed(runtime, **{f"P{n}": "<b>" * 30 for n in range(10_000)}).source_map())


# A prompt --------------------------------------------------------------------------------------


def test_a_prompt_shows_inside_its_lines_who_wrote_what(runtime):
    prompt = weather(runtime).prompt("It is {{temp}}, {{name}}.\n{{mood}}", name="Ada")
    shown = prompt.source_map().to_text()
    assert "It is [1 WEATHER: 72], [2 extra: Ada]." in shown
    assert "nobody wrote mood" in shown


def test_the_composed_text_in_a_prompt_is_told_apart_by_provider(runtime):
    view = weather(runtime).prompt("Context:\n{{providers}}\n").source_map()
    assert "[1 TIME: It is Monday.]\n[2 WEATHER: 72 degrees.\nRain later.]" in view.to_text()
    assert [(row["provider"], row["tag"], row["chars"]) for row in view] == [
        ("template", "", 11), ("TIME", "{{providers}}", 13), ("WEATHER", "{{providers}}", 23),
    ]  # fmt: skip


def test_a_tag_rendered_again_and_again_is_one_row_that_counts_the_times(runtime):
    state = composed(runtime, LIST={"values": {"rows": [{"n": 1}, {"n": 22}]}})
    view = state.prompt("{{#each rows}}<{{n}}>{{/each}}").source_map()
    row = next(row for row in view if row["tag"] == "{{n}}")
    assert (row["times"], row["chars"]) == (2, 3)


def test_the_words_of_the_template_are_not_shaded(runtime):
    shown = weather(runtime).prompt("It is {{temp}}.").source_map().to_html()
    assert re.search(
        r'>\s*It is <span style="background-color: [^"]*"><strong>\[1 WEATHER:</strong> 72<strong>\]', shown
    )
    assert shown.count("background-color") == 1


def test_a_prompt_made_by_hand_is_all_template():
    assert [row["provider"] for row in Prompt("by hand").source_map()] == ["template"]
    harmless(Prompt("").source_map())


@pytest.mark.parametrize("label", TEXTS)
def test_a_map_of_a_hostile_prompt_is_harmless(label):
    text = TEXTS[label]
    prompt = render_template(
        "a {{text}} b {{short}}{{short}} {{nobody}}", extra={"text": text, "short": text[:9]}
    )
    prompt.mask = mask
    harmless(prompt.source_map())


def test_a_map_of_a_hostile_template_is_harmless(runtime):
    state = composed(runtime, **{"<b>`|[x]": {"values": {"v": SECRET, "w": 1}}})
    harmless(
        state.prompt("{{v}}<script>" + "{{[w]}}" * 5_000 + "{{[nobody|]}}" * 3 + SECRETS[1]).source_map()
    )


# Where the places of a masked text are ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a SECRET b", ["a ", "SECRET", " b"]),
        ("SECRETSECRET end", ["SECRETSECRET", " end"]),
        ("SECRET", ["SECRET"]),
        ("a *** b SECRET", ["a *", "** b ", "SECRET"]),
        ("*** and ****\n SECRET * SECRET\n", ["*** and ", "****\n SECRET *", " SECRET", "\n"]),
        ("[secret A] is text, SECRET not", ["[secret A]", " is text, ", "SECRET", " not"]),
    ],
)
@pytest.mark.parametrize("label", ["[secret NAME]", "[secret Some key]", "[secret]", "***"])
def test_parts_keep_their_words_when_a_mask_moves_them(text, parts, label):
    hide = lambda text: text.replace("SECRET", label)
    covered = cover(text, hide)
    at, shown = 0, []
    for part in parts:
        shown.append(covered.text[covered.place(at) : covered.place(at + len(part))])
        assert covered.origin(covered.place(at)) == at
        at += len(part)
    assert shown == [hide(part) for part in parts]


def test_a_mask_that_writes_no_label_shows_its_text_and_no_other():
    covered = cover("one two three", lambda text: "hidden altogether")
    assert covered.text[covered.place(0) :] == "hidden altogether"
    assert covered.place(4) == len("hidden altogether")


def test_places_inside_a_secret_go_behind_its_label():
    covered = cover(f"a {SECRET} b", mask)
    assert covered.text[: covered.place(5)] == f"a {MASKED}"
    assert {covered.place(at) for at in range(3, 3 + len(SECRET))} == {len(f"a {MASKED}")}
