"""The checks every store makes alike, so that one mistake reads the same whichever store is behind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.memory.store import EmbedderMark
from agentctx_nb.model import Content, Entity, Memory, check_fields
from agentctx_nb.names import counted, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "agreed_mark",
    "as_vector",
    "check_conditions",
    "check_count",
    "check_entity",
    "check_ids",
    "check_memories",
    "check_memory",
    "check_moment",
    "check_name",
    "check_query",
    "check_table_name",
    "check_threshold",
    "check_vectors",
]

_FURTHEST = 8.64e15  # milliseconds; no date of JavaScript's lies further from 1970
_NAMES = ("id", "room_id", "entity_id", "agent_id", "world_id")


def check_table_name(table_name: object) -> None:
    """Raise when ``table_name`` is not a string that names a table."""
    if not isinstance(table_name, str):
        raise DefinitionTypeError(
            f"table_name is a string such as 'messages', not {type(table_name).__name__}"
        )
    if not table_name.strip():
        raise DefinitionError("table_name is empty; name a table such as 'messages'")
    check_name(table_name, of="table_name")


def check_name(name: object, *, of: str) -> None:
    """Raise when ``name`` is neither ``None`` nor a string that any database can hold."""
    if name is None:
        return
    if not isinstance(name, str):
        raise DefinitionTypeError(f"{of} is a string or None, not {shown(name)}")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise DefinitionError(f"{of} holds half of a character: {shown(name)}") from None


def check_count(count: object) -> None:
    """Raise when ``count`` is neither ``None`` nor a whole number from 0 up."""
    if count is None:
        return
    if isinstance(count, bool) or not isinstance(count, int):
        raise DefinitionTypeError(f"count is a whole number or None, not {count!r}")
    if count < 0:
        raise DefinitionError(f"count cannot be negative, as {count} is; leave it out to get all rows")


def check_moment(moment: object, *, of: str) -> None:
    """Raise when ``moment`` is neither ``None`` nor a finite number of milliseconds."""
    if moment is None:
        return
    if isinstance(moment, bool) or not isinstance(moment, (int, float)):
        raise DefinitionTypeError(f"{of} is milliseconds since the epoch, not {type(moment).__name__}")
    if not abs(moment) <= _FURTHEST:
        raise DefinitionError(f"{of} is milliseconds since the epoch, not {moment}")


def check_threshold(threshold: object) -> float | None:
    """Return the least cosine of a hit; 0 and ``None`` are none at all."""
    if threshold is None:
        return None
    if isinstance(threshold, bool) or not isinstance(threshold, Real):  # numpy's numbers are Real too
        raise DefinitionTypeError(f"match_threshold is a cosine such as 0.75 or None, not {shown(threshold)}")
    try:
        least = float(threshold)
    except OverflowError:
        least = math.inf
    if not math.isfinite(least):
        raise DefinitionError(f"match_threshold is a cosine such as 0.75 or None, not {shown(threshold)}")
    return least or None


def check_query(embedding: object, query: object) -> NDArray[np.float32]:
    """Return the vector to search with; ``query`` is the text that was asked, if any."""
    if query is not None and not isinstance(query, str):
        raise DefinitionTypeError(f"query is the text that was asked, not {shown(query)}")
    if embedding is None:
        raise DefinitionError("search_memories needs embedding=, such as await runtime.embed(text)")
    return as_vector(embedding)


def check_conditions(
    *,
    table_name: object,
    count: object,
    start: object,
    end: object,
    names: dict[str, Any],
) -> None:
    """Raise when a condition of a read is of the wrong kind; ``names`` are the rooms, entities and so on."""
    check_table_name(table_name)
    check_count(count)
    check_moment(start, of="start")
    check_moment(end, of="end")
    for of, name in names.items():
        check_name(name, of=of)


def check_memory(memory: object) -> Memory:
    """Return ``memory`` when it is one that a store can keep."""
    if not isinstance(memory, Memory):
        raise DefinitionTypeError(f"a store keeps a Memory, not {type(memory).__name__}")
    check_fields(memory)
    if memory.unique is not None and not isinstance(memory.unique, bool):
        raise DefinitionTypeError(f"unique is True, False or None, not {shown(memory.unique)}")
    check_moment(memory.created_at, of="created_at")
    for of in _NAMES:
        check_name(getattr(memory, of), of=of)
    return memory


def check_memories(memories: object) -> list[Any]:
    """Return ``memories`` as a list when they are several of something; `check_memory` looks at each."""
    if isinstance(memories, Memory | Content | str | Mapping) or not isinstance(memories, Iterable):
        raise DefinitionTypeError(f"create_memories takes a list of memories, not {shown(memories)}")
    return list(memories)


def check_ids(ids: object, *, of: str) -> list[str]:
    """Return ``ids`` as a list, each id once, when they are several strings."""
    if isinstance(ids, str | Mapping) or not isinstance(ids, Iterable):
        raise DefinitionTypeError(f"{of} is a list of ids, not {shown(ids)}")
    listed = list(ids)
    for one in listed:
        if not isinstance(one, str):
            raise DefinitionTypeError(f"{of} is a list of ids, and {shown(one)} is none")
        check_name(one, of=f"an id in {of}")
    return list(dict.fromkeys(listed))


def check_entity(entity: object) -> Entity:
    """Return ``entity`` when it is one that a store can keep."""
    if not isinstance(entity, Entity):
        raise DefinitionTypeError(f"a store keeps an Entity, not {type(entity).__name__}")
    check_fields(entity)
    check_moment(entity.created_at, of="created_at")
    check_name(entity.id, of="id")
    check_name(entity.agent_id, of="agent_id")
    return entity


def as_vector(embedding: Any, *, of: str = "embedding") -> NDArray[np.float32]:
    """Return a copy of ``embedding`` as one row of float32.

    Raises
    ------
    DefinitionError
        It is no row of finite numbers that fit in float32.
    """
    import numpy as np

    try:
        given = np.asarray(embedding)
    except Exception as exc:  # whatever the object does when asked for its numbers
        raise DefinitionTypeError(f"{of} is a row of numbers, not {shown(embedding)}") from exc
    if given.dtype.kind not in "iuf":
        kind = "a list that holds something else" if given.ndim else shown(embedding)
        raise DefinitionTypeError(f"{of} is a row of numbers, not {kind}")
    if given.ndim != 1:
        rows = f"an array of shape {given.shape}" if given.ndim else shown(embedding)
        raise DefinitionError(f"{of} is one row of numbers, not {rows}")
    if not given.size:
        raise DefinitionError(f"{of} holds no numbers; leave it out where there is no vector")
    if not np.isfinite(given).all():
        at = int(np.flatnonzero(~np.isfinite(given))[0])
        raise DefinitionError(f"{of} holds {given[at]} at place {at}; a vector is made of finite numbers")
    if given.dtype == np.float32:
        return given.astype(np.float32)  # a copy, in the byte order of this machine
    with np.errstate(over="ignore"):
        vector = given.astype(np.float32)
    if not np.isfinite(vector).all():
        raise DefinitionError(f"{of} holds {abs(given).max():g}, more than fits in float32")
    return vector


def check_vectors(
    vectors: object, mark: EmbedderMark | None, table_name: str
) -> dict[str, NDArray[np.float32]]:
    """Return the new vectors of a table by id, all of them as long as the first, or as ``mark`` says."""
    if not isinstance(vectors, Mapping):
        raise DefinitionTypeError(f"vectors is a dict of id to vector, not {shown(vectors)}")
    checked = {
        memory_id: as_vector(vector, of=f"the vector of {memory_id!r}")
        for memory_id, vector in vectors.items()
    }
    dim = None
    for vector in checked.values():
        agreed_mark(table_name, dim, None, given_dim=len(vector), given=mark)
        dim = len(vector)
    return checked


def agreed_mark(
    table_name: str,
    dim: int | None,
    known: EmbedderMark | None,
    *,
    given_dim: int,
    given: EmbedderMark | None,
) -> EmbedderMark | None:
    """Return the mark of a table after a vector of ``given_dim`` numbers, made by ``given``, comes to it.

    ``dim`` and ``known`` are what the table has been fixed to, ``None`` where by nothing yet.

    Raises
    ------
    DefinitionError
        The vector is of another embedder or another length than the table's.
    """
    if given is not None and not isinstance(given, EmbedderMark):
        raise DefinitionTypeError(f"mark is an EmbedderMark, not {type(given).__name__}")
    if known is not None and given is not None and given != known:
        theirs, ours = _described(known), _described(given)
        other = "another version of it" if theirs == ours else ours
        raise DefinitionError(
            f"table {table_name!r} holds vectors of {theirs}, not of {other}; use that embedder, "
            f'or change the table: await runtime.reembed("{table_name}")'
        )
    if given is not None and given_dim != given.dim:
        raise DefinitionError(
            f"embedding has {counted(given_dim, 'number')}, and embedder {given.name!r} makes {given.dim:,}"
        )
    if dim is not None and given_dim != dim:
        raise DefinitionError(
            f"embedding has {counted(given_dim, 'number')}, and table {table_name!r} holds vectors of {dim:,}"
            + (f", made by embedder {known.name!r}" if known is not None else "")
            + f'; if the embedder was changed: await runtime.reembed("{table_name}")'
        )
    return known or given


def _described(mark: EmbedderMark) -> str:
    return f"embedder {mark.name!r} ({counted(mark.dim, 'number')})"
