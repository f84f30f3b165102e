from __future__ import annotations

import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from agentctx_nb.errors import DefinitionTypeError, TemplateError
from agentctx_nb.looking.cache_lens import look_at
from agentctx_nb.model import Memory
from agentctx_nb.prompts.parts import Part, PromptParts, Stretch, break_between, same_start
from agentctx_nb.runtime import AgentRuntime
from tests.hostile import LARGEST, SECRETS, TEXTS, problems
from tests.viewed import adds

ROOT = Path(__file__).parents[2]


@pytest.fixture
def runtime():
    secrets = {f"KEY{n}": secret for n, secret in enumerate(SECRETS)}
    return AgentRuntime(secrets=secrets, count_tokens=len)


def clock():
    ticks = count(1)
    return lambda: {"text": f"It is 12:0{next(ticks)}.", "values": {"time": f"12:0{next(ticks)}"}}


def with_a_clock(runtime):
    adds(runtime, "CURRENT_TIME", clock())
    adds(runtime, "FACTS", "Ada likes tea.", position=3)
    adds(runtime, "RULES", "Be kind.", position=5)


def rows(table):
    return [tuple(row.values()) for row in table]


def harmless(view):
    bundle = view._repr_mimebundle_()
    assert list(bundle) == ["text/plain", "text/markdown", "text/html"]
    assert {kind: problems(form, kind) for kind, form in bundle.items()} == {kind: [] for kind in bundle}
    assert sum(len(form.encode()) for form in bundle.values()) < LARGEST
    assert view.to_html() == bundle["text/html"]


def test_each_prompt_is_compared_with_the_one_before(runtime):
    with_a_clock(runtime)
    lens = runtime.cache_lens(["hi", "and now?"])
    whole = len("It is 12:01.\nAda likes tea.\nBe kind.")
    same = len("It is 12:0")
    percent = round(100 * same / whole)
    assert rows(lens.prompts) == [
        (1, "hi", whole, whole, "", "", "", "", ""),
        (2, "and now?", whole, whole, same, same, percent, "CURRENT_TIME", "text changed"),
    ]
    assert (lens.chars, lens.same_chars, lens.share) == (whole, same, same / whole)


def test_moving_the_one_that_breaks_it_is_worked_out(runtime):
    with_a_clock(runtime)
    lens = runtime.cache_lens(["hi", "and now?", "bye"])
    kept = 2 * len("Ada likes tea.\nBe kind.\nIt is 12:0")
    now = 2 * len("It is 12:0")
    assert [tuple(move) for move in lens.moves] == [
        (("CURRENT_TIME",), kept, kept, kept - now, kept - now, True, False)
    ]
    assert lens.best == lens.moves[0]
    said = f"With CURRENT_TIME (text changed) at a position above 5, {kept} of {lens.tokens} tokens would stay the same"
    for form in lens._repr_mimebundle_().values():
        assert said in form
        assert f"{kept - now} more" in form


def test_doing_what_it_says_keeps_what_it_says(runtime):
    with_a_clock(runtime)
    promised = runtime.cache_lens(["hi", "and now?"]).best.same_chars
    adds(runtime, "CURRENT_TIME", clock(), position=6)
    lens = runtime.cache_lens(["hi", "and now?"])
    assert lens.same_chars == promised
    assert lens.best is None
    assert "what changes stands last already" in lens.to_text()


def test_two_that_change_are_moved_together_the_calmer_one_first(runtime):
    ticks = count()
    with_a_clock(runtime)
    adds(runtime, "MOOD", lambda: f"mood {next(ticks) // 2}", position=1)
    lens = runtime.cache_lens(["a", "b", "c", "d"])
    assert [move.providers for move in lens.moves] == [("CURRENT_TIME",), ("MOOD", "CURRENT_TIME")]
    assert lens.best.providers == ("MOOD", "CURRENT_TIME")
    starts = ["Ada likes tea.\nBe kind.\nmood 0\nIt is 12:0", "Ada likes tea.\nBe kind.\nmood "]
    starts.append("Ada likes tea.\nBe kind.\nmood 1\nIt is 12:0")
    assert lens.best.same_chars == sum(map(len, starts))
    assert "With MOOD, CURRENT_TIME (text changed), in this order, at a position above 5, " in lens.to_text()


