"""Ask a service over HTTP: one client for each runtime and event loop, bounded in time and size, errors in words.

The extra ``http`` brings the client, httpx2; it is imported with the first request.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agentctx_nb.errors import AgentCtxError, DefinitionError, MissingExtraError, describe
from agentctx_nb.retry import with_retries

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    import httpx2

__all__ = ["Answer", "ServiceError", "fetch"]

TIMEOUT_SECONDS = 10.0
LONGEST_WAIT = 5.0  # seconds; a prompt does not wait for a service that asks for more
LARGEST_BODY = 10_000_000  # bytes, unpacked; a prompt has no use for more
_SHOWN = 200  # characters of a reason given by a service
_SLOT = "_http_clients"
_LAST_PORT = 65_535


class ServiceError(AgentCtxError, RuntimeError):
    """A service could not be reached or refused; ``status`` is its HTTP status where it answered."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service answered, whole."""

    service: str
    status_code: int
    headers: Mapping[str, str]
    body: bytes
    encoding: str = "utf-8"

    @property
    def text(self) -> str:
        """The body as text; bytes that are none are replaced."""
        try:
            return self.body.decode(self.encoding, "replace")
        except (LookupError, ValueError):  # an encoding nobody knows, or that is no way to read
            return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """Return the body read as JSON; raise `ServiceError` where it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise ServiceError(
                f"{self.service} did not answer in JSON but {self.text[:_SHOWN].strip()!r}",
                status=self.status_code,
            ) from None

    def raise_for_status(self) -> None:
        """Raise `ServiceError` unless the status is one of success."""
        if 200 <= self.status_code < 300:
            return
        try:
            phrase = f" ({HTTPStatus(self.status_code).phrase})"
        except ValueError:
            phrase = ""
        what = f"{self.service} answered {self.status_code}{phrase}"
        if 300 <= self.status_code < 400 and "location" in self.headers:
            what += ", that it moved; put its new address in place of the old one"
        elif reason := self._reason():
            what += f": {reason}"
        raise ServiceError(what, status=self.status_code)

    def _reason(self) -> str:
        try:
            said = json.loads(self.body)
        except (ValueError, RecursionError):
            return ""
        found: Any = said
        if isinstance(said, dict):
            named = [said[key] for key in ("reason", "message", "error", "detail") if key in said]
            found = next((item for item in named if isinstance(item, str)), "")
        return found[:_SHOWN] if isinstance(found, str) else ""


async def fetch(
    runtime: Any,
    url: str,
    *,
    service: str,
    method: str = "GET",
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
    timeout: float = TIMEOUT_SECONDS,  # noqa: ASYNC109  of one try; the pauses between tries are not in it
    tries: int = 3,
) -> Answer:
    """Send a request and return the answer, whatever its status.

    Parameters
    ----------
    service
        What errors call the other side.
    body
        Sent as JSON where it is not None.

    Raises
    ------
    ServiceError
        The service cannot be reached, or answers with more than 10 MB.
    DefinitionError
        The address or a header cannot be sent.
    MissingExtraError
        httpx2 is not installed.
    """
    client = await _client(runtime, service)
    import httpx2

    try:
        request = client.build_request(method, url, params=params, headers=headers, json=body)
    except Exception as exc:  # what is no address, header or body; each has its own error
        raise DefinitionError(f"a request to {service} cannot be sent: {describe(exc)}") from exc

    port = request.url.port
    if port is not None and not 0 < port <= _LAST_PORT:
        raise DefinitionError(
            f"a request to {service} cannot be sent: ports are from 1 to {_LAST_PORT}, not {port}"
        )

    async def send() -> Answer:
        async with asyncio.timeout(timeout), _sent(client, request) as response:
            received = bytearray()
            async for chunk in response.aiter_bytes():
                received += chunk
                if len(received) > LARGEST_BODY:
                    raise ServiceError(f"{service} answered with more than {LARGEST_BODY // 10**6} MB")
            encoding = response.charset_encoding or "utf-8"
            return Answer(service, response.status_code, response.headers, bytes(received), encoding)

    try:
        return await with_retries(
            send,
            tries=tries,
            first_wait=0.25,
            longest_wait=LONGEST_WAIT,
            retry_on=(httpx2.TransportError,),  # a service that does not answer in time is not asked again
        )
    except (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, UnicodeEncodeError) as exc:
        raise DefinitionError(f"a request to {service} cannot be sent: {describe(exc)}") from exc
    except TimeoutError as exc:
        raise ServiceError(f"{service} did not answer within {timeout:g} s") from exc
    except (httpx2.RequestError, OSError) as exc:
        raise ServiceError(f"{service} cannot be reached: {describe(exc)}") from exc


@asynccontextmanager
async def _sent(client: httpx2.AsyncClient, request: httpx2.Request) -> AsyncGenerator[httpx2.Response]:
    """Send a request and give the response, its body still to be read."""
    response = await client.send(request, stream=True)
    try:
        yield response
    finally:
        await response.aclose()


async def _client(runtime: Any, service: str) -> httpx2.AsyncClient:
    """Return the runtime's client for the loop that is running."""
    if "httpx2" not in sys.modules:
        await runtime.threads.run(_load, service)  # its import takes longer than a loop should stand still
    kept = vars(runtime)
    if _SLOT not in kept:
        clients = kept[_SLOT] = _Clients()

        async def close() -> None:
            kept.pop(_SLOT, None)
            await clients.close()

        runtime.on_close(close)
    found: _Clients = kept[_SLOT]
    return await found.get()


def _load(service: str) -> None:
    try:
        import httpx2  # noqa: F401
    except ModuleNotFoundError as exc:
        if exc.name != "httpx2":
            raise
        raise MissingExtraError("httpx2", extra="http", purpose=f"asking {service}") from None


class _Clients:
    """A client for each event loop, closed with the loop or before."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[asyncio.AbstractEventLoop, _Kept] = WeakKeyDictionary()

    async def get(self) -> httpx2.AsyncClient:
        loop = asyncio.get_running_loop()
        kept = self._kept.get(loop)
        if kept is None:
            kept = self._kept[loop] = _Kept()
            await kept.start()
        return kept.client

    async def close(self) -> None:
        kept = self._kept.pop(asyncio.get_running_loop(), None)
        self._kept.clear()  # other loops are handed the closing of theirs when nothing holds it any more
        if kept is not None:
            await kept.life.aclose()


class _Kept:
    """A client whose life is an async generator: a loop that ends closes those it has seen start."""

    def __init__(self) -> None:
        import httpx2

        from agentctx_nb import __version__

        self.client = httpx2.AsyncClient(timeout=None, headers={"User-Agent": f"agentctx_nb/{__version__}"})
        self.life = self._live(self.client)

    async def start(self) -> None:
        await anext(self.life)

    @staticmethod
    async def _live(client: httpx2.AsyncClient) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            await client.aclose()
