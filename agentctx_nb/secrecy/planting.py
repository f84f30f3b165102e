"""Fake secrets, planted in a copy of a runtime, and recognised in whatever comes out of it."""

from __future__ import annotations

import secrets as random
import string
from collections.abc import Mapping
from dataclasses import replace
from numbers import Number
from typing import TYPE_CHECKING, Any

from agentctx_nb.model import Content, Entity, Memory
from agentctx_nb.secrecy.masking import Masker

if TYPE_CHECKING:
    from agentctx_nb.runtime import AgentRuntime

__all__ = ["Planted"]

_LENGTH, _DIGITS = 24, 18  # of a text and of a number
_DEEPEST = 40  # levels of a container that are rebuilt
_PART = 8  # characters in a row that are no chance
_ALPHABET = string.ascii_letters + string.digits
_USER, _ROOM = "leak-scan-user", "leak-scan-room"
_REMEMBERED = ("messages", "facts")


class Planted:
    """The fakes of one scan, by what each stands for.

    >>> planted = Planted()
    >>> fake = planted.fake("setting API_KEY")
    >>> planted.found_in(f"called with {fake}"), planted.found_in(f"called with {fake[:9]}..., token")
    ([('setting API_KEY', 'as it is')], [('setting API_KEY', 'in part')])
    """

    def __init__(self) -> None:
        self._fakes: dict[str, str] = {}  # what it stands for -> the fake
        self._maskers: dict[str, Masker] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """What was planted, in that order."""
        return tuple(self._fakes)

    def fake(self, name: str, *, number: bool = False) -> str:
        """Return the fake that stands for ``name``, unlike any other text; of digits for a ``number``."""
        if name not in self._fakes:
            fake = "".join(random.choice(_ALPHABET) for _ in range(_LENGTH))
            if number:
                fake = str(10 ** (_DIGITS - 1) + random.randbelow(9 * 10 ** (_DIGITS - 1)))
            self._fakes[name] = fake
            self._maskers[name] = Masker()
            self._maskers[name].add("x", fake)
        return self._fakes[name]

    def twin_of(self, runtime: AgentRuntime) -> AgentRuntime:
        """Return a runtime of the same providers, with fakes for secrets, on an empty store of its own."""
        from agentctx_nb.runtime import AgentRuntime

        twin = AgentRuntime(
            runtime.name,
            select=runtime.select,
            embedder=runtime._embedder_given,  # noqa: SLF001  a twin is made of what its original was given
            clock=runtime._clock,  # noqa: SLF001
            count_tokens=runtime._count_tokens,  # noqa: SLF001
            agent_id=runtime.agent_id,
        )
        twin.twin_of = runtime.twin_of or runtime
        twin._embedder = runtime._embedder  # noqa: SLF001  loading it again would only take time
        twin.settings = runtime.settings.replaced(
            lambda key, value: self._like(value, f"setting {key}", {}, 0)
        )
        twin.settings.set("LEAK_SCAN_SECRET", self.fake("setting LEAK_SCAN_SECRET"), secret=True)
        twin.logger = type(twin.logger)(f"{runtime.name}.leak_scan", mask=twin.mask)
        for entry in sorted(runtime.registry.snapshot().entries, key=lambda entry: entry.slot):
            twin.registry.register(entry.provider, origin=entry.origin)
        return twin

    async def profile(self, twin: AgentRuntime, message: Memory) -> Memory:
        """Give the user of ``message`` a profile and memories with secrets in them; return it as theirs."""
        theirs = replace(message, entity_id=message.entity_id or _USER, room_id=message.room_id or _ROOM)
        held = {
            "api_key": self._marked(twin, "the profile's api_key"),
            "password": self._marked(twin, "the profile's password"),
            "settings": {"secrets": {"TOKEN": self._marked(twin, "the profile's settings.secrets.TOKEN")}},
        }
        await twin.create_entity(Entity(id=str(theirs.entity_id), names=["Ada"], metadata=held))
        for table in _REMEMBERED:
            content = Content(
                "Good morning!", token=self._marked(twin, f"the content of a memory in {table}")
            )
            metadata = {"secret": self._marked(twin, f"the metadata of a memory in {table}")}
            await twin.create_memory(
                Memory(content, theirs.entity_id, theirs.room_id, metadata=metadata), table_name=table
            )
        return theirs

    def found_in(self, text: str) -> list[tuple[str, str]]:
        """Return what surfaced in ``text``: (what it stands for, how it is written there)."""
        folded = text.casefold()
        found = [(name, self._written(name, text, folded)) for name in self._fakes]
        return [(name, written) for name, written in found if written]

    def _written(self, name: str, text: str, folded: str) -> str:
        fake = self._fakes[name]
        if fake in text:
            return "as it is"
        if self._maskers[name].spans(text) and fake[:12] not in text:
            return "encoded"
        small = fake.casefold()
        if small in folded:
            return "in other case"
        for written, turned in (("in part", small), ("backwards", small[::-1])):
            if any(turned[at : at + _PART] in folded for at in range(len(fake) - _PART + 1)):
                return written
        return ""

    def _marked(self, twin: AgentRuntime, name: str) -> str:
        fake = self.fake(name)
        twin.mask.add(name, fake)
        return fake

    def _like(self, value: Any, name: str, known: dict[int, Any], depth: int) -> Any:
        """Return a fake of the kind of ``value``: a number stays a number in the eyes of who reads it.

        ``known`` has the fake of each container by the identity of that, for one may hold itself.
        """
        if isinstance(value, bool):
            return value
        if isinstance(value, Number):
            return _number(type(value), self.fake(name, number=True))
        if isinstance(value, bytes | bytearray):
            return self.fake(name).encode()
        if not isinstance(value, Mapping | list | tuple | set | frozenset) or depth > _DEEPEST:
            return self.fake(name)
        if id(value) in known:
            return known[id(value)]
        if isinstance(value, Mapping):
            fakes = known[id(value)] = {}
            for key, item in value.items():
                fakes[key] = self._like(item, f"{name}[{key!r}]", known, depth + 1)
            return fakes
        items = known[id(value)] = []
        for place, item in enumerate(value):
            items.append(self._like(item, f"{name}[{place}]", known, depth + 1))
        known[id(value)] = made = items if type(value) is list else _container(value, items)
        return made


def _number(kind: type, digits: str) -> Any:
    """Return the number that ``digits`` write, of that kind or, as where it is an Enum, of a plainer one."""
    for each in (kind, int if issubclass(kind, int) else float):
        try:
            return each(digits)
        except Exception:  # noqa: BLE001, S112  whatever theirs says to a number it does not know
            continue
    return int(digits)


def _container(value: Any, items: list[Any]) -> Any:
    """Return ``items`` in a container as ``value`` is one: a tuple with names keeps them."""
    make = getattr(value, "_make", type(value))
    try:
        return make(items)
    except Exception:  # noqa: BLE001  a class with arguments of its own
        return next(kind for kind in (list, tuple, set, frozenset) if isinstance(value, kind))(items)