def test_one_that_comes_and_goes_is_named(runtime):
    adds(runtime, "RULES", "Be kind.")
    adds(runtime, "WEATHER", "It rains.", dynamic=True, relevance_keywords=["rain"], position=1)
    adds(runtime, "FACTS", "Ada likes tea.", position=2)
    lens = runtime.cache_lens(["hi", "rain?", "bye"])
    assert [row[7:] for row in rows(lens.prompts)] == [("", ""), ("WEATHER", "came in"), ("WEATHER", "left")]
    assert lens.breaks == {"WEATHER": 2}


def test_prompts_that_are_the_same_break_nowhere(runtime):
    adds(runtime, "RULES", "Be kind.")
    lens = runtime.cache_lens(["a", "b"])
    assert lens.share == 1.0
    assert (lens.breaks, lens.moves, lens.best) == ({}, (), None)
    assert rows(lens.prompts)[1][6:] == (100, "", "nothing changed")
    assert "Every prompt is the same as the one before." in lens.to_text()


def test_a_template_is_looked_at_tag_by_tag(runtime):
    adds(runtime, "CURRENT_TIME", clock())
    adds(runtime, "FACTS", {"text": "Ada likes tea.", "values": {"name": "Ada"}})
    lens = runtime.cache_lens(["a", "b"], "At {{time}}: help {{name}}.\nBe kind.")
    assert lens.breaks == {"CURRENT_TIME": 1}
    [move] = lens.moves
    assert (move.by_position, move.by_template) == (False, True)
    assert move.same_chars == len("At : help Ada.\nBe kind.12:0")
    assert "With CURRENT_TIME (text changed) at the end of the template" in lens.to_text()


def test_in_a_template_the_composed_text_is_still_told_by_provider(runtime):
    with_a_clock(runtime)
    lens = runtime.cache_lens(["a", "b"], "Context:\n{{providers}}\nAnswer.")
    assert lens.breaks == {"CURRENT_TIME": 1}
    [move] = lens.moves
    assert (move.by_position, move.by_template) == (True, False)
    assert move.same_chars == len("Context:\nAda likes tea.\nBe kind.\nIt is 12:0")


def test_a_template_that_breaks_by_itself_is_named_and_not_moved(runtime):
    adds(runtime, "RULES", "Be kind.")
    texts = iter(["One. {{providers}}", "Two. {{providers}}"])
    lens = runtime.cache_lens(["a", "b"], lambda state: next(texts))
    assert lens.breaks == {"template": 1}
    assert lens.moves == ()


def test_a_template_that_cannot_be_read_is_an_error(runtime):
    with pytest.raises(TemplateError):
        runtime.cache_lens(["a"], "{{#if}}")


def test_what_it_takes_is_a_list_of_messages(runtime):
    for wrong in ("hi", Memory.from_dict({"content": {"text": "hi"}}), {"text": "hi"}, 3, None):
        with pytest.raises(DefinitionTypeError, match="takes a list of messages"):
            runtime.cache_lens(wrong)
    with pytest.raises(DefinitionTypeError, match="a message is"):
        runtime.cache_lens([3])


def test_one_message_or_none_is_nothing_to_compare(runtime):
    with_a_clock(runtime)
    for messages in ([], ["hi"], iter(["hi"])):
        lens = runtime.cache_lens(messages)
        assert "nothing to compare it with" in lens.to_text()
        harmless(lens)
    assert len(lens.to_frame()) == 1


