"""Secrets that are no plain text: bytes, numbers, containers, and how each is written somewhere else."""

from __future__ import annotations

import base64
import json
from decimal import Decimal
from urllib.parse import quote

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.secrecy.masking import Masker, secret_texts

KEY = bytes([255, 254, 0, 65, 66, 0xE9, 39, 200, 33, 99, 1, 10])


def masker(value):
    made = Masker()
    made.add("K", value)
    return made


WRITTEN = {
    "bytes": repr(KEY),
    "inside of bytes": repr(b'"' + KEY + b"'"),
    "bytearray": repr(bytearray(KEY)),
    "hex": KEY.hex(),
    "hex in capitals": KEY.hex().upper(),
    "base64": base64.b64encode(KEY).decode(),
    "base64 for addresses": base64.urlsafe_b64encode(KEY).decode(),
    "address": quote(KEY, safe=""),
    "latin-1": KEY.decode("latin-1"),
    "JSON of latin-1": json.dumps(KEY.decode("latin-1")),
    "surrogates": KEY.decode("utf-8", "surrogateescape"),
    "repr of surrogates": repr(KEY.decode("utf-8", "surrogateescape")),
    "replaced": KEY.decode("utf-8", "replace"),
    "backslashes": KEY.decode("utf-8", "backslashreplace"),
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN.keys())
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_that_are_no_text_are_covered_in_every_encoding(written, kind):
    shown = masker(kind(KEY)).mask(f"<{written}>")
    assert shown.count("[secret K]") == 1
    assert len(shown) <= len("""<bytearray(b'"[secret K]\\'')>""")


def test_quotes_of_both_kinds_around_a_secret_do_not_hide_it():
    assert masker("it's-9").mask(repr("\"it's-9' ")) == "'\"[secret K]\\' '"


NUMBERS = [
    (12345678, f"{12345678:,}"),
    (12345678, f"{12345678:_}"),
    (12345678, "12.345.678"),
    (12345678, "12 345 678"),
    (12345678, "12\u202f345\u202f678"),
    (12345678, "12'345'678"),
    (12345678, "1,23,45,678"),
    (-4815, "-4,815"),
    (4815.25, "4,815.25"),
    (481516.0, "481516"),
    (481516.0, "481516.0"),
    (481516.0, "481,516.0"),
    (Decimal("481516.20"), "481,516.20"),
    ("12345678", "12,345,678"),
]


@pytest.mark.parametrize(("value", "written"), NUMBERS)
def test_a_number_is_covered_however_its_digits_are_grouped(value, written):
    shown = masker(value).mask(f"<{written}>")
    assert shown.removesuffix(".0>").removesuffix(">") == "<[secret K]"


def test_a_longer_number_is_another_number():
    assert masker(12345678).mask("912,345,678 or 12,345,6789") == "912,345,678 or 12,345,6789"


def test_a_container_may_hold_itself_or_be_deep():
    cyclic = {"a": "one-1"}
    cyclic["self"] = [cyclic]
    assert list(secret_texts(cyclic)) == ["one-1"]
    deep = "at-the-bottom"
    for _ in range(5_000):
        deep = {"in": [deep]}
    assert list(secret_texts(deep)) == ["at-the-bottom"]
    assert AgentRuntime(secrets=cyclic).mask("one-1") == "[secret a]"


class Silent:
    def __str__(self):
        raise RuntimeError("no text")


def test_a_secret_that_cannot_be_written_is_refused_by_name():
    with pytest.raises(DefinitionTypeError, match="the secret 'K' cannot be turned into text"):
        AgentRuntime(secrets={"K": Silent()})
