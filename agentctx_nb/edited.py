"""What a state holds after its owner edited it: whatever is there, read so that its views never raise."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentctx_nb.views import printed

if TYPE_CHECKING:
    from agentctx_nb.state import State

__all__ = ["as_dict", "as_found", "error_names", "pairs_of", "portable_errors", "text_of"]

_ALL = "(values)"


def text_of(state: State) -> str:
    """Return the text of ``state``, or what was put in its place as it is written."""
    text = state.text
    return str.__str__(text) if issubclass(type(text), str) else printed(text, state.mask)


def pairs_of(values: object) -> list[tuple[Any, Any]]:
    """Return key and value of each of ``values``; what is no mapping is one value.

    >>> pairs_of({"a": 1}), pairs_of(None)
    ([('a', 1)], [('(values)', None)])
    """
    given: Any = values
    try:
        pairs = dict.items(given) if issubclass(type(given), dict) else given.items()
        return [(key, value) for key, value in pairs]
    except Exception:  # noqa: BLE001  none, or one of theirs that will not tell
        return [(_ALL, given)]


def as_found(values: object) -> dict[Any, Any]:
    """Return `pairs_of` as a dict, without those whose keys cannot be found again."""
    found: dict[Any, Any] = {}
    for key, value in pairs_of(values):
        with suppress(Exception):
            found[key] = value
    return found


def as_dict(given: Any) -> Any:
    """Return a dict of what a mapping holds, and anything else as it is."""
    try:
        return dict(given) if isinstance(given, Mapping) else given
    except Exception:  # noqa: BLE001  a mapping of theirs that will not tell
        return given


def error_names(errors: Any) -> list[str]:
    """Return the names in ``errors``, of which what is no name is written as it is."""
    held = as_dict(errors)
    if not isinstance(held, dict):
        return [] if held is None else [printed(held, str)]
    return [str.__str__(key) if issubclass(type(key), str) else printed(key, str) for key in held]


def portable_errors(errors: Any) -> Any:
    """Return ``errors`` with each exception in them as a pickle can hold it."""
    from agentctx_nb.portable import portable_error

    held = as_dict(errors)
    if not isinstance(held, dict):
        return held
    return {
        name: portable_error(error) if isinstance(error, Exception) else error for name, error in held.items()
    }
