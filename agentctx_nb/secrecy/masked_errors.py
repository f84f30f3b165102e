"""Exceptions for a person to see: of the same types, with no secret in what they print.

A traceback on a terminal, and IPython's of an exception group, is written by Python itself, which asks
nobody what to hide. So what is raised there must not hold a secret in the first place.
"""

from __future__ import annotations

import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import describe

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["masked_error"]

_DEEPEST = 20


def masked_error(error: Exception, mask: Callable[[str], str]) -> Exception:
    """Return ``error``, or where a secret is in it or in what led to it, a copy of it without the secret.

    The copy is an instance of the same class, with the same traceback; its attributes beside ``args``
    are those of the original.

    >>> masked_error(ValueError("the key is k3y"), lambda text: text.replace("k3y", "***"))
    ValueError('the key is ***')
    """
    return error if not _holds_secret(error, mask) else _copy(error, mask, {}, 0)


def _holds_secret(error: Exception, mask: Callable[[str], str]) -> bool:
    said = describe(error)
    with suppress(Exception):  # an exception may be of a kind that cannot be formatted
        said += repr(error) + "".join(traceback.format_exception(error))
    return mask(said) != said


def _copy(error: Any, mask: Callable[[str], str], done: dict[int, Any], depth: int) -> Any:
    if id(error) in done:  # it is cause and context of one, or a chain leads back to where it began
        return done[id(error)]
    kind = type(error)
    said = describe(error).removeprefix(kind.__name__).removeprefix(": ")
    args = _masked(error.args, mask, done, depth)
    shown = f"{kind.__name__}({', '.join(map(repr, args))})"
    told = {
        "__str__": lambda _: mask(said),
        "__repr__": lambda _: mask(shown),
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
    }
    try:
        copied: Any = kind.__new__(type(kind.__name__, (kind,), told), *args)
        copied.__dict__.update(error.__dict__)
        copied.args = args
    except Exception:  # noqa: BLE001  a kind that cannot be made this way
        copied = RuntimeError(mask(describe(error)))
    done[id(error)] = copied
    notes = getattr(error, "__notes__", None)
    if isinstance(notes, list):
        copied.__notes__ = _masked(notes, mask, done, depth)
    if depth < _DEEPEST:
        for link in ("__cause__", "__context__"):
            before = getattr(error, link)
            if before is not None:
                setattr(copied, link, _copy(before, mask, done, depth + 1))
    copied.__suppress_context__ = error.__suppress_context__
    return copied.with_traceback(error.__traceback__)


def _masked(value: Any, mask: Callable[[str], str], done: dict[int, Any], depth: int) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, BaseException):  # a member of a group
        deep = depth >= _DEEPEST
        return RuntimeError(mask(describe(value))) if deep else _copy(value, mask, done, depth + 1)
    if type(value) in (list, tuple):
        return type(value)(_masked(item, mask, done, depth) for item in value)
    return value
