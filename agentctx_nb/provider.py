"""Provider and ProviderResult: what may feed a prompt, and what one of them may answer."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self, SupportsFloat, TypeAlias

from agentctx_nb.caution import caution
from agentctx_nb.errors import DefinitionError, DefinitionTypeError, ResultError, did_you_mean
from agentctx_nb.names import known_fields, shown
from agentctx_nb.secrecy.secret_mask import printed_fields

if TYPE_CHECKING:
    from agentctx_nb.keywords import KeywordMode

__all__ = ["Call", "Part", "Provider", "ProviderResult", "as_provider", "caller", "read_result"]

# What execution awaits: (runtime, message, state) -> whatever the provider returned.
Call: TypeAlias = Callable[[Any, Any, Any], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Provider:
    """One source of context, changed only by registering another under the same name.

    Parameters
    ----------
    name
        Unique in a runtime; upper case by convention.
    get
        ``async def`` or ``def`` taking none to three of ``(runtime, message, state)`` and returning a
        `ProviderResult`, a dict of its fields, a string (its text) or ``None``. A ``def`` runs in a
        worker thread.
    dynamic
        Run only when named or woken by one of ``relevance_keywords``.
    position
        Place in the text and in precedence, lowest first; says nothing about time.
    private
        Not in the regular list; run only when named.
    always_run
        Run whatever the lists say.
    timeout
        Seconds from its own start after which it is cancelled.
    ttl
        Seconds for which a good result is used again for the same message, room and entity.
    after
        Names of the providers whose results it needs in ``state``.
    keyword_match
        ``"word"``, ``"prefix"`` or ``"substring"``.

    Raises
    ------
    DefinitionError
        A field has a value that cannot work; `DefinitionTypeError` where it is the type.

    >>> Provider("GREETING", lambda: "Hello!").dynamic
    False
    """

    name: str
    get: Callable[..., Any]
    description: str | None = None
    dynamic: bool = False
    position: float = 0
    private: bool = False
    always_run: bool = False
    relevance_keywords: tuple[str, ...] = ()
    timeout: float | None = None
    ttl: float | None = None
    after: tuple[str, ...] = ()
    keyword_match: KeywordMode = "word"

    __repr__ = printed_fields

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise DefinitionTypeError(f"the name of a provider is a string, not {shown(self.name)}")
        if not self.name.strip():
            raise DefinitionError("a provider needs a name")
        if not callable(self.get):
            raise DefinitionTypeError(f"get of provider {self.name} must be callable, not {shown(self.get)}")
        check_function(self.get, of=f"get of provider {self.name}")
        if self.description is not None and not isinstance(self.description, str):
            raise self._wrong_type("description", "a string")
        for flag in ("dynamic", "private", "always_run"):
            value = getattr(self, flag)
            if value is None:
                object.__setattr__(self, flag, False)
            elif not isinstance(value, bool):
                raise self._wrong_type(flag, "True or False")
        object.__setattr__(self, "position", self._checked_position())
        for limit in ("timeout", "ttl"):
            self._check_seconds(limit)
        object.__setattr__(self, "relevance_keywords", self._checked_keywords())
        object.__setattr__(self, "after", self._checked_after())
        if self.keyword_match not in ("word", "prefix", "substring"):
            raise DefinitionError(
                f"keyword_match of provider {self.name} is 'word', 'prefix' or 'substring', "
                f"not {shown(self.keyword_match)}"
            )

    def _checked_position(self) -> float:
        if self.position is None:
            return 0
        position = _number(self.position)
        if position is None:
            raise self._wrong_type("position", "a number")
        if position != position:  # noqa: PLR0124  only NaN; math.isnan refuses an int of 400 digits
            raise DefinitionError(f"position of provider {self.name} is NaN, which has no place in an order")
        return position

    def _check_seconds(self, limit: str) -> None:
        given: Any = getattr(self, limit)
        if given is None:
            return
        seconds = _number(given)
        if seconds is None:
            raise self._wrong_type(limit, "a number of seconds")
        object.__setattr__(self, limit, seconds)
        try:
            float(seconds)
        except OverflowError:
            raise DefinitionError(
                f"{limit} of provider {self.name} is more seconds than can be counted; leave it out for no limit"
            ) from None
        if not seconds > 0:
            raise DefinitionError(
                f"{limit} of provider {self.name} must be more than 0 s, not {shown(seconds)}"
            )

    def _checked_keywords(self) -> tuple[str, ...]:
        if self.relevance_keywords == ():
            return ()
        from agentctx_nb.keywords import check_keywords  # most providers have none

        try:
            return check_keywords(self.relevance_keywords)
        except DefinitionError as exc:
            raise type(exc)(f"provider {self.name}: {exc}") from None

    def _checked_after(self) -> tuple[str, ...]:
        after: Any = self.after
        if after is None:
            return ()
        if isinstance(after, str):
            after = (after,)
        if not isinstance(after, Iterable) or isinstance(after, bytes | bytearray | Mapping):
            raise self._wrong_type("after", "names of providers")
        names = tuple(after)
        for name in names:
            if not isinstance(name, str) or not name.strip():
                raise self._wrong_type("after", "names of providers")
        if self.name in names:
            raise DefinitionError(f"provider {self.name} cannot wait for itself; remove it from after=")
        return tuple(sorted(names) if isinstance(after, set | frozenset) else dict.fromkeys(names))

    def _wrong_type(self, option: str, wanted: str) -> DefinitionTypeError:
        return DefinitionTypeError(
            f"{option} of provider {self.name} must be {wanted}, not {shown(getattr(self, option))}"
        )


@dataclass(frozen=True, slots=True, init=False)
class ProviderResult:
    """What a provider answers: ``text`` for the prompt, ``values`` for templates, ``data`` for code.

    >>> ProviderResult(text="Rain.", values={"rain": True}).values["rain"]
    True
    """

    text: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)

    # Written out: that of a frozen dataclass takes half as long again, in every call of a provider.
    def __init__(
        self, text: str = "", values: Mapping[str, Any] | None = None, data: Mapping[str, Any] | None = None
    ) -> None:
        values, data = {} if values is None else values, {} if data is None else data
        if type(self) is ProviderResult:
            _set_text(self, text)
            _set_values(self, values)
            _set_data(self, data)
        else:  # it may have put something of its own in the place of these
            for name, value in (("text", text), ("values", values), ("data", data)):
                object.__setattr__(self, name, value)


_set_text, _set_values, _set_data = (
    vars(ProviderResult)[name].__set__ for name in ("text", "values", "data")
)


class Part(tuple[str, dict[str, Any], Mapping[str, Any]]):
    """A checked result: its text, its own copy of the values, and the data as it was given."""

    __slots__ = ()  # written out: Python compiles a NamedTuple anew at every start

    def __new__(cls, text: str, values: dict[str, Any], data: Mapping[str, Any]) -> Self:
        """Put the three together."""
        return super().__new__(cls, (text, values, data))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    text = property(itemgetter(0))
    values = property(itemgetter(1))
    data = property(itemgetter(2))


def _number(given: Any) -> float | None:
    """Return ``given`` as an int or a float, which sort and add up with each other; None if it is no number."""
    if isinstance(given, int | float):
        return None if isinstance(given, bool) else given
    if not isinstance(given, SupportsFloat) or type(given).__name__.startswith("bool"):  # numpy's own
        return None
    try:
        return float(given)
    except (TypeError, ValueError, OverflowError):
        return None


_GIVEN = ("runtime", "message", "state")
_RESULT_FIELDS = ("text", "values", "data")
_PROVIDER_FIELDS = tuple(Provider.__dataclass_fields__)


def as_provider(given: Provider | Mapping[str, Any]) -> Provider:
    """Return ``given`` as a `Provider`; a dict may be in camelCase or snake_case.

    >>> as_provider({"name": "NEWS", "get": str, "alwaysRun": True}).always_run
    True
    """
    if isinstance(given, Provider):
        return given
    if isinstance(given, Mapping):
        fields = known_fields(given, _PROVIDER_FIELDS, of="a provider")
        if "name" not in fields:
            raise DefinitionError(f"a provider needs 'name'; this one has {', '.join(fields) or 'nothing'}")
        if "get" not in fields:
            raise DefinitionError(f"provider {shown(fields['name'])} needs 'get', the function that answers")
        return Provider(**fields)
    raise DefinitionTypeError(f"a provider is a Provider or a dict of its fields, not {shown(given)}")


def count_parameters(get: Callable[..., Any], *, of: str) -> int:
    """Return how many of ``(runtime, message, state)`` the function takes; ``of`` says whose it is."""
    if inspect.isgeneratorfunction(get) or inspect.isasyncgenfunction(get):
        raise DefinitionError(f"{of} yields; it must return its result")
    try:
        parameters = inspect.signature(get).parameters.values()
    except (TypeError, ValueError):  # some builtins do not tell
        return 3
    count = 0
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            return 3
        required = parameter.default is parameter.empty
        if parameter.kind is parameter.KEYWORD_ONLY and required:
            raise DefinitionError(
                f"{of} wants {parameter.name!r} by keyword; "
                "it is called with (runtime, message, state) by place"
            )
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            if count == 3 and required:
                raise DefinitionError(f"{of} takes more than (runtime, message, state): {parameter.name!r}")
            count = min(count + 1, 3)
    return count


def check_function(function: Callable[..., Any], *, of: str) -> None:
    """Raise where the function cannot be called with ``(runtime, message, state)`` by place.

    A parameter with the name of one of them in the place of another is warned of.
    """
    count = count_parameters(function, of=of)
    code = getattr(function, "__code__", None)
    if code is None:
        return
    names = code.co_varnames[: code.co_argcount]
    names = names[1:] if inspect.ismethod(function) else names
    for given, name in zip(_GIVEN[:count], names, strict=False):
        if name in _GIVEN and name != given:
            caution(
                f"{of} is given the {given} as {name!r}: (runtime, message, state) are filled by place, "
                "not by name"
            )


def caller(get: Callable[..., Any], *, of: str) -> Call:
    """Return a function of none to three of ``(runtime, message, state)`` as an async one of all three."""
    count = count_parameters(get, of=of)
    if not (inspect.iscoroutinefunction(get) or inspect.iscoroutinefunction(getattr(get, "__call__", None))):  # noqa: B004
        return _in_thread(get, count)
    if count == 3:
        return get
    if count == 2:
        return lambda runtime, message, state: get(runtime, message)
    if count == 1:
        return lambda runtime, message, state: get(runtime)
    return lambda runtime, message, state: get()


def _in_thread(get: Callable[..., Any], count: int) -> Call:
    async def call(runtime: Any, message: Any, state: Any) -> Any:
        result = await runtime.threads.run(get, *(runtime, message, state)[:count])
        return await result if inspect.isawaitable(result) else result

    return call


def read_result(result: Any) -> Part:
    """Return what `checked` does, as a `Part`."""
    return result if type(result) is Part else Part(*checked(result))


def checked(result: Any) -> tuple[str, dict[str, Any], Mapping[str, Any]]:
    """Check what a ``get`` returned; return its text, a copy of its values, and the data as it is.

    Raises
    ------
    ResultError
        It is no result: the wrong type, an unknown key, a text that is no string.
    """
    kind = type(result)
    if kind is dict:
        text, values, data = result.get("text"), result.get("values"), result.get("data")
        if len(result) != (text is not None) + (values is not None) + (data is not None):
            _check_keys(result)
    elif kind is ProviderResult:
        text, values, data = result.text, result.values, result.data
    elif kind is Part:
        return result  # type: ignore[no-any-return]  # told by its class
    else:
        text, values, data = _other(result)
    return (
        text if type(text) is str else "" if text is None else _text(text),
        {} if values is None else values.copy() if type(values) is dict else dict(_mapping("values", values)),
        {} if data is None else data if type(data) is dict else _mapping("data", data),
    )


def _other(result: Any) -> tuple[Any, Any, Any]:
    if result is None or isinstance(result, str):
        return result, None, None
    if isinstance(result, ProviderResult):
        return result.text, result.values, result.data
    if isinstance(result, Mapping):
        return checked(dict(result))
    raise ResultError(
        f"get returned {type(result).__name__}; return a ProviderResult, a dict of text, values and data, "
        "a string or None"
    )


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise ResultError(f"the text of a result must be a string, not {type(text).__name__}")
    return str.__str__(text)  # a subclass may have its own ideas of what it holds


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ResultError(f"the {name} of a result must be a dict, not {type(value).__name__}")
    return value


def _check_keys(result: Mapping[Any, Any]) -> None:
    for key in result:
        if key not in _RESULT_FIELDS:
            near = did_you_mean(key, _RESULT_FIELDS) if isinstance(key, str) else ""
            raise ResultError(f"a result has text, values and data; {shown(key)} is none of them{near}")
