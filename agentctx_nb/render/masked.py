"""Values made safe to hand to a person: the same shape, with no secret in any string of it."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from contextlib import suppress
from typing import Any

from agentctx_nb.bare import bare_scalar
from agentctx_nb.render.bounds import Mask, cell_text

__all__ = ["masked_copy"]

_SCALARS = (
    int,
    float,
    complex,
    dt.date,
    dt.datetime,
    dt.time,
    dt.timedelta,
    decimal.Decimal,
    uuid.UUID,
)
_DEEPEST = 40
_LARGEST_INT = 14_000  # bits; Python prints no int of more than 4,300 digits


def masked_copy(value: object, *, mask: Mask) -> Any:
    """Return a copy of plain containers with every string masked and every other object as short text.

    A container that holds itself has ``"<cycle>"`` in that place.

    >>> masked_copy({"key": "s3cret", "n": 1}, mask=lambda text: text.replace("s3cret", "***"))
    {'key': '***', 'n': 1}
    """
    return _copy(value, mask, {}, 0)


def _copy(value: Any, mask: Mask, known: dict[int, Any], depth: int) -> Any:
    with suppress(Exception):  # a subclass of numpy's may do as it likes
        value = bare_scalar(value)
    kind = type(value)
    if issubclass(kind, str):
        return mask(str.__str__(value))
    if value is None or kind is bool:
        return value
    if any(kind is scalar for scalar in _SCALARS):  # not asked of a metaclass of theirs
        if kind is int and value.bit_length() > _LARGEST_INT:
            return cell_text(value, mask=mask)
        shown = str(value)
        masked = mask(shown)  # a secret may be a number
        return value if masked == shown else masked
    if not issubclass(kind, (dict, list, tuple, set, frozenset)) or depth >= _DEEPEST:
        return cell_text(value, mask=mask)
    if id(value) in known:  # copied once, however often it is held: shared levels would double each time
        return known[id(value)]
    known[id(value)] = "<cycle>"
    known[id(value)] = copied = _container(value, mask, known, depth + 1)
    return copied


def _container(value: Any, mask: Mask, known: dict[int, Any], depth: int) -> Any:
    kind = type(value)
    try:
        if issubclass(kind, dict):
            pairs = dict.items(value)
            return {_copy(k, mask, known, depth): _copy(v, mask, known, depth) for k, v in pairs}
        base = next(base for base in (list, tuple, set, frozenset) if issubclass(kind, base))
        return base([_copy(item, mask, known, depth) for item in base.__iter__(value)])
    except Exception:  # noqa: BLE001  it is edited while it is read, or holds what cannot be hashed once masked
        return cell_text(value, mask=mask)
