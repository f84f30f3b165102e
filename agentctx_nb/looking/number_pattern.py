"""A number as it stands in a text: whole, and not as some digits of another number or of a name."""

from __future__ import annotations

import re

__all__ = ["number_pattern"]

_PLAIN = re.compile(r"-?\d+(\.\d+)?")
_BEFORE = r"(?<!\w)(?<!\d\.)"
_NO_SIGN = r"(?<!(?<![\w.])[.-])"  # that of "5-72" and of an ellipsis is none
_NO_THOUSANDS_BEFORE = r"(?<!\d,)"
_AFTER = r"(?!\d|\.\d|,\d{3}(?!\d)|_|[^\W\d_]+\d)"  # a unit may follow, more of a name like 72ab34 may not


def number_pattern(written: str) -> re.Pattern[str]:
    """Return what finds the number that is ``written`` so, also with zeros behind its point or a unit.

    >>> [bool(number_pattern("72").search(text)) for text in ("72", "72.0 F", "[1,72]", "172", "72.5", "-72")]
    [True, True, True, False, False, False]
    """
    plain = _PLAIN.fullmatch(written)
    if plain is None:  # nan, or with an exponent
        return re.compile(rf"(?<!\w){re.escape(written)}(?!\w)")
    before = _BEFORE if written[0] == "-" else _BEFORE + _NO_SIGN
    if len(written.partition(".")[0]) == len("000"):
        before += _NO_THOUSANDS_BEFORE
    zeros = "0*" if plain[1] else r"(?:\.0+(?!\d))?"
    return re.compile(before + re.escape(written) + zeros + _AFTER)
