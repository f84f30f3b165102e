"""When two messages are the same to a ``ttl=`` provider, and when a kept result depends on another."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path

import pytest

from agentctx_nb import AgentRuntime, Content, Entity, Memory, Provider
from agentctx_nb.sameness import sameness


@dataclass
class Point:
    where: list


class Colour(Enum):
    RED = 1
    BLUE = 2


class Plain:
    pass


@dataclass(eq=False)
class Client:
    calls: list


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DIFFERENT = {
    "keys": ({1: "a"}, {"1": "a"}),
    "keys by kind": ({1: "a"}, {True: "a"}),
    "zeros": (0.0, -0.0),
    "numbers": (1, 1.0),
    "list and tuple": ([1], (1,)),
    "text and bytes": ("a", b"a"),
    "decimals": (Decimal("1.0"), Decimal("1.00")),
    "times": (NOON, NOON.replace(hour=13)),
    "members": (Colour.RED, Colour.BLUE),
    "dataclasses": (Point([1]), Point([2])),
    "memories": (Memory("a"), Memory("b")),
    "entities": (Entity(names=["a"]), Entity(names=["b"])),
    "deep": ({"a": [{"b": {1}}]}, {"a": [{"b": {2}}]}),
    "deques": (deque([1]), deque([1], 3)),
    "paths": (Path("a"), Path("b")),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_a_provider_can_tell_apart_is_not_the_same(one, other):
    assert sameness(one) != sameness(other)
    assert sameness(one) == sameness(one)
    assert hash(sameness(one)) == hash(sameness(one))


def test_the_order_of_keys_does_not_count_and_nan_is_itself():
    assert sameness({"a": 1, "b": 2}) == sameness({"b": 2, "a": 1})
    assert sameness(float("nan")) == sameness(float("nan"))


@pytest.mark.parametrize("value", [Plain(), Client([]), [Plain()], lambda: None, iter([])])
def test_what_may_be_edited_in_place_is_the_same_as_nothing(value):
    with pytest.raises(TypeError):
        sameness(value)


def test_what_is_shared_a_hundred_times_over_is_given_up():
    value = [1]
    for _ in range(60):
        value = [value, value]
    with pytest.raises(TypeError, match="too much"):
        sameness(value)


@pytest.fixture
def runs():
    return []


@pytest.fixture
def runtime(runs):
    async def counts():
        runs.append(None)
        return str(len(runs))

    runtime = AgentRuntime()
    runtime.register_provider(Provider("COUNTS", counts, ttl=60, after=["NEEDED"]))
    return runtime


class Attachment:
    def __init__(self):
        self.text = "before"


def test_an_attachment_edited_in_place_is_another_message(runtime):
    message = Memory(Content("hi", attachment=Attachment()))
    runtime.compose(message)
    message.content.attachment.text = "after"
    assert runtime.compose(message).text == "2"


@pytest.mark.parametrize("odd", ["room_id", "entity_id"])
def test_a_room_that_cannot_be_hashed_hurts_no_provider(runtime, odd):
    for _ in range(2):
        assert not runtime.compose(Memory("hi", **{odd: ["x"]})).errors


ANSWERS = {
    "text": ["a", "b"],
    "values": [{"values": {"x": 1}}, {"values": {"x": 2}}],
    "data": [{"data": {"x": [1]}}, {"data": {"x": [2]}}],
    "failure": ["a", ValueError("x")],
    "other failure": [ValueError("x"), ValueError("y")],
}


@pytest.mark.parametrize("answers", ANSWERS.values(), ids=ANSWERS)
def test_a_kept_result_belongs_to_what_it_was_made_from(runtime, runs, answers):
    given = []

    async def needed():
        if isinstance(given[-1], Exception):
            raise given[-1]
        return given[-1]

    runtime.register_provider(Provider("NEEDED", needed))
    for answer, count in ((answers[0], 1), (answers[0], 1), (answers[1], 2), (answers[0], 2)):
        given.append(answer)
        runtime.compose("hi")
        assert len(runs) == count


def test_what_waited_for_an_object_that_cannot_be_compared_is_run_again(runtime, runs):
    async def needed():
        return {"data": {"client": Client([])}}

    runtime.register_provider(Provider("NEEDED", needed))
    assert [list(runtime.compose("hi").errors) for _ in range(2)] == [[], []]
    assert len(runs) == 2


def test_what_is_deep_hurts_no_provider_that_is_kept_or_waits():
    def deep():
        inner = {}
        for _ in range(5_000):
            inner = {"in": inner}
        return inner

    async def main():
        runtime = AgentRuntime()
        runtime.register_provider(Provider("DEEP", lambda: {"text": "deep", "data": deep()}, ttl=60))
        runtime.register_provider(Provider("WAITS", lambda: "waits", after=["DEEP"], ttl=60))
        state = await runtime.compose_state(Memory("hi", metadata=deep()))
        again = await runtime.compose_state("hi", previous=state, refresh=["WAITS"])
        return [state.text, again.text, *state.errors, *again.errors]

    assert asyncio.run(main()) == ["deep\nwaits"] * 2
