from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import numpy as np
import pytest

from agentctx_nb.errors import DefinitionError, DefinitionTypeError
from agentctx_nb.search.embedder import (
    UNRELATED,
    as_embedder,
    check_vectors,
    default_embedder,
    embed_async,
    fingerprint,
)


def letters(text):
    """Three numbers that depend on a text."""
    return [len(text) + 1.0, text.count("e"), -text.count(" ")]


class Written:
    """An embedder as the protocol has it."""

    name, dim, default_threshold = "written", 3, 0.4

    def __init__(self, vectors=None):
        self.vectors, self.threads, self.kinds = vectors, [], []

    def embed(self, texts, kind):
        self.threads.append(threading.current_thread())
        self.kinds.append(kind)
        return (
            np.array([letters(text) for text in texts], np.float32) if self.vectors is None else self.vectors
        )


class SentenceModel:
    """A stand-in for a sentence-transformers model."""

    def __init__(self):
        self.calls = []

    def get_sentence_embedding_dimension(self):
        return 3

    def encode(self, sentences, batch_size=32, show_progress_bar=None):
        assert isinstance(sentences, list)
        self.calls.append(("encode", show_progress_bar))
        return np.array([letters(text) for text in sentences], np.float64) * 7


class PromptedModel(SentenceModel):
    def encode_query(self, sentences, show_progress_bar=None):
        self.calls.append(("encode_query", show_progress_bar))
        return self.encode([f"q {text}" for text in sentences])

    def encode_document(self, sentences, show_progress_bar=None):
        self.calls.append(("encode_document", show_progress_bar))
        return self.encode(sentences)


def unit(vector):
    return np.array(vector) / np.linalg.norm(vector)


TEXTS = ["one", "two e e", "three"]
EXPECTED = np.stack([unit(letters(text)) for text in TEXTS])


def test_an_embedder_is_taken_as_it_is():
    embedder = Written()
    assert as_embedder(embedder) is embedder
    assert as_embedder(default_embedder()) is default_embedder()


@pytest.mark.parametrize(
    "given",
    [
        lambda texts: [letters(text) for text in texts],
        lambda texts: np.array([letters(text) for text in texts]),
        lambda texts: tuple(np.array(letters(text)) for text in texts),
        lambda texts: [letters(text) for text in (list(texts) if isinstance(texts, list) else 1 / 0)],
        lambda text: letters(text) if isinstance(text, str) else (_ for _ in ()).throw(TypeError("a str, please")),
        lambda text: letters(text.lower()),
        lambda text: [float(len(text) + 1), str(text).count("e"), -str(text).count(" ")],
        SentenceModel(),
    ],
)  # fmt: skip
def test_functions_and_models_of_every_kind_give_the_same_rows(given):
    embedder = as_embedder(given)
    for _ in range(2):
        rows = embedder.embed(TEXTS, "document")
        assert rows.dtype == np.float32
        assert np.abs(rows - EXPECTED).max() < 1e-6
    assert embedder.embed(TEXTS[1:2], "query").shape == (1, 3)
    assert embedder.embed([], "query").shape == (0, 3)
    assert embedder.dim == 3
    assert -1 <= embedder.default_threshold <= 1


def test_a_first_parameter_annotated_str_is_never_given_a_list():
    seen = []

    def one(text: str):
        seen.append(text)
        return letters(text)

    as_embedder(one).embed(TEXTS, "document")
    assert seen == TEXTS


def test_a_function_of_texts_is_asked_once_a_call():
    seen = []

    def many(texts):
        seen.append(texts)
        return [letters(text) for text in texts]

    as_embedder(many).embed(TEXTS, "document")
    assert seen == [TEXTS]


def test_an_async_function_is_awaited_on_the_callers_loop():
    loops = []

    async def many(texts):
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return [letters(text) for text in texts]

    async def main():
        rows = await embed_async(as_embedder(many), TEXTS, "query")
        return rows, loops == [asyncio.get_running_loop()]

    rows, same = asyncio.run(main())
    assert np.abs(rows - EXPECTED).max() < 1e-6
    assert same
    assert np.abs(as_embedder(many).embed(TEXTS, "query") - EXPECTED).max() < 1e-6


def test_a_plain_function_is_called_on_the_thread_that_asks():
    threads = []

    def many(texts):
        threads.append(threading.current_thread())
        return [letters(text) for text in texts]

    async def main():
        await embed_async(as_embedder(many), TEXTS, "query")
        as_embedder(many).embed(TEXTS, "query")

    asyncio.run(main())
    assert threads[0] is not threading.current_thread()
    assert threads[1] is threading.current_thread()


def test_a_plain_function_may_return_what_an_async_one_does():
    async def many(texts):
        await asyncio.sleep(0)
        return [letters(text) for text in texts]

    embedder = as_embedder(lambda texts: many(texts))  # noqa: PLW0108  the lambda hides that it is async
    for _ in range(2):
        assert np.abs(embedder.embed(TEXTS, "query") - EXPECTED).max() < 1e-6
    assert np.abs(asyncio.run(embed_async(embedder, TEXTS, "query")) - EXPECTED).max() < 1e-6


def test_a_function_with_a_parameter_kind_is_told_it():
    kinds = []

    def many(texts, *, kind):
        kinds.append(kind)
        return [letters(text) for text in texts]

    as_embedder(many).embed(TEXTS, "query")
    as_embedder(many).embed(TEXTS, "document")
    assert kinds == ["query", "document"]


def test_a_models_own_query_and_document_forms_are_used_without_its_progress_bar():
    model = PromptedModel()
    embedder = as_embedder(model)
    query, document = embedder.embed(["one"], "query"), embedder.embed(["one"], "document")
    assert [call for call in model.calls if call[0] != "encode"] == [
        ("encode_query", False),
        ("encode_document", False),
    ]
    assert np.abs(query - document).max() > 0.01


