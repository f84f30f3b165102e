"""AgentRuntime: the one object a user holds, over registry, composition, store and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from agentctx_nb.acting import Acting
from agentctx_nb.caution import caution
from agentctx_nb.composition import compose
from agentctx_nb.errors import (
    DefinitionError,
    DefinitionTypeError,
    UnknownActionError,
    UnknownPromptError,
)
from agentctx_nb.inspecting import Inspecting
from agentctx_nb.learning import Learning
from agentctx_nb.log import RuntimeLogger
from agentctx_nb.names import check_name, counted, first_line, shown
from agentctx_nb.numbered import Numbered
from agentctx_nb.prompting import Prompting
from agentctx_nb.provider import Provider, as_provider
from agentctx_nb.registry import CELL, Registered, Registry
from agentctx_nb.remembering import check_store
from agentctx_nb.running.flights import Flights
from agentctx_nb.running.under_way import UnderWay
from agentctx_nb.searching import checked_embedder
from agentctx_nb.selection import Match
from agentctx_nb.settings import Settings
from agentctx_nb.short_errors import short_errors, shorten
from agentctx_nb.usage.read_recorder import ReadRecorder
from agentctx_nb.usage.written import Written

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from datetime import datetime
    from os import PathLike

    from agentctx_nb.memory.store import Store
    from agentctx_nb.model import Memory, MessageLike
    from agentctx_nb.secrecy.secret_mask import SecretMask
    from agentctx_nb.selection import Decision
    from agentctx_nb.state import State

__all__ = ["AgentRuntime"]

CLOSE_SECONDS = 5.0  # for the clean-up of what is cancelled when a runtime closes


class AgentRuntime(Learning, Acting, Prompting, Inspecting):
    """Providers, settings and memory of one agent, and the compositions made of them.

    Parameters
    ----------
    name
        Names the agent in logs and gives its default ``agent_id``.
    settings, secrets, defaults, env, env_prefix, env_file
        Where `get_setting` looks; see `Settings`.
    select
        ``hook(decisions, message) -> names``, the host's last word on who runs; may be async.
    store
        Where memories and entities live: a store, or the path of an SQLite file; in this process by default.
    embedder
        What turns texts into vectors: an `Embedder`, an object with ``encode``, a function of texts; by
        default the table of words that comes with the package.
    clock
        Returns the present as a timezone-aware datetime.
    count_tokens
        ``f(text) -> int``; by default an exact counter where one is installed, else an estimate.
    agent_id
        By default the name.

    >>> runtime = AgentRuntime()
    >>> _ = runtime.register_provider(Provider("GREETING", lambda: "Hello!"))
    >>> runtime.compose("hi").text
    'Hello!'
    """

    def __init__(
        self,
        name: str = "agent",
        *,
        settings: Mapping[str, Any] | None = None,
        secrets: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
        env: bool = False,
        env_prefix: str | None = None,
        env_file: str | PathLike[str] | None = None,
        select: Callable[[tuple[Decision, ...], Memory], Any] | None = None,
        store: Store | str | PathLike[str] | None = None,
        embedder: Any = None,
        clock: Callable[[], datetime] | None = None,
        count_tokens: Callable[[str], int] | None = None,
        agent_id: str | None = None,
    ) -> None:
        self.settings = Settings(  # first, so that no error below shows a secret
            settings, secrets, defaults, env=env, env_prefix=env_prefix, env_file=env_file
        )
        with short_errors(self):
            if not isinstance(name, str) or not name.strip():
                raise DefinitionTypeError(
                    f"a runtime's name is a string that is not blank, not {shown(name)}"
                )
            for option, given in (("select", select), ("clock", clock), ("count_tokens", count_tokens)):
                if given is not None and not callable(given):
                    raise DefinitionTypeError(f"{option} must be callable, not {shown(given)}")
            check_store(store)
        self.name = name
        self.agent_id = name if agent_id is None else agent_id
        self.logger = RuntimeLogger(name, mask=self.mask)
        self.registry = Registry()
        self.select = select
        self.flights = Flights()
        self._clock = clock
        self._store_given = store
        self._store: Store | None = None
        self._embedder_given = embedder
        with short_errors(self):
            self._embedder = None if embedder is None else checked_embedder(embedder)
        self._mark = None
        self._thresholds = {}
        self._like_none = set()
        self._count_tokens = count_tokens
        self._token_counter: tuple[str, Callable[[str], int]] | None = None
        self._under_way = UnderWay()
        self._to_close: list[Callable[[], Awaitable[Any]]] = []
        self._actions = Numbered(UnknownActionError)
        self._prompts = Numbered(UnknownPromptError)
        self.read_recorder = ReadRecorder()
        self.written = Written()
        self._warned_hidden: set[str] = set()  # names of providers both private and always run
        self.warned_of: dict[str, int] = {}  # providers that wait for nobody, and their version then

    # Providers ----------------------------------------------------------------------------

    def register_provider(
        self, provider: Provider | Mapping[str, Any], *, origin: str | None = None
    ) -> Provider:
        """Register a provider, or replace in its place the one of the same name.

        ``origin`` says where it comes from, for listings. Raises `DefinitionError` and leaves all as
        it was where the provider is written wrongly.
        """
        with short_errors(self):
            given = as_provider(provider)
            if given.private and given.always_run and given.name not in self._warned_hidden:
                # Before it is registered: where warnings are errors, it is not.
                hidden = "is private and always runs: hidden from the list, yet in every text"
                caution(f"provider {self.mask(given.name)} {hidden}")
                self._warned_hidden.add(given.name)
            self.registry.register(given, origin=origin)
            self.flights.forget(given.name)
            if given.relevance_keywords and not given.dynamic and origin != CELL:
                self.logger.warning("keywords of provider %s wake nothing without dynamic=True", given.name)
            return given

    def provider(
        self, name: str | None = None, **fields: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register the decorated function as the ``get`` of a provider; its docstring describes it.

        >>> runtime = AgentRuntime()
        >>> @runtime.provider("WEATHER", dynamic=True, relevance_keywords=["rain"])
        ... async def weather(runtime, message, state):
        ...     return "It rains."
        >>> runtime.compose("will it rain?").text
        'It rains.'
        """
        if name is not None and not isinstance(name, str):
            raise DefinitionTypeError('write @runtime.provider("NAME"), with the parentheses')

        def register(get: Callable[..., Any]) -> Callable[..., Any]:
            described = {"description": first_line(get.__doc__), **fields}
            self.register_provider(
                {
                    "name": getattr(get, "__name__", "").upper() if name is None else name,
                    "get": get,
                    **described,
                },
                origin=getattr(get, "__module__", None),
            )
            return get

        return register

    def unregister_provider(self, name: str) -> bool:
        """Remove a provider; return whether there was one."""
        with short_errors(self):
            check_name(name, of="a provider")
            self.flights.forget(name)
            return self.registry.unregister(name)

    @property
    def providers(self) -> list[Provider]:
        """The regular list: all providers but private ones, in text order."""
        return self.list_providers()

    def list_providers(self, *, include_private: bool = False) -> list[Provider]:
        """Return the providers in text order."""
        providers = [entry.provider for entry in self.registry.snapshot().entries]
        return [provider for provider in providers if include_private or not provider.private]

    def get_provider(self, name: str) -> Provider:
        """Return the provider ``name``; raise `UnknownProviderError` with near names if there is none."""
        with short_errors(self):
            return self.registered(name).provider

    def registered(self, name: str) -> Registered:
        """Return the provider ``name`` with its version, its place and where it came from."""
        with short_errors(self):
            check_name(name, of="a provider")
            return self.registry[name]

    def match(self, text: str) -> Match:
        """Tell which dynamic providers ``text`` would wake, and which nearly, without running any.

        >>> runtime = AgentRuntime()
        >>> _ = runtime.provider("WEATHER", dynamic=True, relevance_keywords=["rain"])(lambda: "wet")
        >>> runtime.match("the train leaves").near_misses
        [NearMiss(provider='WEATHER', keyword='rain', word='train')]
        """
        with short_errors(self):
            if not isinstance(text, str):
                raise DefinitionTypeError(f"match takes the text of a message, not {shown(text)}")
            read = self.registry.read_index
            return Match(
                read(lambda index: index.match(text)),
                lambda: read(lambda index: index.near_misses(text)),
                self.mask,
            )

    # Composition --------------------------------------------------------------------------

    async def compose_state(
        self,
        message: MessageLike,
        include_list: Iterable[str] | str | None = None,
        only_include: bool = False,  # noqa: FBT001, FBT002  third by place on the reference page
        *,
        strict: bool = False,
        timeout: float | None = None,  # noqa: ASYNC109  the caller's deadline for all providers, as in the contract
        skip_cache: bool = False,
        previous: State | None = None,
        refresh: Iterable[str] | str | None = None,
    ) -> State:
        """Run the providers this message calls for and merge what they give.

        Parameters
        ----------
        message
            A `Memory`, a string, or a dict in either spelling.
        include_list
            Names to run beside the defaults, dynamic and private ones too. None: no list.
        only_include
            Run just those named; ``[]`` names none.
        strict
            Raise one ``ExceptionGroup`` with every failure and every unknown name in a list, instead of
            reporting them. A name in ``after=`` that nobody registered is only reported. Secrets are
            masked in the group: an exception that holds one is replaced by a masked copy of its class.
        timeout
            Seconds for the whole call, the select hook included; what has not finished then is
            ``timed_out``.
        skip_cache
            Use no result kept by ``ttl=``.
        previous, refresh
            Keep all that ``previous`` holds and run again those named in ``refresh``, and what waits for them.

        Raises
        ------
        DefinitionError
            The message, a list or an option cannot be read.
        CompositionRecursionError
            A provider composes itself.
        """
        token = self._under_way.begin()
        try:
            # By place: keywords cost more than the rest of the call.
            return await compose(
                self,
                token,
                message,
                include_list,
                only_include,
                strict,
                timeout,
                skip_cache,
                previous,
                refresh,
            )
        except Exception as error:
            shorten(error, self)
            raise
        finally:
            self._under_way.end(token)

    def compose(
        self,
        message: MessageLike,
        include_list: Iterable[str] | str | None = None,
        only_include: bool = False,  # noqa: FBT001, FBT002  as compose_state
        **options: Any,
    ) -> State:
        """Do what `compose_state` does, synchronously: in a script, in a cell, under a running loop."""
        from agentctx_nb.bridge import run_sync

        with short_errors(self):
            return run_sync(lambda: self.compose_state(message, include_list, only_include, **options))

    # Settings, time, counting -------------------------------------------------------------

    def get_setting(
        self,
        key: str,
        default: Any = None,
        *,
        type: Callable[[Any], Any] | None = None,  # noqa: A002  as in Settings.get
    ) -> Any:
        """Return a setting: of secrets, settings, environment and ``.env`` if asked for, defaults the first.

        ``type`` is ``int``, ``bool``, ``list``, ``Path``, an ``Enum`` or any callable; see `Settings.get`.
        Raises `SettingError`, which shows no secret, where the value is none of that type.
        """
        with short_errors(self):
            return self.settings.get(key, default, type=type)

    def set_setting(self, key: str, value: Any, *, secret: bool = False) -> None:
        """Set a setting, or a secret; None clears the key at both."""
        with short_errors(self):
            self.settings.set(key, value, secret=secret)

    @property
    def mask(self) -> SecretMask:
        """Called with a text, returns it with every registered secret in it hidden."""
        return self.settings.mask

    def clock(self) -> datetime:
        """Return the present as a timezone-aware datetime."""
        from datetime import UTC, datetime  # half a millisecond of every start, for those who ask

        if self._clock is None:
            return datetime.now(UTC)
        now = self._clock()
        if not isinstance(now, datetime) or now.utcoffset() is None:
            raise DefinitionTypeError(f"clock must return a timezone-aware datetime, not {shown(now)}")
        try:
            now.astimezone(UTC)
        except OverflowError:
            raise DefinitionError(
                f"clock must return a datetime that UTC has too, not {shown(now)}"
            ) from None
        return now

    @property
    def token_counter(self) -> tuple[str, Callable[[str], int]]:
        """The name of what counts tokens, and the function."""
        if self._token_counter is None:
            from agentctx_nb.tokens import counter_of

            self._token_counter = counter_of(self._count_tokens)
        return self._token_counter

    # Life ---------------------------------------------------------------------------------

    def leave_behind(self, task: asyncio.Task[Any]) -> None:
        """Keep hold of a task that ignored its cancellation, until it ends or the runtime closes."""
        self._under_way.leave_behind(task)

    def on_close(self, callback: Callable[[], Awaitable[Any]]) -> None:
        """Have ``callback`` awaited when the runtime closes, the last one given first."""
        self._to_close.append(callback)

    async def close(self) -> None:
        """Cancel what runs, in any thread, do what `on_close` was given, and close the store.

        Called from inside a provider or an action, it leaves what runs around that one to its end.
        """
        await self._under_way.cancel(seconds=CLOSE_SECONDS)
        while self._to_close:
            try:
                await self._to_close.pop()()
            except Exception as exc:  # noqa: BLE001  the others still have to close
                self.logger.error(exc, "closing failed")
        if self._store is not None:
            await self._store.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AgentRuntime {self.mask(self.name)}: {counted(len(self.providers), 'provider')}>"
