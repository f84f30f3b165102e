"""A secret made of several parts: its password alone is one too, its host is none."""

from __future__ import annotations

import json

import pytest

from agentctx_nb.secrecy.secret_mask import SecretMask

PASSWORD = "k3y0fd00r" + "99"


def mask_of(secret):
    mask = SecretMask()
    mask.add("K", secret)
    return mask


@pytest.mark.parametrize(
    "secret",
    [
        f"postgres://ada:{PASSWORD}@db.example/x",
        f"Server=db.example;User Id=ada;Password={PASSWORD};",
        f"host=db.example user=ada password={PASSWORD}",
        json.dumps({"client_id": "shop-frontend", "client_secret": PASSWORD}),
        json.dumps([{"web": {"user": "ada", "apiKey": PASSWORD}}]),
    ],
)
def test_the_password_inside_of_a_secret_is_hidden_alone(secret):
    mask = mask_of(secret)
    assert mask(f"login of ada at db.example, shop-frontend: {PASSWORD} refused") == (
        "login of ada at db.example, shop-frontend: [secret K] refused"
    )
    assert mask(f"<{secret}>") == "<[secret K]>"


def test_a_password_is_hidden_as_the_address_writes_it_and_as_it_is():
    mask = mask_of("postgres://ada:k3y%2Fd00r%409@db/x")
    assert mask("k3y/d00r@9 k3y%2Fd00r%409") == "[secret K] [secret K]"


def test_where_and_as_whom_is_no_secret_in_a_dict_of_secrets():
    mask = mask_of(
        {
            "host": "localhost", "userName": "postgres", "port": 5432, "address": {"server": "10.0.0.7"},
            "password": "mellon", "user": "x7Bq-2LmZ", "answer": "swordfish",
        }
    )  # fmt: skip
    assert mask("postgres on localhost:5432, 10.0.0.7") == "postgres on localhost:5432, 10.0.0.7"
    assert mask("mellon, x7Bq-2LmZ, swordfish") == "[secret K], [secret K], [secret K]"


LINES = "first line of words\nsecond line here 42\n\nlast one of them"


@pytest.mark.parametrize(
    "between", ["\n", "\r\n", "\n> ", "\n    ", "\r\n\t", "\n# ", "\\n", "\\r\\n", "%0A", "&#10;"]
)
def test_a_secret_of_several_lines_is_found_indented_or_quoted(between):
    assert mask_of(LINES)(f"({between.join(LINES.splitlines())})") == "([secret K])"
    assert mask_of(LINES)("first line of words") == "first line of words"


def test_a_secret_with_blank_lines_and_lines_that_look_quoted_is_found_too():
    secret = "first of all\n# second one\n\n\n\n\n\n> and the last"
    for between in ("\n", "\n        > ", "\r\n"):
        assert mask_of(secret)(f"({between.join(secret.splitlines())})") == "([secret K])"
    # Each blank line may be read in one way only, else this would take as good as forever.
    other = ("\n" + " " * 38).join(["first of all", "second one", "", "", "", "", "", "and more"])
    assert mask_of(secret)(other + " and the last") == other + " and the last"
