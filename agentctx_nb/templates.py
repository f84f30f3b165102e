"""Prompt templates in Handlebars, as elizaOS uses them, never HTML-escaped.

The parser and renderer are ``dotpromptz-handlebars``; what stands around it is what no library does:
names looked up as the contract says, values written as a prompt wants them, missing names told, errors
with a line, and a map from the characters of the prompt to who wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from agentctx_nb.errors import DefinitionError, DefinitionTypeError, TemplateError, describe
from agentctx_nb.looking.origins import written_by
from agentctx_nb.names import shown
from agentctx_nb.prompts.paths import paths_of
from agentctx_nb.prompts.rewriting import ITEM, LENGTH, OUT, SECTION, alone, rewritten
from agentctx_nb.prompts.tags import DEEPEST, Tag, tags_of
from agentctx_nb.prompts.values import Shown, as_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from dotpromptz_handlebars import Handlebars

    from agentctx_nb.looking.finding import Found
    from agentctx_nb.render.source_map import SourceMap
    from agentctx_nb.state import State

__all__ = ["Prompt", "check_template", "escape_template", "render_template"]

MissingPolicy: TypeAlias = Literal["empty", "error", "keep"]
POLICIES = ("empty", "error", "keep")
TEMPLATE = "template"
EXTRA = "extra"
COMPOSED = "(the text)"
LONGEST_PROMPT = 10_000_000


class Prompt(str):
    """A rendered template: a string that knows what was missing and who wrote what.

    Attributes
    ----------
    missing
        Names the template prints and nobody wrote, each once, in order.
    spans
        ``(start, end, source)`` over the text: ``"template"``, ``"extra"``, or the provider whose value
        stands there.
    tags
        ``(start, end, tag, line)`` for each stretch a tag put there: the tag as written, and its line in
        the template.

    >>> prompt = render_template("Hi {{name}}, {{mood}}!", extra={"name": "Ada"})
    >>> prompt, prompt.missing
    ('Hi Ada, !', ('mood',))
    """

    __slots__ = ("mask", "missing", "spans", "tags")

    missing: tuple[str, ...]
    spans: list[tuple[int, int, str]]
    tags: list[tuple[int, int, str, int]]
    mask: Callable[[str], str]

    def __new__(
        cls,
        text: str,
        *,
        missing: tuple[str, ...] = (),
        spans: list[tuple[int, int, str]] | None = None,
        tags: list[tuple[int, int, str, int]] | None = None,
        mask: Callable[[str], str] = str,
    ) -> Self:
        """Make the string and attach what is known of it."""
        prompt = super().__new__(cls, text)
        prompt.missing = missing
        prompt.spans = [] if spans is None else spans
        prompt.tags = [] if tags is None else tags
        prompt.mask = mask
        return prompt

    def __repr__(self) -> str:
        return repr(self.mask(str(self)))

    def source_map(self) -> SourceMap:
        """Return the prompt with the part of each provider marked, and its share of the tokens."""
        from agentctx_nb.render.source_map import prompt_map

        return prompt_map(self)

    def where(self, text: str) -> Found:
        """Return where ``text`` stands in this prompt: the provider, and the tag that put it there.

        (``find`` is the one of all strings, and returns a place.)
        """
        from agentctx_nb.looking.finding import find_in_prompt

        return find_in_prompt(self, text)


def escape_template(text: str) -> str:
    r"""Return ``text`` so that, inside a template, it renders as itself.

    >>> print(escape_template("a {{b}} c"))
    a \{{b}} c
    """
    pieces = text.split("{{")
    safe = [_closed(piece) for piece in pieces[:-1]]
    last = _closed(pieces[-1])
    if last.endswith("{"):  # with the braces of a tag behind it, it would open another kind of tag
        last = _closed(last[:-1]) + '{{lookup "{" 0}}'
    return "\\{{".join([*safe, last])


def _closed(text: str) -> str:
    """Keep backslashes at the end of ``text`` from escaping what comes next: a comment takes the last one."""
    return f"{text}\\{{{{!}}}}" if text.endswith("\\") else text


def render_template(
    template: str | Callable[[State], str],
    *,
    state: State | None = None,
    extra: Mapping[str, Any] | None = None,
    missing: str = "empty",
    watch: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
) -> Prompt:
    """Render ``template`` with ``extra``, then the state's values; ``data`` reaches the state's data.

    Parameters
    ----------
    template
        The text, or a function of the state that returns it.
    missing
        What a name nobody wrote becomes: ``"empty"``, an ``"error"``, or its own tag (``"keep"``).
    watch
        Given the names a template sees, returns them as a mapping that notes which of them are read.

    Raises
    ------
    TemplateError
        The template cannot be read (with line and column), a value cannot be written, or a name is
        missing under ``missing="error"``.
    """
    if missing not in POLICIES:
        raise DefinitionError(
            f"missing is 'empty', 'error' or 'keep', not {shown(missing)}; no extra can have this name"
        )
    if callable(template):
        template = template(state)  # type: ignore[arg-type]  # a callable template is one of a state
    if not isinstance(template, str):
        raise DefinitionTypeError(f"a template is a string, not {shown(template)}")
    rendering = _Rendering(str(template), state, dict(extra or {}), missing, watch)
    return rendering.prompt()


def check_template(template: str) -> None:
    """Raise `TemplateError`, with line and column, where the template cannot be read."""
    _compiled(template)


@lru_cache(maxsize=256)
def _compiled(template: str) -> tuple[dict[int, Tag], Callable[..., str], str]:
    """Return the tags by place, the render function, and the mark that stands for a value in its text."""
    from dotpromptz_handlebars import Handlebars

    tags = tags_of(template)
    free = (chr(code) for code in range(0xFDD0, 0xFDF0) if chr(code) not in template)
    mark, guard = next(free), next(free)
    library = Handlebars(escape_html=False, max_depth=3 * DEEPEST)  # two for a block with its else
    library.register_helper(OUT, lambda args, options: _rendering.get().out(mark, *args))
    library.register_helper("lookup", _lookup)
    library.register_helper(ITEM, lambda args, options: _item(args[0], args[1]))
    library.register_helper(LENGTH, lambda args, options: _length(args[0]))
    library.register_helper(SECTION, _section)
    try:
        render = library.compile(rewritten(template, tags, guard=guard))
    except (ValueError, RecursionError) as exc:
        raise _unreadable(library, tags, exc) from exc
    return {tag.start: tag for tag in tags}, lambda root: render(root).replace(guard, ""), mark


def _unreadable(library: Handlebars, tags: list[Tag], error: Exception) -> TemplateError:
    """Return what the library said with the place of the tag it cannot read, which it does not tell."""
    for tag in tags:
        try:
            library.compile(alone(tag))
        except ValueError as exc:
            return tag.error(f"{' '.join(tag.words)} cannot be read: {exc}")
    return TemplateError(f"the template cannot be read: {error}")


def _lookup(args: list[Any], options: Any) -> Any:
    """Do what Handlebars' own helper does; the library's knows neither our mappings nor texts."""
    collection, key = [*args, None, None][:2]
    if not collection and not isinstance(collection, Mapping | list):
        return collection  # nothing is in it, and it stands for itself
    return _item(collection, as_text(key))


def _item(collection: Any, name: str) -> Any:
    """Return what stands under a name in a mapping, or at a place in a list or a text."""
    if isinstance(collection, Mapping):
        there = name in collection  # asked first, which notes a name nobody wrote
        return collection[name] if there else None
    if not isinstance(collection, str | list):
        return None
    if name == "length":
        return len(collection)
    place = int(name) if name.isdecimal() and len(name) < 10 else len(collection)
    return collection[place] if place < len(collection) and name == str(place) else None


def _length(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value.get("length")
    return len(value) if isinstance(value, str | list) else None


def _section(args: list[Any], options: Any) -> Any:
    """Do what a section does with the length of something, which is a number or nothing."""
    value = args[0]
    return options.inverse() if value is None else options.fn(value)


def _data_of(state: State) -> dict[str, Any]:
    providers = {
        name: {key: entry[key] for key in ("text", "values", "data")}
        for name, entry in state.data.providers.items()
    }
    return {"providers": providers, "provider_order": list(providers)}


_rendering: ContextVar[_Rendering] = ContextVar("agentctx_nb_rendering")


class _Rendering:
    """One rendering: what it looked up, what was missing, and the texts to stand at the marks."""

    def __init__(
        self,
        template: str,
        state: State | None,
        extra: dict[str, Any],
        policy: str,
        watch: Callable[[dict[str, Any]], Mapping[str, Any]] | None,
    ) -> None:
        self._template = template
        self._extra = extra
        self._policy = policy
        self._values: Mapping[str, Any] = {} if state is None else state.values
        self._writers = {} if state is None else {key: w for key, _, _, w, _ in state.value_rows()}
        self._mask = str if state is None else state.mask
        data = {} if state is None or "data" not in template else {"data": _data_of(state)}
        names = {**data, **self._values, **extra}
        self._root = Shown(names if watch is None else watch(names))
        self._state = state
        self._texts: list[tuple[str, str, Tag]] = []
        self._missing: dict[str, None] = {}
        self._size = 0
        self._tags, self._render, self._mark = _compiled(template)
        self._paths = paths_of(self._tags.values())

    def prompt(self) -> Prompt:
        current = _rendering.set(self)
        try:
            rendered = self._render(self._root)
        except TemplateError:
            raise
        except Exception as exc:  # also whatever a value of theirs raises when it is read
            raise TemplateError(f"the template cannot be rendered: {describe(exc)}") from exc
        finally:
            _rendering.reset(current)
        text, spans, tags = self._assembled(rendered)
        return Prompt(text, missing=tuple(self._missing), spans=spans, tags=tags, mask=self._mask)

    def out(self, mark: str, place: int, value: Any = None) -> str:
        tag = self._tags[int(place)]
        name = tag.words[0] if len(tag.words) == 1 else " ".join(tag.words)
        if value is None and self._nobody_wrote(name):
            self._missing[name] = None
            if self._policy == "error":
                raise tag.error(f"nobody wrote {name!r}")
            text = self._template[tag.start : tag.end] if self._policy == "keep" else ""
            source = TEMPLATE
        else:
            text, source = as_text(value), self._writer(self._paths.get(tag.start, name))
        self._root.missed.clear()
        self._size += len(text)
        if self._size > LONGEST_PROMPT:
            raise tag.error(f"the prompt grows past {LONGEST_PROMPT:,} characters")
        self._texts.append((text, source, tag))
        return f"{mark}{len(self._texts) - 1}{mark}"

    def _nobody_wrote(self, name: str) -> bool:
        """Tell a name that is not there from one whose value is None."""
        name = name.replace("/", ".").replace("[", "").replace("]", "")
        here = name.removeprefix("this.").removeprefix("../")
        for missed in self._root.missed:  # since the last value was printed
            if missed == here or missed.endswith(f".{here}") or here.startswith(f"{missed}."):
                return True
        parts = here.split(".")
        if len(parts) < 2 or parts[0] not in self._root.raw:
            return False
        value: Any = self._root[parts[0]]
        for part in parts[1:]:  # past a text or a number nothing was looked up at all
            if not isinstance(value, Mapping | list):
                return True
            value = _lookup([value, int(part) if part.isdigit() else part], None)
        return False

    def _writer(self, path: str) -> str:
        parts = [part.strip("[]") for part in path.split(".")]
        if parts[:2] == ["data", "providers"] and len(parts) > 2:
            return parts[2]
        root = parts[0]
        if root in self._extra:
            return EXTRA
        return self._writers.get(root, TEMPLATE)

    def _assembled(
        self, rendered: str
    ) -> tuple[str, list[tuple[int, int, str]], list[tuple[int, int, str, int]]]:
        """Put the texts where their marks are, and note who wrote each stretch, and by which tag."""
        out: list[str] = []
        spans: list[tuple[int, int, str]] = []
        tags: list[tuple[int, int, str, int]] = []
        at = 0
        for i, piece in enumerate(rendered.split(self._mark)):
            text, source, tag = (piece, TEMPLATE, None) if i % 2 == 0 else self._texts[int(piece)]
            if not text:
                continue
            for start, end, writer in self._written(text, source):
                if spans and spans[-1][2] == writer == TEMPLATE:
                    spans[-1] = (spans[-1][0], at + end, writer)
                else:
                    spans.append((at + start, at + end, writer))
            if tag is not None:
                tags.append((at, at + len(text), self._template[tag.start : tag.end], tag.line))
            out.append(text)
            at += len(text)
        return "".join(out), spans, tags

    def _written(self, text: str, source: str) -> list[tuple[int, int, str]]:
        """Return who wrote which part of one text; of the composed one, each provider its own."""
        parts = None
        if source == COMPOSED and self._state is not None:
            parts = written_by(self._state, text)
        if not parts:
            return [(0, len(text), source)]
        told = [parts[0]]
        for part in parts[1:]:
            told += [(told[-1][1], part[0], TEMPLATE), part]
        return told
