"""The facts of one composition, kept as they fell; the report and the views are worked out when asked for."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from time import perf_counter_ns as now_ns
from typing import TYPE_CHECKING, Any, TypeAlias

from agentctx_nb.errors import describe
from agentctx_nb.provider import Part
from agentctx_nb.tracebacks import place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from agentctx_nb.execution import Run
    from agentctx_nb.registry import Snapshot
    from agentctx_nb.report import Report
    from agentctx_nb.selection import Selection

__all__ = ["NO_PART", "AnyPart", "Record", "is_the_text"]

# A Part, or a plain tuple of the same three where making a Part would cost more than reading it.
AnyPart: TypeAlias = "tuple[str, dict[str, Any], Mapping[str, Any]]"

NO_PART = Part("", {}, {})


def _as_is(text: str) -> str:
    return text


class Record:
    """What ran and what came of it, by place in the text order.

    ``parts`` holds the checked results (an empty one where it failed), ``errors`` the exceptions; where there
    is no ``run`` to tell it, ``timed_out`` has the places of those whose exception is a deadline of ours.
    """

    __slots__ = (
        "_settled",
        "ended_ns",
        "errors",
        "mask",
        "names",
        "parts",
        "run",
        "selection",
        "snapshot",
        "timed_out",
    )

    def __init__(
        self,
        *,
        names: list[str] | None = None,
        parts: list[AnyPart] | None = None,
        errors: dict[int, Exception] | None = None,
        run: Run | None = None,
        selection: Selection | None = None,
        snapshot: Snapshot | None = None,
        ended_ns: int = 0,
        mask: Callable[[str], str] = _as_is,
        timed_out: Collection[int] = (),
    ) -> None:
        self.names = [] if names is None else names
        self.parts = [] if parts is None else parts
        self.errors = {} if errors is None else errors
        self.run = run
        self.selection = selection
        self.snapshot = snapshot
        self.ended_ns = ended_ns
        self.mask = mask
        self.timed_out = timed_out
        # Of a copy or a part: what it was, without the run.
        self._settled: tuple[list[str], Report] | None = None

    @classmethod
    def of(cls, run: Run, selection: Selection, snapshot: Snapshot) -> Record:
        """Return the record of a run that has just ended; its parts are still to be read."""
        record = object.__new__(cls)  # past __init__, whose keywords cost as much as all the rest
        record.names = run.plan.names
        record.parts = []
        record.errors = run.errors
        record.run = run
        record.selection = selection
        record.snapshot = snapshot
        record.ended_ns = now_ns()
        record.mask = run.runtime.settings.mask
        record._settled = None
        return record

    def outcome(self, i: int) -> str:
        """Return what came of the provider at ``i``, in one of the words of `ReportRow`."""
        if self._settled is not None:
            return self._settled[0][i]
        run = self.run
        error = self.errors.get(i)
        if error is not None:
            late = self.timed_out if run is None else run.timed_out
            return "timed_out" if i in late else "failed"
        if run is not None and i in run.cached:
            return "cached"
        text, values, data = self.parts[i]
        return "ok" if values or text.strip() or _holds_any(data) else "empty"

    def spans(self) -> list[tuple[int, int, str]]:
        """Return where each provider's text stands in the composed one."""
        spans, start = [], 0
        for name, (text, _, _) in zip(self.names, self.parts, strict=True):
            if text and not text.isspace():
                spans.append((start, start + len(text), name))
                start += len(text) + 1  # the newline between two parts
        return spans

    def writers(self) -> dict[str, list[str]]:
        """Map each key of the values to the providers that wrote it, the winner last."""
        writers: dict[str, list[str]] = {}
        for name, (_, values, _) in zip(self.names, self.parts, strict=True):
            for key in values:
                with suppress(Exception):  # a key that cannot be found again has no writer to be told
                    writers.setdefault(key, []).append(name)
        return writers

    def report(self) -> Report:
        """Work out the row of every registered provider."""
        if self._settled is not None:
            return self._settled[1]
        from agentctx_nb.report import Report, ReportRow

        if self.selection is None or self.snapshot is None or self.run is None:
            return Report((), {}, "estimate", 0.0)
        counter_name, tokens = self._count_tokens(*self.run.runtime.token_counter)
        clashes = self.clashes_by_provider()
        place = {name: i for i, name in enumerate(self.names)}
        rows = []
        for entry, decision in zip(self.snapshot.entries, self.selection.decisions, strict=True):
            i = place.get(decision.provider)
            row: dict[str, Any] = {
                "provider": decision.provider,
                "ran": decision.runs,
                "reason": decision.reason,
                "keyword": decision.keyword,
                "position": entry.provider.position,
            }
            if i is not None:
                row |= self._cost(i, self.run) | self._yield(i, tokens[i])
                row["clashes"] = tuple(clashes.get(decision.provider, ()))
            error = None if i is None else self.errors.get(i)
            rows.append(ReportRow(**row) if error is None else ReportRow(**row).placed(place_of(error)))
        total = (self.ended_ns - self.run.began_ns) / 1e6
        unknown = {**self.selection.awaited, **self.selection.unknown}
        awaited = self._awaited_by(self.selection)
        return Report(tuple(rows), unknown, counter_name, total, self.mask, awaited)

    @staticmethod
    def _awaited_by(selection: Selection) -> dict[str, tuple[str, ...]]:
        """Map each unknown name in ``after=`` to the providers of this composition that have it there."""
        waits = [
            (entry.name, entry.provider.after)
            for entry in (selection.entries if selection.awaited else ())
            if entry.provider.after
        ]
        return {name: tuple(one for one, after in waits if name in after) for name in selection.awaited}

    def clashes_by_provider(self) -> dict[str, list[tuple[str, str, str]]]:
        """Map each provider to the (key, winner, loser) it is the winner or the loser of."""
        found: dict[str, list[tuple[str, str, str]]] = {}
        for clash in self._clashes():
            for name in dict.fromkeys(clash[1:]):
                found.setdefault(name, []).append(clash)
        return found

    def settle(self, outcomes: list[str], report: Report) -> None:
        """Tell these outcomes and this report from now on, without looking at a run."""
        self._settled = outcomes, report

    def __deepcopy__(self, memo: dict[int, Any]) -> Record:
        parts, outcomes = deepcopy(self.parts, memo), self._outcomes()
        return _read_back(self.names, parts, self.errors, self.mask, outcomes, self.report())

    def __reduce__(self) -> tuple[Any, ...]:
        # The run, its loop and the registry stay here.
        from agentctx_nb.portable import portable_error

        errors = {i: portable_error(error) for i, error in self.errors.items()}
        return _read_back, (self.names, self.parts, errors, self.mask, self._outcomes(), self.report())

    def _outcomes(self) -> list[str]:
        return [self.outcome(i) for i in range(len(self.names))]

    def _cost(self, i: int, run: Run) -> dict[str, Any]:
        start, end = run.starts_ns[i], run.ends_ns[i]
        if not start:  # kept from before, or past the deadline of the call before it could start
            return {"ms": None, "start_ms": None, "blocked_ms": None}
        held = run.held_ns.get(i, end - start)
        return {
            "ms": (end - start) / 1e6,
            "start_ms": (start - run.began_ns) / 1e6,
            "blocked_ms": None if held is None else held / 1e6,
        }

    def _count_tokens(self, name: str, count: Callable[[str], int]) -> tuple[str, list[int]]:
        """Return the name of what counted, and the tokens of each text; an estimate where a counter fails."""
        texts = [text for text, _, _ in self.parts]
        try:
            return name, [int(count(text)) if text else 0 for text in texts]
        except Exception as exc:  # noqa: BLE001  the user's own counter must not hide what was composed
            from agentctx_nb.tokens import estimate_tokens

            said = f"estimate, as {name} failed with {type(exc).__name__}"
            return said, [estimate_tokens(text) for text in texts]

    def _yield(self, i: int, tokens: int) -> dict[str, Any]:
        text, values, _ = self.parts[i]
        error = self.errors.get(i)
        return {
            "outcome": self.outcome(i),
            "chars": len(text),
            "tokens": tokens,
            "value_keys": tuple(map(self._masked, values)),
            "error": None if error is None else " ".join(self.mask(describe(error)).split("\n")),
        }

    def _masked(self, key: Any) -> Any:
        return self.mask(key) if isinstance(key, str) else key

    def _clashes(self) -> list[tuple[str, str, str]]:
        found: list[tuple[str, str, str]] = []
        for key, names in self.writers().items():
            if is_the_text(key):  # always the text, whoever writes it
                found.extend((key, "(the text)", name) for name in names)
            else:
                found.extend((self._masked(key), names[-1], name) for name in names[:-1])
        return found


def is_the_text(key: Any) -> bool:
    """Whether a key of the values is ``"providers"``, which always is the text; the key may be anything."""
    return isinstance(key, str) and str.__eq__(key, "providers")


def _holds_any(data: Any) -> bool:
    if isinstance(data, dict):
        return dict.__len__(data) > 0
    try:
        return len(data) > 0
    except Exception:  # noqa: BLE001  a mapping of theirs that will not tell
        return True


def _read_back(
    names: list[str],
    parts: list[AnyPart],
    errors: dict[int, Exception],
    mask: Callable[[str], str],
    outcomes: list[str],
    report: Report,
) -> Record:
    record = Record(names=[*names], parts=parts, errors=dict(errors), mask=mask)
    record.settle(outcomes, report)
    return record
