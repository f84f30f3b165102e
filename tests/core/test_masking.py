from __future__ import annotations

import base64
import html
import json
import time
from urllib.parse import quote, quote_plus

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.secrecy.masking import Masker, secret_texts

LONG = "sk-7Qx/2+e&n<d>'9\"\\v"
PLAIN = "a1b2c3d4e5f6"


def masker(**secrets: object) -> Masker:
    made = Masker()
    for name, value in secrets.items():
        made.add(name, value)
    return made


def test_a_text_without_secrets_comes_back_as_it_is():
    text = "monkey: banana, key: value, Password: ask the admin"
    assert masker(API_KEY=LONG).mask(text) is text


@pytest.mark.parametrize(
    "written",
    [
        LONG,
        json.dumps(LONG)[1:-1],
        json.dumps(json.dumps(LONG))[3:-3],
        json.dumps(LONG)[1:-1].replace("/", "\\/"),
        html.escape(LONG),
        html.escape(LONG, quote=False),
        html.escape(LONG).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"),
        html.escape(json.dumps(LONG)[1:-1]),
        quote(LONG),
        quote(LONG, safe=""),
        quote_plus(LONG),
        quote(quote(LONG, safe=""), safe=""),
        repr(LONG)[1:-1],
        LONG.encode().hex(),
        LONG.encode().hex().upper(),
    ],
)
def test_every_encoding_of_a_secret_is_covered_whole(written):
    assert masker(API_KEY=LONG).mask(f"<{written}>") == "<[secret API_KEY]>"


def test_percent_signs_in_lower_case_are_found_too():
    assert masker(K="pass/word=9").mask("q=pass%2fword%3d9") == "q=[secret K]"


