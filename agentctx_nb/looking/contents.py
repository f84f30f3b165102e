"""What a value holds, read without running code of its own: plain containers, stored fields, tables.

Containers are read past whatever a subclass overrides; of an object only the fields it stores are
looked at, and only where its class declares them; anything else is closed and has a repr at most.
"""

from __future__ import annotations

import sys
from collections import deque
from types import MappingProxyType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, NamedTuple

from agentctx_nb.names import counted
from agentctx_nb.views import ListView, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Contents", "Leaf", "contents", "leaves"]

_SORTED = 1_000  # items of a set; sorting more costs more than they tell
_CELLS = 10_000  # of one table or array
_SHORT = ("float16", "float32")  # Python's own floats of these print digits nobody wrote
_DECLARED = ("__dataclass_fields__", "__pydantic_fields__", "__attrs_attrs__")
# Told by identity: a metaclass of theirs may raise where a class is hashed or compared.
_CLOSED = frozenset(map(id, (str, int, float, bool, complex, bytes, bytearray, type(None))))


class Contents(NamedTuple):
    """What one value holds.

    ``size`` says how much in words; ``items`` are the pairs of step and value, and ``steps`` is ``"key"``,
    ``"place"`` or ``"item"``: how a step is written in a path. ``few`` is how many items a view shows.
    """

    size: str
    length: int
    items: Iterable[tuple[Any, Any]]
    steps: str = "key"
    few: int | None = None


class Leaf(NamedTuple):
    """A value that is not opened, and the path to it; ``cycle`` where it is one of those it stands in."""

    path: str
    value: Any
    cycle: bool = False


def contents(value: Any, *, name: Callable[[Any], str]) -> Contents | None:
    """Return what ``value`` holds, or None where it is to be shown as a whole; ``name`` writes a step.

    >>> contents({"city": "Oslo"}, name=str).size, contents("Oslo", name=str)
    ('1 key', None)
    """
    kind = type(value)
    if id(kind) in _CLOSED:
        return None
    if kind is View:
        return contents(value.__shown__, name=name)
    if kind is ListView:
        value = value._items  # noqa: SLF001  a view of this package is seen through
        kind = type(value)
    try:
        return _container(value, kind, name) or _table(value, kind) or _stored(value, kind)
    except Exception:  # noqa: BLE001  it is edited while it is read, or lies about what it is
        return None


def leaves(value: Any, *, name: Callable[[Any], str], deepest: int, once: bool = False) -> Iterator[Leaf]:
    """Yield what ``value`` holds, depth first; ``once`` opens a container a single time, wherever it is held.

    The caller bounds how many it takes: each costs at most ``deepest`` steps.

    >>> [leaf[:2] for leaf in leaves({"days": [{"sky": "grey"}]}, name=str, deepest=9)]
    [('days[0].sky', 'grey')]
    """
    opened: dict[int, Any] = {}  # holds the objects too: an id is an object's own only while it lives
    waiting: list[tuple[str, Any, Iterator[tuple[Any, Any]], str]] = []
    path = ""
    while True:
        held = contents(value, name=name) if len(waiting) < deepest else None
        around = any(value is holder for _, holder, _, _ in waiting)
        if held is None or not held.length or around:
            yield Leaf(path, value, around)
        elif not once or id(value) not in opened:
            if once:
                opened[id(value)] = value
            waiting.append((path, value, iter(held.items), held.steps))
        while waiting:
            above, _, items, steps = waiting[-1]
            try:
                step, value = next(items)
            except Exception:  # noqa: BLE001  its end; or it is edited while it is read
                waiting.pop()
                continue
            path = above + _step(step, steps, name, first=not above)
            break
        else:
            return


def _step(step: Any, steps: str, name: Callable[[Any], str], *, first: bool) -> str:
    if steps == "item":
        return "{}"
    if steps == "place":
        return f"[{step}]"
    said = name(step)
    if type(step) is not str:
        return f"[{said}]"
    return said if first else f".{said}"


def _container(value: Any, kind: Any, name: Callable[[Any], str]) -> Contents | None:
    if kind is MappingProxyType:
        return Contents(counted(len(value), "key"), len(value), value.items())
    if issubclass(kind, dict):
        count = dict.__len__(value)
        return Contents(counted(count, "key"), count, dict.items(value))
    for base in (list, tuple, deque):
        if issubclass(kind, base):
            count = base.__len__(value)
            return Contents(counted(count, "item"), count, enumerate(base.__iter__(value)), "place")
    for unordered in (set, frozenset):
        if issubclass(kind, unordered):
            count = unordered.__len__(value)
            if count > _SORTED:
                return None
            items = sorted(
                [(name(item), place, item) for place, item in enumerate(unordered.__iter__(value))]
            )
            return Contents(counted(count, "item"), count, [(said, item) for said, _, item in items], "item")
    return None


def _table(value: Any, kind: Any) -> Contents | None:
    """Open a frame by its columns, and a column or an array by its first cells."""
    pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
    if pandas is not None and kind is getattr(pandas, "DataFrame", None):
        rows, columns = value.shape
        held = ((value.columns[place], value.iloc[:, place]) for place in range(columns))
        return Contents(f"{counted(rows, 'row')} × {counted(columns, 'column')}", columns, held)
    if pandas is not None and kind is getattr(pandas, "Series", None):
        short = str(value.dtype).lower() in _SHORT
        cells = list(value.array[:_CELLS]) if short else value.iloc[:_CELLS].tolist()
        return Contents(
            f"{value.dtype}, {counted(len(value), 'row')}", len(value), enumerate(cells), "place", 3
        )
    if numpy is not None and kind is getattr(numpy, "ndarray", None) and value.ndim:
        shape = value.shape
        cells = list(value.flat[:_CELLS]) if str(value.dtype) in _SHORT else value.flat[:_CELLS].tolist()
        size = f"{value.dtype}, {' × '.join(f'{n:,}' for n in shape)}"
        held = ((_place(at, shape), cell) for at, cell in enumerate(cells))
        return Contents(size, int(value.size), held, "place", 6)
    return None


def _place(at: int, shape: tuple[int, ...]) -> str:
    places = []
    for length in reversed(shape):
        at, place = divmod(at, length)
        places.append(str(place))
    return ", ".join(reversed(places))


def _stored(value: Any, kind: Any) -> Contents | None:
    """Open an object whose class declares fields, by the values it stores; those kept out of its repr stay out."""
    classes = type.__dict__["__mro__"].__get__(kind)
    declared: dict[str, bool] = {}
    for holder in reversed(classes):
        for registry in _DECLARED:
            fields = type.__dict__["__dict__"].__get__(holder).get(registry)
            if fields is None:
                continue
            named = dict.items(fields) if isinstance(fields, dict) else [(f.name, f) for f in fields]
            declared |= {str(name): getattr(field, "repr", True) is not False for name, field in named}
    if not declared:
        return None
    stored: dict[str, Any] = {}
    for holder in classes:
        for name, slot in type.__dict__["__dict__"].__get__(holder).items():
            if type(slot) is MemberDescriptorType and name in declared:
                stored[name] = slot.__get__(value)
            elif name == "__dict__":
                stored |= slot.__get__(value)
    shown = {name: stored[name] for name, is_shown in declared.items() if is_shown and name in stored}
    return Contents(counted(len(shown), "field"), len(shown), shown.items())
