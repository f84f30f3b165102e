"""Which keys each provider wrote is learned from compositions, cheaply, and harms none of them."""

from __future__ import annotations

import gc
import weakref

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.record import Record
from agentctx_nb.usage import written as written_module
from agentctx_nb.usage.written import Written


def runtime_with(**gets):
    runtime = AgentRuntime()
    for name, get in gets.items():
        runtime.register_provider({"name": name, "get": get})
    return runtime


def keys(runtime, name):
    return runtime.written.keys_of(name, version=runtime.registered(name).version)


def test_nothing_is_known_before_the_first_composition():
    runtime = runtime_with(A=lambda: {"values": {"x": 1}})
    assert not runtime.written
    assert keys(runtime, "A") is None


def test_the_keys_of_each_provider_are_learned():
    runtime = runtime_with(
        A=lambda: {"values": {"x": 1, "y": 2}}, B=lambda: {"values": {"y": 3}}, C=lambda: "text"
    )
    runtime.compose("hi")
    assert runtime.written
    assert [keys(runtime, name) for name in "ABC"] == [{"x", "y"}, {"y"}, set()]


def test_a_key_that_comes_later_is_learned_too():
    answers = iter([{"x": 1}, {"x": 1}, {"x": 1}, {"later": 2}, {"x": 1}])
    runtime = runtime_with(A=lambda: {"values": next(answers)})
    for _ in range(5):
        runtime.compose("hi")
    assert keys(runtime, "A") == {"x", "later"}


def test_a_key_another_provider_wrote_before_is_learned_of_the_second_one_in_time():
    runs = [0]

    def second():
        runs[0] += 1
        return {"values": {"x": 1} if runs[0] > 2 else {}}

    runtime = runtime_with(A=lambda: {"values": {"x": 1}}, B=second)
    for _ in range(8):
        runtime.compose("hi")
    assert keys(runtime, "B") == {"x"}


def test_a_provider_registered_again_has_written_nothing_yet():
    runtime = runtime_with(A=lambda: {"values": {"old": 1}})
    runtime.compose("hi")
    runtime.register_provider({"name": "A", "get": lambda: {"values": {"new": 1}}})
    assert keys(runtime, "A") is None
    runtime.compose("hi")
    assert keys(runtime, "A") == {"new"}


def test_a_provider_that_failed_has_not_told_what_it_writes():
    fails = [True]

    def get():
        if fails[0]:
            raise ValueError("no")
        return {"values": {"x": 1}}

    runtime = runtime_with(A=get)
    runtime.compose("hi")
    assert keys(runtime, "A") is None
    fails[0] = False
    runtime.compose("hi")
    fails[0] = True
    runtime.compose("hi")
    assert keys(runtime, "A") == {"x"}


def test_values_are_not_kept():
    class Big:
        pass

    value, written = Big(), Written()
    record = Record(names=["A"], parts=[("text", {"x": value}, {"y": value})])
    written.note(record, record.parts[0][1])
    kept = weakref.ref(value)
    del value, record
    gc.collect()
    assert kept() is None
    assert written.keys_of("A", version=0) == {"x"}


def test_what_is_kept_is_bounded():
    runs = iter(range(10_000))

    def get():
        start = next(runs) * 600
        return {"values": {f"k{i}": i for i in range(start, start + 600)} | {"k" * 500: 1}}

    runtime = runtime_with(A=get)
    for _ in range(6):
        runtime.compose("hi")
    assert len(keys(runtime, "A")) == written_module.MOST_KEYS
    assert "k" * 500 not in keys(runtime, "A")
    assert all(len(plan.keys) <= 3_000 for plan in runtime.written._plans.values())


def test_choices_of_providers_and_providers_that_are_gone_are_forgotten():
    runtime = AgentRuntime()
    for i in range(300):
        runtime.register_provider({"name": f"P{i}", "get": lambda: {"values": {"x": 1}}})
        runtime.compose("hi")
        runtime.unregister_provider(f"P{i}")
    assert len(runtime.written._plans) <= written_module.MOST_PLANS
    assert len(runtime.written._of) <= written_module.MOST_GONE + 1


class Raising:
    def __init__(self):
        self.quiet = True

    def __hash__(self):
        return hash("x")

    def __eq__(self, other):
        if self.quiet:
            return self is other
        raise RuntimeError("do not compare me")


@pytest.mark.parametrize("keyed", [Raising, lambda: 3, lambda: None, lambda: (1, "a")])
def test_keys_of_any_kind_break_no_composition(keyed):
    key = keyed()
    runtime = runtime_with(A=lambda: {"values": {"before": 1}}, B=lambda: {"values": {key: 1, "after": 2}})
    for _ in range(4):
        state = runtime.compose("hi")
        if isinstance(key, Raising):
            key.quiet = False
    assert state.values["before"] == 1
    assert "before" in keys(runtime, "A")
    assert keys(runtime, "B") in (None, {"after"})


def test_a_key_that_raises_when_it_is_compared_is_passed_over():
    written, key = Written(), Raising()
    record = Record(names=["A"], parts=[("", {"x": 1}, {})])
    for _ in range(4):
        written.note(record, {"x": 1})
    key.quiet = False
    written.note(record, {key: 1})
    assert written.keys_of("A", version=0) == {"x"}


def test_a_mapping_of_theirs_that_raises_breaks_no_composition():
    class Odd(dict):
        def items(self):
            raise RuntimeError("no items")

    runtime = runtime_with(A=lambda: {"text": "a", "values": Odd(x=1)})
    for _ in range(3):
        assert runtime.compose("hi").report["A"].ran


def test_a_text_that_holds_the_value_is_noticed_and_a_short_one_is_not():
    said = "It rains in Oslo, and will all day."
    runtime = runtime_with(
        A=lambda: {"text": f"Weather: {said}", "values": {"report": said, "city": "Oslo", "n": 3}},
        B=lambda: {"text": "nothing", "values": {"report2": said}},
    )
    runtime.compose("hi")
    repeated = [
        (name, key)
        for name in "AB"
        for key in ("report", "city", "n", "report2")
        if runtime.written.repeats(name, key)
    ]
    assert repeated == [("A", "report")]


def test_the_steady_state_walks_no_provider(monkeypatch):
    runtime = runtime_with(A=lambda: {"values": {"x": 1}})
    for _ in range(5):
        runtime.compose("hi")
    learned = []
    monkeypatch.setattr(written_module.Written, "_learn", lambda *_: learned.append(1))
    for _ in range(11):  # the 6th to the 16th
        runtime.compose("hi")
    assert len(learned) == 2
