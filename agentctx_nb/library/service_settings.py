"""Settings of the providers that ask a service: read, checked, and told in words where they are wrong."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from agentctx_nb.errors import DefinitionError, did_you_mean
from agentctx_nb.names import shown

__all__ = ["address", "choice", "number"]


def address(runtime: Any, key: str, default: str) -> str:
    """Return the base address in the setting ``key``, without a slash at its end."""
    given = runtime.get_setting(key, default)
    if not isinstance(given, str) or not given.lower().startswith(("http://", "https://")):
        raise DefinitionError(f"the setting {key} is an address such as {default!r}, not {shown(given)}")
    try:
        parts = urlsplit(given)
        wrong = "" if parts.hostname else "it names no host"
        if parts.port == 0:
            wrong = "port 0 is none"
    except ValueError as exc:  # a port that is no number or too large, a bracket nobody closes
        wrong = str(exc)
    if wrong:
        # Not the address itself: a password may stand in it.
        raise DefinitionError(f"the setting {key} is no address such as {default!r}: {wrong}")
    return given.rstrip("/")


def number(runtime: Any, key: str, default: float, *, least: float, most: float) -> float:
    """Return the number in the setting ``key``."""
    given = runtime.get_setting(key, default)
    try:
        if isinstance(given, bool):
            raise TypeError
        found = float(given)
    except (TypeError, ValueError, OverflowError):
        raise DefinitionError(f"the setting {key} is a number, not {shown(given)}") from None
    if not least <= found <= most:
        raise DefinitionError(f"the setting {key} is a number from {least:g} to {most:g}, not {shown(given)}")
    return found


def choice(runtime: Any, key: str, default: str, *, of: tuple[str, ...]) -> str:
    """Return the word in the setting ``key``, one of those it may be."""
    given = runtime.get_setting(key, default)
    if given not in of:
        hint = did_you_mean(given, of) if isinstance(given, str) else ""
        raise DefinitionError(f"the setting {key} is {' or '.join(map(repr, of))}, not {shown(given)}{hint}")
    return str(given)
