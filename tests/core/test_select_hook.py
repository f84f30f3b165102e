"""The host's last word on who runs, and the limits it has."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.running import clean_up

DROPPED = "skipped: dropped by the select hook"
ADDED = "added by the select hook"


def says(text):
    return lambda: text


def runtime_with(hook):
    runtime = AgentRuntime(select=hook, count_tokens=len)
    for name, flags in (
        ("STATIC", {}),
        ("OTHER", {}),
        ("DYNAMIC", {"dynamic": True, "relevance_keywords": ["rain"]}),
        ("PRIVATE", {"private": True}),
        ("ALWAYS", {"always_run": True}),
    ):
        runtime.register_provider({"name": name, "get": says(name.lower()), **flags})
    return runtime


def ran(state):
    return state.data.provider_order


def warnings(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_the_hook_sees_every_decision_and_the_message():
    seen = []

    def hook(decisions, message):
        seen.append((message.content.text, {decision.provider: decision.runs for decision in decisions}))

    runtime_with(hook).compose("rain")
    assert seen == [
        ("rain", {"STATIC": True, "OTHER": True, "DYNAMIC": True, "PRIVATE": False, "ALWAYS": True})
    ]


def test_the_hook_may_drop_and_add_and_its_edits_show_as_reasons():
    state = runtime_with(lambda decisions, message: ["STATIC", "DYNAMIC", "ALWAYS"]).compose("hi")
    assert ran(state) == ["STATIC", "DYNAMIC", "ALWAYS"]
    assert state.report["OTHER"].reason == DROPPED
    assert state.report["OTHER"].outcome == "skipped"
    assert state.report["DYNAMIC"].reason == ADDED
    assert state.report["STATIC"].reason == "static"


def test_the_order_of_its_names_and_duplicates_do_not_matter():
    state = runtime_with(lambda decisions, message: ("DYNAMIC", "ALWAYS", "STATIC", "STATIC")).compose("hi")
    assert state.text == "static\ndynamic\nalways"


def test_an_empty_list_drops_all_but_what_always_runs():
    state = runtime_with(lambda decisions, message: []).compose("rain")
    assert ran(state) == ["ALWAYS"]
    assert state.report["ALWAYS"].reason == "always runs"
    assert state.report["DYNAMIC"].reason == DROPPED


def test_none_leaves_the_selection_without_a_warning(caplog):
    state = runtime_with(lambda decisions, message: None).compose("rain")
    assert ran(state) == ["STATIC", "OTHER", "DYNAMIC", "ALWAYS"]
    assert warnings(caplog) == []


def test_it_cannot_widen_an_only_list():
    hook = lambda decisions, message: ["STATIC", "OTHER", "DYNAMIC", "PRIVATE", "ALWAYS"]
    state = runtime_with(hook).compose("rain", ["STATIC"], True)
    assert ran(state) == ["STATIC", "ALWAYS"]
    assert state.report["OTHER"].reason == "skipped: not in the only-list"
    assert ran(runtime_with(hook).compose("rain", [], True)) == ["ALWAYS"]


def test_it_may_narrow_an_only_list():
    assert ran(runtime_with(lambda decisions, message: []).compose("hi", ["STATIC", "OTHER"], True)) == [
        "ALWAYS"
    ]


def test_a_private_one_runs_only_if_it_was_named():
    hook = lambda decisions, message: ["PRIVATE", "STATIC"]
    state = runtime_with(hook).compose("hi")
    assert ran(state) == ["STATIC", "ALWAYS"]
    assert state.report["PRIVATE"].reason == "skipped: private, not named"
    named = runtime_with(hook).compose("hi", ["PRIVATE"])
    assert ran(named) == ["STATIC", "PRIVATE", "ALWAYS"]
    assert named.report["PRIVATE"].reason == "named"


def test_names_nobody_registered_are_reported_with_one_warning(caplog):
    state = runtime_with(lambda decisions, message: ["STATIK", "STATIC"]).compose("hi", ["ZZZZ"])
    assert state.report.unknown == {"STATIK": ("STATIC",), "ZZZZ": ()}
    assert ran(state) == ["STATIC", "ALWAYS"]
    assert len(warnings(caplog)) == 1


def test_the_hook_may_be_async():
    async def hook(decisions, message):
        await asyncio.sleep(0)
        return ["OTHER"]

    assert ran(runtime_with(hook).compose("hi")) == ["OTHER", "ALWAYS"]


def failing(decisions, message):
    raise ValueError("the hook is broken")


async def failing_later(decisions, message):
    await asyncio.sleep(0)
    raise ValueError("the hook is broken")


def cancelling(decisions, message):
    raise asyncio.CancelledError


async def cancelling_later(decisions, message):
    await asyncio.sleep(0)
    raise asyncio.CancelledError


def exhausting(decisions, message):
    raise RecursionError("too deep")


@pytest.mark.parametrize(
    "hook",
    [
        failing,
        failing_later,
        lambda: None,
        lambda decisions, message: 5,
        lambda decisions, message: True,
        lambda decisions, message: "STATIC",
        lambda decisions, message: {"STATIC": True},
        lambda decisions, message: [None],
        lambda decisions, message: decisions,
        lambda decisions, message: ["STATIC", 3],
        lambda decisions, message: (1 // 0 for _ in "x"),
        cancelling,
        cancelling_later,
        exhausting,
        lambda decisions, message: message.content.__setattr__("text", "rain"),
    ],
)
def test_a_hook_that_fails_or_returns_no_names_leaves_the_selection_with_a_warning(hook, caplog):
    state = runtime_with(hook).compose("hi")
    assert ran(state) == ["STATIC", "OTHER", "ALWAYS"]
    assert [row.reason for row in state.report] == [
        "static",
        "static",
        "skipped: dynamic, no keyword in message",
        "skipped: private, not named",
        "always runs",
    ]
    assert len(warnings(caplog)) == 1
    assert "the select hook failed; the selection stays as it was" in warnings(caplog)[0]


def test_a_hook_is_asked_each_time_and_its_answer_is_not_kept():
    answers = iter([["STATIC"], ["OTHER"], None])
    runtime = runtime_with(lambda decisions, message: next(answers))
    assert ran(runtime.compose("hi")) == ["STATIC", "ALWAYS"]
    assert ran(runtime.compose("hi")) == ["OTHER", "ALWAYS"]
    assert ran(runtime.compose("hi")) == ["STATIC", "OTHER", "ALWAYS"]


def test_a_hook_that_cannot_be_called_is_a_type_error_at_once():
    with pytest.raises(DefinitionTypeError, match="select must be callable"):
        AgentRuntime(select=["STATIC"])


def test_a_cancelled_composition_is_not_a_failed_hook():
    async def hook(decisions, message):
        await asyncio.sleep(60)

    async def main():
        composing = asyncio.create_task(runtime_with(hook).compose_state("hi"))
        await asyncio.sleep(0.01)
        composing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await composing

    asyncio.run(main())


async def sleepy(decisions, message):
    await asyncio.sleep(60)


async def stubborn(decisions, message):
    while True:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            stubborn.cancelled += 1
            if stubborn.cancelled > 1:
                raise


@pytest.mark.parametrize("hook", [sleepy, stubborn])
def test_the_deadline_of_the_call_bounds_the_hook_too(hook, caplog, monkeypatch):
    monkeypatch.setattr(clean_up, "GRACE_SECONDS", 0.05)
    stubborn.cancelled = 0

    async def main():
        runtime = runtime_with(hook)
        start = time.perf_counter()
        state = await runtime.compose_state("hi", timeout=0.1)
        took = time.perf_counter() - start
        await runtime.close()
        assert len(asyncio.all_tasks()) == 1
        return state, took

    state, took = asyncio.run(main())
    assert took < 2
    assert {row.outcome for row in state.report if row.ran} == {"timed_out"}
    assert str(state.errors["STATIC"]).endswith("its deadline of 0.1 s")
    assert "TimeoutError: the time of the whole composition is over" in warnings(caplog)[0]


def test_what_the_hook_took_is_no_longer_there_for_the_providers():
    async def hook(decisions, message):
        await asyncio.sleep(0.2)

    async def slow():
        await asyncio.sleep(60)

    runtime = AgentRuntime(select=hook)
    runtime.register_provider({"name": "SLOW", "get": slow})
    runtime.register_provider({"name": "NEXT", "get": slow, "after": ["SLOW"]})
    start = time.perf_counter()
    state = runtime.compose("hi", timeout=0.4)
    assert time.perf_counter() - start < 0.59
    assert str(state.errors["SLOW"]) == "provider SLOW was cancelled after its deadline of 0.4 s"
    assert "NEXT never started: the deadline of the composition, 0.4 s," in str(state.errors["NEXT"])


def test_a_hook_that_ends_in_time_costs_nobody_anything():
    async def hook(decisions, message):
        return ["STATIC"]

    assert runtime_with(hook).compose("hi", timeout=30).text == "static\nalways"


def test_a_hook_that_composes_its_own_runtime_fails_at_once(caplog):
    asked = []

    async def hook(decisions, message):
        asked.append(1)
        await runtime.compose_state("again")

    runtime = runtime_with(hook)
    assert ran(runtime.compose("hi")) == ["STATIC", "OTHER", "ALWAYS"]
    assert asked == [1]
    assert "the select hook composes its own runtime" in warnings(caplog)[0]


def test_a_plain_hook_that_composes_its_own_runtime_fails_at_once():
    code = """
