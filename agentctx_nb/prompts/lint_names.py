"""The names of a template against what providers wrote: unknown ones, ones not always there, texts that come twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentctx_nb.errors import nearest_names, nearest_to_each
from agentctx_nb.prompts.lint_reads import PRINTED, TESTED, exclusive

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from agentctx_nb.prompts.lint_reads import Path, Read
    from agentctx_nb.provider import Provider
    from agentctx_nb.registry import Registry
    from agentctx_nb.usage.written import Written

__all__ = ["Names"]

_PARTS = ("text", "values", "data")
_NAMED = 3  # of a longer list
_MOST_COMPARED = 200  # places of {{providers}}

Found = tuple[str, str, str]  # rule, sentence, name


class Names:
    """What is known of the values, from the registry and the last runs of its providers."""

    def __init__(self, registry: Registry, written: Written, extra: Collection[str]) -> None:
        self._extra = extra
        self._written = written
        self._providers: dict[str, Provider] = {}
        self._keys: dict[str, frozenset[str]] = {}
        self._near: dict[str, tuple[str, ...]] = {}
        self._has_more: set[str] = set()  # providers that wrote more keys than are kept
        self._not_run: list[str] = []
        self._writers: dict[str, list[str]] = {}
        for entry in registry.snapshot().entries:
            self._providers[entry.name] = entry.provider
            keys = written.keys_of(entry.name, version=entry.version)
            if keys is None:
                self._not_run.append(entry.name)
                continue
            self._keys[entry.name] = keys
            if written.has_more(entry.name):
                self._has_more.add(entry.name)
            for key in sorted(keys):
                self._writers.setdefault(key, []).append(entry.name)
        self._writers.pop("providers", None)  # always the text, whoever writes it

    def sought(self, names: Collection[str]) -> None:
        """Look for what is like each of ``names`` that nobody writes, all at once: of many only the first."""
        self._near = nearest_to_each([name for name in names if name not in self._writers], self._writers)

    def is_data(self, name: str) -> bool:
        """Whether the name means the data of the state; an extra or a value of that name comes before it."""
        return name == "data" and name not in self._extra and name not in self._writers

    def about(self, read: Read) -> Iterator[Found]:
        """Yield what is wrong with one name."""
        name = read.path[0]
        if name in self._extra or name == "providers":
            return
        if self.is_data(name):
            yield from self._about_data(read)
        elif name not in self._writers:
            if self._has_more and name not in self._providers:
                return  # it may be one of the keys that are not kept
            yield "unknown", self._nobody(name), name
        elif said := self._sometimes(self._writers[name], read):
            yield "not always", f"`{name}` is there only {said}", name

    def twice(self, reads: list[Read]) -> Iterator[tuple[Read, str, str]]:
        """Yield (read, sentence, name) for each that prints what another prints already."""
        if "providers" in self._extra:
            return
        printed = [read for read in reads if read.use == PRINTED]
        whole = [read for read in printed if read.path == ("providers",)][:_MOST_COMPARED]
        told: set[Path] = set()
        looked: set[tuple[Path, tuple[tuple[int, bool], ...]]] = set()  # the later ones tell nothing else
        for read in printed:
            inside = self._inside(read.path)
            if inside is None or read.path in told:
                continue
            if inside and (read.path, read.branches) in looked:
                continue
            looked.add((read.path, read.branches))
            before = whole if inside else [other for other in whole if other.tag.start < read.tag.start]
            if any(not exclusive(read, other) for other in before):
                told.add(read.path)
                name = ".".join(read.path)
                where = f", in the text of {inside}" if inside else ""
                yield read, f"`{name}` stands in {{{{providers}}}} already{where}", name

    def _inside(self, path: Path) -> str | None:
        """Return whose text holds what stands at ``path``; "" for the whole text, None where it is not known."""
        if path == ("providers",):
            return ""
        if path[:2] == ("data", "providers") and len(path) > 3:
            name, part, *key = path[2:]
            shown = part == "text" or (part == "values" and self._written.repeats(name, ".".join(key)))
            return name if shown and name in self._keys and "data" not in self._extra else None
        if len(path) > 1 or path[0] in self._extra:
            return None
        writers = self._writers.get(path[0], [])
        return writers[-1] if writers and self._written.repeats(writers[-1], path[0]) else None

    def _nobody(self, name: str) -> str:
        who = "no provider that has run writes" if self._not_run else "no provider writes"
        said = f"{who} `{name}`"
        if name in self._providers:
            return f"{said}: {name} is a provider; its text is data.providers.{name}.text"
        near = self._near.get(name, ())
        if near:
            said += f"; {_listed(self._writers[near[0]], 'and')} {_verb(self._writers[near[0]])} `{near[0]}`"
        if self._not_run:
            said += f"; {_listed(self._not_run, 'and')} {'has' if len(self._not_run) == 1 else 'have'} not run yet"
        elif not near:
            said += "; if it is an extra, name it in extra="
        return said

    def _about_data(self, read: Read) -> Iterator[Found]:
        _, kind, provider, part, *key = (*read.path, "", "", "", "")[: max(4, len(read.path))]
        if kind not in ("", "providers", "provider_order"):
            yield "unknown", f"data holds `providers` and `provider_order`, no `{kind}`", f"data.{kind}"
        if kind != "providers" or not provider:
            return
        name = f"data.providers.{provider}"
        if provider not in self._providers:
            near = nearest_names(provider, self._providers, most=1)
            also = f"; did you mean {near[0]}?" if near else ""
            yield "unknown", f"no provider is registered as {provider}{also}", name
            return
        if said := self._sometimes([provider], read):
            yield "not always", f"`{name}` is there only {said}", name
        if part not in ("", *_PARTS):
            yield "unknown", f"{name} has text, values and data, no `{part}`", f"{name}.{part}"
        keys = self._keys.get(provider)
        kept = provider not in self._has_more
        if part == "values" and key and keys is not None and kept and key[0] not in keys:
            near = nearest_names(key[0], keys, most=1)
            also = f"; it writes `{near[0]}`" if near else ""
            yield "unknown", f"{provider} writes no `{key[0]}`{also}", f"{name}.values.{key[0]}"

    def _sometimes(self, writers: list[str], read: Read) -> str | None:
        """Say when a value is there that no provider writes always; None where that needs no saying."""
        providers = [self._providers[name] for name in writers]
        if read.use == TESTED or any(p.always_run or not (p.dynamic or p.private) for p in providers):
            return None
        guarded = {name for guard in read.guards for name in self._written_by(guard)}
        if guarded & {*writers}:
            return None
        if len(providers) > 1:
            return f"when {_listed(writers, 'or')} runs, none of which always does"
        return f"when {writers[0]} runs, which is {_woken(providers[0])}"

    def _written_by(self, path: Path) -> list[str]:
        if path[:2] == ("data", "providers"):
            return list(path[2:3])
        return self._writers.get(path[0], [])


def _woken(provider: Provider) -> str:
    if provider.private:
        return "private: only an include_list that names it runs it"
    keywords = provider.relevance_keywords
    if not keywords:
        return "dynamic and has no keywords: only an include_list that names it runs it"
    return f"dynamic: {_listed([repr(word) for word in keywords], 'or')} in the message wakes it"


def _listed(names: list[str], joined_by: str) -> str:
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} {joined_by} {len(names) - _NAMED} more"
    return ", ".join(names[:-1]) + f" {joined_by} {names[-1]}" if len(names) > 1 else names[0]


def _verb(writers: list[str]) -> str:
    return "writes" if len(writers) == 1 else "write"
