"""What is shown of an action and of its result."""

from __future__ import annotations

import asyncio

import pytest

from agentctx_nb import Action, ActionResult, AgentRuntime, UnknownActionError
from agentctx_nb.render.action_view import action_card, actions_table, result_page, sentence
from tests.hostile import TEXTS, VALUES, mask, problems

FORMS = ("text/plain", "text/markdown", "text/html")


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (ActionResult(success=True, text="Sent."), "the action succeeded"),
        (ActionResult(success=True, values={"n": 0}, action="SEND"), "SEND succeeded"),
        (ActionResult(success=True, action="SEND"), "SEND succeeded and gave nothing back"),
        (ActionResult(success=False, action="SEND"), "SEND did not succeed, and gave no reason"),
        (
            ActionResult(success=False, text="half", error="no post", action="SEND"),
            "SEND did not succeed: no post",
        ),
        (
            ActionResult(success=False, error=ValueError("no post"), action="SEND"),
            "SEND failed: ValueError: no post",
        ),
    ],
)
def test_success_and_failure_are_told_in_words_in_every_form(result, words):
    assert sentence(result) == str(result) == words
    for kind, form in result._repr_mimebundle_().items():
        assert problems(form, kind) == []
        if kind != "text/markdown":
            assert words in form


def test_text_values_and_data_are_shown():
    result = ActionResult(success=True, text="Sent to Ada.", values={"sent": 3}, data={"ids": ["a", "b"]})
    assert repr(result_page(result)).split("\n") == [
        "the action succeeded",
        "",
        "text",
        "────",
        "Sent to Ada.",
        "",
        "values",
        "key   value  type",
        "────  ─────  ────",
        "sent      3  int",
        "",
        "data",
        "key  value       type",
        "───  ──────────  ────",
        "ids  ['a', 'b']  list",
    ]


def test_an_error_beside_success_is_not_hidden():
    assert "with an error all the same: late" in repr(result_page(ActionResult(success=True, error="late")))


def test_the_line_that_failed_is_shown_without_the_name_of_a_file():
    def handler():
        number = 0
        return 1 / number

    runtime = AgentRuntime()
    runtime.register_action({"name": "DO", "handler": handler})
    shown = repr(result_page(asyncio.run(runtime.run_action("DO", "hi"))))
    assert ": return 1 / number" in shown
    assert ".py" not in shown


@pytest.mark.parametrize("label", VALUES)
def test_hostile_values_are_shown_safely(label):
    value = VALUES[label]()
    result = ActionResult(success=True, values={"v": value}, data={"v": [value]}, mask=mask)
    bundle = result._repr_mimebundle_()
    assert sum(len(form) for form in bundle.values()) < 300_000
    for kind in FORMS:
        assert problems(bundle[kind], kind) == []
    assert len(repr(result)) < 5_000
    assert [
        said for said in problems(repr(result), "text/plain") if "secret" in said or "address" in said
    ] == []


@pytest.mark.parametrize("label", TEXTS)
def test_hostile_texts_are_shown_safely(label):
    text = TEXTS[label]
    for result in (
        ActionResult(success=True, text=text, action=text, mask=mask),
        ActionResult(success=False, error=text, mask=mask),
        ActionResult(success=False, error=ValueError(text), mask=mask),
    ):
        bundle = result._repr_mimebundle_()
        for kind in FORMS:
            assert problems(bundle[kind], kind) == []


def test_the_actions_are_listed_in_order_with_how_they_are_set_up():
    runtime = AgentRuntime()
    assert "%%action NAME" in repr(actions_table(runtime))
    runtime.register_action(Action("B", lambda: None, description="The second letter"), origin="cell")
    runtime.register_action(Action("A", lambda: None, validate=lambda: True))
    assert [tuple(row.values()) for row in actions_table(runtime)] == [
        ("B", "", 1, "cell", "The second letter"),
        ("A", "yes", 1, "", ""),
    ]


def test_one_action_is_shown_with_its_source():
    runtime = AgentRuntime()

    def remind():
        return "ring"

    runtime.register_action(Action("REMIND", remind, validate=len, description="Rings"))
    shown = repr(action_card(runtime, "REMIND"))
    for part in ("REMIND", "Rings", 'return "ring"', "the source is not available"):
        assert part in shown
    with pytest.raises(UnknownActionError, match="did you mean 'REMIND'"):
        action_card(runtime, "REMINDER")