from agentctx_nb import AgentRuntime
asked = []
def hook(decisions, message):
    asked.append(1)
    runtime.compose("again")
runtime = AgentRuntime(select=hook)
runtime.register_provider({"name": "STATIC", "get": lambda: "static"})
print(runtime.compose("hi").text, asked)
"""
    # In a process of its own: composing under a running loop patches asyncio for good.
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "static [1]\n"
    assert "the select hook composes its own runtime" in done.stderr


def test_a_hook_may_compose_another_runtime_and_a_task_it_leaves_its_own_one():
    other, later = runtime_with(None), []

    async def hook(decisions, message):
        if not later:
            later.append(asyncio.create_task(afterwards()))
        return (await other.compose_state("hi", ["OTHER"], True)).data.provider_order

    async def afterwards():
        await asyncio.sleep(0.05)
        return await runtime.compose_state("later")

    async def main():
        return await runtime.compose_state("hi"), await later[0]

    runtime = runtime_with(hook)
    for state in asyncio.run(main()):
        assert ran(state) == ["OTHER", "ALWAYS"]


def test_a_hook_that_exits_ends_the_program_and_not_the_loop():
    async def hook(decisions, message):
        raise SystemExit(3)

    async def main():
        with pytest.raises(SystemExit):
            await runtime_with(hook).compose_state("hi")
        return "still here"

    assert asyncio.run(main()) == "still here"
