"""Find the values of secrets in a text, in whatever shape they stand there, and put a label over them."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.secrecy.decoding import ALWAYS_SOUGHT, decoded_turns, may_be_coded
from agentctx_nb.secrecy.inner_secrets import inner_secrets, is_open

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["SHORTEST_MASKED", "Masker", "Span", "cover", "secret_texts"]

SHORTEST_MASKED = 4  # below that a mask would hide ordinary words
_SHORTEST_ANYWHERE = 8  # below that a value is only looked for as a whole word
_SHORTEST_CUT = 20  # from here on the start of a value is a secret too, as a cut-off view shows it
_CUT = 12

_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
_FIRST_EXPONENT = 1e16  # Python writes a larger float with an e
_GROUP_MARKS = ",._ '\u2019\u00a0\u2009\u202f"
# Compiled when first used: an import has none of them to pay for.
_COLOUR = r"\x1b\[(?:[0-9]{1,3};){0,3}[0-9]{0,3}m"
_ESCAPE_BEFORE = rf"(?:%[0-9A-Fa-f]{{2}}|\\[nrtbfv]|\\x[0-9A-Fa-f]{{2}}|\\u[0-9A-Fa-f]{{4}}|{_COLOUR})\Z"
_LONGEST_CHARACTER = 12  # one of four bytes in a URL
_LONGEST_ESCAPE = 18  # such a colour, as terminals write it
_LABEL_NAME = r"[A-Za-z0-9_.\-]{1,64}"
# Between two lines that were indented, quoted in a mail or drawn into a frame.
_LEADING = " \t>|#*"
_NEXT_LINE = rf"[ \t]{{0,40}}+(?:\r?\n|\r)[{_LEADING}]{{0,40}}+"


Span: TypeAlias = tuple[int, int, str]


class _Form(NamedTuple):
    """One way a secret may be written; ``kind`` says what of its surroundings belongs to it."""

    text: str
    secret: str
    name: str
    kind: str  # "anywhere", "word", "base64", "base64 word", "start" or "lines"


class _Family(NamedTuple):
    """Forms that all hold ``probe``: in a text without it none of them has to be looked for."""

    probe: str
    forms: tuple[_Form, ...]
    least: int  # characters of the shortest of them


class Masker:
    """The registered secrets, and the one function that hides them.

    >>> masker = Masker()
    >>> masker.add("STOCK_API_KEY", "k3y-0f-the-d00r")
    >>> masker.mask("GET /quote?token=k3y-0f-the-d00r")
    'GET /quote?token=[secret STOCK_API_KEY]'
    """

    def __init__(self) -> None:
        self.longest = 0  # characters of the longest secret, written with an escape for each
        self._lock = threading.Lock()
        self._secrets: dict[str, str] = {}  # value -> name
        self._known: dict[str, tuple[_Family, ...]] = {}  # value -> its forms, made when first needed
        self._sought = ALWAYS_SOUGHT  # characters that an escape has to stand for to be read
        self._ready: tuple[tuple[_Family, ...], dict[str, str]] | None = ((), {})

    def add(self, name: str, value: Any) -> None:
        """Hide ``value`` from now on, and whatever texts and numbers stand in it when it is a container.

        A value that is replaced later stays hidden: what was written while it was in use still holds it.
        """
        try:
            texts = [text for whole in secret_texts(value) for text in (whole, *inner_secrets(whole))]
        except Exception as exc:  # noqa: BLE001  whatever its __str__ raises
            raise DefinitionTypeError(
                f"the secret {name!r} cannot be turned into text ({type(exc).__name__}), so it cannot be masked"
            ) from None
        with self._lock:
            for text in texts:
                if len(text) >= SHORTEST_MASKED and text not in self._secrets:
                    self._secrets[text] = name
                    self.longest = max(self.longest, len(text) * _LONGEST_CHARACTER)
                    self._ready = None

    def mask(self, text: str) -> str:
        """Return ``text`` with every secret in it covered by ``[secret NAME]``; no part of one is kept."""
        spans = self.spans(text)
        return cover(text, spans) if spans else text

    def spans(self, text: str) -> list[Span]:
        """Return ``(start, end, label)`` of each secret in ``text``; they may overlap."""
        families, labels = self._ready or self._prepare()
        found = [(start, end, labels[name]) for start, end, name in _found(text, families)]
        if families and may_be_coded(text):
            for turns in decoded_turns(text, self._sought, reach=self.longest):
                for start, end, name in _found(turns[-1].text, families):
                    for turn in reversed(turns):
                        start, end = turn.place(start), turn.place(end)  # noqa: PLW2901  the same place, one turn back
                    found.append((start, end, labels[name]))
        return found

    def safe(self, label: str) -> str:
        """Return ``label``, or where a secret stands in it, a shorter one."""
        return _unspoken((label,), self._secrets)

    def _prepare(self) -> tuple[tuple[_Family, ...], dict[str, str]]:
        with self._lock:
            families: list[_Family] = []
            for secret, name in self._secrets.items():
                if secret not in self._known:
                    self._known[secret] = tuple(_families(secret, dict.fromkeys(_forms_of(secret, name))))
                families += self._known[secret]
            breaks = "\r" if any("\n" in secret for secret in self._secrets) else ""
            self._sought = ALWAYS_SOUGHT.union(_BASE64, breaks, *self._secrets)
            labels = {name: _label(name, self._secrets) for name in self._secrets.values()}
            self._ready = (tuple(sorted(families, key=_least)), labels)
            return self._ready


def secret_texts(value: Any) -> Iterator[str]:
    """Yield the texts to hide for the secret ``value``: itself, a number's digits, what a container holds.

    Bytes that are no UTF-8 come with each odd byte as a lone surrogate (``surrogateescape``).
    """
    from collections.abc import Mapping

    waiting, held = [value], set[int]()
    while waiting:  # no recursion: a container may be deep, or hold itself
        value = waiting.pop()
        if isinstance(value, (Mapping, list, tuple, set, frozenset)):
            if id(value) not in held:
                held.add(id(value))
                if isinstance(value, Mapping):
                    value = [item for key, item in value.items() if not is_open(key, item)]
                waiting += reversed([*value])
            continue
        if value is None or isinstance(value, bool):
            continue
        if isinstance(value, (bytes, bytearray, memoryview)):
            text = bytes(value).decode("utf-8", "surrogateescape")
        elif isinstance(value, float) and value.is_integer() and abs(value) < _FIRST_EXPONENT:
            text = str(int(value))  # the .0 may be left out where it is shown
        else:
            text = str(value)
        if not re.search("[\udc80-\udcff]", text):  # in bytes that are no text a blank is no blank
            text = text.strip()
        if text and text not in ("true", "false"):  # switches: every other sentence holds these words
            yield text


def _families(secret: str, forms: Iterable[_Form]) -> Iterator[_Family]:
    """Yield ``forms`` put together by what they share: escaping leaves letters and digits as they are."""
    probe = max(re.findall("[A-Za-z0-9]+", secret), key=len, default="")
    alike = {form: None for form in forms if len(probe) >= SHORTEST_MASKED and probe in form.text}
    if alike:
        yield _Family(probe, tuple(alike), min(len(form.text) for form in alike))
    yield from (_Family(form.text, (form,), len(form.text)) for form in forms if form not in alike)


def _forms_of(secret: str, name: str) -> Iterator[_Form]:
    """Yield every form of ``secret`` that is looked for, the plain one first."""
    import base64
    from binascii import hexlify

    whole = len(secret) < _SHORTEST_ANYWHERE
    for text in _escaped(secret):
        yield _Form(text, secret, name, "word" if whole else "anywhere")
    for text in _grouped(secret):
        yield _Form(text, secret, name, "word")
    raw = _raw(secret)
    digits = [hexlify(raw).decode(), hexlify(raw, ":").decode()]
    for text in (*digits, *(text.upper() for text in digits)):
        yield _Form(text, secret, name, "word" if whole else "anywhere")
    if whole:
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield _Form(encode(raw).decode().rstrip("="), secret, name, "base64 word")
        return
    yield _Form(base64.b32encode(raw).decode()[: len(raw) * 8 // 5], secret, name, "base64")
    for shift in range(3):
        # Only these characters are decided by the secret alone, wherever it stands in what was encoded.
        first, last = (0, 2, 3)[shift], (len(raw) + shift) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield _Form(encode(b"\0" * shift + raw).decode()[first:last], secret, name, "base64")
    if "\n" in secret:
        yield _Form(
            max([line.strip().lstrip(_LEADING) for line in secret.splitlines()], key=len),
            secret,
            name,
            "lines",
        )
    for line in secret.splitlines() if "\n" in secret else ():
        if len(line) >= _CUT and not re.search(r"\s", line):
            yield _Form(line, secret, name, "anywhere")
    start = secret[:_CUT]
    if len(secret) >= _SHORTEST_CUT and _looks_random(start):
        yield _Form(start, secret, name, "start")


def _escaped(secret: str) -> Iterator[str]:
    """Yield ``secret`` as it is and as two turns of JSON, HTML, URL or Python escaping write it."""
    seen = dict.fromkeys([secret, secret.replace(" ", "+")])
    raw = _raw(secret)
    if raw != secret.encode("utf-8", "surrogatepass"):  # bytes that are no UTF-8, as careless code reads them
        read = [raw.decode("latin-1"), raw.decode("utf-8", "backslashreplace")]
        read += [raw.decode(encoding, "replace") for encoding in ("cp1252", "utf-8")]
        seen.update(dict.fromkeys(text for text in read if text.count("\ufffd") * 2 < len(text)))
    if not secret.isascii():
        import unicodedata

        seen.update(dict.fromkeys(unicodedata.normalize(form, secret) for form in ("NFC", "NFD")))
    for _ in range(2):
        for text in tuple(seen):
            seen.update(dict.fromkeys(_escapes(text)))
    yield from seen


def _escapes(text: str) -> Iterator[str]:
    import html
    import json
    from urllib.parse import quote, quote_plus

    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    yield json.dumps(text)[1:-1].replace("/", "\\/")
    raw = _raw(text)
    for written in (repr(text)[1:-1], repr(raw)[2:-1]):
        yield written
        yield re.sub(r"(?<!\\)'", r"\\'", written)  # as it is where quotes of both kinds stand around it
    escaped = html.escape(text)
    yield escaped
    yield html.escape(text, quote=False)
    yield escaped.replace("&#x27;", "&#39;")
    yield escaped.replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    yield escaped.replace("&#x27;", "&apos;")
    for encoded in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield encoded
        yield re.sub("%[0-9A-F]{2}", _lower, encoded)


def _raw(secret: str) -> bytes:
    """Return the bytes of ``secret``; those it was made of, where it came in bytes."""
    try:
        return secret.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return secret.encode("utf-8", "surrogatepass")


def _grouped(secret: str) -> Iterator[str]:
    """Yield a number as people write it: its digits in groups, as ``12,345,678``."""
    number = re.fullmatch(r"([+-]?)([0-9]+)([.,][0-9]+)?", secret)
    if number is None or len(number[2]) < 4:
        return
    sign, digits, rest = number[1], number[2], number[3] or ""
    for mark in _GROUP_MARKS:
        yield sign + mark.join(_groups(digits, size=3)) + rest
    yield sign + ",".join([*_groups(digits[:-3], size=2), digits[-3:]]) + rest  # as India writes it


def _groups(digits: str, *, size: int) -> list[str]:
    first = len(digits) % size or size
    return [digits[:first], *(digits[at : at + size] for at in range(first, len(digits), size))]


def _lower(found: re.Match[str]) -> str:
    return found.group().lower()


def _looks_random(start: str) -> bool:
    """Tell whether the start of a secret is worth hiding alone: no address, no sentence, no plain words."""
    if "://" in start or re.search(r"\s", start):
        return False
    return any(c.isdigit() for c in start) or (start != start.lower() and start != start.upper())


def _label(name: str, secrets: Iterable[str]) -> str:
    """Return what covers the secret ``name``: a name that is itself a secret is not written."""
    named: tuple[str, ...] = (f"[secret {name}]",) if re.fullmatch(_LABEL_NAME, name) else ()
    return _unspoken(named, secrets)


def _unspoken(labels: tuple[str, ...], secrets: Iterable[str]) -> str:
    for label in (*labels, "[secret]"):
        if not any(secret in label for secret in secrets):
            return label
    return "***"


def _found(text: str, families: Iterable[_Family]) -> list[Span]:
    """Return ``(start, end, name)`` of each secret in just this text; the shortest families come first."""
    hits: list[_Form] = []
    length = len(text)
    for probe, forms, least in families:
        if least > length:
            break
        if probe in text:
            hits += [form for form in forms if form.text in text]
    return list(_spans(text, hits)) if hits else []


def _spans(text: str, hits: list[_Form]) -> Iterator[Span]:
    """Yield ``(start, end, name)`` of each occurrence; of those that overlap each other one span over all."""
    for form in hits:
        if form.kind == "lines":
            first, *rest = form.secret.splitlines()
            lines = [
                re.escape(line)
                for line in (first.rstrip(), *(line.strip().lstrip(_LEADING) for line in rest))
            ]
            yield from ((*hit.span(), form.name) for hit in re.finditer(_NEXT_LINE.join(lines), text))
            continue
        start = text.find(form.text)
        while start >= 0:
            end = start + len(form.text)
            if form.kind == "base64":
                # The neighbours hold some bits of the secret's first and last byte.
                end += text[end : end + 1] in _BASE64
                yield start - (text[start - 1 : start] in _BASE64), _past_padding(text, end), form.name
            elif form.kind == "start":
                yield start, end + _shared(text, end, form.secret, _CUT), form.name
            elif form.kind == "anywhere":
                last = start
                while (next_one := text.rfind(form.text, last + 1, end + len(form.text) - 1)) > last:
                    last, end = next_one, next_one + len(form.text)
                yield start, end, form.name
                start = last
            elif _is_word(text, start, end):
                yield start, _past_padding(text, end) if form.kind == "base64 word" else end, form.name
            start = text.find(form.text, start + 1)


def _past_padding(text: str, end: int) -> int:
    while text[end : end + 1] == "=":
        end += 1
    return end


def _shared(text: str, at: int, secret: str, done: int) -> int:
    """Return how many more characters of ``secret`` stand in ``text``, beyond the ``done`` first ones."""
    more = 0
    while done + more < len(secret) and text[at + more : at + more + 1] == secret[done + more]:
        more += 1
    return more


def _is_word(text: str, start: int, end: int) -> bool:
    """Tell whether ``text[start:end]`` stands alone: ``1234`` is no word in ``91234`` or in ``id_1234``."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if _glues(after) and _glues(text[end - 1]):
        return False
    return not (
        _glues(before)
        and _glues(text[start])
        and not re.search(_ESCAPE_BEFORE, text[max(0, start - _LONGEST_ESCAPE) : start])
    )


def _glues(char: str) -> bool:
    """Tell whether ``char`` makes one word with a letter beside it; scripts without spaces never do."""
    return char == "_" or (char.isalnum() and not (char >= "\u2e80" or "\u0e00" <= char <= "\u0eff"))


def cover(text: str, spans: list[Span]) -> str:
    """Replace each span by its label; spans that overlap become one, with the label of the longest.

    >>> cover("key=abcdef!", [(4, 8, "[one]"), (6, 10, "[two]")])
    'key=[one]!'
    """
    spans = sorted(spans, key=_start)  # of two as long, the one that came first
    parts: list[str] = []
    done = 0
    index = 0
    while index < len(spans):
        start, end, label = spans[index]
        longest = end - start
        index += 1
        while index < len(spans) and spans[index][0] < end:
            next_start, next_end, next_label = spans[index]
            if next_end - next_start > longest:
                longest, label = next_end - next_start, next_label
            end = max(end, next_end)
            index += 1
        parts += text[done:start], label
        done = end
    return "".join([*parts, text[done:]])


def _least(family: _Family) -> int:
    return family.least


def _start(span: Span) -> int:
    return span[0]
