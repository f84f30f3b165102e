"""Secrets are compared after decoding, so that no encoder's own idea of what to escape hides one."""

from __future__ import annotations

import base64
import html
import json
import random
from urllib.parse import quote

import pytest

from agentctx_nb.secrecy.decoding import decoded_turns
from agentctx_nb.secrecy.secret_mask import SecretMask

WRITTEN = [
    ("Tr0ub4dor&3!", "Tr0ub4dor%263!"),
    ("p4ss w0rd!x(1)", "p4ss%20w0rd!x(1)"),
    ("p4ss w0rd!x(1)", "p4ss+w0rd!x(1)"),
    ("z/x+c=v^b1Qw", "z/x+c=v%5Eb1Qw"),
    ("z/x+c=v^b1Qw", "z%2Fx%2Bc=v%5eb1Qw"),
    ("a<b>c&d'e\"fgh", r"a\u003cb\u003ec\u0026d'e\"fgh"),
    ("it's-a-k3y>x", "it&#039;s-a-k3y>x"),
    ("it's\"-a-k3y>x", "it's&quot;-a-k3y>x"),
    ("Trouble9", "%54%72%6f%75%62%6C%65%39"),
    ("Trouble9", "".join(f"&#{ord(char)};" for char in "Trouble9")),
    ("Trouble9", "".join(f"&#x{ord(char):X};" for char in "Trouble9")),
    ("Trouble9", r"\x54rouble\u0039"),
    ("k3y-😀-é-d00r", r"k3y-\ud83d\ude00-\u00E9-d00r"),
    ("k3y-😀-é-d00r", "k3y-%F0%9F%98%80-é-d00r"),
    ("Trouble9", "54:72:6f:75:62:6c:65:39"),
    ("k3y&d00r&9", "k3y%2526d00r&amp;amp;9"),
]


@pytest.mark.parametrize(("secret", "written"), WRITTEN)
def test_a_secret_is_covered_whatever_of_it_was_escaped(secret, written):
    mask = SecretMask()
    mask.add("K", secret)
    assert mask(f"a%20&lt;b {written}, the end") == "a%20&lt;b [secret K], the end"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\\n", "\\r\\n"])
def test_lines_of_base64_are_read_as_one(end):
    secret = "the k3y of the d00r " * 9
    lines = base64.encodebytes(f"user:{secret}:end".encode()).decode().splitlines()
    mask = SecretMask()
    mask.add("K", secret)
    shown = mask(f"<{end.join(lines)}>")
    assert shown.startswith("<dXNlcj")
    assert shown.endswith("ZW5k>")
    assert len(shown) < 30


def test_an_escape_around_a_secret_stays_as_it_was_written():
    mask = SecretMask()
    mask.add("K", "k3y&d00r9")
    assert mask("?a=%26%26&k=k3y%26d00r9%26&amp;\\u0026") == "?a=%26%26&k=[secret K]%26&amp;\\u0026"


def test_a_short_secret_is_a_word_in_what_was_decoded_too():
    mask = SecretMask()
    mask.add("PIN", "a&9z")
    assert mask("pin a%269z, xa%269z and a%269zz") == "pin [secret PIN], xa%269z and a%269zz"


@pytest.mark.parametrize("encode", [quote, html.escape, lambda text: json.dumps(text)[1:-1]])
def test_each_place_leads_back_to_where_it_was_written(encode):
    draw = random.Random(1)
    every = frozenset(map(chr, range(0x10000)))
    for _ in range(300):
        text = "".join(draw.choices("ab%é<\"'/ü&", k=20))
        written = f"{'x' * draw.randrange(80)}[{encode(text)}]{'y' * draw.randrange(80)}"
        for turns in decoded_turns(written, every, reach=30):
            at = turns[0].text.find(f"[{text}]")
            if at >= 0:
                start, end = turns[0].place(at + 1), turns[0].place(at + 1 + len(text))
                assert written[start:end] == encode(text)
            break


def test_a_secret_that_lies_over_itself_is_one_stretch():
    mask = SecretMask()
    mask.add("K", "abababab")
    assert mask("<" + "ab" * 50_000 + "a>") == "<[secret K]a>"
