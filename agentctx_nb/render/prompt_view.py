"""What a person is shown of a prompt: how it reads, what nobody wrote, which tag is filled by whom, its size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from agentctx_nb.errors import nearest_names
from agentctx_nb.looking.origins import stretches
from agentctx_nb.names import counted
from agentctx_nb.prompts.tags import BLOCKS, HELPERS, Tag, is_else, tags_of
from agentctx_nb.render.bounds import Mask, cell_text, cut, no_mask
from agentctx_nb.render.page import Fold, Lines, Page
from agentctx_nb.render.table import Table
from agentctx_nb.tokens import counted_by

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import pandas as pd

    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.state import State
    from agentctx_nb.templates import Prompt

__all__ = ["PromptView", "prompt_view", "prompts_table"]

_NOBODY = "(nobody)"
_EXTRA = "extra"
_CONDITIONS = ("if", "unless")
_WORDS = frozenset((*BLOCKS, *HELPERS, "else", "as", "this", "true", "false", "null", "undefined"))
_LISTED = 10
_NAME = 60
_TAG = 60


@dataclass(frozen=True, slots=True, repr=False)
class PromptView:
    """A rendered prompt that shows itself; ``prompt`` is the string as it is, the display is masked.

    ``tags`` has a row for each tag of the template: what it is, its line there, who fills it, and how many
    characters it put into the prompt, in how many ``places``.
    """

    name: str
    prompt: Prompt
    tags: Table
    said: tuple[str, ...]
    mask: Mask = field(default=no_mask, compare=False)

    def __str__(self) -> str:
        return self.mask(str(self.prompt))

    def __repr__(self) -> str:
        return self.page().to_text()

    def page(self) -> Page:
        """Return what is shown: a summary, missing names, the tags, the prompt."""
        shown = Fold("rendered prompt", str(self.prompt), whole="print(view.prompt)")
        first, *more = self.said
        parts = (Lines((first,), strong=True), Lines(tuple(more)), self.tags, shown)
        return Page(tuple([part for part in parts if part != Lines(())]), mask=self.mask)

    def to_frame(self) -> pd.DataFrame:
        """Return the tags as a DataFrame; secrets masked."""
        return self.tags.to_frame()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return self.page()._repr_mimebundle_(include, exclude)


def prompt_view(
    runtime: AgentRuntime,
    name: str,
    template: str,
    prompt: Prompt,
    *,
    state: State | None,
    extra: Mapping[str, Any],
    said: str,
) -> PromptView:
    """Return the view of ``prompt``, which is ``template`` rendered with ``state``, or with none yet.

    ``said`` goes on top.
    """
    counter, tokens = counted_by(runtime.token_counter, prompt)
    about = "about " if counter.startswith("estimate") else ""
    size = f"{counted(len(prompt), 'character')}, {about}{counted(tokens, 'token')} ({counter})"
    lines = [f"{said}: {size}"]
    if state is not None:
        lines += _missing(prompt, state, extra, runtime.mask)
    table = Table(
        ("tag", "line", "filled by", "chars", "places"),
        tuple(_rows(template, prompt, state, extra)),
        title="Which tag is filled by whom",
        mask=runtime.mask,
    )
    return PromptView(name, prompt, table, tuple(lines), runtime.mask)


def prompts_table(runtime: AgentRuntime) -> Table:
    """Return the prompts that are kept: their size, and the names they print."""
    rows = []
    for name, template in runtime.prompts.items():
        names = [tag.words[0] for tag in tags_of(template) if _prints(tag) and len(tag.words) == 1]
        version = runtime.registered_prompt(name).version
        rows.append((name, version, len(template), ", ".join(dict.fromkeys(names))))
    note = "" if rows else "%%prompt NAME makes the cell below it one"
    return Table(
        ("prompt", "version", "chars", "names"), tuple(rows), title="Prompts", note=note, mask=runtime.mask
    )


class _Filled(NamedTuple):
    writers: dict[str, None]
    chars: int
    places: int


class _Names(NamedTuple):
    """What is known of the names in a template: who wrote which, and who ran at all; nothing yet if ``unfilled``."""

    writers: Mapping[str, str]
    ran: Collection[str]
    extra: Mapping[str, Any]
    missing: tuple[str, ...]
    unfilled: bool

    def among(self, words: tuple[str, ...], inside: str | None) -> str:
        """Return who wrote the names among ``words``; those inside a block's value were written by ``inside``."""
        found: dict[str, None] = {}
        for word in words:
            name = word.strip("()")
            at_root = inside is None or name.startswith(("../", "@root."))
            parts = name.removeprefix("@root.").replace("../", "").split(".")
            if name in self.missing:
                found[_NOBODY] = None
            elif not at_root:
                if inside and (parts[0].isidentifier() or name.startswith("@")):
                    found[inside] = None
            elif parts[0] in self.extra:
                found[_EXTRA] = None
            elif parts[0] in self.writers:
                found[self.writers[parts[0]]] = None
            elif self.unfilled or word in _WORDS or not parts[0].isidentifier():
                continue
            elif parts[:2] == ["data", "providers"] and len(parts) > 2:
                found[parts[2] if parts[2] in self.ran else f"{parts[2]} (did not run)"] = None
            elif parts[0] != "data":
                found[_NOBODY] = None
        return ", ".join(found)


