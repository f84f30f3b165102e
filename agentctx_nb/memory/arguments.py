"""The arguments of a read, as people give them: a dict or keywords, either spelling, three names for a count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentctx_nb.errors import DefinitionTypeError, did_you_mean
from agentctx_nb.names import snake_case

__all__ = ["GET_MEMORIES", "SEARCH_MEMORIES", "read_arguments"]

GET_MEMORIES = (
    "table_name",
    "room_id",
    "entity_id",
    "agent_id",
    "world_id",
    "count",
    "unique",
    "start",
    "end",
)
SEARCH_MEMORIES = (*GET_MEMORIES, "embedding", "query", "match_threshold", "approximate")
_COUNTS = ("count", "limit", "match_count")


def read_arguments(
    given: Mapping[str, Any] | None, more: Mapping[str, Any], *, known: Iterable[str], of: str
) -> dict[str, Any]:
    """Return what a call was given, in snake_case, as arguments of the store.

    Parameters
    ----------
    given
        The one dict of a TypeScript call, or ``None``.
    more
        The keywords of a Python call.
    known
        The names the store takes.
    of
        What was called, for the error.

    Raises
    ------
    DefinitionTypeError
        A name is unknown or given twice.

    >>> read_arguments({"roomId": "lobby"}, {"limit": 3}, known=GET_MEMORIES, of="get_memories")
    {'room_id': 'lobby', 'count': 3}
    """
    if given is not None and not isinstance(given, Mapping):
        raise DefinitionTypeError(f"{of} takes keywords or one dict of them, not {type(given).__name__}")
    allowed = tuple(known)
    found: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for key, value in [*(given or {}).items(), *more.items()]:
        name = snake_case(key) if isinstance(key, str) else ""
        name = "count" if name in _COUNTS and "count" in allowed else name
        if name not in allowed:
            hint = did_you_mean(str(key), allowed) or "; it takes " + ", ".join(allowed)
            raise DefinitionTypeError(f"{of} has no argument {key!r}{hint}")
        if name in found:
            raise DefinitionTypeError(f"{of} is given {name} twice, as {spelled[name]!r} and as {key!r}")
        found[name], spelled[name] = value, key
    return found
