from __future__ import annotations

import asyncio
import base64
import builtins
import json
import logging
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from agentctx_nb.errors import DefinitionError, MissingExtraError
from agentctx_nb.retry import retry_after, with_retries
from agentctx_nb.search.embedder import embed_async, fingerprint
from agentctx_nb.search.http import EmbeddingRequestError, HttpEmbedder

KEY = "a-key-nobody-may-see"
SECRET_TEXT = "the merger is on Friday"


def vector(text):
    return [len(text) + 1.0, text.count("e") + 0.5, -3.0]


class Endpoint:
    """An endpoint on this machine: it answers rightly, after whatever ``plan`` puts before that."""

    def __init__(self):
        self.requests, self.headers, self.plan = [], [], []
        self.change = lambda data: data
        self.delay = 0.0

    def answer(self, body):
        data = [
            {"object": "embedding", "index": number, "embedding": self.encoded(text, body["encoding_format"])}
            for number, text in enumerate(body["input"])
        ]
        return {"object": "list", "data": self.change(data[::-1]), "model": body["model"]}

    @staticmethod
    def encoded(text, kind):
        if kind == "float":
            return vector(text)
        return base64.b64encode(np.array(vector(text), "<f4").tobytes()).decode()


@contextmanager
def served():
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.requests.append(body)
            endpoint.headers.append({**self.headers, "path": self.path})
            status, headers, answer = (
                endpoint.plan.pop(0) if endpoint.plan else (200, {}, endpoint.answer(body))
            )
            time.sleep(endpoint.delay)
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except OSError:  # the client has gone, as the test of deadlines wants
                return

        def log_message(self, *args):
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def endpoint():
    with served() as found:
        yield found


BUSY = (
    429,
    {"Retry-After": "0"},
    {"error": {"code": "rate_limit_exceeded", "message": f"{SECRET_TEXT} {KEY}"}},
)


def unit(text):
    return np.array(vector(text)) / np.linalg.norm(vector(text))


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_rows_are_unit_vectors_in_the_order_of_the_texts(endpoint, encoding):
    embedder = HttpEmbedder(endpoint.url + "/", "toy", api_key=KEY, encoding_format=encoding)
    texts = ["one", "three e", "two", "one"]
    rows = embedder.embed(texts, "document")
    assert np.abs(rows - np.stack([unit(text) for text in texts])).max() < 1e-6
    assert (rows.dtype, embedder.dim, embedder.name) == (np.float32, 3, "toy")
    assert endpoint.requests == [
        {"model": "toy", "encoding_format": encoding, "input": ["one", "three e", "two"]}
    ]
    assert endpoint.headers[0]["path"] == "/v1/embeddings"
    assert endpoint.headers[0].get("Authorization") == f"Bearer {KEY}"


def test_from_async_code_it_is_awaited_without_a_thread(endpoint):
    rows = asyncio.run(embed_async(HttpEmbedder(endpoint.url, "toy"), ["one", "two"], "query", run=None))
    assert np.abs(rows[1] - unit("two")).max() < 1e-6
    assert "Authorization" not in endpoint.headers[0]


def test_many_texts_go_in_batches(endpoint):
    embedder = HttpEmbedder(endpoint.url, "toy", batch_size=10)
    texts = [f"text {'e' * number}" for number in range(35)]
    rows = embedder.embed(texts, "document")
    assert sorted(len(request["input"]) for request in endpoint.requests) == [5, 10, 10, 10]
    assert np.abs(rows - np.stack([unit(text) for text in texts])).max() < 1e-6


def test_a_dimension_asked_for_is_sent_and_checked(endpoint):
    with pytest.raises(DefinitionError, match="returned vectors of 3 numbers; 8 were expected"):
        HttpEmbedder(endpoint.url, "toy", dim=8).embed(["one"], "query")
    assert endpoint.requests[0]["dimensions"] == 8
    assert HttpEmbedder(endpoint.url, "toy", dim=3).dim == 3
    assert len(endpoint.requests) == 1


def test_prefixes_tell_queries_from_documents(endpoint):
    embedder = HttpEmbedder(endpoint.url, "e5", query_prefix="query: ", document_prefix="passage: ")
    embedder.embed(["x"], "query")
    embedder.embed(["x"], "document")
    assert [request["input"] for request in endpoint.requests] == [["query: x"], ["passage: x"]]


