"""Does a secret get out? Fake ones are planted, a message is composed, and every view is read for them."""

from __future__ import annotations

import inspect
import sys
import traceback
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from agentctx_nb.model import as_message
from agentctx_nb.names import counted
from agentctx_nb.secrecy.masked_errors import masked_error
from agentctx_nb.secrecy.overhearing import overheard
from agentctx_nb.secrecy.planting import Planted
from agentctx_nb.selection import names_of
from agentctx_nb.state_views import StateViews
from agentctx_nb.views import MaskedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from agentctx_nb.model import Memory, MessageLike
    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.state import State

__all__ = ["Leak", "LeakScan", "scan"]

LIMITS = (
    "Not seen: fewer than 8 characters of a secret in a row, what a provider makes of one by its own rules.",
    "Not heard: what is written past sys.stdout and sys.stderr, as by os.write or another program.",
    "Not run: actions and widgets.",
    "Not looked into: the raw data code is handed, what is sent to services, other runtimes in use.",
)

Form: TypeAlias = tuple[str, str, str, str]

_WIDGETS = ("explore",)  # opens something in the front end, which shows what the other views show
_LONGEST_READ = 1_000_000  # characters of one value
_FORMS = {"text/plain": "text", "text/markdown": "Markdown", "text/html": "HTML"}


@dataclass(frozen=True, slots=True)
class Leak:
    """One place where a planted secret surfaced.

    ``secret`` says where it was planted, ``place`` what holds it and ``forms`` in which of its forms;
    ``provider`` is who put it there, where that can be told; ``written`` reads "as it is", "in part", "in
    other case", "backwards" or "encoded".
    """

    secret: str
    place: str
    provider: str
    written: str
    forms: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class LeakScan:
    """The leaks a scan found, worst first; false where there is none. It shows itself as a table.

    ``planted`` lists what was planted, ``places`` what was read. ``state.text`` and ``state.values`` are what
    a model is told, raw; all other places are what a person sees.

    ``failed`` and ``not_run`` name the providers whose text there was none of to read, and ``unknown`` those
    that were asked for and nobody registered, with near names: of all of them a scan tells nothing.
    """

    leaks: tuple[Leak, ...]
    planted: tuple[str, ...]
    places: tuple[str, ...]
    failed: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    mask: Callable[[str], str] = field(default=str, compare=False)

    def __bool__(self) -> bool:
        return bool(self.leaks)

    def __len__(self) -> int:
        return len(self.leaks)

    def __iter__(self) -> Iterator[Leak]:
        return iter(self.leaks)

    def to_frame(self) -> Any:
        """Return the leaks as a pandas DataFrame: secret, place, provider, written, forms."""
        return self._table().to_frame()

    def __repr__(self) -> str:
        return str(self._page())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle: dict[str, str] = self._page()._repr_mimebundle_(include, exclude)
        return bundle

    def _table(self) -> Any:
        from agentctx_nb.render.table import Table

        rows = [
            (leak.secret, leak.place, leak.provider, leak.written, ", ".join(leak.forms))
            for leak in self.leaks
        ]
        columns = ("secret", "place", "provider", "written", "forms")
        return Table(columns, tuple(rows), title="Where planted secrets surfaced", mask=self.mask)

    def _page(self) -> Any:
        from agentctx_nb.render.page import Lines, Page

        surfaced = len({leak.secret for leak in self.leaks}) or "none"
        told = f"{surfaced} of {counted(len(self.planted), 'planted secret')} surfaced"
        told += f"; {counted(len(self.places), 'place')} read"
        if self.failed:
            told += f", but {counted(len(self.failed), 'provider')} failed and could not be looked at"
        table = (self._table(),) if self.leaks else ()
        lines = Lines((*self._unread(), *LIMITS))
        return Page((Lines((told,), strong=True), *table, lines), mask=self.mask)

    def _unread(self) -> Iterator[str]:
        """Yield a sentence for each group of providers there was no text of."""
        from agentctx_nb.render.views import listed, unknown_names

        if self.failed:
            yield (
                "Failed in the scan, maybe over a fake secret, so that their text is missing here: "
                f"{listed(self.failed, self.mask)}."
            )
        if self.not_run:
            yield (
                f"Not run, since nothing called for them: {listed(self.not_run, self.mask)}; "
                "include_list= runs those it names."
            )
        yield from unknown_names(self.unknown, self.mask)


def scan(
    runtime: AgentRuntime,
    message: MessageLike,
    include_list: Iterable[str] | str | None = None,
    *,
    only_include: bool = False,
) -> LeakScan:
    """Plant fake secrets in a copy of ``runtime``, compose ``message`` there, and tell where one surfaced.

    The copy has the providers, settings and embedder of ``runtime`` and an empty store in this process, so
    the runtime's own memories, caches and logs are neither read nor written. Providers do run, and whatever
    service they call is called with a fake key.
    """
    from agentctx_nb.bridge import run_sync

    given, names = as_message(message), names_of(include_list)
    return run_sync(lambda: _scan(runtime, given, names, only_include))


