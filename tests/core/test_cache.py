"""Good results of ``ttl=`` providers are kept: for whom, for how long, and as whose copy."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

import pytest

from agentctx_nb import AgentRuntime, Content, Memory, Provider
from agentctx_nb.errors import ProviderCancelledError
from agentctx_nb.running import flights
from tests.core.bounded import bounded, until

FAR = 60


def run(runtime, message="hello", *args, **options):
    return asyncio.run(bounded(runtime.compose_state(message, *args, **options)))


@pytest.fixture
def runs():
    return []


@pytest.fixture
def runtime(runs):
    """One provider COUNTS, kept for a minute, whose text says how often it ran."""
    runtime = AgentRuntime()
    runtime.register_provider(Provider("COUNTS", counting(runs), ttl=60))
    return runtime


def counting(runs):
    async def get():
        runs.append(None)
        return {"text": str(len(runs)), "values": {"rows": [1]}, "data": {"rows": [{"deep": 1}]}}

    return get


def test_a_good_result_is_used_again_and_said_to_be(runtime):
    first, second = run(runtime), run(runtime)
    assert (first.text, second.text) == ("1", "1")
    assert (first.report["COUNTS"].outcome, second.report["COUNTS"].outcome) == ("ok", "cached")
    assert second.values == first.values
    assert second.data.providers["COUNTS"].outcome == "cached"


def test_without_a_ttl_nothing_is_carried_between_calls(runs):
    runtime = AgentRuntime()
    runtime.register_provider(Provider("COUNTS", counting(runs)))
    message = Memory("hello", id="m1", room_id="lobby")
    assert [run(runtime, message).text for _ in range(3)] == ["1", "2", "3"]


OTHER_MESSAGES = {
    "text": Memory(Content("other", tags=[1]), room_id="lobby", entity_id="ada"),
    "another attribute": Memory(Content("hi", tags=[1], user="ada"), room_id="lobby", entity_id="ada"),
    "deep in an attribute": Memory(Content("hi", tags=[2]), room_id="lobby", entity_id="ada"),
    "a type": Memory(Content("hi", tags=[True]), room_id="lobby", entity_id="ada"),
    "room": Memory(Content("hi", tags=[1]), room_id="hall", entity_id="ada"),
    "entity": Memory(Content("hi", tags=[1]), room_id="lobby", entity_id="bob"),
    "no room": Memory(Content("hi", tags=[1]), entity_id="ada"),
}


@pytest.mark.parametrize("differs_in", OTHER_MESSAGES)
def test_another_message_room_or_entity_runs_it_again(runtime, runs, differs_in):
    message = Memory(Content("hi", tags=[1]), room_id="lobby", entity_id="ada")
    run(runtime, message)
    assert run(runtime, OTHER_MESSAGES[differs_in]).report["COUNTS"].outcome == "ok"
    assert len(runs) == 2
    assert run(runtime, message).text == "1"


def test_the_same_words_are_the_same_message_whatever_its_id_and_time(runtime, runs):
    run(runtime, Memory("hi", id="m1", created_at=1))
    run(runtime, Memory({"text": "hi"}, id="m2", created_at=2))
    run(runtime, "hi")
    assert len(runs) == 1


class Odd:
    """An object that may be edited in place."""


class RaisesWhenAsked:
    def __hash__(self):
        raise RuntimeError("no hash")

    def __eq__(self, other):
        raise RuntimeError("no comparison")


def test_a_message_that_cannot_be_compared_is_composed_without_a_cache(runtime, runs):
    cyclic = []
    cyclic.append(cyclic)
    for odd in (Odd(), cyclic, [Odd()], RaisesWhenAsked()):
        count = len(runs)
        for _ in range(2):
            assert not run(runtime, Memory(Content("hi", odd=odd))).errors
        assert len(runs) == count + 2


def test_it_is_kept_for_its_time_and_no_longer(runtime, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(flights, "time", SimpleNamespace(monotonic=lambda: now[0]))
    assert run(runtime).text == "1"
    now[0] += 59.9
    assert run(runtime).text == "1"
    now[0] += 0.2
    assert run(runtime).text == "2"
    now[0] += 59.9
    assert run(runtime).text == "2"


def test_registering_it_again_drops_what_was_kept(runtime, runs):
    assert run(runtime).text == "1"
    runtime.register_provider(Provider("COUNTS", counting(runs), ttl=60))
    assert run(runtime).text == "2"
    runtime.unregister_provider("COUNTS")
    runtime.register_provider(Provider("COUNTS", counting(runs), ttl=60))
    assert run(runtime).text == "3"


def test_a_provider_replaced_while_it_runs_leaves_nothing_behind(runtime, runs):
    async def main():
        started, finish = asyncio.Event(), asyncio.Event()

        async def old():
            started.set()
            await finish.wait()
            return "old"

        runtime.register_provider(Provider("COUNTS", old, ttl=60))
        task = asyncio.create_task(runtime.compose_state("hello"))
        await started.wait()
        runtime.register_provider(Provider("COUNTS", counting(runs), ttl=60))
        assert (await runtime.compose_state("hello")).text == "1"
        finish.set()
        assert (await task).text == "old"
        return (await runtime.compose_state("hello")).text

    assert asyncio.run(bounded(main())) == "1"


def test_replacing_one_it_waits_for_runs_it_again(runtime, runs):
    runtime.register_provider(Provider("NEEDED", lambda: "old"))
    runtime.register_provider(Provider("COUNTS", counting(runs), ttl=60, after=["NEEDED"]))
    assert run(runtime).text == "1\nold"
    assert run(runtime).text == "1\nold"
    runtime.register_provider(Provider("NEEDED", lambda: "new"))
    assert run(runtime).text == "2\nnew"


def test_skip_cache_looks_into_none(runtime):
    assert run(runtime).text == "1"
    state = run(runtime, skip_cache=True)
    assert (state.text, state.report["COUNTS"].outcome) == ("2", "ok")


def test_skip_cache_does_not_share_a_run_under_way():
    async def main():
        started, finish = [], asyncio.Event()

        async def get():
            started.append(None)
            await finish.wait()
            return str(len(started))

        runtime = AgentRuntime()
        runtime.register_provider(Provider("X", get, ttl=60))
        tasks = [
            asyncio.create_task(runtime.compose_state("hello", skip_cache=skip)) for skip in (False, True)
        ]
        await until(lambda: len(started) == 2)
        finish.set()
        await asyncio.gather(*tasks)

    asyncio.run(bounded(main()))


async def fails():
    raise ValueError("no weather")


async def is_nonsense():
    return {"txt": "x"}


async def hangs():
    await asyncio.sleep(FAR)
    return "late"


async def cancels_itself():
    asyncio.current_task().cancel()
    await asyncio.sleep(FAR)


async def cancels_itself_and_returns():
    asyncio.current_task().cancel()
    return "lost"


async def holds_the_loop():
    time.sleep(0.11)  # noqa: ASYNC251  past its deadline, on purpose
    return "late"


@pytest.mark.parametrize("skip_cache", [False, True])
@pytest.mark.parametrize(
    "get", [fails, is_nonsense, hangs, cancels_itself, cancels_itself_and_returns, holds_the_loop]
)
def test_a_failure_is_never_kept(get, skip_cache):
    runs = []

    async def counts():
        runs.append(None)
        return await get() if len(runs) < 3 else "good"

    runtime = AgentRuntime()
    runtime.register_provider(Provider("SHAKY", counts, ttl=60, timeout=0.1))
    states = [run(runtime, skip_cache=skip_cache)] + [run(runtime) for _ in range(3)]
    assert [row.outcome for state in states[2:] for row in state.report] == ["ok", "cached"]
    assert [list(state.errors) for state in states] == [["SHAKY"], ["SHAKY"], [], []]
    if get in {cancels_itself, cancels_itself_and_returns}:
        assert isinstance(states[0].errors["SHAKY"], ProviderCancelledError)


def test_everybody_has_a_copy_of_his_own(runtime):
    first = run(runtime)
    first.values["rows"].append("edited")
    first.data.providers["COUNTS"]["data"]["rows"][0]["deep"] = "edited"
    second = run(runtime)
    assert second.values["rows"] == [1]
    assert second.data.providers["COUNTS"]["data"] == {"rows": [{"deep": 1}]}
    second.data.providers["COUNTS"]["data"]["rows"].clear()
    assert run(runtime).data.providers["COUNTS"]["data"] == {"rows": [{"deep": 1}]}


def test_what_the_provider_edits_later_is_not_seen():
    rows = [1]

    async def get():
        return {"text": "x", "data": {"rows": rows}}

    runtime = AgentRuntime()
    runtime.register_provider(Provider("X", get, ttl=60))
    run(runtime)
    rows.append(2)
    assert run(runtime).data.providers["X"]["data"] == {"rows": [1]}


def test_what_is_kept_is_bounded_and_the_oldest_goes_first(runtime, runs, monkeypatch):
    assert 64 <= flights.MOST_KEPT <= 100_000
    monkeypatch.setattr(flights, "MOST_KEPT", 4)
    for number in range(10):
        run(runtime, str(number))
    outcomes = [run(runtime, str(number)).report["COUNTS"].outcome for number in (9, 8, 7, 6, 5)]
    assert outcomes == ["cached"] * 4 + ["ok"]