@pytest.mark.parametrize("before", ["", "u", "us", "usr", "user:"])
@pytest.mark.parametrize("after", ["", ":", ":x", ":xyz"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_is_found_at_each_alignment_and_no_bit_of_the_secret_is_left(before, after, encode):
    secret = "pä55wörd?>~é"
    written = encode(f"{before}{secret}{after}".encode()).decode()
    shown = masker(PASSWORD=secret).mask(f"Basic {written}!")
    assert "[secret PASSWORD]" in shown
    left = shown.removeprefix("Basic ").removesuffix("!").split("[secret PASSWORD]")
    first = len(before.encode()) * 8 // 6  # the character in which the secret's first bit stands
    assert len(left[0]) <= first
    assert len(left[1].rstrip("=")) <= -(-len(after.encode()) * 8 // 6)


@pytest.mark.parametrize(
    "harmless",
    ["91234", "12345", "id_1234", "1234th", "x1234"],
)
def test_a_short_secret_is_no_part_of_a_longer_word(harmless):
    assert masker(PIN=1234).mask(f"see {harmless} here") == f"see {harmless} here"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pin 1234.", "pin [secret PIN]."),
        ("1234", "[secret PIN]"),
        ("密码1234呢", "密码[secret PIN]呢"),
        ("a%3D1234&b", "a%3D[secret PIN]&b"),
        ('"line\\n1234"', '"line\\n[secret PIN]"'),
        ("MTIzNA==", "[secret PIN]"),
        ("31323334", "[secret PIN]"),
    ],
)
def test_a_short_secret_is_covered_as_a_whole_word(text, shown):
    assert masker(PIN=1234).mask(text) == shown


def test_a_secret_under_four_characters_is_left_alone():
    assert masker(PIN="abc").mask("abc abc") == "abc abc"


def test_longer_secrets_win_over_shorter_ones_inside_them():
    shown = masker(SHORT="hunter22", LONG="hunter22-and-more").mask("hunter22-and-more hunter22")
    assert shown == "[secret LONG] [secret SHORT]"


def test_two_secrets_that_overlap_leave_nothing_of_either():
    assert masker(ONE="abcdefgh1", TWO="fgh1ijkl2").mask("<abcdefgh1ijkl2>") == "<[secret ONE]>"


def test_a_secret_that_overlaps_itself_is_covered_to_its_end():
    assert masker(K="xyxyxyxyx").mask("-xyxyxyxyxyx-") == "-[secret K]-"


def test_a_start_that_a_view_cut_off_is_covered_with_all_that_is_left_of_it():
    secret = "sk-4f9A8b7C6d5E4f3A2b1C"
    shown = masker(API_KEY=secret).mask(f"error: {secret[:17]}…")
    assert shown == "error: [secret API_KEY]…"


@pytest.mark.parametrize(
    "secret", ["https://9X.example.org/hook/k3y", "Corr3ct horse battery staple", "open-sesame-and-close"]
)
def test_the_start_of_an_address_or_a_sentence_is_no_secret(secret):
    assert masker(K=secret).mask(secret[:15]) == secret[:15]
    assert masker(K=secret).mask(secret) == "[secret K]"


def test_two_secrets_with_the_same_start_are_each_covered_as_far_as_they_go():
    one, two = "eyJhbGciOiJI-one-9a8b7c6d", "eyJhbGciOiJI-two-1a2b3c4d"
    assert masker(ONE=one, TWO=two).mask(f"{two[:18]}… {one[:18]}…") == "[secret TWO]… [secret ONE]…"
    assert masker(SHORT=one[:12], ONE=one).mask(f"{one[:18]}…") == "[secret ONE]…"


def test_each_long_line_of_a_key_in_several_lines_is_covered():
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----"
    shown = masker(PEM=key).mask("  1 | MIIEvQIBADANBgkq\n  2 | hkiG9w0BAQEFAASC")
    assert shown == "  1 | [secret PEM]\n  2 | [secret PEM]"


def test_the_label_never_shows_another_secret():
    made = masker(hunter2="first-value-1", OTHER="hunter2")
    assert made.mask("first-value-1") == "[secret]"
    made = masker(K="secret", L="long-enough-9")
    assert made.mask("a secret") == "a ***"
    assert made.mask("long-enough-9") == "***"


def test_masking_twice_changes_nothing_more():
    made = masker(STOCK_API_KEY="STOCK_API_KEY", B="another-1")
    once = made.mask("STOCK_API_KEY and another-1")
    assert made.mask(once) == once
    assert "STOCK" not in once


@pytest.mark.parametrize("name", ["<b>", "a b", "x" * 65, ""])
def test_a_name_that_is_no_plain_word_stays_out_of_the_label(name):
    made = Masker()
    made.add(name, PLAIN)
    assert made.mask(PLAIN) == "[secret]"


def test_what_a_container_holds_is_secret_and_switches_are_not():
    assert list(secret_texts({"a": ["one-1", {"b": 12.5}], "c": True, "d": None})) == ["one-1", "12.5"]
    assert list(secret_texts("true")) == []
    assert list(secret_texts(b"in-bytes")) == ["in-bytes"]


def test_blanks_around_a_secret_do_not_hide_it():
    assert masker(K="from-a-file-9\n").mask("from-a-file-9,") == "[secret K],"


def test_characters_beyond_ascii_are_found_composed_and_decomposed():
    made = masker(K="pässwörd-é")
    assert made.mask("pa\u0308sswo\u0308rd-e\u0301") == "[secret K]"
    assert made.mask(json.dumps("pässwörd-é")) == '"[secret K]"'


def test_lone_surrogates_are_no_trouble():
    assert masker(K="half-\ud800-9").mask("x half-\ud800-9") == "x [secret K]"


def test_two_megabytes_without_a_secret_take_little_time():
    made = masker(**{f"K{n}": f"k3y-{n:04}-{n * 7919:06}" for n in range(20)})
    text = "the weather is mild and nobody told a secret; " * 45_000
    made.mask("ready")
    started = time.perf_counter()
    assert made.mask(text) is text
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize("colour", ["\x1b[31m", "\x1b[0;1;31m", "\x1b[38;5;28m", "\x1b[m"])
def test_a_short_secret_behind_a_terminal_s_colour_is_a_word_of_its_own(colour):
    assert masker(PIN="x1y2").mask(f"{colour}x1y2\x1b[0m") == f"{colour}[secret PIN]\x1b[0m"


def test_many_forms_of_one_secret_cost_one_search_in_a_text_without_it():
    made = masker(**{f"K{n}": f'{n:02}pä55/w+rd"<&>{n * 7919:06}' for n in range(20)})
    made.mask("ready")
    families, _ = made._ready
    assert sum(len(family.forms) for family in families) > 1_000
    assert len(families) < 400
    for family in families:
        assert all(family.probe in form.text for form in family.forms)


@pytest.mark.parametrize("value", [None, 5, b"k3y-0f-the-d00r"])
def test_what_is_no_text_is_refused_in_a_sentence_that_does_not_show_it(value):
    with pytest.raises(DefinitionTypeError, match=f"^a mask takes a text, not {type(value).__name__}$"):
        AgentRuntime().mask(value)