def test_nothing_of_the_runtime_changes_and_kept_results_are_used(runtime):
    calls = count()
    adds(runtime, "KEPT", lambda: f"kept {next(calls)}", ttl=60)
    before = runtime.registry.snapshot()
    lens = runtime.cache_lens(["a", "a"])
    assert next(calls) == 1
    assert lens.share == 1.0
    assert runtime.registry.snapshot() is before


def test_it_works_inside_a_running_loop():
    code = """
import asyncio
from agentctx_nb import AgentRuntime

runtime = AgentRuntime()

@runtime.provider("RULES")
async def rules():
    await asyncio.sleep(0)
    return "Be kind."

async def main():
    return runtime.cache_lens(["a", "b"])

print(asyncio.run(main()).share)
"""
    # Nesting patches asyncio for good, hence a process of its own.
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "1.0\n"


def test_failures_are_told_since_their_text_is_missing(runtime):
    def fails():
        raise OSError("no")

    adds(runtime, "RULES", "Be kind.")
    runtime.register_provider({"name": "FACTS", "get": fails})
    lens = runtime.cache_lens(["a", "b"])
    assert lens.failed == ("FACTS",)
    for form in lens._repr_mimebundle_().values():
        assert "their text is missing here: FACTS" in form


def test_a_counter_that_fails_is_replaced_by_the_estimate():
    def broken(text):
        raise RuntimeError("no")

    runtime = AgentRuntime(count_tokens=broken)
    adds(runtime, "RULES", "Be kind to everybody.")
    assert runtime.cache_lens(["a", "b"]).tokens > 0


def test_the_frame_is_the_table_of_prompts(runtime):
    with_a_clock(runtime)
    frame = runtime.cache_lens(["a", "b"]).to_frame()
    assert list(frame["breaks_in"]) == ["", "CURRENT_TIME"]


@pytest.mark.parametrize(
    ("old", "new", "same"), [("", "", 0), ("abc", "abd", 2), ("ab", "abc", 2), ("x", "y", 0)]
)
def test_the_common_start_is_counted(old, new, same):
    assert same_start(old, new) == same_start(new, old) == same


def test_a_part_that_moved_is_told_as_one():
    def prompt(*names):
        return PromptParts((Stretch(tuple(Part(name, -1, name) for name in names), is_group=True),))

    assert break_between(prompt("A", "B"), prompt("B", "A")) == ("B", "moved")
    assert break_between(prompt("A"), prompt("A", "B")) == ("B", "came in")
    assert break_between(prompt("A", "B"), prompt("A")) == ("B", "left")
    assert break_between(prompt("A"), prompt("A")) is None


@pytest.mark.parametrize("label", TEXTS)
def test_hostile_texts_names_and_messages_are_harmless(runtime, label):
    text = TEXTS[label][:300_000]
    name = text[:300].strip() or "BLANK"
    ticks = count()
    adds(runtime, name, lambda: {"text": f"{text} {next(ticks)}", "values": {"value": text}})
    adds(runtime, "RULES", "Be kind.")
    harmless(runtime.cache_lens([text, "again", text]))
    lens = look_at(runtime, [text, "again"], "{{value}} {{providers}} {{value}}")
    harmless(lens)
    assert not any(secret in repr(lens.moves) + repr(lens.breaks) for secret in SECRETS)


def test_thousands_of_providers_are_looked_at(runtime):
    for n in range(2_000):
        adds(runtime, f"P{n}", f"text {n}")
    adds(runtime, "CURRENT_TIME", clock(), position=-1)
    lens = runtime.cache_lens(["a", "b"])
    assert lens.best.providers == ("CURRENT_TIME",)
    harmless(lens)


@pytest.mark.parametrize("template", [5, [], b"x"])
def test_a_template_that_is_none_is_refused_before_anything_is_composed(template):
    ran = []
    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": lambda: ran.append(1) or "x"})
    with pytest.raises(DefinitionTypeError, match="a template is a string, not"):
        runtime.cache_lens(["one", "two"], template)
    assert not ran
    with pytest.raises(DefinitionTypeError, match="a template is a string, not"):
        runtime.compose("one").prompt(template)
