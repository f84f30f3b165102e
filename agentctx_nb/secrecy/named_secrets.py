"""What a name says of its value: STOCK_API_KEY and DB_PASSWORD hold secrets wherever they are set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["is_plain", "named_parts", "names_a_secret", "texts_to_hide", "with_named_replaced"]

_SECRET_WORDS = frozenset(
    ("KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASS", "PASSPHRASE", "CREDENTIAL")
)
_DEEPEST = 40  # levels of a setting that are looked into
_SHORTEST = 8  # characters of a value that is masked for its name alone
# A name or a few words, as in SORT_KEY="created_at": a phrase of four and more is a passphrase.
_PLAIN_WORD = "[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+|[A-Z][a-z]+"
_PLAIN = rf"(?:{_PLAIN_WORD})(?:[ _./:-](?:{_PLAIN_WORD})){{0,2}}"
_PLACEHOLDER = r"(?i)(?:your|my|the|change|replace|insert|enter|put|add)[ _-].*|<.*>|\$?\{.*\}|\$\(.*\)"


def names_a_secret(key: str) -> bool:
    """Tell whether ``key`` ends in a word for a secret, as STOCK_API_KEY, apiToken or DB_PASSWORDS_2 do."""
    import re

    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", key)
    if not words:
        return False
    last = words[-1].upper()
    return last in _SECRET_WORDS or last.removesuffix("S") in _SECRET_WORDS


def texts_to_hide(key: str, value: Any) -> Iterator[str]:
    """Yield the texts in a setting that are masked because of its name.

    An environment holds little but secrets under such names. Settings are written by hand, and SORT_KEY or
    MAX_TOKENS is none: numbers, short texts, plain words and placeholders are left alone, for a mask would
    cover them in every sentence.

    >>> list(texts_to_hide("API_KEY", "k3y-0f-the-d00r")), list(texts_to_hide("SORT_KEY", "created_at"))
    (['k3y-0f-the-d00r'], [])
    """
    if names_a_secret(key):
        yield from (text for text in _strings(value) if not is_plain(text.strip()))


def named_parts(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what in the setting ``key`` is a secret by its name: the whole, or parts by the way to them.

    >>> list(named_parts("DB", {"host": "db", "login": [{"password": "k3y0fd00r"}]}))
    [('DB.login.password', 'k3y0fd00r')]
    """
    found: list[tuple[str, Any]] = []
    with_named_replaced(key, value, lambda path, part: found.append((path, part)))
    yield from found


def with_named_replaced(key: str, value: Any, replace: Callable[[str, Any], Any]) -> Any:
    """Return the setting ``key`` with ``replace(path, part)`` in place of each part that `named_parts` tells.

    Containers with such a part in them are copied; all other objects are the very ones that were given.
    """
    return replace(key, value) if names_a_secret(key) else _replaced(key, value, replace, {}, 0)


def _replaced(
    path: str, value: Any, replace: Callable[[str, Any], Any], known: dict[int, Any], depth: int
) -> Any:
    from collections.abc import Mapping

    if not isinstance(value, Mapping | list | tuple) or depth >= _DEEPEST:
        return value
    if id(value) in known:  # it holds itself, or is held twice
        return known[id(value)]
    try:
        pairs = list(value.items()) if isinstance(value, Mapping) else [(None, item) for item in value]
    except Exception:  # noqa: BLE001  one of theirs that cannot be read, and so holds nothing to be found
        return value
    copied: Any = {} if isinstance(value, Mapping) else []
    known[id(value)] = copied
    changed = False
    for name, part in pairs:
        inner = f"{path}.{name}" if isinstance(name, str) else path
        if isinstance(name, str) and part is not None and names_a_secret(name):
            new, changed = replace(inner, part), True
        else:
            new = _replaced(inner, part, replace, known, depth + 1)
            changed = changed or new is not part
        if isinstance(copied, dict):
            copied[name] = new
        else:
            copied.append(new)
    if not changed:
        copied = value
    elif isinstance(value, tuple):
        copied = getattr(value, "_make", tuple)(copied)
    known[id(value)] = copied
    return copied


def is_plain(text: str) -> bool:
    """Tell whether ``text`` is short, a word or three, or a placeholder: nothing a mask should cover everywhere."""
    import re

    if len(text) < _SHORTEST or len(set(text)) < 3:
        return True
    return re.fullmatch(_PLAIN, text) is not None or re.fullmatch(_PLACEHOLDER, text) is not None


def _strings(value: Any) -> Iterator[str]:
    from collections.abc import Mapping

    waiting, held = [value], set[int]()
    while waiting:  # no recursion: a container may be deep, or hold itself
        value = waiting.pop()
        if isinstance(value, str):
            yield str.__str__(value)
        elif isinstance(value, bytes | bytearray):
            yield bytes(value).decode("utf-8", "surrogateescape")
        elif isinstance(value, Mapping | list | tuple | set | frozenset) and id(value) not in held:
            held.add(id(value))
            waiting += reversed([*(value.values() if isinstance(value, Mapping) else value)])
