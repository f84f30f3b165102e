"""An error that leaves a public method holds no secret, whatever was given and whatever went wrong."""

from __future__ import annotations

import asyncio
import traceback

import pytest

from agentctx_nb import AgentRuntime, Entity, Memory
from agentctx_nb.secrecy.masked_errors import masked_error

S = f"k3y-0f-{'the-d00r-77'}"  # no line of this file, which a traceback shows, holds it
LONG = "x" * 50 + S + "y" * 200


class Unreadable(dict):
    def __getitem__(self, key):
        raise ValueError("bad " + S)


def raising(*_):
    try:
        raise KeyError(S)
    except KeyError as exc:
        raise ValueError("bad " + S) from exc


CALLS = {
    "a block that is never closed": lambda rt, st: rt.compose_prompt(st, "{{#" + S + "}}"),
    "the same by the state": lambda rt, st: st.prompt("{{#" + S + "}}"),
    "a name nobody wrote": lambda rt, st: rt.compose_prompt(st, "{{[" + S + "]}}", missing="error"),
    "a value that cannot be read": lambda rt, st: rt.compose_prompt(st, "{{m.a}}", m=Unreadable(a=1)),
    "a template that raises": lambda rt, st: rt.compose_prompt(st, raising),
    "no template": lambda rt, st: rt.compose_prompt(st, {S: 1}),
    "missing": lambda rt, st: rt.compose_prompt(st, "x", missing=S),
    "lint of no template": lambda rt, st: rt.lint({"a": S}),
    "lint with no names": lambda rt, st: rt.lint("x", extra=[(S,)]),
    "a type that is none": lambda rt, st: rt.get_setting("x", type=S),
    "a type that raises": lambda rt, st: rt.get_setting("K", type=raising),
    "a message of unknown fields": lambda rt, st: rt.compose({S: 1}),
    "an unknown option": lambda rt, st: rt.compose("x", **{S: 1}),
    "a deadline": lambda rt, st: rt.compose("x", timeout=S),
    "an action's message": lambda rt, st: asyncio.run(rt.run_action("A", {S: 1})),
    "a search": lambda rt, st: asyncio.run(rt.search_memories(**{S: 1})),
    "a memory": lambda rt, st: asyncio.run(rt.create_memory({S: 1})),
    "an entity": lambda rt, st: asyncio.run(rt.create_entity({S: 1})),
    "an .env file": lambda rt, st: AgentRuntime(secrets={"K": S}, env_file="/nope/" + S),
    "a hook": lambda rt, st: AgentRuntime(secrets={"K": S}, select=S),
    "an embedder": lambda rt, st: AgentRuntime(secrets={"K": S}, embedder=S),
    "a provider": lambda rt, st: rt.register_provider({S: 1}),
    "an action": lambda rt, st: rt.register_action({S: 1}),
    "a prompt": lambda rt, st: rt.register_prompt("A", "{{#" + S + "}}"),
    "a long unknown provider": lambda rt, st: rt.get_provider(LONG),
    "a long unknown action": lambda rt, st: rt.get_action(LONG),
    "a long unknown prompt": lambda rt, st: rt.prompts[LONG],
    "a long name in a strict list": lambda rt, st: rt.compose("x", [LONG], strict=True),
    "without": lambda rt, st: st.without(S),
    "difference": lambda rt, st: st.diff(S),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_no_error_of_a_public_method_shows_any_part_of_a_secret(call):
    runtime = AgentRuntime(secrets={"K": S})
    runtime.register_action({"name": "A", "handler": lambda: True})
    state = runtime.compose("hi")
    with pytest.raises(Exception) as caught:
        call(runtime, state)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    error = caught.value
    while error is not None:  # also what a traceback leaves out
        shown += f"{error} {error!r}"
        error = error.__cause__ or error.__context__
    assert S[:8] not in shown


def test_a_name_that_is_cut_off_in_a_log_line_shows_no_part_of_a_secret(caplog):
    runtime = AgentRuntime(secrets={"K": S})
    runtime.compose("x", [LONG])
    assert S[:8] not in caplog.text
    assert S[:8] not in str(runtime.compose("x", [LONG]).report.unknown)


def test_an_error_without_a_secret_is_the_very_one_that_was_raised():
    mistake = ValueError("nothing secret")

    def template(state):
        raise mistake

    runtime = AgentRuntime(secrets={"K": S})
    with pytest.raises(ValueError, match="nothing secret") as caught:
        runtime.compose_prompt(runtime.compose("hi"), template)
    assert caught.value is mistake


def test_a_masked_error_points_to_the_same_lines():
    runtime = AgentRuntime(secrets={"K": S})
    with pytest.raises(ValueError, match=r"bad \[secret K\]") as caught:
        runtime.compose_prompt(runtime.compose("hi"), raising)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "raising"
    assert str(caught.value.__cause__) == "'[secret K]'"


def test_what_is_cause_and_context_at_once_is_copied_once():
    told = ValueError(S)
    first = told
    for number in range(18):
        after = ValueError(f"{number} {S}")
        after.__cause__ = after.__context__ = told
        told = after
    asked = []
    masked = masked_error(told, lambda text: asked.append(1) or text.replace(S, "***"))
    assert len(asked) < 200
    assert masked.__cause__ is masked.__context__
    while masked.__cause__ is not None:
        masked = masked.__cause__
    assert (str(masked), str(first)) == ("***", S)


def test_a_secret_cut_off_by_a_view_is_not_seen_in_part():
    runtime = AgentRuntime(secrets={"K": S})
    state = runtime.compose("hi")
    runtime.compose_prompt(state, "Token of this very long line: " + S + " {{name}}")
    assert "[secret K]" in str(runtime.reads())
    shown = str(runtime.reads()) + str(runtime.lint(r"\{{" + "a" * 24 + S + "}}"))
    state.values["bytes"] = b"b" * (1_000_000 - 20) + b"look: x " + S.encode() + b" end"
    shown += str(state.find("look:"))
    assert S[:5] not in shown


def test_what_belongs_to_no_runtime_prints_the_secrets_of_none():
    runtime = AgentRuntime(secrets={"K": S})
    runtime.register_provider({"name": f"P {S}", "get": lambda: "x", "description": S})
    runtime.register_action({"name": f"A {S}", "handler": lambda: True, "description": S})
    runtime.register_prompt(f"T {S}", f"Hi {S}")
    things = [
        runtime.providers, runtime.registered(f"P {S}"), runtime.actions, runtime.prompts,
        runtime.prompts[f"T {S}"], Memory(S), Memory(S).content, Entity(id=S, names=[S]),
    ]  # fmt: skip
    shown = [repr(thing) for thing in things]
    assert [text for text in shown if S in text] == []
    assert all("[secret " in text for text in (*shown[:1], *shown[2:]))  # another runtime may know it as well
    assert Memory(S).content.text == S
