"""Every exception this package raises itself, how one is told in a line, and the nearest right name.

AgentCtxError
├── DefinitionError            a provider, message or option was written wrongly (ValueError)
│   ├── DefinitionTypeError    ... by giving something of the wrong type (TypeError)
│   ├── SettingError           a setting is not of the type it was asked for as
│   └── CycleError             providers that wait for each other through ``after=``
├── ResultError                what a ``get`` returned is no result (TypeError)
├── UnknownNameError           a name nobody registered (KeyError)
│   ├── UnknownProviderError
│   ├── UnknownActionError
│   └── UnknownPromptError
├── CompositionRecursionError  a provider composing itself (RecursionError)
├── ActionRecursionError       an action running itself (RecursionError)
├── ProviderCancelledError     a provider cancelled itself (RuntimeError)
├── ActionCancelledError       an action cancelled itself (RuntimeError)
├── ProviderTimeoutError       our deadline passed, not the provider's own (TimeoutError)
├── TemplateError              a template cannot be read or rendered (ValueError)
├── LoopError                  synchronous code cannot wait on this event loop (RuntimeError)
└── MissingExtraError          an optional library is not installed (ImportError)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "ActionCancelledError",
    "ActionRecursionError",
    "AgentCtxError",
    "CompositionRecursionError",
    "CycleError",
    "DefinitionError",
    "DefinitionTypeError",
    "LoopError",
    "MissingExtraError",
    "ProviderCancelledError",
    "ProviderTimeoutError",
    "ResultError",
    "SettingError",
    "TemplateError",
    "UnknownActionError",
    "UnknownNameError",
    "UnknownPromptError",
    "UnknownProviderError",
    "describe",
    "did_you_mean",
    "nearest_names",
    "nearest_to_each",
]

LONGEST_NAME = 200
MOST_COMPARED = 200  # known names each wrong one is compared with, at some 50 µs each
MOST_LISTED = 8  # names an error tells where none is near the wrong one
MOST_SOUGHT = 10  # wrong names of one call that near ones are sought for


class AgentCtxError(Exception):
    """Anything this package raises on purpose."""


class DefinitionError(AgentCtxError, ValueError):
    """A provider, message or option was written wrongly."""


class DefinitionTypeError(DefinitionError, TypeError):
    """A provider, message or option was given something of the wrong type."""


class CycleError(DefinitionError):
    """Providers wait for each other through ``after=``; ``cycle`` names them in order."""

    def __init__(self, cycle: tuple[str, ...]) -> None:
        self.cycle = cycle
        path = " → ".join(cycle)
        super().__init__(f"providers wait for each other: {path}; remove one of these after=")


class SettingError(DefinitionError):
    """A setting is not of the type it was asked for as; ``key`` names it, ``layer`` is where it stands."""

    def __init__(self, message: str, *, key: str = "", layer: str = "") -> None:
        self.key = key
        self.layer = layer
        super().__init__(message)


class ResultError(AgentCtxError, TypeError):
    """A ``get`` returned something that is not text, values and data."""


class UnknownNameError(AgentCtxError, KeyError):
    """Nobody registered ``name``; ``near`` holds the closest names that exist.

    Where none is near, ``known``, all there are, are listed if they are few.
    """

    kind = "thing"

    def __init__(self, name: str, near: tuple[str, ...] = (), known: Iterable[str] = ()) -> None:
        self.name = name
        self.near = near
        # All of it or nothing: a secret that is cut off is no longer found where secrets are hidden.
        said = f"as {name!r}" if len(name) <= LONGEST_NAME else f"under that name of {len(name):,} characters"
        super().__init__(f"no {self.kind} is registered {said}{_or_else(near) or _there_are(known)}")

    def __str__(self) -> str:  # a KeyError would print its message in quotes
        return str(self.args[0])


class UnknownProviderError(UnknownNameError):
    """Nobody registered a provider under this name."""

    kind = "provider"


class UnknownActionError(UnknownNameError):
    """Nobody registered an action under this name."""

    kind = "action"


class UnknownPromptError(UnknownNameError):
    """Nobody registered a prompt under this name."""

    kind = "prompt"


class CompositionRecursionError(AgentCtxError, RecursionError):
    """A provider started a composition that runs the same provider; ``chain`` shows how."""

    def __init__(self, chain: tuple[str, ...]) -> None:
        self.chain = chain
        path = " → ".join(chain)
        super().__init__(
            f"provider {chain[-1]} composes itself: {path}; "
            "compose inside a provider with only_include=True and other names"
        )


class ActionRecursionError(AgentCtxError, RecursionError):
    """An action ran itself; ``chain`` shows through which others."""

    def __init__(self, chain: tuple[str, ...]) -> None:
        self.chain = chain
        path = " → ".join(chain)
        super().__init__(f"action {chain[-1]} runs itself: {path}; repeat inside the handler instead")


class ActionCancelledError(AgentCtxError, RuntimeError):
    """An action raised ``CancelledError`` or cancelled its own task, which nobody had asked for."""

    def __init__(self, action: str) -> None:
        self.action = action
        super().__init__(f"action {action} cancelled itself")


class ProviderCancelledError(AgentCtxError, RuntimeError):
    """A provider raised ``CancelledError`` or cancelled its own task, which nobody had asked for."""

    def __init__(self, provider: str) -> None:
        self.provider = provider
        super().__init__(f"provider {provider} cancelled itself")


class ProviderTimeoutError(AgentCtxError, TimeoutError):
    """A provider did not finish before ``seconds`` were over and was cancelled.

    ``started`` is False where the deadline of the whole composition passed before its turn came. ``held`` is
    how many seconds it held the event loop, where it did so past its deadline and could not be stopped; else None.
    """

    def __init__(
        self, provider: str, seconds: float, *, started: bool = True, held: float | None = None
    ) -> None:
        self.provider = provider
        self.seconds = seconds
        self.started = started
        self.held = held
        said = f"was cancelled after its deadline of {seconds:g} s"
        if not started:
            said = f"never started: the deadline of the composition, {seconds:g} s, passed first"
        elif held is not None:
            said = (
                f"missed its deadline of {seconds:g} s: it held the event loop for {held:.1f} s, where nothing "
                "can stop it; as a plain `def` function it would run in a thread"
            )
        super().__init__(f"provider {provider} {said}")


class TemplateError(AgentCtxError, ValueError):
    """A template cannot be read or rendered; ``line`` and ``column`` (from 1) say where, if it can be told."""

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        self.line = line
        self.column = column
        super().__init__(message)


class LoopError(AgentCtxError, RuntimeError):
    """Synchronous code cannot wait for a composition on the event loop that is running."""


class MissingExtraError(AgentCtxError, ImportError):
    """``package`` is needed for ``purpose`` and comes with the extra ``extra``."""

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"{purpose} needs {package}, which is not installed: pip install 'agentctx_nb[{extra}]'"
        )


def describe(error: BaseException) -> str:
    """Return the exception's type and message, whatever its ``__str__`` does."""
    try:
        message = str(error)
    except KeyboardInterrupt:  # the user's own
        raise
    except BaseException as exc:  # noqa: BLE001  the error to show is the provider's
        message = f"(its message cannot be shown: {type(exc).__name__})"
    name: str = type.__dict__["__name__"].__get__(type(error))  # past a metaclass that tells another, or none
    return f"{name}: {message}" if message else name