def test_names_are_worked_out():
    def my_vectors(texts):
        return [letters(text) for text in texts]

    card = SentenceModel()
    card.model_card_data = type("Card", (), {"model_name": None, "base_model": "org/some-model"})()
    assert as_embedder(my_vectors).name == "my_vectors"
    assert as_embedder(lambda texts: texts).name == "lambda"
    assert as_embedder(my_vectors, name="v2").name == "v2"
    assert as_embedder(SentenceModel()).name == "SentenceModel"
    assert as_embedder(card).name == "org/some-model"


@pytest.mark.parametrize("given", [None, 3, "text-embedding-3-small", ["a"], Written])
def test_what_is_no_embedder_is_refused(given):
    with pytest.raises(
        DefinitionTypeError, match="give an embedder made from it" if given is Written else "no embedder"
    ):
        as_embedder(given)


def test_an_error_inside_the_function_is_the_one_seen():
    def many(texts):
        raise ValueError("the model is not loaded")

    with pytest.raises(ValueError, match="the model is not loaded"):
        as_embedder(many).embed(TEXTS, "query")


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[1, 2, 3]], "returned 1 vectors for 3 texts"),
        ([[1, 2]] * 3, "returned vectors of 2 numbers; 3 were expected"),
        ([[1, 2, 3], [1, float("nan"), 3], [1, 2, 3]], "NaN or infinity for text number 2 of 3"),
        ([[1, 2, 3], [1, 2, 3], [1, float("inf"), 3]], "NaN or infinity for text number 3 of 3"),
        ([[1, 2, 3], [1, 2], [1, 2, 3]], "did not return one vector of numbers a text"),
        (["a", "b", "c"], "did not return one vector of numbers a text"),
        (None, "array of 0 dimensions"),
        ([1, 2, 3], "array of 1 dimension;"),
        ([[]] * 3, "returned vectors of 0 numbers"),
    ],
)
def test_what_an_embedder_returned_is_checked(vectors, said):
    with pytest.raises(DefinitionError, match=said) as caught:
        check_vectors("toy", vectors, count=3, dim=3)
    assert "toy" in str(caught.value)
    embedder = Written(vectors)
    if vectors is not None:
        with pytest.raises(DefinitionError, match=said):
            asyncio.run(embed_async(embedder, TEXTS, "query"))


def test_rows_are_of_unit_length_whatever_their_size_and_zeros_stay():
    rows = check_vectors("toy", [[3e30, 4e30], [3e-30, 4e-30], [0, 0], [-2, 0]], count=4)
    assert rows.tolist() == pytest.approx(np.array([[0.6, 0.8], [0.6, 0.8], [0, 0], [-1, 0]]))


def test_the_array_an_embedder_keeps_is_not_changed():
    kept = np.full((3, 3), 2.0, np.float32)
    asyncio.run(embed_async(Written(kept), TEXTS, "query"))
    assert (kept == 2).all()


def test_a_plain_embedder_runs_in_a_thread_and_in_the_one_given():
    embedder = Written()
    rows = asyncio.run(embed_async(embedder, TEXTS, "document"))
    assert embedder.threads[0] is not threading.current_thread()
    assert np.abs(rows - EXPECTED).max() < 1e-6

    async def run(function, *args):
        return function(*args)

    asyncio.run(embed_async(embedder, TEXTS, "query", run=run))
    assert embedder.threads[1] is threading.current_thread()
    assert embedder.kinds == ["document", "query"]


@pytest.mark.parametrize("texts", ["one text", ["one", None], [b"one"]])
def test_only_lists_of_str_are_embedded(texts):
    with pytest.raises(DefinitionTypeError, match="list of texts"):
        asyncio.run(embed_async(Written(), texts, "query"))


def test_no_texts_are_no_rows():
    assert asyncio.run(embed_async(Written(np.zeros((0, 3))), [], "query")).shape[0] == 0


def test_a_fingerprint_tells_models_apart_and_forgives_rounding():
    draw = np.random.default_rng(0)
    vector = draw.normal(size=256)
    model = lambda change: fingerprint(as_embedder(lambda texts: [vector + change] * len(texts)))
    first = model(0.0)
    assert len(first) == 16
    assert {model(draw.normal(size=256) * 1e-6) for _ in range(200)} == {first}
    assert model(draw.normal(size=256)) != first
    assert fingerprint(as_embedder(lambda texts: [-vector] * len(texts))) != first
    assert fingerprint(as_embedder(lambda texts: [[1.0, 2.0]] * len(texts)))


def test_an_embedder_may_give_its_own_fingerprint():
    embedder = Written()
    embedder.fingerprint = "mine"
    assert fingerprint(embedder) == "mine"


def test_a_threshold_nobody_gave_is_measured_on_unrelated_sentences():
    everything_alike = as_embedder(lambda texts: [[1.0, 0.1 * (len(text) % 2)] for text in texts])
    assert everything_alike.default_threshold == pytest.approx(0.985, abs=0.01)
    vectors = np.eye(len(UNRELATED))
    nothing_alike = as_embedder(lambda texts: vectors[: len(texts)])
    assert nothing_alike.default_threshold == 0.25


def test_the_default_is_loaded_once_and_not_by_importing():
    assert default_embedder() is default_embedder()
    code = (
        "import sys, agentctx_nb.search.embedder as e; assert 'agentctx_nb.search.static' not in sys.modules;"
        "from agentctx_nb.search.embedder import fingerprint; print(fingerprint(e.default_embedder()))"
    )
    said = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}).stdout for seed in ("1", "2")}  # fmt: skip
    assert said == {fingerprint(default_embedder()) + "\n"}
