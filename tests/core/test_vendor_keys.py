"""The shapes of vendors' keys are hidden though nobody registered them, and nothing else is."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import uuid
from pathlib import Path
from urllib.parse import quote

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.secrecy.secret_mask import SecretMask
from tests.vendor_samples import pem_edge, vendor_samples

ROOT = Path(__file__).parents[2]
SAMPLES = [
    pytest.param(key, id=f"{name}, {seed}") for seed in range(3) for name, key in vendor_samples(seed).items()
]
# What may stay of a sample: the words around the key itself.
AROUND = {
    "AWS secret": "aws_secret_access_key = ",
    "Azure storage": "AccountName=x;AccountKey=",
    "bearer": "Authorization: Bearer ",
    "basic": "Authorization: Basic ",
}


@pytest.fixture
def mask():
    return SecretMask()


def parts(key):
    """Return every stretch of 8 characters of the secret part of a key."""
    for around in AROUND.values():
        key = key.removeprefix(around)
    if "://" in key:
        key = key.rpartition("@")[0].rpartition(":")[2] if "@" in key else key.rpartition("/")[2]
    return [key[at : at + 8] for at in range(len(key) - 7)]


PLACES = (
    "{}",
    "the key is {}, keep it",
    "{{'api_key': '{}'}}",
    '{{"key":"{}"}}',
    "https://api.example/v1?key={}&q=1",
    "https://api.example/v1?key%3D{}",
    "first\\n{}",
    "\x1b[31m{}\x1b[0m",
    "密钥{}密钥",
    "MY_KEY={}",
    "<td>{}</td>",
    "before\n{}\nafter",
)


@pytest.mark.parametrize("key", SAMPLES)
def test_no_part_of_a_key_is_left(mask, key):
    for place in PLACES:
        shown = mask(place.format(key))
        assert "[secret " in shown, place
        assert [part for part in parts(key) if part in shown] == [], place


def test_what_stands_around_a_key_stays(mask):
    key = vendor_samples()["GitHub"]
    assert mask(f"url?a=1&k={key}&b=2 ({key}), '{key}'.") == (
        "url?a=1&k=[secret GitHub key]&b=2 ([secret GitHub key]), '[secret GitHub key]'."
    )


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("OpenAI project", "[secret OpenAI key]"),
        ("DeepSeek", "[secret API key]"),
        ("Anthropic", "[secret Anthropic key]"),
        ("private key", "[secret private key]"),
        ("web token", "[secret web token]"),
        ("address with a password", "postgres://ada:[secret password]@db.example.org/shop"),
        ("bearer", "Authorization: Bearer [secret bearer token]"),
    ],
)
def test_the_label_names_the_vendor(mask, name, label):
    assert mask(vendor_samples()[name]) == label


def test_a_private_key_is_hidden_as_files_json_and_broken_off_outputs_hold_it(mask):
    key = vendor_samples()["private key"]
    assert mask(json.dumps({"pem": key})) == '{"pem": "[secret private key]"}'
    assert mask(key.partition("-----END")[0] + "…") == "[secret private key]\n…"
    rsa = key.replace("PRIVATE", "RSA PRIVATE").replace("\n", "\nProc-Type: 4,ENCRYPTED\n\n", 1)
    assert mask(f"<{rsa}>") == "<[secret private key]>"


def test_a_registered_secret_inside_a_key_leaves_nothing_of_the_rest(mask):
    key = vendor_samples()["GitHub"]
    mask.add("PART", key[12:24])
    assert mask(f"({key})") == "([secret GitHub key])"
    mask.add("WHOLE", key)
    assert mask(f"({key})") == "([secret WHOLE])"


def test_a_label_holds_no_registered_secret(mask):
    mask.add("K", "GitHub")
    assert mask(vendor_samples()["GitHub"]) == "[secret]"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgres://ada:{}Pa$$w0rd!9x@db/x", "postgres://ada:[secret password]@db/x"),
        ("mysql://root:{}s3cr3t*pw@h", "mysql://root:[secret password]@h"),
        ("x://u:{}a{{b}}|c]1@h", "x://u:[secret password]@h"),
        (r"postgres:\/\/u:{}hunter2hunter2@h", r"postgres:\/\/u:[secret password]@h"),
        ("postgres%3A%2F%2Fu%3A{}hunter2hunter2%40h", "postgres%3A%2F%2Fu%3A[secret password]%40h"),
        ("x%253A%252F%252Fu%253A{}hunter2hunter2%2540h", "x%253A%252F%252Fu%253A[secret password]%2540h"),
        ("bot12345678{}%3AAAExy7_3kdLmNopQrS9tUvWxYz0123456-a/x", "bot[secret Telegram key]/x"),
        ("Basic {}dXNlcjpwYXNzd29yZA==", "Basic [secret password]"),
    ],
)
def test_an_address_or_a_header_keeps_all_but_its_password(mask, text, shown):
    assert mask(text.format("")) == shown


@pytest.mark.parametrize("text", ["-eyJ", "-sk-eyJ", "eyJa.eyJb.", "://a:b", "%3A%2F"])
def test_a_text_of_nothing_but_beginnings_of_keys_is_read_once(mask, text):
    assert mask(text * 40_000) == text * 40_000


def test_masking_twice_changes_nothing_more(mask):
    for key in vendor_samples().values():
        once = mask(f"x {key} y")
        assert mask(once) == once


SK = "sk" + "-"
HARMLESS = [
    "monkey: banana",
    "key: value, Password: ask the admin, token: see below",
    "keyboard shortcuts: Ctrl-C; secret_santa_list_of_the_office_2024",
    "a git hash 2f9c1e07d3b64a5f8e21c0d94b7a6f35e8d1c2b0 and a short one 2f9c1e0",
    "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    hashlib.sha256(b"x").hexdigest(),
    hashlib.md5(b"x").hexdigest(),
    "sha512-" + base64.b64encode(hashlib.sha512(b"x").digest()).decode(),
    "data:image/png;base64," + base64.b64encode(random.Random(1).randbytes(4_000)).decode(),
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    f"pip install scikit-learn {SK}learn {SK}learn-contrib-imbalanced-learn-2024-release-candidate",
    f"locale {SK}SK-x-private-use-subtag-2024",
    f"{SK}SK_locale_names_for_the_winter_release_2024",
    "task-list-of-the-week-2024-and-risk-assessment-for-2025-q3",
    "desk-0123456789abcdef0123456789abcdef",
    "SELECT key, token FROM secrets WHERE password IS NULL AND id = 'abc123' ORDER BY secret_key DESC",
    "/usr/lib/python3.12/site-packages/secrets/token_bucket.py",
    "C:\\Program Files\\KeyStore\\private_key_reader.exe",
    "def get_api_key(token: str) -> SecretStr: return keyring.get_password('svc', token)",
    "os.environ['OPENAI_API_KEY']; runtime.get_setting('STOCK_API_KEY')",
    "OPENAI_API_KEY=" + SK + "...",
    SK + "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    SK + "your-openai-api-key-goes-here",
    "https://example.org:8080/@ada/notes?x=1#top and http://localhost:8888/lab/tree/a:b@c.ipynb",
    "https://ada@example.org/x ssh://git@github.com/ada/notes.git",
    "postgres://user:password@localhost/db",
    "redis://:{password}@host, mysql://$USER:$PASS@host, amqp://<user>:<password>@host",
    "Bearer of bad news; Bearer authentication-is-described-in-the-handbook",
    "Basic understanding; Basic authentication; Basic AuthenticationDocumentation",
    "ASIAPACIFICHEADQUARTERSANDREGIONS AKIAPOST",
    "SKILLS, SKU 0123456789, SK0123 and SG.sample.text",
    "key-d41d8cd98f00b204 and cache-key-d41d8cd98f00b204e9800998ecf8427e",
    "pattern.match(text), patient.records, pathology.reports",
    "hf_hub_download and hf_transfer; gsk_annual_report_2024; xai-lib; pplx-70b-online; r8_config",
    "npm_config_registry and npm_package_json_with_a_long_name; pypi-mirror; ls__main__",
    "Modules.Loader.BackendForTheWholeOfTheLongNamedApplication",
    "NotImplementedErrorMessages.Format.ForEveryLanguageWeKnowInTheWorld",
    "12:AAAAAA, 2024-11-30T12:34:56Z, 99999999:AA",
    "eyJ is how a token starts; eyJhbGciOiJub25lIn0 alone is a header",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUY3J0\n-----END CERTIFICATE-----",
    f"a file that starts with {pem_edge('BEGIN')} is a key",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJd1 ada@example.org",
    "fc-list, fw_printenv, pa-risk, dapi_client, sig=on, glc_settings, ops_manual, hvs.example",
    "AccountKey=, AccountKey=<your key>, aws_secret_access_key = <put it here>",
    "the secret of the api key is that there is no key",
    "tvly-search-results-for-the-weather-in-oslo-2024",
    "uuid " + str(uuid.UUID(int=2**127 - 1)),
    "token_count=1234567890 tokens_per_second=42.5 key_error=KeyError('x')",
    "xoxo, kisses; xoxb- is how a bot's token starts",
    "github_pat_ is the prefix; ghp_ as well; gho_st; ghs_function_names_are_long_here",
    "M3.2.1-rc.20241130 N0.1 O-Ring.Number.7",
    "docker://alpine:3.18@sha256:0123456789abcdef pkg://name:1.2.3@latest time://12:30:45@noon",
    "postgres://u:${DB_PASS}@h mysql://u:[password]@h x://u:%DB_PASS%@h amqp://u:*****@h",
    r"(?P<scheme>[a-z]+)://([^:]+):([^@]+)@(.+)",
    "Basic TypeScript5Tutorial and the basic Windows11Installation guide",
    "key-" + hashlib.md5(b"x").hexdigest() + ".png",
    f"{SK}learn-pipeline-2024v2beta-modelRunner1",
    "ASIAPACIFICREGION2024 and ASIAPACIFICREGION202",
    "hf_AutoModelForSequenceClassificationWithHead",
    "12345678:AA-battery-comparison-chart-of-the-year-2024",
    "https://hooks.slack.com/services/documentation/overview",
    "figd_component_library_of_the_whole_company_2024",
    "lin_api_ReferenceDocumentationOfTheWholeThing",
    "nvapi-documentation-and-examples-of-the-whole-thing-in-one-page",
    "github_pat_tern_matching_in_python_for_the_experienced_reader",
    "SG.overview_of_the_sea.documentation_of_the_sea_and_of_the_land",
    "dp.st.documentation-of-the-standard-for-dynamic-programming",
    "jina_embeddings_of_long_documents_in_many_languages; pul-lover; 1//0; x-us12; dckr_pat_terns_of_containers",
    "secret_key_base, secret_manager_client_for_the_whole_cluster",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_and_code_stay_as_they_are(mask, text):
    mask.add("OTHER", "k3y-0f-the-d00r")
    for written in (text, f"({text})", json.dumps(text), quote(text)):
        assert mask(written) == written


def test_there_are_enough_harmless_texts():
    assert len(set(HARMLESS)) >= 40


def test_the_code_of_the_package_stays_as_it_is(mask):
    files = list(ROOT.glob("agentctx_nb/**/*.py"))
    assert len(files) > 100
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert mask(text) == text, path.name


def test_what_code_is_handed_is_raw_and_what_is_shown_is_not():
    key = vendor_samples()["OpenAI project"]
    runtime = AgentRuntime()
    runtime.register_provider(
        {"name": "A", "get": lambda: {"text": f"key {key}", "values": {"k": key}, "data": {"k": [key]}}}
    )
    state = runtime.compose("hi")
    assert key in state.text
    assert state.values["k"] == key
    assert state.data.providers.A.data["k"] == [key]
    shown = [str(state), repr(state.data), *state._repr_mimebundle_().values(), state.values_frame().to_csv()]
    assert [text for text in shown if key[:20] in text] == []
