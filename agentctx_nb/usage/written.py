"""Which values each provider wrote in its last runs: by their keys, which is all that is kept of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentctx_nb.record import Record

__all__ = ["Written"]

MOST_KEYS = 1_000  # of one provider
LONGEST_KEY = 200
MOST_PLANS = 64
MOST_GONE = 100  # providers remembered that are no longer registered
SHORTEST_REPEATED = 20  # characters; a shorter value stands in a text by chance
LONGEST_SEARCHED = 100_000
_PLAIN = frozenset((str, int, float, bool, bytes, type(None)))


class _Everything(set[Any]):
    """The keys of a plan that writes other ones all the time: nothing is news any more."""

    def issuperset(self, other: Iterable[Any]) -> bool:
        return True


class _Plan:
    """What is known of one choice of providers: all keys it ever wrote, and how often it ran."""

    __slots__ = ("keys", "names", "runs")

    def __init__(self, names: list[str]) -> None:
        self.names = names  # held, so that no other list gets its identity
        self.keys: set[Any] = set()
        self.runs = 0


class _Keys:
    """What one registration of a provider wrote: its keys, and those whose text stands in its own text."""

    __slots__ = ("has_more", "keys", "repeated", "version")

    def __init__(self, version: int) -> None:
        self.version = version
        self.has_more = False
        self.keys: set[str] = set()
        self.repeated: set[str] = set()


class Written:
    """Learns from every composition which provider writes which value.

    Only keys are kept, at most 1,000 of a provider. Looked at again are compositions that bring a new key,
    and the 1st, 2nd, 4th, 8th … of each choice of providers.
    """

    __slots__ = ("_of", "_plans")

    def __init__(self) -> None:
        self._of: dict[str, _Keys] = {}
        self._plans: dict[int, _Plan] = {}

    def note(self, record: Record, values: Mapping[Any, Any]) -> None:
        """Learn from one composition; ``values`` are what all its providers wrote together."""
        plan = self._plans.get(id(record.names))
        try:
            if plan is not None:
                plan.runs = runs = plan.runs + 1
                if runs & (runs - 1) and plan.keys.issuperset(values):
                    return
            self._learn(record, plan)
        except Exception:  # noqa: BLE001, S110  whatever keys of theirs do; a composition goes on
            pass

    def keys_of(self, provider: str, *, version: int) -> frozenset[str] | None:
        """Return the keys this registration of a provider wrote, or None where it has not run."""
        known = self._of.get(provider)
        return frozenset(known.keys) if known is not None and known.version == version else None

    def has_more(self, provider: str) -> bool:
        """Whether the provider wrote more keys than are kept of it."""
        known = self._of.get(provider)
        return known is not None and known.has_more

    def repeats(self, provider: str, key: str) -> bool:
        """Whether the provider's text held the value it wrote under ``key``."""
        known = self._of.get(provider)
        return known is not None and key in known.repeated

    def __bool__(self) -> bool:
        return bool(self._plans)

    def _learn(self, record: Record, plan: _Plan | None) -> None:
        if plan is None:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            plan = self._plans[id(record.names)] = _Plan(record.names)
            plan.runs = 1
        versions = {}
        if record.snapshot is not None:
            versions = {name: entry.version for name, entry in record.snapshot.by_name.items()}
        for i, (name, (text, values, _)) in enumerate(zip(record.names, record.parts, strict=True)):
            version = versions.get(name, 0)
            known = self._of.get(name)
            if known is None or known.version < version:
                if i in record.errors:  # which tells nothing of what it writes when it succeeds
                    continue
                known = self._of[name] = _Keys(version)
            if known.version == version:
                _add(values, text, known, plan.keys)
        plan.keys.add("providers")
        if len(plan.keys) > MOST_KEYS * max(1, len(plan.names)):
            plan.keys = _Everything()
        if len(self._of) > len(versions) + MOST_GONE:
            self._of = {name: known for name, known in self._of.items() if name in versions}


def _add(values: Mapping[Any, Any], text: str, known: _Keys, seen: set[Any]) -> None:
    for key, value in values.items():
        if isinstance(key, str):
            key = str.__str__(key)  # noqa: PLW2901  of a StrEnum or numpy: as a template asks for it
        elif type(key) not in _PLAIN:
            continue  # one of theirs may do anything, and no template can ask for it
        seen.add(key)
        if type(key) is not str:
            continue
        if len(key) > LONGEST_KEY or (key not in known.keys and len(known.keys) >= MOST_KEYS):
            known.has_more = True
            continue
        known.keys.add(key)
        if key not in known.repeated and _holds(text, value):
            known.repeated.add(key)


def _holds(text: str, value: Any) -> bool:
    if type(value) is not str or type(text) is not str or len(text) > LONGEST_SEARCHED:
        return False
    value = value.strip()
    return len(value) >= SHORTEST_REPEATED and value in text