_Row: TypeAlias = "tuple[str, int, str, int | str, int | str]"


def _rows(template: str, prompt: Prompt, state: State | None, extra: Mapping[str, Any]) -> list[_Row]:
    filled = _filled(prompt)
    written = [] if state is None else state.value_rows()
    names = _Names(
        {key: writer for key, _, _, writer, _ in written},
        () if state is None else state.data.provider_order,
        extra,
        () if state is None else prompt.missing,
        unfilled=state is None,
    )
    rows: dict[tuple[str, int], _Row] = {}
    inside: list[str | None] = [None]  # who wrote the value that each open block is inside of; None: the root
    for tag in tags_of(template):
        if tag.kind == "/":
            inside.pop()
            continue
        asks = tag.opens or (is_else(tag) and len(tag.words) > 1)
        if not asks and not _prints(tag):
            continue
        at = (template[tag.start : tag.end], tag.line)
        writers = names.among(tag.words[1:] if asks and len(tag.words) > 1 else tag.words, inside[-1])
        if tag.opens:
            same = tag.kind == "^" or tag.words[0] in _CONDITIONS
            inside.append(inside[-1] if same else writers)
        if asks:
            rows[at] = (cut(at[0], _TAG), tag.line, writers, "", "")
        else:
            done = filled.get(at, _Filled({}, 0, 0))
            told = ", ".join(done.writers) or writers
            rows[at] = (cut(at[0], _TAG), tag.line, told, done.chars, done.places)
    return list(rows.values())


def _filled(prompt: Prompt) -> dict[tuple[str, int], _Filled]:
    """Return by tag and line who filled it, with how many characters, in how many places."""
    filled: dict[tuple[str, int], _Filled] = {}
    for stretch in stretches(prompt):
        if stretch.tag:
            at = (stretch.tag, stretch.line)
            writers, chars, places = filled.get(at, _Filled({}, 0, 0))
            if stretch.writer != "template":  # it knows nothing of a name inside a block's value
                writers = {**writers, stretch.writer: None}
            filled[at] = _Filled(writers, chars + stretch.end - stretch.start, places + 1)
    return filled


def _prints(tag: Tag) -> bool:
    return tag.kind in {"", "&", "{"} and not is_else(tag)


def _missing(prompt: Prompt, state: State, extra: Mapping[str, Any], mask: Mask) -> list[str]:
    if not prompt.missing:
        return []
    known = [str(key) for key, *_ in state.value_rows()] + list(extra)
    said = []
    for name in prompt.missing[:_LISTED]:
        near = nearest_names(name, known, most=1)
        shown = cell_text(name, mask=mask, most=_NAME)
        said.append(f"{shown} (did you mean {cell_text(near[0], mask=mask, most=_NAME)}?)" if near else shown)
    if len(prompt.missing) > _LISTED:
        said.append(f"and {len(prompt.missing) - _LISTED:,} more")
    return [f"nobody wrote: {', '.join(said)}"]