def nearest_names(name: str, names: Iterable[str], *, most: int = 3) -> tuple[str, ...]:
    """Return up to ``most`` of ``names`` that look like ``name``, closest first.

    Case and underscores do not count, so ``weather`` is near ``WEATHER`` and
    ``alwaysrun`` near ``always_run``.

    >>> nearest_names("dynmic", ["dynamic", "private", "position"])
    ('dynamic',)
    """
    return _nearest(name, _folded(names), most)


def nearest_to_each(wanted: Iterable[str], names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Map each of ``wanted`` to what `nearest_names` gives; of many wrong names only the first are looked into.

    >>> nearest_to_each(["wether", "zzz"], ["WEATHER"])
    {'wether': ('WEATHER',), 'zzz': ()}
    """
    wanted = list(wanted)
    known = _folded(names) if wanted else {}
    return {name: _nearest(name, known, 3) if n < MOST_SOUGHT else () for n, name in enumerate(wanted)}


def _folded(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(_fold(name), []).append(name)
    return found


def _fold(name: str) -> str:
    return name[:LONGEST_NAME].replace("_", "").casefold()  # comparing is quadratic


def _nearest(name: str, known: Mapping[str, list[str]], most: int) -> tuple[str, ...]:
    from difflib import get_close_matches

    wanted = _fold(name)
    compared = list(known)
    if len(compared) > MOST_COMPARED:  # those that begin alike and are of about the same length
        start, length = wanted[:2], len(wanted)
        compared.sort(key=lambda folded: (folded[:2] != start, abs(len(folded) - length)))
        compared = [wanted, *compared[:MOST_COMPARED]] if wanted in known else compared[:MOST_COMPARED]
    hits = get_close_matches(wanted, dict.fromkeys(compared), n=most, cutoff=0.6)
    return tuple([known_name for hit in hits for known_name in known[hit]][:most])


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` when something is near, else an empty string.

    >>> did_you_mean("dynmic", ["dynamic"])
    "; did you mean 'dynamic'?"
    """
    return _or_else(nearest_names(name, names))


def _there_are(known: Iterable[str]) -> str:
    names = [repr(name) for name in known]
    if not 0 < len(names) <= MOST_LISTED or len("".join(names)) > LONGEST_NAME:
        return ""
    return f"; there {'is' if len(names) == 1 else 'are'} {', '.join(names)}"


def _or_else(near: tuple[str, ...]) -> str:
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
