"""Hostile samples every view is run on, and what must hold for whatever a view writes.

``VALUES`` maps a label to a maker of one awkward value, ``TEXTS`` to one awkward text. `problems`
says what is wrong with one output in one of the three forms; an empty list is what a test asks for.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from dataclasses import dataclass
from html.parser import HTMLParser
from types import MappingProxyType
from typing import NamedTuple

SECRET = 'sk-live-"7f3a"<b>|`9c`&x'
SECRETS = (SECRET, "hunter2hunter2", "東京の秘密の鍵")
MASKED = "[secret]"
LARGEST = 200_000  # bytes, all three forms together

TAGS = {
    "caption", "details", "div", "pre", "span", "strong", "summary", "table", "tbody", "td", "th", "thead", "tr",
}  # fmt: skip
ATTRIBUTES = {"class", "open", "scope", "style"}


def mask(text):
    for secret in SECRETS:
        text = text.replace(secret, MASKED).replace(repr(secret)[1:-1], MASKED)
    return text


class BrokenRepr:
    def __repr__(self):
        raise RuntimeError("the repr of this is broken, and says " + SECRET)


class ReprOfWrongType:
    def __repr__(self):
        return None


class LyingClass:
    @property
    def __class__(self):
        raise RuntimeError("no class")


class ShoutingString(str):
    __slots__ = ()

    def __str__(self):
        raise RuntimeError("no str")

    def __len__(self):
        raise RuntimeError("no len")


class BadMapping(dict):
    def items(self):
        raise RuntimeError("no items")

    def __iter__(self):
        raise RuntimeError("no iteration")


@dataclass
class Holder:
    token: str = SECRET


class Point(NamedTuple):
    x: int
    y: str


def cyclic():
    around = {"name": "around"}
    around["self"] = around
    around["list"] = [around, [around]]
    return around


def deep():
    value = []
    for _ in range(100_000):
        value = [value]
    return value


def doubling():
    value = ["x"]
    for _ in range(60):
        value = [value, value]
    return value


TEXTS = {
    "empty": "",
    "blank": "  \n\t ",
    "script": "<script>alert(1)</script>",
    "attribute": '"><img src=x onerror=alert(1)>',
    "single quotes": "' onmouseover='alert(1)",
    "closing tags": "</pre></details></td></table></div><h1>out</h1>",
    "comment": "<!-- --><![CDATA[ ]]><?php ?>",
    "entities": "&lt;script&gt; &#60;b&#62; &amp;lt;",
    "markdown": "# head\n* [x](javascript:alert(1)) ![i](http://evil.example/i.png) | a | b |\n---\n```\n````\n~~~",
    "links": "see https://evil.example/?q=1 www.evil.example me@evil.example <https://evil.example>",
    "pipes": "a|b\\|c\\\\|d`|`e``|",
    "ticks": "````````",
    "only backslash": "\\",
    "mathematics": "$AAPL up, $TSLA down \\(x\\) $$y$$",
    "list": "- a\n+ b\n1. c",
    "template": "{{name}} {% x %} {x}",
    "bidi": "user\u202e txet \u2066x\u2069 \u200fy",
    "control": "\x00\x07\x1b[2J\x1b]0;title\x07\r\x0b\x0c\x85\u2028\u2029\x9b31m",
    "unseen": "a\u200bb\ufeffc\u00add\U000e0041\U000e0042",
    "surrogate": "\ud800 lone \udfff",
    "wide": "東京の天気 👩\u200d💻 ☀\ufe0f e\u0301 한국",
    "combining": "a" + "\u0301" * 5_000,
    "secret": f"key={SECRET} and {SECRETS[1]}",
    "secret at the cut": "x" * 112 + SECRET + "y" * 10_000,
    "secret at the block's cut": "x" * 9_990 + SECRET + "y" * 10_000,
    "secret in another script": SECRETS[2],
    "windows": "one\r\ntwo\r\n",
    "first newline": "\n\nfirst",
    "long word": "w" * 20_000,
    "huge": "<&\"'> " * 850_000,
    "many lines": "line\n" * 100_000,
    "quotes only": '"' * 50_000,
    "astral": "\U0001f600" * 30_000,
}

VALUES = {
    "None": lambda: None,
    "NaN": lambda: math.nan,
    "infinity": lambda: -math.inf,
    "huge int": lambda: 10**6_000,
    "bytes": lambda: b"\x00\xff" + SECRETS[1].encode() + b"z" * 1_000_000,
    "cycle": cyclic,
    "deep": deep,
    "doubling": doubling,
    "wide dict": lambda: {f"key{i}": [i, {"n": i}] for i in range(20_000)},
    "long list": lambda: list(range(200_000)),
    "small set": lambda: {"b", "a", ("x", 1), 3, None},
    "large set": lambda: set(range(50_000)),
    "broken repr": BrokenRepr,
    "repr of wrong type": ReprOfWrongType,
    "broken inside": lambda: {"x": [BrokenRepr(), LyingClass()]},
    "lying class": LyingClass,
    "bad mapping": lambda: BadMapping(a=1),
    "ordered": lambda: OrderedDict(a=1),
    "proxy": lambda: MappingProxyType({"a": SECRET}),
    "named tuple": lambda: Point(1, "<b>"),
    "address": lambda: [object(), object().__str__, lambda: None, cyclic],
    "secret inside": lambda: {"headers": {"token": SECRET, SECRETS[1]: (SECRETS[2],)}, "held": Holder()},
    "broken string": lambda: ShoutingString("loud <b>"),
    "type": lambda: type("<script>", (), {}),
    "instance of it": type("<script>|`", (), {}),
    "exception": lambda: ValueError(f"bad token {SECRET}"),
    **{f"text: {label}": (lambda text=text: text) for label, text in TEXTS.items()},
    **{f"inside: {label}": (lambda text=text: {text[:50]: [text]}) for label, text in TEXTS.items()},
}


def problems(form, kind):
    """Return what is wrong with ``form``, the output of MIME type ``kind``."""
    found = []
    try:
        form.encode("utf-8")
    except UnicodeEncodeError as exc:
        found.append(f"not UTF-8: {exc}")
    found += [f"secret shown: {secret!r}" for secret in _pieces_of_secrets() if secret in form]
    if unseen := _UNSEEN.search(form):
        found.append(f"character that hides or reorders: {unseen[0]!r}")
    if re.search(r"\b0x[0-9a-f]{6,}", form):
        found.append("an address")
    found += {"text/plain": lambda _: [], "text/markdown": _markdown, "text/html": _html}[kind](form)
    return found


def _pieces_of_secrets():
    """Yield the secrets as each form might show them, and the part a careless cut would leave."""
    for secret in SECRETS:
        escaped = (
            secret.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
        )
        yield from (secret, repr(secret)[1:-1], escaped, secret[: len(secret) * 2 // 3])


_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found = []
        self.around = []

    def handle_starttag(self, tag, attrs):
        if tag not in TAGS:
            self.found.append(f"tag <{tag}>")
        self.around.append(tag)
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.found.append(f"attribute {name} of <{tag}>")
            elif re.search(r"url|expression|import|javascript|position|://", value or ""):
                self.found.append(f"{name}={value!r} of <{tag}>")

    def handle_endtag(self, tag):
        if not self.around or self.around.pop() != tag:
            self.found.append(f"</{tag}> closes what is not open")

    def handle_comment(self, data):
        self.found.append(f"comment {data!r}")

    handle_decl = unknown_decl = handle_pi = handle_comment


def _html(form):
    reader = _Reader()
    reader.feed(form)
    reader.close()
    return reader.found + [f"<{tag}> is left open" for tag in reader.around]


_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)")
_FENCE = re.compile(r"^(`{3,})text$")


def _markdown(form):
    """Return what is active outside of fences and code spans, and rows with another number of cells."""
    found = []
    fence = None
    cells = 0
    for line in form.split("\n"):
        if fence:
            fence = None if line == fence else fence
            continue
        if opened := _FENCE.match(line):
            fence = opened[1]
            continue
        if line.startswith("| "):
            # As GitHub and JupyterLab split rows: at each pipe an odd run of backslashes does not escape.
            count = sum(len(run) % 2 == 0 for run in re.findall(r"(\\*)\|", line)) - 1
            if cells and count != cells:
                found.append(f"a row of {count} cells in a table of {cells}: {line[:200]!r}")
            cells = count
        else:
            cells = 0
        if active := re.search(
            r"[<>\[\]!$#~`*\\&@]|://|(?i:www\.)", _CODE_SPAN.sub("", line).replace("**", "")
        ):
            found.append(f"{active[0]!r} outside of code: {line[:200]!r}")
    if fence:
        found.append("a fence is left open")
    return found
