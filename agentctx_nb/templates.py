"""Prompt templates in Handlebars, as elizaOS uses them, never HTML-escaped.

The parser and renderer are ``dotpromptz-handlebars``; what stands around it is what no library does:
names looked up as the contract says, values written as a prompt wants them, missing names told, errors
with a line, and a map from the characters of the prompt to who wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

from agentctx_nb.errors import DefinitionError, DefinitionTypeError, TemplateError, describe, did_you_mean
from agentctx_nb.looking.origins import written_by
from agentctx_nb.names import shown
from agentctx_nb.prompts.paths import Asked, asked_by
from agentctx_nb.prompts.rewriting import ITEM, OUT, ROUND, SECTION, alone, rewritten
from agentctx_nb.prompts.room import LONGEST_PROMPT, Room
from agentctx_nb.prompts.tags import DEEPEST, Tag, tags_of
from agentctx_nb.prompts.values import Items, Shown, as_text, item_of
from agentctx_nb.tracebacks import theirs

if TYPE_CHECKING:
    from collections.abc import Callable

    from dotpromptz_handlebars import Handlebars

    from agentctx_nb.looking.finding import Found
    from agentctx_nb.render.source_map import SourceMap
    from agentctx_nb.state import State

__all__ = ["Prompt", "check_template", "escape_template", "render_template"]

MissingPolicy: TypeAlias = Literal["empty", "error", "keep"]
POLICIES = ("empty", "error", "keep")
_MARKS = range(0x10FFFD, 0xFFFF, -1)
TEMPLATE = "template"
EXTRA = "extra"
COMPOSED = "(the text)"


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


class _Compiled(NamedTuple):
    """A template read once: its tags by place, what each asks for, and the mark that stands for a value."""

    tags: dict[int, Tag]
    asked: dict[int, Asked]
    render: Callable[..., str]
    mark: str


@lru_cache(maxsize=256)
def _compiled(template: str) -> _Compiled:
    from dotpromptz_handlebars import Handlebars

    tags = tags_of(template)
    used = set(template)
    free = (char for char in map(chr, _MARKS) if char not in used)  # there are more than a template is long
    mark, guard = next(free), next(free)
    library = Handlebars(escape_html=False, max_depth=3 * DEEPEST)  # two for a block with its else
    library.register_helper(OUT, lambda args, options: _rendering.get().out(mark, args, options.context))
    library.register_helper(ROUND, lambda args, options: _rendering.get().go_round(args[0]))
    library.register_helper("lookup", _lookup)
    library.register_helper(ITEM, _item)
    library.register_helper(SECTION, _section)
    try:
        render = library.compile(rewritten(template, tags, guard=guard))
    except (ValueError, RecursionError) as exc:
        raise _unreadable(library, tags, exc) from None
    by_place = {tag.start: tag for tag in tags}
    return _Compiled(by_place, asked_by(tags), lambda root: render(root).replace(guard, ""), mark)


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
    found = collection  # where nothing is in it, it stands for itself
    if collection or isinstance(collection, Mapping | Items):
        found = item_of(collection, as_text(key))
    if found is None and not isinstance(collection, Mapping | Items):
        _rendering.get().lost()
    return found


def _item(args: list[Any], options: Any) -> Any:
    """Take one step of a path; what a third argument says comes before it."""
    if len(args) > 2 and args[2] is not None:
        return args[2]
    return item_of(args[0], args[1])


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
        values: Any = None if state is None else state.values
        self._values: Mapping[str, Any] = values if isinstance(values, Mapping) else {}  # its owner's to edit
        self._writers = {} if state is None else {key: w for key, _, _, w, _ in state.value_rows()}
        self._mask = str if state is None else state.mask
        data = {} if state is None or "data" not in template else {"data": _data_of(state)}
        names = {**data, **self._values, **extra}
        self._root = Shown(names if watch is None else watch(names))
        self._state = state
        self._texts: list[tuple[str, str, Tag]] = []
        self._missing: dict[str, None] = {}
        self._room = Room()
        self._tags, self._asked, self._render, self._mark = _compiled(template)

    def prompt(self) -> Prompt:
        current = _rendering.set(self)
        try:
            rendered = self._render(self._root)
        except TemplateError:
            raise
        except Exception as exc:  # noqa: BLE001  also whatever a value of theirs raises when it is read
            raise TemplateError(f"the template cannot be rendered: {describe(exc)}") from theirs(exc)
        finally:
            _rendering.reset(current)
        text, spans, tags = self._assembled(rendered)
        return Prompt(text, missing=tuple(self._missing), spans=spans, tags=tags, mask=self._mask)

    def out(self, mark: str, args: list[Any], context: Any) -> str:
        """Return the mark that stands for the text of a value until all is put together."""
        place = int(args[0])
        value = args[1] if len(args) > 1 else None
        tag = self._tags[place]
        if value is None and self._nobody_wrote(self._asked[place], context):
            name = tag.words[0] if len(tag.words) == 1 else " ".join(tag.words)
            self._missing[name] = None
            if self._policy == "error":
                known = [key for key in (*self._extra, *self._values) if isinstance(key, str)]
                raise tag.error(f"nobody wrote {name!r}{did_you_mean(name, known)}")
            text = self._template[tag.start : tag.end] if self._policy == "keep" else ""
            source = TEMPLATE
        else:
            try:
                text = as_text(value, self._room)
            except TemplateError as exc:
                raise tag.error(str(exc)) from None
            except Exception as exc:  # noqa: BLE001  a number or text of theirs that cannot be written
                name = tag.words[0] if len(tag.words) == 1 else " ".join(tag.words)
                raise tag.error(f"{name} cannot be written: {describe(exc)}") from theirs(exc)
            source = self._writer(self._asked[place].path)
        self.lost()
        self._texts.append((text, source, tag))
        return f"{mark}{len(self._texts) - 1}{mark}"

    def go_round(self, characters: int) -> str:
        """Count one round of a block, and the characters of the template in it."""
        self._room.go_round(characters)
        return ""

    def lost(self) -> None:
        """Forget what was found last."""
        self._root.seen.last = ""

    def _nobody_wrote(self, asked: Asked, context: Any) -> bool:
        """Tell a name that is not there from one whose value is None."""
        seen = self._root.seen
        if asked.start == "call":
            return not seen.last
        here = seen.here if isinstance(context, Mapping) else getattr(context, "path", None)
        return not asked.found_by(seen.last, here=here)

    def _writer(self, path: tuple[str, ...]) -> str:
        if path[:2] == ("data", "providers") and len(path) > 2:
            return path[2]
        root = path[0] if path else ""
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
        if at > LONGEST_PROMPT:  # with what the template itself says outside of blocks that go round
            raise TemplateError(f"the prompt grows past {LONGEST_PROMPT:,} characters")
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
