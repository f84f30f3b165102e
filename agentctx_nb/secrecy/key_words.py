"""What a text in the place of a key looks like: drawn at random, made of words, a placeholder, a version."""

from __future__ import annotations

import re

__all__ = ["is_credentials", "is_password", "looks_drawn", "reads_as_words"]

_PLACEHOLDERS = frozenset((
    "changeme", "example", "passwd", "password", "pass", "pwd", "mypassword", "secret", "token", "your-password",
))  # fmt: skip
# What stands for a password in a template, a shell script or a document.
_STANDS_FOR_ONE = re.compile(
    r"\$?\{+[^{}]*\}+|\$\([^()]*\)|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)|%\w+%|\[+[A-Za-z _-]*\]+|\*+|%\(\w+\)s"
)
_PATTERN_OF_ONE = re.compile(
    r"\[\^|\(\?|\.[*+]|[\])][+*?{]|\{\d*,?\d*\}"
)  # a regular expression of addresses
_NUMBERED = re.compile(r"v?\d+(?:\.\d+)+|\d{1,2}(?::\d{2}){1,2}|:*\d{1,5}")  # a version, a time, a port
_HUMPS = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LONG_WORDS = (
    4.0  # letters of one on average; letters drawn at random, of both cases, change after two or three
)
_HEADER = re.compile(r"authorization[\"']?\s{0,3}[:=,]?\s{0,3}[\"']?\Z", re.IGNORECASE)
_LONGEST_HEADER = 24


def looks_drawn(key: str) -> bool:
    """Tell whether some part of ``key`` looks drawn at random: words and versions between dashes do not.

    >>> looks_drawn("weather-in-oslo-2024"), looks_drawn("modelRunner1-of-2024"), looks_drawn("x7Bq2LmZ0c")
    (False, False, True)
    """
    for part in re.findall("[A-Za-z0-9]{10,}", key):
        digits = sum(map(str.isdigit, part))
        mixed = part != part.lower() and part != part.upper()
        if digits and (mixed or (len(part) >= 16 and digits >= 3 and digits < len(part))):
            if mixed and reads_as_words(part):
                continue
            return True
    return False


def reads_as_words(key: str) -> bool:
    """Tell whether ``key``, of letters of both cases, is put together from words.

    >>> reads_as_words("AutoModelForSequenceClassification"), reads_as_words("x7BqLmZkcWvRtYbQ")
    (True, False)
    """
    words = _HUMPS.findall(key)
    return len("".join(words)) >= _LONG_WORDS * max(1, len(words))


def is_password(key: str) -> bool:
    """Tell whether what stands between ``:`` and ``@`` of an address is a password, and no placeholder.

    >>> [is_password(key) for key in ("Pa$$w0rd!9x", "${DB_PASS}", "password", "3.18")]
    [True, False, False, False]
    """
    if key.lower() in _PLACEHOLDERS or len(set(key)) == 1:
        return False
    if _STANDS_FOR_ONE.fullmatch(key) or _NUMBERED.fullmatch(key):
        return False
    return _PATTERN_OF_ONE.search(key) is None


def is_credentials(key: str, *, before: str) -> bool:
    """Tell whether ``key`` is what HTTP calls Basic: a name and a password, as base64; or stands in its header."""
    if _HEADER.search(before[-_LONGEST_HEADER:]):
        return looks_drawn(key)
    from base64 import b64decode

    try:
        read = b64decode(key.rstrip("=") + "=" * (-len(key.rstrip("=")) % 4), validate=True).decode()
    except ValueError:
        return False
    return ":" in read and read.isprintable()
