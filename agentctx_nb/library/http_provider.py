"""Make a provider of any address that answers in JSON or text: what to fetch, how to write it, what if it fails.

This is the reference page's EXTERNAL_API as one call: by default an error is logged and the text stays empty.
"""

from __future__ import annotations

import inspect
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from agentctx_nb.errors import DefinitionError, DefinitionTypeError, describe, did_you_mean
from agentctx_nb.library.http_client import TIMEOUT_SECONDS, fetch
from agentctx_nb.names import known_fields, shown
from agentctx_nb.provider import Provider, ProviderResult

if TYPE_CHECKING:
    from agentctx_nb.model import Memory
    from agentctx_nb.state import State

__all__ = ["http_provider"]

_NAME = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")
_OF_MESSAGE = {
    "text": lambda message: message.content.text,
    "roomId": lambda message: message.room_id,
    "entityId": lambda message: message.entity_id,
}
_ON_ERROR = ("empty", "raise")


def http_provider(
    name: str,
    url: str | Callable[[Memory], Any],
    *,
    shape: Callable[[Any], Any] | None = None,
    on_error: Literal["empty", "raise"] = "empty",
    method: str = "GET",
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
    request_timeout: float = TIMEOUT_SECONDS,
    tries: int = 3,
    **fields: Any,
) -> Provider:
    """Return a provider that fetches ``url`` and shapes the answer.

    Parameters
    ----------
    url
        An address, in which ``{{name}}`` stands for a value of the state, else a setting, else ``text``,
        ``roomId`` or ``entityId`` of the message; encoded, except where the address begins with it. Or a
        function of the message that returns an address, or None when there is nothing to fetch.
    shape
        A function of the answer (read as JSON where it is JSON, else text) that returns a text, a result, a dict
        of text, values and data, or None. By default the text is the answer itself. It may be async.
    on_error
        ``"empty"`` logs the error and returns an empty result; ``"raise"`` lets the provider fail.
    params, headers, body
        Of the request; ``{{name}}`` in their texts is replaced as in the address. The body is sent as JSON.
    request_timeout
        Seconds for one try.
    tries
        How often a busy service is asked; 1 for a request that must not be sent twice.
    fields
        Of the provider: ``description``, ``dynamic``, ``relevance_keywords``, ``ttl``, ``after``, ...

    >>> news = http_provider("NEWS", "{{NEWS_URL}}/top?topic={{topic}}", shape=lambda news: news["title"], ttl=60)
    >>> news.name, news.ttl
    ('NEWS', 60)
    """
    if not callable(url) and not isinstance(url, str):
        raise DefinitionTypeError(
            f"url of provider {name} is a string or a function of the message, not {shown(url)}"
        )
    if shape is not None and not callable(shape):
        raise DefinitionTypeError(f"shape of provider {name} must be callable, not {shown(shape)}")
    if on_error not in _ON_ERROR:
        raise DefinitionError(
            f"on_error of provider {name} is 'empty' or 'raise', not {shown(on_error)}{did_you_mean(str(on_error), _ON_ERROR)}"
        )
    seconds = request_timeout
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise DefinitionError(f"request_timeout of provider {name} is seconds above 0, not {shown(seconds)}")
    if isinstance(tries, bool) or not isinstance(tries, int) or tries < 1:
        raise DefinitionError(f"tries of provider {name} is a whole number from 1 up, not {shown(tries)}")

    async def get(runtime: Any, message: Memory, state: State) -> Any:
        def filled(value: Any, *, encoded: bool = False) -> Any:
            return _filled(value, name, runtime, message, state, encoded=encoded)

        async def data_and_result() -> Any:
            where = filled(url, encoded=True) if isinstance(url, str) else await _awaited(url(message))
            if where is None:
                return None
            answer = await fetch(
                runtime,
                where,
                service=name,
                method=method,
                params=filled(params),
                headers=filled(headers),
                body=filled(body),
                timeout=request_timeout,
                tries=tries,
            )
            answer.raise_for_status()
            data = _decoded(answer.text)
            return _result(data if shape is None else await _awaited(shape(data)), data)

        try:
            return await data_and_result()
        except Exception as exc:
            if on_error == "raise":
                raise
            runtime.logger.error({"provider": name, "error": describe(exc)}, "Failed to fetch external data")
            return ProviderResult()

    return Provider(get=get, **known_fields({"name": name, **fields}, _FIELDS, of="a provider"))


_FIELDS = tuple(field for field in Provider.__dataclass_fields__ if field != "get")


def _filled(value: Any, of: str, runtime: Any, message: Memory, state: State, *, encoded: bool) -> Any:
    """Return ``value`` with the names in its texts replaced, down through dicts and lists."""
    if isinstance(value, Mapping):
        return {
            key: _filled(item, of, runtime, message, state, encoded=encoded) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_filled(item, of, runtime, message, state, encoded=encoded) for item in value]
    if not isinstance(value, str):
        return value

    def replacement(found: re.Match[str]) -> str:
        text = _text(_named(found[1], of, runtime, message, state))
        return quote(text, safe="") if encoded and found.start() else text

    return _NAME.sub(replacement, value)


def _named(name: str, of: str, runtime: Any, message: Memory, state: State) -> Any:
    found = state.values.get(name)
    if found is None:
        found = runtime.get_setting(name)
    if found is None and name in _OF_MESSAGE:
        found = _OF_MESSAGE[name](message)
    if found is None:
        raise DefinitionError(
            f"provider {of} asks for {{{{{name}}}}}, which is no value, no setting and nothing of the message; "
            "set it, or name the provider that writes it in after="
        )
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _result(shaped: Any, data: Any) -> Any:
    """Return what was shaped as a result; a text brings the answer along as data."""
    if isinstance(shaped, str):
        return ProviderResult(text=shaped, data={"apiData": data})
    if shaped is data and not isinstance(shaped, ProviderResult):
        text = json.dumps(data, ensure_ascii=False) if data is not None else ""
        return ProviderResult(text=text, data={"apiData": data})
    return shaped


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