def test_blank_texts_get_zeros_and_are_not_sent(endpoint):
    embedder = HttpEmbedder(endpoint.url, "toy")
    rows = embedder.embed(["", "one", " \n"], "document")
    assert not rows[0].any()
    assert not rows[2].any()
    assert rows[1].any()
    assert endpoint.requests[0]["input"] == ["one"]
    assert HttpEmbedder(endpoint.url, "toy").embed([""], "query").shape == (1, 3)
    assert embedder.embed([], "query").shape == (0, 3)


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_a_busy_server_is_asked_again(endpoint, status):
    endpoint.plan = [(status, {"Retry-After": "0"}, b"no"), (status, {"retry-after": "0"}, b"no")]
    rows = HttpEmbedder(endpoint.url, "toy", longest_wait=0.01).embed(["one"], "query")
    assert np.abs(rows[0] - unit("one")).max() < 1e-6
    assert len(endpoint.requests) == 3


def test_after_the_last_try_the_status_is_told(endpoint):
    endpoint.plan = [BUSY] * 9
    with pytest.raises(EmbeddingRequestError, match=r"answered 429 \(rate_limit_exceeded\)") as caught:
        HttpEmbedder(endpoint.url, "toy", tries=2, longest_wait=0.01).embed(["one"], "query")
    assert caught.value.status == 429
    assert len(endpoint.requests) == 2


def test_a_refusal_is_not_asked_again(endpoint):
    endpoint.plan = [(401, {}, {"error": {"code": "invalid_api_key", "message": f"wrong key {KEY}"}})]
    with pytest.raises(EmbeddingRequestError, match=r"answered 401 \(invalid_api_key\)"):
        HttpEmbedder(endpoint.url, "toy", api_key=KEY).embed(["one"], "query")
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>",
        b"{}",
        {"data": [{"index": 0}]},
        {"data": []},
        {"data": [{"index": 1, "embedding": [1, 2]}]},
        {"data": [{"index": 0, "embedding": "not base64!"}]},
        {"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]},
        [],
    ],
)
def test_an_answer_that_is_no_list_of_embeddings_is_an_error(endpoint, answer):
    endpoint.plan = [(200, {}, answer)]
    with pytest.raises(EmbeddingRequestError, match="no list of embeddings"):
        HttpEmbedder(endpoint.url, "toy").embed(["one"], "query")


def test_numbers_that_are_not_finite_are_refused(endpoint):
    endpoint.plan = [(200, {}, b'{"data": [{"index": 0, "embedding": [1, NaN]}]}')]
    with pytest.raises(DefinitionError, match="NaN or infinity"):
        HttpEmbedder(endpoint.url, "toy").embed(["one"], "query")


def test_a_server_that_does_not_answer_in_time_is_named(endpoint):
    endpoint.delay = 0.6
    with pytest.raises(EmbeddingRequestError, match=r"did not answer in 0\.1 s, asked 2 times"):
        HttpEmbedder(endpoint.url, "toy", timeout=0.1, tries=2, longest_wait=0.01).embed(["one"], "query")


def test_a_server_that_is_not_there_is_named():
    with served() as gone:
        url = gone.url
    with pytest.raises(EmbeddingRequestError, match=r"cannot be reached: ConnectError"):
        HttpEmbedder(url, "toy", tries=2, longest_wait=0.01).embed(["one"], "query")


def test_a_cached_text_is_sent_once_even_by_another_embedder(endpoint, tmp_path):
    first = HttpEmbedder(endpoint.url, "toy", cache_dir=tmp_path / "cache").embed(["one", "two"], "document")
    second = HttpEmbedder(endpoint.url, "toy", cache_dir=tmp_path / "cache").embed(
        ["two", "one", "new"], "document"
    )
    assert [request["input"] for request in endpoint.requests] == [["one", "two"], ["new"]]
    assert np.abs(first[[1, 0]] - second[:2]).max() < 1e-7
    HttpEmbedder(endpoint.url, "other", cache_dir=tmp_path / "cache").embed(["one"], "document")
    assert len(endpoint.requests) == 3


