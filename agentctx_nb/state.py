"""What a composition gave: the text, the values, the data of each provider, and how it came about."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any

from agentctx_nb.bare import bare
from agentctx_nb.edited import as_dict, error_names, pairs_of, portable_errors, text_of
from agentctx_nb.freeze import freeze
from agentctx_nb.names import counted, kind_name
from agentctx_nb.provider import checked
from agentctx_nb.record import NO_PART, AnyPart, Record, is_the_text
from agentctx_nb.short_errors import short_errors
from agentctx_nb.state_views import StateViews
from agentctx_nb.tracebacks import without_our_frames
from agentctx_nb.views import MISSING, MaskedDict, View, printable, printed, view

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentctx_nb.execution import Run
    from agentctx_nb.model import Memory
    from agentctx_nb.report import Report
    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.templates import Prompt

__all__ = ["EMPTY_STATE", "ProviderEntry", "State", "dependency_state", "fold"]


class ProviderEntry:
    """What one provider that ran left in a state, also by ``["text"]``, ``["values"]`` and ``["data"]``."""

    # Written out: a frozen dataclass of six fields would be compiled at every start of an interpreter.
    __slots__ = ("error", "mask", "outcome", "raw_data", "raw_values", "text")

    text: str
    raw_values: Mapping[str, Any]
    raw_data: Mapping[str, Any]
    outcome: str
    error: Exception | None
    mask: Callable[[str], str]

    def __init__(
        self,
        text: str,
        raw_values: Mapping[str, Any],
        raw_data: Mapping[str, Any],
        outcome: str = "ok",
        error: Exception | None = None,
        mask: Callable[[str], str] = str,
    ) -> None:
        given = (error, mask, outcome, raw_data, raw_values, text)
        for name, value in zip(self.__slots__, given, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"what a provider left is read-only: {name} cannot be changed")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"what a provider left is read-only: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProviderEntry) and self._compared() == other._compared()

    __hash__ = None  # type: ignore[assignment]  # it holds dicts

    def _compared(self) -> tuple[Any, ...]:
        return self.text, self.raw_values, self.raw_data, self.outcome, self.error

    @property
    def values(self) -> Any:
        """The values as a `View`; ``["values"]`` gives the dict itself."""
        return view(self.raw_values, self.mask)

    @property
    def data(self) -> Any:
        """The data as a `View`; ``["data"]`` gives the object the provider returned."""
        return view(self.raw_data, self.mask)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copy and pickle ask for hooks that must really be missing
            raise AttributeError(name)
        return MISSING

    def __getitem__(self, key: str) -> Any:
        if key not in ("text", "values", "data"):
            raise KeyError(key)
        return self.text if key == "text" else self.raw_values if key == "values" else self.raw_data

    def __repr__(self) -> str:
        shown = {"text": self.text, "values": self.raw_values, "data": self.raw_data, "outcome": self.outcome}
        return printed(shown, self.mask)

    def __copy__(self) -> ProviderEntry:
        return ProviderEntry(self.text, self.raw_values, self.raw_data, self.outcome, self.error, self.mask)

    def __deepcopy__(self, memo: dict[int, Any]) -> ProviderEntry:
        values, data = deepcopy(self.raw_values, memo), deepcopy(self.raw_data, memo)
        return ProviderEntry(self.text, values, data, self.outcome, self.error, self.mask)

    def __reduce__(self) -> tuple[Any, ...]:
        from agentctx_nb.portable import portable_error

        error = None if self.error is None else portable_error(self.error)
        return ProviderEntry, (self.text, self.raw_values, self.raw_data, self.outcome, error, self.mask)


class State(StateViews):
    """The composed context.

    Attributes
    ----------
    text
        The non-blank texts of all providers in order, joined by newlines: what the prompt would hold.
    values
        Everything providers wrote for templates, the later in order winning; ``values["providers"]``
        is the text.
    errors
        The exception of each provider that failed, by name.

    A copy, or a pickle, keeps all of it but the tracebacks a pickle cannot hold, and shares the mask that
    hides secrets (see `SecretMask` for a pickle read elsewhere).

    >>> state = State(text="It rains.", values={"rain": True})
    >>> state.values["providers"], state.data.providers.WEATHER.data.place == None
    ('It rains.', True)
    """

    __slots__ = ("_data", "_record", "_report", "errors", "mask", "text", "values")

    text: str
    values: dict[str, Any]
    errors: dict[str, Exception]
    _data: View | None

    def __init__(
        self,
        *,
        text: str = "",
        values: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        record: Record | None = None,
    ) -> None:
        self.text = text
        self.values = dict(values) if values else {}
        self.values["providers"] = text
        self._tell_of(Record() if record is None else record)
        self._data = None if data is None else View({"providers": {}, "provider_order": [], **data})

    def _tell_of(self, record: Record) -> None:
        self._record = record
        self.mask = record.mask
        self.errors = {}
        if record.errors:
            named = {record.names[i]: exc for i, exc in sorted(record.errors.items())}
            self.errors = MaskedDict(named, self.mask)
        self._data = None
        self._report: Report | None = None

    @property
    def data(self) -> Any:
        """``.providers`` (by name or attribute) and ``.provider_order``, the names that ran in text order."""
        if self._data is None:
            entries = dict(self.entries())
            data = {"providers": View(entries, self.mask), "provider_order": list(entries)}
            self._data = View(data, self.mask)
        return self._data

    @property
    def record(self) -> Record:
        """The facts of the composition as they fell, which the views are worked out from."""
        return self._record

    def entries(self) -> list[tuple[str, ProviderEntry]]:
        """Return each provider that ran with what it left, in text order."""
        record = self._record
        return [
            (name, ProviderEntry(*record.parts[i], record.outcome(i), record.errors.get(i), self.mask))
            for i, name in enumerate(record.names)
        ]

    @property
    def origin(self) -> tuple[AgentRuntime | None, Memory | None]:
        """The runtime that composed this and the message it was composed for; None, None in a copy or a part."""
        run = self._record.run
        return (None, None) if run is None else (run.runtime, run.message)

    @property
    def report(self) -> Report:
        """One row per registered provider: why it ran or not, what came of it, what it cost."""
        if self._report is None:
            self._report = self._record.report()
        return self._report

    @property
    def spans(self) -> list[tuple[int, int, str]]:
        """``(start, end, provider)`` for each part of the text, in order."""
        return self._record.spans()

    def prompt(
        self, template: str | Callable[[State], str], /, *, missing: str = "empty", **extra: Any
    ) -> Prompt:
        """Render a Handlebars template with ``extra``, then this state's values; see `render_template`.

        >>> State(values={"name": "Ada"}).prompt("Dear {{name}}, {{more}}", more="hello!")
        'Dear Ada, hello!'
        """
        from agentctx_nb.templates import render_template
        from agentctx_nb.usage.watched_names import noted_prompt

        with short_errors(self):
            run = self._record.run
            if run is None:
                return render_template(template, state=self, extra=extra, missing=missing)
            recorder = run.runtime.read_recorder  # of who reads what
            return noted_prompt(recorder, self, template, extra=extra, missing=missing)

    def value_rows(self) -> list[tuple[str, Any, str, str, tuple[str, ...]]]:
        """Return (key, value, type, writer, shadowed writers) for each value, in the order written."""
        writers = self._record.writers()
        rows = []
        for key, value in pairs_of(self.values):
            names = _found(writers, key)
            writer = "(the text)" if is_the_text(key) else names[-1] if names else "(the caller)"
            shadowed = names if is_the_text(key) else names[:-1]
            rows.append((key, value, kind_name(value), writer, tuple(shadowed)))
        return rows

    def values_frame(self) -> Any:
        """Return `value_rows` as a pandas DataFrame for display: secrets in it are masked."""
        from agentctx_nb.frames import frame

        return frame(self.masked_value_rows(), ["key", "value", "type", "writer", "shadowed"])

    def masked_value_rows(self) -> list[tuple[Any, ...]]:
        """Return what `values_frame` holds, row by row."""
        from agentctx_nb.render.masked import masked_copy

        return [
            (self._shown(key), self._shown(value), *(masked_copy(name, mask=self.mask) for name in rest))
            for key, value, *rest in self.value_rows()
        ]

    def _shown(self, value: Any) -> Any:
        try:
            text = str.__str__(value) if isinstance(value, str) else repr(bare(value))
        except Exception as exc:  # noqa: BLE001  a broken __repr__ must not hide the other values
            return f"<{kind_name(value)} whose repr raises {kind_name(exc)}>"
        masked = self.mask(text)
        return value if masked == text else masked

    def __copy__(self) -> State:
        return _state(
            self.text, as_dict(self.values), as_dict(self.errors), self.mask, self._record, copy(self._data)
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        values, data = deepcopy(as_dict(self.values), memo), deepcopy(self._data, memo)
        errors, record = as_dict(self.errors), deepcopy(self._record, memo)
        return _state(self.text, values, errors, self.mask, record, data)

    def __reduce__(self) -> tuple[Any, ...]:
        errors = portable_errors(self.errors)
        return _state, (self.text, as_dict(self.values), errors, self.mask, self._record, self._data)

    def __str__(self) -> str:
        return self.mask(text_of(self))

    def __repr__(self) -> str:
        ran = len(self._record.names)
        names = error_names(self.errors)
        failed = f", failed: {', '.join(names)}" if names else ""
        said = f"<State: {counted(ran, 'provider')} ran, {counted(len(text_of(self)), 'character')}{failed}>"
        return printable(said, self.mask)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from agentctx_nb.render.views import state_page

        return state_page(self)._repr_mimebundle_(include, exclude)


def _found(writers: Mapping[str, list[str]], key: Any) -> list[str]:
    try:
        return writers.get(key, [])
    except Exception:  # noqa: BLE001  a key of theirs that cannot be found again
        return []


def _state(
    text: str,
    values: dict[str, Any],
    errors: dict[str, Exception],
    mask: Callable[[str], str],
    record: Record,
    data: View | None,
) -> State:
    """Put a state together again from its parts; also from those of a read-only one."""
    state = State(record=record)
    state.text, state.values, state.errors, state.mask = text, values, errors, mask
    if isinstance(errors, dict):
        state.errors = MaskedDict(errors, mask)
    state._data = data  # noqa: SLF001  this module's own
    return state


class _ReadOnlyState(State):
    __slots__ = ()
    __qualname__ = "State"  # it prints as what it is to its reader

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"a provider sees the state read-only: {name} cannot be changed")
        super().__setattr__(name, value)


def read_only(state: State) -> State:
    """Return ``state``, which from now on refuses edits, with frozen copies of what it holds."""
    entries = {
        name: ProviderEntry(
            entry.text,
            freeze(entry.raw_values),
            freeze(entry.raw_data),
            entry.outcome,
            entry.error,
            state.mask,
        )
        for name, entry in state.entries()
    }
    data = {"providers": View(freeze(entries), state.mask), "provider_order": freeze(list(entries))}
    state._data = View(freeze(data), state.mask)  # noqa: SLF001  this module made it
    state.values = freeze(state.values)
    state.errors = freeze(state.errors)
    state.__class__ = _ReadOnlyState
    return state


EMPTY_STATE = read_only(State())


def fold(record: Record, results: list[Any]) -> State:
    """Read what the providers returned into a `State`; a result that is none becomes an error of its own.

    ``record.errors`` holds those that failed already; ``record.parts`` is filled here.
    """
    errors, parts = record.errors, record.parts
    keep = parts.append
    for result in results:
        # Nearly every result is a dict of just the three: checked in place, for what a call would cost.
        if type(result) is dict and len(result) == 3:
            try:
                text, written, data = result["text"], result["values"], result["data"]
            except Exception:  # noqa: BLE001, S110  told by the full check below
                pass
            else:
                if type(text) is str and type(written) is dict and type(data) is dict:
                    keep((text, written.copy(), data))
                    continue
        part: AnyPart = NO_PART
        if len(parts) not in errors:
            try:
                part = checked(result)
            except Exception as exc:  # noqa: BLE001  also a mapping of theirs that raises when it is read
                errors[len(parts)] = without_our_frames(exc)
        keep(part)
    values: dict[Any, Any] = {}
    try:
        for _, written, _ in parts:
            values |= written
        values["providers"] = ""
    except Exception:  # noqa: BLE001  whatever keys of theirs do when they are compared
        from agentctx_nb.merging import merge_carefully

        values = merge_carefully(record)
    texts = [text for text, _, _ in parts if text and not text.isspace()]
    state = object.__new__(State)  # past its __init__, which would copy the values once more
    state.text = values["providers"] = "\n".join(texts)
    state.values = values
    state._tell_of(record)
    return state


def dependency_state(run: Run, needs: list[int]) -> State:
    """Return the state for a provider that waited for those at ``needs``: read-only, holding only them."""
    errors = {place: run.errors[i] for place, i in enumerate(needs) if i in run.errors}
    names, late = [run.plan.names[i] for i in needs], [k for k, i in enumerate(needs) if i in run.timed_out]
    record = Record(names=names, errors=errors, mask=run.runtime.mask, timed_out=late)
    return read_only(fold(record, [run.results[i] for i in needs]))
