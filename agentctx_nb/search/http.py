"""Vectors from an OpenAI-compatible ``/embeddings`` endpoint, local or remote, with a cache on disk."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from agentctx_nb.bridge import run_sync
from agentctx_nb.errors import AgentCtxError, DefinitionError, MissingExtraError
from agentctx_nb.retry import with_retries
from agentctx_nb.search.adapters import AskedEmbedder
from agentctx_nb.search.embedder import check_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from agentctx_nb.search.embedder import Kind

    Floats = NDArray[np.float32]

__all__ = ["EmbeddingRequestError", "HttpEmbedder"]

_AT_ONCE = 4  # requests under way
_CODE = re.compile(r"[a-z0-9_]{1,60}")


class EmbeddingRequestError(AgentCtxError, RuntimeError):
    """The endpoint refused or could not be reached; ``status`` is its HTTP status, None where it gave none."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class HttpEmbedder(AskedEmbedder):
    """Vectors of ``model`` at ``base_url`` (``…/v1``), as OpenAI's and many local servers give them.

    Needs the extra ``[http]``. ``dim`` is asked of the server when given and learned from its first answer when
    not. ``query_prefix`` and ``document_prefix`` are for models trained with one ("query: "). With ``cache_dir``
    a text is sent once: its vector is kept there under a hash, the text itself is not. A busy server is asked
    again up to ``tries`` times. Texts and key stand in no message, log or repr.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        dim: int | None = None,
        batch_size: int = 128,
        encoding_format: Literal["float", "base64"] = "float",
        timeout: float = 30.0,
        tries: int = 3,
        cache_dir: str | os.PathLike[str] | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
        default_threshold: float | None = None,
        longest_wait: float = 20.0,
    ) -> None:
        if not re.match(r"https?://", base_url):
            raise DefinitionError(
                "base_url must begin with http:// or https://, as in http://127.0.0.1:8080/v1"
            )
        if not 1 <= batch_size <= 2048:
            raise DefinitionError(f"batch_size must be from 1 to 2048; it is {batch_size}")
        if encoding_format not in {"float", "base64"}:
            raise DefinitionError(f"encoding_format must be 'float' or 'base64'; it is {encoding_format!r}")
        super().__init__(dim, threshold=default_threshold)
        self.name = model
        # Some servers answer a little differently each time, so what marks these vectors is who made them.
        self.fingerprint = hashlib.sha256(
            f"{model} {dim} {query_prefix} {document_prefix}".encode()
        ).hexdigest()[:16]
        self._url = base_url.rstrip("/") + "/embeddings"
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._body: dict[str, Any] = {"model": model, "encoding_format": encoding_format}
        if dim is not None:
            self._body |= {"dimensions": dim}
        self._asked_dim = dim
        self._batch_size = batch_size
        self._timeout = timeout
        self._tries = tries
        self._longest_wait = longest_wait
        self._prefixes = {"query": query_prefix, "document": document_prefix}
        self._cache = None if cache_dir is None else Path(cache_dir)

    def __repr__(self) -> str:
        return f"HttpEmbedder({self._url.removesuffix('/embeddings')!r}, {self.name!r})"

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Return the checked vectors, waiting for the server; from async code `aembed` is the one to await."""
        return run_sync(lambda: self.aembed(texts, kind))

    async def aembed(self, texts: Sequence[str], kind: Kind = "document") -> Floats:
        """Return one row of unit length a text, zeros for a blank one, which servers refuse."""
        sent = [self._prefixes[kind] + text for text in texts]
        wanted = list(dict.fromkeys(full for full, text in zip(sent, texts, strict=True) if text.strip()))
        found = self._read_cache(wanted)
        missing = [text for text in wanted if text not in found]
        if missing:
            found |= await self._request_all(missing)
        if not found and texts and self._dim is None:
            await self.aembed(["dimension"], kind)
        rows = np.zeros((len(texts), self._dim or 0), np.float32)
        for number, text in enumerate(sent):
            if text in found:
                rows[number] = found[text]
        return rows

    async def _request_all(self, texts: list[str]) -> dict[str, Floats]:
        try:
            import httpx2
        except ImportError as error:
            raise MissingExtraError("httpx2", extra="http", purpose="HttpEmbedder") from error
        batches = [texts[n : n + self._batch_size] for n in range(0, len(texts), self._batch_size)]
        turn = asyncio.Semaphore(_AT_ONCE)
        async with httpx2.AsyncClient(timeout=self._timeout, headers=self._headers) as client:

            async def one(batch: list[str]) -> Floats:
                async with turn:
                    rows = await self._request(client, batch)
                self._write_cache(batch, rows)  # at once: what was paid for survives a later failure
                return rows

            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(one(batch)) for batch in batches]
            except ExceptionGroup as failed:
                raise failed.exceptions[0] from None
        return {
            text: row for batch, task in zip(batches, tasks, strict=True)
            for text, row in zip(batch, task.result(), strict=True)
        }  # fmt: skip

    async def _request(self, client: Any, batch: list[str]) -> Floats:
        import httpx2

        async def send() -> Any:
            return await client.post(self._url, json={**self._body, "input": batch})

        try:
            answer = await with_retries(
                send, tries=self._tries, longest_wait=self._longest_wait, retry_on=(httpx2.TransportError,)
            )
        except httpx2.TimeoutException as error:
            raise EmbeddingRequestError(
                f"{self._url} did not answer in {self._timeout:g} s, asked {self._tries} times"
            ) from error
        except httpx2.TransportError as error:
            raise EmbeddingRequestError(f"{self._url} cannot be reached: {type(error).__name__}") from error
        if not 200 <= answer.status_code < 300:
            raise EmbeddingRequestError(
                f"{self._url} answered {answer.status_code}{_reason(answer)}", status=answer.status_code
            )
        try:
            vectors = _in_order(answer.json()["data"], len(batch))
        except (KeyError, TypeError, ValueError, binascii.Error) as error:
            raise EmbeddingRequestError(
                f"{self._url} answered something that is no list of embeddings: {type(error).__name__}"
            ) from None
        return self._checked(vectors, len(batch))

    def _file(self, text: str) -> Path:
        assert self._cache is not None
        key = hashlib.sha256(
            f"{self.name}\0{self._asked_dim}\0{text}".encode("utf-8", "surrogatepass")
        ).hexdigest()
        return self._cache / key[:2] / f"{key}.f32"

    def _read_cache(self, texts: list[str]) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        if self._cache is None:
            return found
        for text in texts:
            try:
                row = np.frombuffer(self._file(text).read_bytes(), "<f4")
                kept = check_vectors(self.name, row[None], count=1, dim=self._dim)[0]
            except (OSError, ValueError):  # not there, cut short, or of another dimension: ask the server
                continue
            self._dim = len(kept)
            found[text] = kept
        return found

    def _write_cache(self, texts: list[str], rows: Floats) -> None:
        if self._cache is None:
            return
        for text, row in zip(texts, rows, strict=True):
            file = self._file(text)
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, unfinished = tempfile.mkstemp(dir=file.parent)
            try:
                with os.fdopen(handle, "wb") as out:
                    out.write(row.astype("<f4").tobytes())
                Path(unfinished).replace(file)  # another process sees the whole vector or none
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(unfinished).unlink()
                raise


def _in_order(entries: list[dict[str, Any]], count: int) -> list[Any]:
    """Return the vectors by their ``index``; servers may answer in any order."""
    found: dict[int, Any] = {}
    for place, entry in enumerate(entries):
        given = entry["embedding"]
        found[int(entry.get("index", place))] = (
            np.frombuffer(base64.b64decode(given, validate=True), "<f4") if isinstance(given, str) else given
        )
    if len(entries) != count or sorted(found) != list(range(count)):
        raise ValueError("the indexes do not match the texts sent")
    return [found[number] for number in range(count)]


def _reason(answer: Any) -> str:
    """Return the error's code in brackets; its message may quote the text or the key and is left out."""
    try:
        error = answer.json()["error"]
        said = error.get("code") or error.get("type")
    except (AttributeError, KeyError, TypeError, ValueError):
        return ""
    return f" ({said})" if isinstance(said, str) and _CODE.fullmatch(said) else ""