def test_the_cache_holds_no_text_and_survives_a_damaged_file(endpoint, tmp_path):
    embedder = HttpEmbedder(endpoint.url, "toy", cache_dir=tmp_path)
    before = embedder.embed([SECRET_TEXT], "document")
    (file,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert b"merger" not in file.read_bytes()
    for damage in (b"", b"123", b"\xff" * 12, b"\0" * 400):
        file.write_bytes(damage)
        assert (embedder.embed([SECRET_TEXT], "document") == before).all()
    assert len(endpoint.requests) == 5


def test_what_came_before_a_failure_is_kept_in_the_cache(endpoint, tmp_path):
    embedder = HttpEmbedder(endpoint.url, "toy", cache_dir=tmp_path, batch_size=1)
    embedder.embed(["one"], "document")
    endpoint.plan = [(400, {}, b"")]
    with pytest.raises(EmbeddingRequestError, match="400"):
        embedder.embed(["one", "bad"], "document")
    assert embedder.embed(["one"], "document").any()
    assert len(endpoint.requests) == 2


def test_neither_text_nor_key_is_ever_shown(endpoint, caplog):
    caplog.set_level(logging.DEBUG)
    embedder = HttpEmbedder(endpoint.url, "toy", api_key=KEY, tries=2, longest_wait=0.01)
    embedder.embed([SECRET_TEXT], "query")
    endpoint.plan = [BUSY, BUSY]
    with pytest.raises(EmbeddingRequestError) as caught:
        embedder.embed([SECRET_TEXT], "query")
    shown = [repr(embedder), str(caught.value), repr(caught.value.__cause__)]
    shown += [record.getMessage() for record in caplog.records]
    for text in shown:
        assert KEY not in text
        assert "merger" not in text
    assert repr(embedder) == f"HttpEmbedder({endpoint.url!r}, 'toy')"


def test_the_mark_of_its_vectors_needs_no_server():
    first = HttpEmbedder("http://127.0.0.1:1/v1", "toy", default_threshold=0.3)
    assert fingerprint(first) == fingerprint(HttpEmbedder("https://elsewhere/v1", "toy", api_key=KEY))
    assert fingerprint(first) != fingerprint(HttpEmbedder("http://127.0.0.1:1/v1", "toy", dim=64))
    assert first.default_threshold == 0.3


def test_a_threshold_nobody_gave_is_measured_once(endpoint):
    embedder = HttpEmbedder(endpoint.url, "toy")
    assert 0 < embedder.default_threshold == embedder.default_threshold <= 1
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"base_url": "127.0.0.1:80"}, "base_url must begin with"),
        ({"batch_size": 0}, "batch_size must be from 1"),
        ({"encoding_format": "int8"}, "encoding_format must be 'float' or 'base64'"),
    ],
)
def test_options_are_checked(options, said):
    with pytest.raises(DefinitionError, match=said):
        HttpEmbedder(**({"base_url": "http://x/v1", "model": "toy"} | options))


def test_without_the_client_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "httpx2":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingExtraError, match=r"agentctx_nb\[http\]"):
        HttpEmbedder("http://127.0.0.1:1/v1", "toy").embed(["one"], "query")


class Answer:
    def __init__(self, status, headers=None):
        self.status_code, self.headers = status, headers or {}


def waits(answers, **options):
    """Return what with_retries gave for these answers, and how long it waited between them."""
    waited = []

    async def send():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def sleep(seconds):
        waited.append(seconds)

    try:
        found = asyncio.run(with_retries(send, sleep=sleep, draw=lambda: 0.5, **options)).status_code
    except OSError as error:
        found = type(error)
    return found, waited


def test_waits_double_and_are_drawn_and_never_shorter_than_asked():
    assert waits([Answer(503), Answer(503), Answer(200)], first_wait=1.0) == (200, [0.5, 1.0])
    assert waits([Answer(429, {"retry-after": "3"}), Answer(200)], first_wait=1.0) == (200, [3.0])
    assert waits([Answer(503)] * 9, tries=4, first_wait=8.0, longest_wait=10.0) == (503, [4.0, 5.0, 5.0])


def test_who_asks_for_too_long_a_wait_is_not_asked_again():
    assert waits([Answer(429, {"retry-after": "3600"}), Answer(200)]) == (429, [])


def test_only_the_errors_named_are_tried_again():
    assert waits([TimeoutError(), Answer(200)], retry_on=(OSError,), first_wait=1.0) == (200, [0.5])
    assert waits([TimeoutError(), Answer(200)]) == (TimeoutError, [])
    assert waits([TimeoutError()] * 3, retry_on=(OSError,), first_wait=1.0) == (TimeoutError, [0.5, 1.0])


def test_retry_after_is_read_as_seconds_or_as_a_date():
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    assert retry_after({"Retry-After": date}, now=lambda: 1445412470.0) == 10
    assert retry_after({"Retry-After": date}, now=lambda: 1445412500.0) == 0
    assert retry_after({"retry-after": "-3"}) == 0
    for nothing in ({}, {"retry-after": ""}, {"retry-after": "soon"}, {"retry-after": "nan"}):
        assert retry_after(nothing) is None
