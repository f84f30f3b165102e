"""Templates kept by name."""

from __future__ import annotations

import pickle
from copy import copy

import pytest

from agentctx_nb import AgentRuntime, DefinitionError, TemplateError, UnknownPromptError
from agentctx_nb.errors import DefinitionTypeError


@pytest.fixture
def runtime():
    runtime = AgentRuntime()
    runtime.register_provider({"name": "A", "get": lambda: {"values": {"x": 1}}})
    return runtime


def test_a_template_is_kept_under_its_name_and_rendered(runtime):
    kept = runtime.register_prompt("REPLY", "{{x}} and {{y}}")
    assert runtime.prompts["REPLY"] is kept
    assert (kept, kept.name) == ("{{x}} and {{y}}", "REPLY")
    assert runtime.compose_prompt(runtime.compose("hi"), kept, y=2) == "1 and 2"


def test_registering_again_replaces_in_place_and_numbers(runtime):
    for name in ("A", "B", "A"):
        runtime.register_prompt(name, f"of {name}")
    assert list(runtime.prompts) == ["A", "B"]
    assert [runtime.registered_prompt(name).version for name in "AB"] == [2, 1]
    assert runtime.unregister_prompt("A")
    assert not runtime.unregister_prompt("A")
    assert list(runtime.prompts) == ["B"]


def test_the_list_is_a_copy_to_read(runtime):
    prompts = runtime.prompts
    runtime.register_prompt("A", "a")
    assert dict(prompts) == {}
    with pytest.raises(TypeError):
        runtime.prompts["B"] = "b"


@pytest.mark.parametrize("wrong", ["{{#if x}}", "{{x", "{{}}", "{{#if x}}{{/each}}", "a\n{{/if}}"])
def test_a_template_that_cannot_be_read_leaves_the_older_one_standing(runtime, wrong):
    runtime.register_prompt("REPLY", "old")
    with pytest.raises(TemplateError) as caught:
        runtime.register_prompt("REPLY", wrong)
    assert caught.value.line
    assert runtime.prompts == {"REPLY": "old"}
    assert runtime.registered_prompt("REPLY").version == 1


@pytest.mark.parametrize(("name", "template"), [("", "x"), (" ", "x"), (5, "x"), ("A", None), ("A", len)])
def test_a_name_or_a_template_of_the_wrong_kind_is_refused(runtime, name, template):
    with pytest.raises(DefinitionError):
        runtime.register_prompt(name, template)
    assert runtime.prompts == {}


def test_an_unknown_prompt_is_named_with_the_near_ones(runtime):
    runtime.register_prompt("REPLY", "x")
    with pytest.raises(
        UnknownPromptError, match=r"no prompt is registered as 'REPLI'; did you mean 'REPLY'\?"
    ):
        runtime.registered_prompt("REPLI")


def test_the_prompts_by_name_say_what_there_is_where_one_is_missing(runtime):
    runtime.register_prompt("REPLY", "x")
    for name, told in (("REPLI", "; did you mean 'REPLY'?"), ("ZZ", "; there is 'REPLY'")):
        with pytest.raises(UnknownPromptError) as caught:
            runtime.prompts[name]
        assert str(caught.value) == f"no prompt is registered as {name!r}{told}"
    assert ("ZZ" in runtime.prompts, runtime.prompts.get("ZZ"), dict(runtime.prompts)) == (
        False,
        None,
        {"REPLY": "x"},
    )


def test_an_error_about_a_prompt_shows_no_secret():
    runtime = AgentRuntime(secrets={"KEY": "s3cr3t-value"})
    runtime.register_prompt("s3cr3t-value", "x")
    with pytest.raises(UnknownPromptError) as caught:
        runtime.registered_prompt("s3cr3t-valu")
    with pytest.raises(TemplateError) as read:
        runtime.register_prompt("A", "{{s3cr3t-value x}}")
    assert "s3cr3t-value" not in f"{caught.value} {read.value}"


def test_a_kept_template_can_be_copied_and_pickled(runtime):
    kept = runtime.register_prompt("REPLY", "Hi")
    for twin in (copy(kept), pickle.loads(pickle.dumps(kept))):
        assert (twin, twin.name) == ("Hi", "REPLY")


def test_an_extra_may_have_any_name(runtime):
    state = runtime.compose("hi")
    assert runtime.compose_prompt(state, "{{state}} {{template}}", state=1, template=2) == "1 2"
    assert state.prompt("{{state}} {{template}}", state=1, template=2) == "1 2"


@pytest.mark.parametrize("state", [None, {"text": "hi"}, "hi"])
def test_a_prompt_of_no_state_is_an_error_that_says_so(state):
    with pytest.raises(
        DefinitionTypeError, match="compose_prompt takes a state first, as compose returns it, not"
    ):
        AgentRuntime().compose_prompt(state, "{{a}}")


def test_the_name_of_a_prompt_given_as_its_template_is_told_by_all_who_take_one(caplog):
    runtime = AgentRuntime(secrets={"API_KEY": "s3cr3t-value"})
    template = runtime.register_prompt("REPLY", "Hello {{user}}")
    said = (
        "the template is the text 'REPLY', which is the name of a prompt; "
        "its template is runtime.prompts['REPLY']"
    )
    state = runtime.compose("hi")
    (finding,) = runtime.lint("REPLY")
    assert (finding.rule, finding.message, finding.name) == ("prompt name", said, "REPLY")
    assert runtime.compose_prompt(state, "REPLY") == "REPLY"
    assert runtime.cache_lens(["a", "b"], template="REPLY").share == 1
    assert [record.getMessage() for record in caplog.records] == [said, said]
    caplog.clear()
    runtime.register_prompt("OTHER", "REPLY")
    for right in (template, runtime.prompts["OTHER"], "REPLY ", "Hello", lambda state: "REPLY"):
        runtime.lint(right)
        runtime.compose_prompt(state, right)
        runtime.cache_lens(["a"], template=right)
        assert "prompt name" not in str(list(runtime.lint(right)))
    assert caplog.records == []
    runtime.register_prompt("s3cr3t-value", "x")
    runtime.compose_prompt(state, "s3cr3t-value")
    assert "s3cr3t" not in caplog.text + repr(runtime.lint("s3cr3t-value"))
