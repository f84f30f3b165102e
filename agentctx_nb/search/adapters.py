"""Embedders made of what people have: a function of texts, or an object with ``encode``."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from agentctx_nb.bridge import run_sync
from agentctx_nb.errors import DefinitionError
from agentctx_nb.search.embedder import PROBE, check_vectors, measured_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from numpy.typing import NDArray

    from agentctx_nb.search.embedder import Kind

    Floats = NDArray[np.float32]

__all__ = ["AskedEmbedder", "CallableEmbedder", "EncodingEmbedder"]


class AskedEmbedder:
    """What an embedder says only when asked: dimension and threshold, found out once and kept."""

    name: str

    def __init__(self, dim: int | None, *, threshold: float | None = None) -> None:
        self._dim = dim
        self._threshold = threshold

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Return the checked vectors of ``texts``; each kind of embedder says how."""
        raise TypeError(f"{type(self).__name__} has no embed of its own")

    @property
    def dim(self) -> int:
        """How many numbers a vector has; a fixed text is embedded to see, unless one has been before."""
        if self._dim is None:
            self.embed([PROBE], "document")
        assert self._dim is not None
        return self._dim

    @property
    def default_threshold(self) -> float:
        """The cosine from which texts may be taken as related, worked out from 24 sentences on first use."""
        if self._threshold is None:
            self._threshold = measured_threshold(lambda texts: self.embed(texts, "document"))
        return self._threshold

    def _checked(self, vectors: Any, count: int) -> Floats:
        rows = check_vectors(self.name, vectors, count=count, dim=self._dim)
        if count:
            self._dim = rows.shape[1]
        return rows


class CallableEmbedder(AskedEmbedder):
    """A function, plain or async, from texts to vectors or from one text to one vector.

    Which of the two it is shows when it is first called with a list; a first parameter annotated ``str`` says
    it beforehand. It is told ``kind`` where it has a parameter of that name.
    """

    def __init__(self, function: Callable[..., Any], *, name: str | None = None) -> None:
        super().__init__(None)
        called = str(getattr(function, "__name__", type(function).__name__))
        self.name = name or ("lambda" if called == "<lambda>" else called)
        self._function = function
        called_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            type(function).__call__
        )
        self.aembed: Callable[..., Coroutine[Any, Any, Floats]] | None = self._embed if called_async else None
        try:
            parameters = dict(inspect.signature(function).parameters)
        except (TypeError, ValueError):  # some functions written in C tell nothing
            parameters = {}
        self._kind = "kind" in parameters
        first = next(iter(parameters.values()), None)
        self._one_by_one: bool | None = True if first and first.annotation in {str, "str"} else None

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Return the checked vectors; an async function has ``aembed`` for async code."""
        if self.aembed is not None:
            return run_sync(lambda: self._embed(list(texts), kind))
        # A plain function is called right here, on this thread: `_embed` then has nothing to wait for.
        steps = self._embed(list(texts), kind)
        try:
            steps.send(None)
        except StopIteration as done:
            rows: Floats = done.value
            return rows
        steps.close()
        self.aembed = self._embed  # a plain function that returns what an async one does
        return run_sync(lambda: self._embed(list(texts), kind))

    async def _embed(self, texts: list[str], kind: Kind) -> Floats:
        if not texts:
            return np.zeros((0, self._dim or 0), np.float32)
        if self._one_by_one is None:
            return await self._first_time(texts, kind)
        if self._one_by_one:
            return self._checked([await self._ask(text, kind) for text in texts], len(texts))
        return self._checked(await self._ask(texts, kind), len(texts))

    async def _first_time(self, texts: list[str], kind: Kind) -> Floats:
        """Try all texts at once, and one by one where that cannot be meant."""
        try:
            vectors = await self._ask(texts, kind)
        except (AttributeError, TypeError, ValueError, KeyError) as error:
            refused: Exception = error
        else:
            if _dimensions(vectors) != 1:
                rows = self._checked(vectors, len(texts))
                self._one_by_one = False
                return rows
            refused = DefinitionError(f"embedder {self.name} returned one vector for {len(texts)} texts")
        try:
            single = [await self._ask(text, kind) for text in texts]
        except Exception:  # noqa: BLE001  whatever it is, it comes of a call that was only a guess
            raise refused from None
        if any(_dimensions(vector) != 1 for vector in single):
            raise refused
        rows = self._checked(single, len(texts))
        self._one_by_one = True
        return rows

    async def _ask(self, argument: str | list[str], kind: Kind) -> Any:
        answer = self._function(argument, kind=kind) if self._kind else self._function(argument)
        return await answer if inspect.isawaitable(answer) else answer


class EncodingEmbedder(AskedEmbedder):
    """An object with ``encode(texts)``, as sentence-transformers has; its own query and document forms are used."""

    def __init__(self, model: Any, *, name: str | None = None) -> None:
        size = getattr(model, "get_sentence_embedding_dimension", None)
        dim = size() if callable(size) else None
        super().__init__(dim if isinstance(dim, int) else None)
        self._model = model
        self.name = name or _model_name(model)

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Return the checked vectors of ``texts``."""
        encode = getattr(self._model, f"encode_{kind}", None) or self._model.encode
        silent = {"show_progress_bar": False} if _takes(encode, "show_progress_bar") else {}
        return self._checked(encode(list(texts), **silent) if texts else [], len(texts))


def _dimensions(vectors: Any) -> int:
    """Return 1 for a vector, 2 for a list of them, -1 for what is neither."""
    try:
        return int(np.ndim(vectors))
    except (TypeError, ValueError):
        return -1


def _takes(function: Callable[..., Any], parameter: str) -> bool:
    try:
        return parameter in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _model_name(model: Any) -> str:
    """Return the model's name: its own, the one on its card, or its class's."""
    card = getattr(model, "model_card_data", None)
    for found in (
        getattr(model, "name", None),
        getattr(card, "model_name", None),
        getattr(card, "base_model", None),
        getattr(model, "model_name_or_path", None),
    ):
        if isinstance(found, str) and found:
            return found
    return type(model).__name__
