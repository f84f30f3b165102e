"""What stood under a name before: the last versions of each provider that was replaced or removed."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentctx_nb.registry import Registered

__all__ = ["History"]

MOST_VERSIONS = 20  # of one name
MOST_NAMES = 1_000  # the names whose last change is longest ago are forgotten first


class History:
    """Earlier versions by name, oldest first, of bounded number: keeping one more costs the same every time."""

    def __init__(self, *, versions: int = MOST_VERSIONS, names: int = MOST_NAMES) -> None:
        self._versions = versions
        self._names = names
        self._kept: OrderedDict[str, deque[Registered]] = OrderedDict()

    def keep(self, entry: Registered) -> None:
        """Add the version of a provider that just went out of use."""
        earlier = self._kept.get(entry.name)
        if earlier is None:
            earlier = self._kept[entry.name] = deque(maxlen=self._versions)
            if len(self._kept) > self._names:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(entry.name)
        earlier.append(entry)

    def of(self, name: str) -> tuple[Registered, ...]:
        """Return the earlier versions under ``name`` that are still kept, oldest first."""
        return tuple(self._kept.get(name, ()))
