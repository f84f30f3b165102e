"""What turns a text into a vector: the protocol, what is taken for an embedder, and the checks on what it returns."""

from __future__ import annotations

import asyncio
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

import numpy as np

from agentctx_nb.errors import DefinitionError, DefinitionTypeError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from numpy.typing import NDArray

    from agentctx_nb.search.static import StaticEmbedder

    Run = Callable[..., Awaitable[Any]]  # (function, *arguments), as asyncio.to_thread

__all__ = [
    "Embedder",
    "Kind",
    "as_embedder",
    "check_vectors",
    "default_embedder",
    "embed_async",
    "fingerprint",
    "measured_threshold",
]

Kind = Literal["query", "document"]

PROBE = "The quick brown fox asks how embedders are told apart."

# Sentences that have nothing to do with each other; how alike an embedder finds them says where "related" begins.
UNRELATED = (
    "Bake the bread for forty minutes until the crust is brown.",
    "The committee postponed its vote on the new harbour.",
    "A binary search halves the list at every comparison.",
    "My left knee hurts when I climb stairs.",
    "Saturn's rings are made of ice and dust.",
    "How do I reset the password of my account?",
    "The violin was tuned a little too high.",
    "Interest on the loan is paid every quarter.",
    "Whales breathe air and nurse their young.",
    "Please water the tomatoes while we are away.",
    "The train to Lisbon leaves from platform four.",
    "A goalkeeper may not handle a pass from a team mate.",
    "Install the package with administrator rights.",
    "The treaty ended thirty years of war.",
    "Copper conducts electricity better than iron.",
    "She painted the fence green last summer.",
    "Heavy snow is expected above eight hundred metres.",
    "What is the capital of Mongolia?",
    "Wool shrinks when it is washed too hot.",
    "The judge dismissed the case for lack of evidence.",
    "Bees dance to tell where flowers are.",
    "Return the parcel within fourteen days.",
    "Quarterly revenue fell short of expectations.",
    "Turn left after the bridge and park behind the church.",
)


class Embedder(Protocol):
    """Texts to vectors.

    ``name`` and ``dim`` stand beside every table of vectors; ``default_threshold`` is the cosine from which two
    texts may be taken as related, near the 99th percentile of unrelated pairs. An embedder may also have
    ``async aembed(texts, kind)``, which is then used from async code instead of a worker thread.
    """

    @property
    def name(self) -> str:
        """What the vectors are told apart by: the model's name, as a rule."""

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""

    @property
    def default_threshold(self) -> float:
        """The cosine from which two texts may be taken as related."""

    def embed(self, texts: Sequence[str], kind: Kind) -> NDArray[np.float32]:
        """Return one row of unit length a text (n x dim, float32); a text that says nothing may get zeros."""


