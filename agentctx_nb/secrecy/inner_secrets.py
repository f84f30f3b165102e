"""What is secret inside of a secret: the password of an address, the private fields of a JSON text.

An error message seldom repeats the whole of a connection string; it tells the password that was refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentctx_nb.secrecy.named_secrets import is_plain, names_a_secret, texts_to_hide

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["inner_secrets", "is_open"]

_LONGEST_READ = 100_000  # characters of a secret that is looked into
_IN_ADDRESS = re.compile(r"://[^\s/:@]{0,100}:([^\s/@]{1,500})@")
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_.\-]{0,60}(?: [A-Za-z]{2,20})?)\s?[=:]\s?([^\s;,&\"']{8,500})")
# Keys whose values tell where, and as whom: a mask over "localhost" would cover it in every sentence.
_OPEN_KEYS = frozenset((
    "ACCOUNT", "DATABASE", "DB", "DBNAME", "DIALECT", "DOMAIN", "DRIVER", "ENGINE", "HOST", "HOSTNAME", "LOGIN",
    "MODE", "NAME", "PORT", "PROTOCOL", "REGION", "SCHEMA", "SCHEME", "SERVER", "TYPE", "USER", "USERNAME", "ZONE",
))  # fmt: skip


def inner_secrets(text: str) -> Iterator[str]:
    """Yield the parts of the secret ``text`` that are secret by themselves.

    >>> list(inner_secrets("postgres://ada" + ":k3y0fd00r@db/x")), list(inner_secrets("Server=db;Password=k3y0fd00r"))
    (['k3y0fd00r'], ['k3y0fd00r'])
    """
    if len(text) > _LONGEST_READ:
        return
    for found in _IN_ADDRESS.finditer(text):
        from urllib.parse import unquote

        yield from (part for part in dict.fromkeys((found[1], unquote(found[1]))) if not is_plain(part))
    if text[:1] in ("{", "["):
        yield from _in_json(text)
    elif "=" in text or ":" in text:
        for found in _ASSIGNED.finditer(text):
            yield from texts_to_hide(found[1], found[2])


def is_open(key: Any, value: Any) -> bool:
    """Tell whether a field of a secret dict says only where or as whom: ``{"host": "localhost"}``.

    >>> is_open("host", "localhost"), is_open("port", 5432), is_open("user", "k3y-0f-the-d00r")
    (True, True, False)
    """
    if not isinstance(key, str) or names_a_secret(key):
        return False
    words = re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z]+", key)
    if not words or words[-1].upper() not in _OPEN_KEYS:
        return False
    if isinstance(value, int):
        return abs(value) < 65_536  # a port
    return isinstance(value, str) and (is_plain(value) or re.fullmatch(r"[0-9.]{1,15}", value) is not None)


def _in_json(text: str) -> Iterator[str]:
    import json
    from collections.abc import Mapping

    try:
        waiting: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError):
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            for key, item in value.items():
                yield from texts_to_hide(key, item)
            waiting += [item for item in value.values() if isinstance(item, dict | list)]
        elif isinstance(value, list):
            waiting += [item for item in value if isinstance(item, dict | list)]
