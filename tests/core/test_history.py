"""Earlier versions of providers are kept, and not too many."""

from __future__ import annotations

from agentctx_nb import AgentRuntime, Provider
from agentctx_nb.history import History
from agentctx_nb.registry import Registry


def versions(registry, name="A"):
    return [entry.version for entry in registry.earlier(name)]


def test_what_is_replaced_is_kept_and_what_stands_is_not():
    registry = Registry()
    first = Provider("A", lambda: "1")
    registry.register(first, origin="cell")
    assert versions(registry) == []
    registry.register(Provider("A", lambda: "2"))
    registry.register(Provider("A", lambda: "3"))
    assert versions(registry) == [1, 2]
    assert registry.earlier("A")[0].provider is first
    assert registry.earlier("A")[0].origin == "cell"
    assert versions(registry, "B") == []


def test_a_removed_provider_keeps_its_last_version_and_its_number_goes_on():
    registry = Registry()
    registry.register(Provider("A", lambda: "1"))
    registry.unregister("A")
    assert versions(registry) == [1]
    registry.unregister("A")
    registry.register(Provider("A", lambda: "2"))
    assert (versions(registry), registry["A"].version) == ([1], 2)


def test_only_the_last_twenty_are_kept():
    registry = Registry()
    for _ in range(50):
        registry.register(Provider("A", lambda: "a"))
    assert versions(registry) == [*range(30, 50)]


def test_the_names_changed_longest_ago_are_forgotten_first():
    registry = Registry()
    registry._history = history = History(names=2)
    for name in ("A", "B", "A", "B", "A", "C", "C"):
        registry.register(Provider(name, lambda: "x"))
    assert (versions(registry, "A"), versions(registry, "B"), versions(registry, "C")) == ([1, 2], [], [1])
    assert len(history._kept) == 2


def test_an_earlier_version_registered_again_runs_and_its_kept_result_is_gone():
    runtime = AgentRuntime()
    runtime.register_provider(Provider("A", lambda: "old", ttl=60))
    runtime.register_provider(Provider("A", lambda: "new", ttl=60))
    assert runtime.compose("hi").text == "new"
    runtime.register_provider(runtime.registry.earlier("A")[0].provider)
    assert runtime.compose("hi").text == "old"
    assert runtime.registered("A").version == 3