def as_embedder(given: Any, *, name: str | None = None) -> Embedder:
    """Return ``given`` as an embedder.

    Taken are an `Embedder` as it is; an object with ``encode(texts)``, as sentence-transformers has; and a
    function, plain or async, from texts to vectors or from one text to one vector, with a parameter ``kind`` if
    it wants to know. What those do not say (dimension, threshold) is found out by asking, on first use.

    >>> toy = as_embedder(lambda text: [len(text), text.count("a")], name="toy")
    >>> toy.embed(["b", "bb"], "document").tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    from agentctx_nb.search.adapters import CallableEmbedder, EncodingEmbedder

    if isinstance(given, str | bytes):
        raise DefinitionTypeError(
            f"{given[:60]!r} is only a name and no embedder; give one made from it, as HttpEmbedder(base_url, model)"
        )
    if isinstance(given, type):
        raise DefinitionTypeError(
            f"{given.__name__} is a class; give an embedder made from it: {given.__name__}(…)"
        )
    parts = ("name", "dim", "default_threshold", "embed")
    has = [part for part in parts if hasattr(type(given), part) or part in getattr(given, "__dict__", ())]
    if len(has) == len(parts):
        return cast("Embedder", given)
    if callable(getattr(given, "encode", None)):
        return EncodingEmbedder(given, name=name)
    if callable(getattr(given, "embed", None)):
        return CallableEmbedder(given.embed, name=name or str(getattr(given, "name", type(given).__name__)))
    if callable(given):
        return CallableEmbedder(given, name=name)
    raise DefinitionTypeError(
        f"{type(given).__name__} is no embedder; give an object with embed or encode, or a function of texts"
    )


def check_vectors(name: str, vectors: Any, *, count: int, dim: int | None = None) -> NDArray[np.float32]:
    """Return what embedder ``name`` answered as a new array of ``count`` float32 rows of unit length.

    A DefinitionError says what is wrong with it: not numbers, another count or dimension, NaN or infinity.
    """
    try:
        rows = np.array(vectors, dtype=np.float32)  # torch tensors and lists of arrays included
    except (TypeError, ValueError) as error:
        raise DefinitionError(
            f"embedder {name} did not return one vector of numbers a text: {error}"
        ) from error
    if rows.ndim != 2 and not (rows.size == 0 and count == 0):
        raise DefinitionError(
            f"embedder {name} returned an array of {rows.ndim} dimension{'s' * (rows.ndim != 1)}; "
            "a list of vectors, one a text, was expected"
        )
    if count == 0:
        return np.zeros((0, dim or (rows.shape[1] if rows.ndim == 2 else 0)), np.float32)
    if len(rows) != count:
        raise DefinitionError(f"embedder {name} returned {len(rows)} vectors for {count} texts")
    if rows.shape[1] == 0 or (dim is not None and rows.shape[1] != dim):
        wanted = f"{dim} were" if dim is not None else "at least one was"
        raise DefinitionError(
            f"embedder {name} returned vectors of {rows.shape[1]} numbers; {wanted} expected"
        )
    if not np.isfinite(rows).all():
        bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise DefinitionError(
            f"embedder {name} returned NaN or infinity for text number {bad + 1} of {count}"
        )
    # By the largest number first: squares of very large or small ones would leave float32.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows /= np.where(largest > 0, largest, 1)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(lengths > 0, lengths, 1)
    return rows


async def embed_async(
    embedder: Embedder, texts: Sequence[str], kind: Kind = "document", *, run: Run = asyncio.to_thread
) -> NDArray[np.float32]:
    """Return the checked vectors of ``texts`` without holding up the event loop.

    An embedder's own ``aembed`` is awaited; where it has none, ``run(embed, texts, kind)`` calls it in a thread.
    """
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise DefinitionTypeError("embed takes a list of texts, all of them str")
    own = getattr(embedder, "aembed", None)
    vectors = await (own(list(texts), kind) if own else run(embedder.embed, list(texts), kind))
    # Asked for only now: an adapter learns its dimension from its first answer.
    return check_vectors(embedder.name, vectors, count=len(texts), dim=embedder.dim if len(texts) else None)


def fingerprint(embedder: Embedder) -> str:
    """Return 16 letters that tell models of the same name apart, by what they make of a fixed text.

    They hang on which numbers of the vector are the 16 largest, and on their signs, so that what another
    processor rounds differently does not change them. An embedder that answers a little differently each time
    gives its own (a str ``fingerprint``).
    """
    own = getattr(embedder, "fingerprint", None)
    if isinstance(own, str):
        return own
    vector = check_vectors(embedder.name, embedder.embed([PROBE], "document"), count=1)[0]
    largest = np.argsort(-np.abs(vector), kind="stable")[:16]
    said = " ".join(f"{'-' if vector[n] < 0 else '+'}{n}" for n in sorted(largest.tolist()))
    return hashlib.sha256(f"{len(vector)} {said}".encode()).hexdigest()[:16]


def measured_threshold(embed: Callable[[list[str]], NDArray[np.float32]]) -> float:
    """Return a threshold for an embedder nobody has measured, from 24 sentences that have nothing in common.

    It is the 99th percentile of their cosines and a quarter of what is left up to 1: texts of one collection
    share a subject and are that much more alike (measured with the static table and with MiniLM).
    """
    rows = embed(list(UNRELATED))
    cosines = (rows @ rows.T)[np.triu_indices(len(rows), 1)]
    alike = float(np.clip(np.percentile(cosines, 99), 0.0, 0.98))
    return round(alike + (1 - alike) / 4, 2)


@cache
def default_embedder() -> StaticEmbedder:
    """Return the embedder that comes with the package: a static table, loaded on the first call."""
    from agentctx_nb.search.static import StaticEmbedder

    return StaticEmbedder()