async def _scan(
    runtime: AgentRuntime,
    message: Memory,
    include: frozenset[str] | None,
    only: bool,  # noqa: FBT001  called once, by place
) -> LeakScan:
    planted = Planted()
    twin = planted.twin_of(runtime)
    try:
        with overheard(twin.mask, own=twin.logger.logger) as heard:
            theirs = await planted.profile(twin, message)
            state = await twin.compose_state(theirs, include, only)
            places = list(_places(twin, state, planted))
        places += [
            (f"what is written to {name}", "text", "", "".join(texts)) for name, texts in heard.items()
        ]
    finally:
        await twin.close()
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for place, form, provider, text in places:
        for secret, written in planted.found_in(text):
            found.setdefault((secret, place, provider, written), []).append(form)
    leaks = [
        Leak(secret, place, provider, written, tuple(dict.fromkeys(forms)))
        for (secret, place, provider, written), forms in found.items()
    ]
    read = tuple(dict.fromkeys([place for place, *_ in places]))
    mask, report = runtime.mask, state.report
    near = {name: found for name, found in report.unknown.items() if name not in report.awaited_by}
    return LeakScan(
        leaks=tuple(leaks),
        planted=planted.names,
        places=read,
        failed=tuple(map(mask, state.errors)),
        not_run=tuple([mask(row.provider) for row in report if not row.ran]),
        unknown=MaskedDict(near, mask),
        mask=mask,
    )


def _places(twin: AgentRuntime, state: State, planted: Planted) -> Iterator[Form]:
    """Yield (place, form, provider, text) for everything a model is told and everything a person may see."""
    from agentctx_nb.render.views import provider_card, providers_table

    for start, end, provider in state.spans:
        yield "state.text", "raw", provider, state.text[start:end]
    for key, value, _, writer, _ in state.value_rows():
        if key != "providers":
            yield "state.values", "raw", writer, f"{_raw(key)} {_raw(value)}"
    secret = planted.fake("setting LEAK_SCAN_SECRET")
    views: dict[str, Callable[[], Any]] = {
        "state": lambda: state,
        "state.report": lambda: state.report,
        "state.data": lambda: state.data,
        "state.errors": lambda: state.errors,
        "state.values_frame()": state.masked_value_rows,
        **{f"state.{name}()": view for name, view in _views_of(state, secret)},
        "a rendered prompt": lambda: twin.compose_prompt(state, "{{providers}}"),
        "the list of providers": lambda: providers_table(twin, include_private=True),
        "runtime": lambda: twin,
        "runtime.match()": lambda: twin.match(secret),
        "runtime.reads()": twin.reads,
        "runtime.settings_frame()": twin.settings.rows,
        "runtime.log_frame()": lambda: twin.logger.recent.rows(twin.mask),
    }
    for place, view in views.items():
        yield from _shown(place, "", view())
    for each in twin.list_providers(include_private=True):
        yield from _shown("the card of a provider", each.name, provider_card(twin, each.name))
    for name, error in state.errors.items():
        trace = "".join(traceback.format_exception(masked_error(error, twin.mask)))
        yield "the traceback of a failed provider", "text", name, trace


def _views_of(state: State, secret: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield each view a state offers; one that takes a text is given a secret, one of two states itself."""
    given = {"text": secret, "other": state}
    for name, method in vars(StateViews).items():
        if name.startswith("_") or name in _WIDGETS or not inspect.isfunction(method):
            continue
        _, *parameters = inspect.signature(method).parameters.values()
        needed = [
            each.name
            for each in parameters
            if each.default is each.empty and each.kind is not each.VAR_POSITIONAL
        ]
        if given.keys() >= set(needed):
            arguments = [given[each] for each in needed]
            yield name, partial(method, state, *arguments)


def _shown(place: str, provider: str, value: Any) -> Iterator[Form]:
    """Yield each form in which ``value`` shows itself."""
    from agentctx_nb.render.table import Table

    yield place, "text", provider, f"{value!r}\n{_text(value)}"
    if hasattr(type(value), "_repr_mimebundle_"):
        for kind, form in value._repr_mimebundle_().items():
            yield place, _FORMS.get(kind, kind), provider, str(form)
    # What a frame holds is read row by row where it can be: importing pandas takes seconds.
    if isinstance(value, Table):
        yield place, "frame", provider, repr(list(value))
    elif "pandas" in sys.modules and hasattr(type(value), "to_frame"):
        yield place, "frame", provider, value.to_frame().to_csv()


def _text(value: Any) -> str:
    # Of a string str() gives the raw text, which is what code is handed.
    return "" if isinstance(value, str) else str(value)


def _raw(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return repr(value)[:_LONGEST_READ]
    except Exception as exc:  # noqa: BLE001  a broken __repr__ shows nothing of what is in it
        return type(exc).__name__
