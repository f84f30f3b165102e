"""The shapes of well-known vendors' keys, which are hidden wherever they show up, registered or not.

Each shape begins with letters of its own, which are looked for first, so that a text without any costs a quick
search. No pattern repeats what can be read in two ways: time grows with the text alone.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from agentctx_nb.secrecy.decoding import decoded_turns
from agentctx_nb.secrecy.key_words import is_credentials, is_password, looks_drawn, reads_as_words

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["vendor_keys"]


class _Shape(NamedTuple):
    """One kind of key: how it begins, word for word, and the pattern of the rest.

    A group ``key`` in ``rest`` is all that is hidden of a longer match; where there is a group ``whole``, a match without it is none.
    ``drawn`` keys must look drawn at random, since names people make up fit the pattern as well; ``mixed`` ones
    must not read as words. A shape with ``before`` begins in the middle
    of a key, with at least ``least`` of these characters before it; ``inside`` says it may stand in a word.
    """

    vendor: str
    starts: tuple[str, ...]
    rest: str
    drawn: bool = False
    mixed: bool = False
    inside: bool = False
    before: str = ""
    least: int = 0


_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ASSIGNED = r"""["']?\s{0,3}(?:=>?|:)\s{0,3}["']?"""

# Facts from the vendors' documentation; where two shapes cover the same, the first gives the label.
_SHAPES = (
    _Shape("Anthropic key", ("sk-ant-",), r"[a-z]{2,10}\d\d-[\w-]{20,}"),
    _Shape("OpenAI key", ("sk-",), r"(?:proj|svcacct|admin|service|None)-[\w-]{40,}"),
    _Shape("OpenAI key", ("sk-",), r"[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20,}"),
    _Shape("OpenRouter key", ("sk-or-",), r"v\d-[0-9a-f]{32,}"),
    _Shape("Langfuse key", ("sk-lf-",), _UUID),
    _Shape("API key", ("sk-",), r"[\w-]{20,}", drawn=True),
    _Shape("Stripe key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), r"[A-Za-z0-9]{16,}"),
    _Shape("Stripe key", ("whsec_",), r"[A-Za-z0-9+/]{24,}=*"),
    _Shape("ElevenLabs key", ("sk_",), r"[0-9a-f]{48}(?![A-Za-z0-9])"),
    _Shape("Mapbox key", ("sk.eyJ",), r"[\w-]{20,}\.[\w-]{20,}"),
    _Shape("Groq key", ("gsk_",), r"[A-Za-z0-9]{40,}"),
    _Shape("Cerebras key", ("csk-",), r"[a-z0-9]{40,}"),
    _Shape("xAI key", ("xai-",), r"[A-Za-z0-9]{40,}"),
    _Shape("Perplexity key", ("pplx-",), r"[A-Za-z0-9]{40,}"),
    _Shape("NVIDIA key", ("nvapi-",), r"[\w-]{50,}", mixed=True),
    _Shape("Together key", ("tgp_v1_",), r"[\w-]{40,}"),
    _Shape("Fireworks key", ("fw_",), r"[A-Za-z0-9]{20,}", drawn=True),
    _Shape("Voyage key", ("pa-",), r"[\w-]{40,}", drawn=True),
    _Shape("Replicate key", ("r8_",), r"[A-Za-z0-9]{36,}"),
    _Shape("Hugging Face key", ("hf_",), r"[A-Za-z0-9]{30,}", mixed=True),
    _Shape("Hugging Face key", ("api_org_",), r"[A-Za-z]{34,}"),
    _Shape("LangSmith key", ("lsv2_pt_", "lsv2_sk_"), r"[0-9a-f]{32}_[0-9a-f]{10}"),
    _Shape("LangSmith key", ("ls__",), r"[0-9a-f]{32}"),
    _Shape("Pinecone key", ("pcsk_",), r"[A-Za-z0-9]{5,}_\w{30,}"),
    _Shape("Tavily key", ("tvly-",), r"[\w-]{20,}", drawn=True),
    _Shape("Firecrawl key", ("fc-",), r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _Shape("E2B key", ("e2b_",), r"[0-9a-f]{40}"),
    _Shape("Google key", ("AIza",), r"[\w-]{35,}"),
    _Shape("Google key", ("GOCSPX-",), r"[\w-]{24,}"),
    _Shape("Google key", ("ya29.",), r"[\w.-]{20,}", drawn=True),
    _Shape("AWS key", ("AKIA",), r"[A-Z0-9]{16,}"),
    _Shape("AWS key", ("ASIA", "ABIA", "ACCA"), r"(?=[A-Z]{0,15}[0-9])(?![A-Z]{11,}[0-9])[A-Z0-9]{16}(?![A-Za-z0-9])"),
    *(
        _Shape("AWS key", (name,), _ASSIGNED + r"(?P<key>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])", inside=True)
        for name in ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey")
    ),
    _Shape("Azure key", ("AccountKey=",), r"(?P<key>[A-Za-z0-9+/]{40,}={0,2})", inside=True),
    _Shape("Azure key", ("sig=",), r"(?P<key>[A-Za-z0-9%+/]{40,})(?<=%3D|%3d)"),
    _Shape("Azure key", ("Q~",), r"[\w.~-]{31,}", inside=True, before=r"[\w.~]", least=4),
    _Shape("GitHub key", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{30,}"),
    _Shape("GitHub key", ("github_pat_",), r"\w{36,}", mixed=True),
    _Shape("GitLab key", ("glpat-", "gldt-", "glrt-", "glptt-"), r"[\w-]{20,}(?:\.[\w-]{2,})*"),
    _Shape("Slack key", ("xoxb-", "xoxp-", "xoxa-", "xoxe-", "xoxo-", "xoxr-", "xoxs-"), r"[\w-]{20,}"),
    _Shape("Slack key", ("xoxe.xoxp-", "xoxe.xoxb-"), r"[\w-]{20,}"),
    _Shape("Slack key", ("xapp-",), r"\d-[A-Za-z0-9-]{20,}"),
    _Shape(
        "Slack address",
        ("hooks.slack.com/",),
        r"(?:services|triggers|workflows)/(?P<key>[A-Za-z0-9/]{20,})",
        mixed=True,
        inside=True,
    ),
    _Shape("Discord address", ("/api/webhooks/",), r"\d{15,20}/(?P<key>[\w-]{40,})", inside=True),
    _Shape("Discord key", ("M", "N", "O"), r"[\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}", drawn=True),
    _Shape("Telegram key", (":AA",), r"[\w-]{32,}", mixed=True, inside=True, before="[0-9]", least=8),
    _Shape("SendGrid key", ("SG.",), r"[\w-]{16,32}\.[\w-]{32,}", mixed=True),
    _Shape("Twilio key", ("SK",), r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    _Shape("Mailgun key", ("key-",), r"(?<![_-]key-)[0-9a-f]{32}(?!\.?[A-Za-z0-9])"),
    _Shape("npm key", ("npm_",), r"[A-Za-z0-9]{36,}"),
    _Shape("PyPI key", ("pypi-",), r"AgE[\w-]{50,}"),
    _Shape("DigitalOcean key", ("dop_v1_", "doo_v1_", "dor_v1_"), r"[0-9a-f]{40,}"),
    _Shape("Linear key", ("lin_api_", "lin_oauth_"), r"[A-Za-z0-9]{32,}", mixed=True),
    _Shape("Notion key", ("ntn_",), r"[A-Za-z0-9]{40,}"),
    _Shape("Notion key", ("secret_",), r"[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    _Shape("Databricks key", ("dapi",), r"[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    _Shape("Sentry key", ("sntrys_", "sntryu_"), r"[\w+/=-]{40,}"),
    _Shape("Shopify key", ("shpat_", "shpca_", "shppa_", "shpss_"), r"[0-9a-fA-F]{32}"),
    _Shape("Square key", ("sq0atp-", "sq0csp-"), r"[\w-]{22,}"),
    _Shape("Supabase key", ("sbp_",), r"[0-9a-f]{40}"),
    _Shape("Supabase key", ("sb_secret_",), r"[\w-]{20,}", drawn=True),
    _Shape("PlanetScale key", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), r"[\w.=-]{32,}"),
    _Shape("Vault key", ("hvs.", "hvb.", "hvr."), r"[\w-]{24,}", drawn=True),
    _Shape("Doppler key", ("dp.pt.", "dp.st."), r"[\w.-]{40,}", mixed=True),
    _Shape("1Password key", ("ops_eyJ",), r"[\w+/=-]{60,}"),
    _Shape("Postman key", ("PMAK-",), r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _Shape("Figma key", ("figd_",), r"[\w-]{36,}", mixed=True),
    _Shape("Airtable key", ("pat",), r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _Shape("Atlassian key", ("ATATT3",), r"[\w=-]{50,}"),
    _Shape("Grafana key", ("glsa_",), r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    _Shape("Grafana key", ("glc_",), r"[A-Za-z0-9+/]{32,}={0,2}"),
    _Shape("New Relic key", ("NRAK-",), r"[A-Z0-9]{27,}"),
    _Shape("age key", ("AGE-SECRET-KEY-1",), r"[A-Z0-9]{50,}"),
    _Shape(
        "private key",
        ("-----BEGIN ",),
        r"(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!----))*+-----END [A-Z0-9 ]{1,60}-----|(?:(?:\s|\\[nr])*+[A-Za-z0-9+/=]{32,}+)++)",
        inside=True,
    ),
    _Shape("Docker key", ("dckr_pat_", "dckr_oat_"), r"[\w-]{20,}", mixed=True),
    _Shape("Terraform key", (".atlasv1.",), r"[\w-]{60,}", inside=True, before="[A-Za-z0-9]", least=14),
    _Shape("Pulumi key", ("pul-",), r"[0-9a-f]{40}(?![A-Za-z0-9])"),
    _Shape("Jina key", ("jina_",), r"[\w-]{40,}", mixed=True),
    _Shape("AWS key", ("ABSK",), r"[A-Za-z0-9+/]{100,}={0,2}"),
    _Shape("Vercel key", ("vercel_blob_rw_",), r"[A-Za-z0-9]{10,}_[A-Za-z0-9]{20,}", mixed=True),
    _Shape("Mailchimp key", ("-us",), r"\d{1,2}(?![\w-])", inside=True, before="[0-9a-f]", least=32),
    _Shape("Google key", ("1//0",), r"[\w-]{40,}", drawn=True),
    # Read on to the end of the run where it is no token: none that begins in the middle of it is one either.
    _Shape(
        "web token",
        ("eyJ",),
        r"(?:(?P<whole>[\w-]{10,}+\.eyJ[\w-]{10,}+\.[\w-]{10,}+(?:\.[\w-]{10,}+){0,2})|[\w-]*+)",
    ),
    _Shape("bearer token", ("Bearer ", "bearer "), r"(?P<key>[\w.~+/-]{20,}=*)", drawn=True),
    _Shape("password", ("Basic ", "basic "), r"(?P<key>[A-Za-z0-9+/]{12,}={0,2})(?![\w-])"),
    _Shape(
        "password",
        ("://",),
        r"""[^\s:/@?#"'<>\\]{0,100}+:(?P<key>[^\s/@?#"'<>\\]{4,200}+)@(?=[\w\[])(?!sha\d{1,3}:)""",
        inside=True,
    ),
)  # fmt: skip

# Keys stand in unbroken runs of these characters. What begins in one is looked for in the runs alone, which
# are a small part of most texts; only a beginning that holds another character, or may be short, in all of it.
_RUN = re.compile(r"[A-Za-z0-9_.~+/=:@%-]{15,}+")
_ANYWHERE = ("://",)
_BASIC = ("Basic ", "basic ")
# Of what a key consists, these are all that encoders of addresses, JSON and pages write otherwise.
_ESCAPED = frozenset(":/@+=%&")
_IN_PERCENT = re.compile(r"%(?:25)?(?:3[AaDd]|2[BbFf]|40)")
_IN_BACKSLASHES = re.compile(r"\\(?:/|u00(?:3[AaDd]|2[BbFf]|40))")
_IN_ENTITIES = re.compile(r"&#(?:58|47|64|[xX](?:3[Aa]|2[Ff]|40));")
_REACH = 2_000  # characters around such an escape that are read again


def _by_start() -> dict[str, list[tuple[int, _Shape]]]:
    found: dict[str, list[tuple[int, _Shape]]] = {}
    for number, shape in enumerate(_SHAPES):
        for start in shape.starts:
            found.setdefault(start, []).append((number, shape))
    return found


_BY_START = _by_start()
_IN_ALL = [start for start in _BY_START if start in _ANYWHERE or not _RUN.fullmatch(start + "x" * 15)]
_IN_RUNS = [start for start in _BY_START if start not in _IN_ALL]


def vendor_keys(text: str) -> list[tuple[int, int, str]]:
    """Return ``(start, end, label)`` of everything in ``text`` that has the shape of a vendor's key.

    >>> vendor_keys("monkey: banana, sk-learn, commit 2f9c1e07d3b64a5f8e21c0d94b7a6f35e8d1c2b0")
    []
    >>> vendor_keys("postgres://ada:" + "k3y-0f-door" + "@db.example/x")
    [(15, 26, '[secret password]')]
    """
    found = _found(text)
    if (
        ("%" in text and _IN_PERCENT.search(text))
        or ("\\" in text and _IN_BACKSLASHES.search(text))
        or ("&#" in text and _IN_ENTITIES.search(text))
    ):
        for turns in decoded_turns(text, _ESCAPED, reach=_REACH):
            for number, (start, end) in _found(turns[-1].text):
                for turn in reversed(turns):
                    start, end = turn.place(start), turn.place(end)  # noqa: PLW2901  the same place, one turn back
                found.append((number, (start, end)))
    # Of two that cover the same the first in the list of shapes is the one that names it.
    return [(first, last, f"[secret {_SHAPES[number].vendor}]") for number, (first, last) in sorted(found)]


def _found(text: str) -> list[tuple[int, tuple[int, int]]]:
    """Return each hit in just this text, with the number of its shape."""
    runs = "\n".join(_RUN.findall(text))
    begun = [start for start in _IN_ALL if start in text]
    if runs:
        begun += [start for start in _IN_RUNS if start in runs]
    return [
        (number, span)
        for start in begun
        for number, shape in _BY_START[start]
        for span in _spans(text, start, shape)
    ]


def _spans(text: str, start: str, shape: _Shape) -> Iterator[tuple[int, int]]:
    for found in _pattern(start, shape.rest, inside=shape.inside).finditer(text):
        first, last = found.span("key" if "key" in found.re.groupindex else 0)
        if shape.before:
            begun = first
            first = _back(text, first, _one(shape.before))
            if begun - first < shape.least:
                continue
        if "whole" in found.re.groupindex and found["whole"] is None:
            continue
        key = text[first:last]
        if shape.drawn and not looks_drawn(key.removeprefix(start)):
            continue
        if shape.mixed and reads_as_words(key.removeprefix(start)):
            continue
        if start == "://" and not is_password(key):
            continue
        if start in _BASIC and not is_credentials(
            key, before=text[max(0, found.start() - 40) : found.start()]
        ):
            continue
        yield first, last


@cache
def _pattern(start: str, rest: str, *, inside: bool) -> re.Pattern[str]:
    """Return the compiled shape, its literal start first: only so does the search skip to it."""
    literal = re.escape(start)
    if inside:
        return re.compile(literal + rest, re.ASCII)
    # Alone, or behind what an encoding or a terminal's colour leaves in front of it.
    escapes = ("%[0-9A-Fa-f]{2}", r"\\[nrtbfv]", r"\\x[0-9A-Fa-f]{2}", r"\\u[0-9A-Fa-f]{4}", "[0-9;]m")
    behind = "|".join([f"(?<![A-Za-z0-9]{literal})", *(f"(?<={escape}{literal})" for escape in escapes)])
    return re.compile(f"{literal}(?:{behind}){rest}", re.ASCII)


@cache
def _one(characters: str) -> re.Pattern[str]:
    return re.compile(characters, re.ASCII)


def _back(text: str, at: int, one: re.Pattern[str]) -> int:
    least = max(0, at - 64)
    while at > least and one.match(text, at - 1):
        at -= 1
    return at
