"""Who read which value, and the values nobody has read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from agentctx_nb.names import counted
from agentctx_nb.views import MaskedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.usage.read_recorder import Path

__all__ = ["Read", "Reads", "reads_of"]

_LISTED = 10  # providers whose unread values are shown


class Read(NamedTuple):
    """One reader, one key: ``provider`` wrote it, ``times`` says in how many runs it was read.

    ``reader`` is a template or an action; ``key`` is that of a value, ``data.providers.X.…`` or
    ``state.text``. A key that was not there has ``(nobody)`` as its provider.
    """

    reader: str
    key: str
    provider: str
    times: int


@dataclass(frozen=True, slots=True, repr=False)
class Reads:
    """All that was read, and what was written and never read; it shows itself as a table.

    Attributes
    ----------
    rows
        One `Read` for each reader, key and provider, in the order they were first read.
    unread
        The keys each registered provider wrote into the values and no reader has read, by provider.
    """

    rows: tuple[Read, ...]
    unread: Mapping[str, tuple[str, ...]]
    mask: Callable[[str], str] = field(default=str, compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Read]:
        return iter(self.rows)

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame: reader, key, provider, times; secrets masked."""
        return self._table().to_frame()

    def __repr__(self) -> str:
        return repr(self._page())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = self._page()._repr_mimebundle_(include, exclude)
        return bundle

    def _table(self) -> Any:
        from agentctx_nb.render.table import Table

        return Table(
            Read._fields,
            self.rows,
            title="Who read what",
            mask=self.mask,
            whole="runtime.reads().to_frame()",
            width=130,
        )

    def _page(self) -> Any:
        from agentctx_nb.render.page import Lines, Page

        number = sum(map(len, self.unread.values()))
        if not number:
            said = ["no value is unread"] if self.rows else []
        else:
            said = [
                f"{counted(number, 'value')} nobody has read, by the provider that wrote {'it' if number == 1 else 'them'}:"
            ]
            listed = list(self.unread.items())
            said += [f"{provider}: {', '.join(keys)}" for provider, keys in listed[:_LISTED]]
            if len(listed) > _LISTED:
                said.append(f"and those of {len(listed) - _LISTED:,} more; runtime.reads().unread has all")
        return Page((self._table(), Lines(tuple(said))), mask=self.mask)


def reads_of(runtime: AgentRuntime) -> Reads:
    """Return what actions and templates of ``runtime`` read since it was made, and what none of them did."""
    rows = runtime.read_recorder.rows()
    read = {(path, provider) for _, path, provider, _ in rows}
    unread: dict[str, tuple[str, ...]] = {}
    for entry in runtime.registry.snapshot().entries:
        keys = runtime.written.keys_of(entry.name, version=entry.version) or ()
        left = [key for key in sorted(keys) if key != "providers" and not _was_read(key, entry.name, read)]
        if left:
            unread[entry.name] = tuple(left)
    mask = runtime.mask
    shown = [
        Read(mask(reader), mask(_key(path)), mask(provider), times) for reader, path, provider, times in rows
    ]
    return Reads(tuple(shown), MaskedDict(unread, mask), mask)


def _key(path: Path) -> str:
    if path[0] == "values":
        return path[1]
    return "state.text" if path[0] == "text" else ".".join(path)


def _was_read(key: str, provider: str, read: set[tuple[Path, str]]) -> bool:
    """Whether ``key`` was read as a value, or in the provider's entry, or with something that holds it."""
    way = ("data", "providers", provider, "values", key)
    return (("values", key), provider) in read or any(
        (way[:end], owner) in read for end in range(1, len(way) + 1) for owner in (provider, "")
    )
