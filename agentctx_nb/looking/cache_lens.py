"""How much of a prompt's start stays the same from message to message, which is what a prompt cache can reuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from agentctx_nb.errors import DefinitionTypeError
from agentctx_nb.model import Content, Memory, as_message
from agentctx_nb.names import shown
from agentctx_nb.prompts.parts import (
    FIXED,
    PromptParts,
    break_between,
    changes_between,
    prompt_of,
    same_start,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from agentctx_nb.model import MessageLike
    from agentctx_nb.render.page import Page
    from agentctx_nb.render.table import Table
    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.state import State

__all__ = ["CacheLens", "Move", "look_at"]

MOST_TRIED = 5  # providers whose moving is worked out


class Move(NamedTuple):
    """What would stay the same if ``providers`` (masked) stood behind everything else in their place.

    ``same_chars`` and ``same_tokens`` are sums over all prompts but the first, as are the gains over what
    stays the same now. ``by_position`` says whether a higher ``position`` moves them, ``by_template`` whether
    tags of theirs have to move in the template.
    """

    providers: tuple[str, ...]
    same_chars: int
    same_tokens: int
    gained_chars: int
    gained_tokens: int
    by_position: bool
    by_template: bool


@dataclass(frozen=True, slots=True, repr=False)
class CacheLens:
    """Prompts composed one after the other, each compared with the one before from its first byte on.

    Attributes
    ----------
    prompts
        A table: number, message, chars, tokens; how many of them, from the start, are those of the prompt
        before (same_chars, same_tokens, percent); the provider where it first differs, and how.
    chars, tokens, same_chars, same_tokens
        Sums over all prompts but the first.
    breaks
        How often each provider, or the template, was where the start ended, most often first.
    moves
        What moving the first five of them behind all others would keep, each and then all that changed.
    last_position
        The highest position in the text.
    failed
        Providers that failed in one of the compositions: what they would write is missing.
    """

    prompts: Table
    chars: int
    tokens: int
    same_chars: int
    same_tokens: int
    breaks: Mapping[str, int]
    moves: tuple[Move, ...]
    last_position: float
    token_counter: str
    failed: tuple[str, ...] = ()
    mask: Callable[[str], str] = field(default=str, compare=False)

    @property
    def share(self) -> float:
        """The share of the tokens that stays the same, from 0 to 1."""
        return self.same_tokens / self.tokens if self.tokens else 1.0

    @property
    def best(self) -> Move | None:
        """The move that keeps most, of several the one of fewest providers; None where none keeps more."""
        gaining = [move for move in self.moves if move.gained_chars > 0]
        return max(gaining, key=lambda move: (move.gained_chars, -len(move.providers)), default=None)

    def page(self) -> Page:
        """Return the view: sentences, the prompts, and what moving would keep."""
        from agentctx_nb.render.cache_lens_view import page_of

        return page_of(self)

    def __repr__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """Return the view for a terminal."""
        return self.page().to_text()

    def to_markdown(self) -> str:
        """Return the view as Markdown in which no data acts."""
        return self.page().to_markdown()

    def to_html(self) -> str:
        """Return the view as static HTML."""
        return self.page().to_html()

    def to_frame(self) -> Any:
        """Return the table of prompts as a pandas DataFrame, secrets masked."""
        return self.prompts.to_frame()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return self.page()._repr_mimebundle_(include, exclude)


def look_at(
    runtime: AgentRuntime,
    messages: Iterable[MessageLike],
    template: str | Callable[[State], str] | None = None,
) -> CacheLens:
    """Compose ``messages`` one after the other and compare each prompt with the one before.

    Providers run as they do in `AgentRuntime.compose`, with their side effects, and ``ttl`` results are
    used and kept; nothing else of the runtime changes.

    Raises
    ------
    DefinitionTypeError
        ``messages`` is no list of messages.
    TemplateError
        The template cannot be read or rendered.
    """
    from agentctx_nb.render.table import Table

    given = _checked(messages)
    if not (template is None or isinstance(template, str) or callable(template)):
        raise DefinitionTypeError(f"a template is a string, not {shown(template)}")
    if said := runtime.name_as_template(template):
        runtime.logger.warning(said)
    count_name, count = _counter(runtime)
    prompts: list[PromptParts] = []
    failed: dict[str, None] = {}
    position = 0.0
    for message in given:
        state = runtime.compose(message)
        prompts.append(prompt_of(state, template))
        failed.update(dict.fromkeys(map(runtime.mask, state.errors)))
        position = max([row.position for row in state.report if row.ran and row.chars], default=0)
    texts = [prompt.text() for prompt in prompts]
    same = [same_start(old, new) for old, new in pairwise(texts)]
    broken = [break_between(old, new) for old, new in pairwise(prompts)]
    rows = []
    for i, (message, text) in enumerate(zip(given, texts, strict=True)):
        row: list[Any] = [i + 1, message.content.text or "", len(text), count(text), "", "", "", "", ""]
        if i:
            start = count(text[: same[i - 1]])
            percent = min(round(100 * start / row[3]), 100) if row[3] else 100
            row[4:] = [same[i - 1], start, percent, *(broken[i - 1] or ("", "nothing changed"))]
        rows.append(row)
    breaks = Counter([found[0] for found in broken if found])
    table = Table(
        (
            "prompt",
            "message",
            "chars",
            "tokens",
            "same_chars",
            "same_tokens",
            "percent",
            "breaks_in",
            "how",
        ),
        tuple(map(tuple, rows)),
        title="Prompts, each compared with the one before",
        mask=runtime.mask,
    )
    later = rows[1:]
    sums = [sum(row[place] for row in later) for place in (2, 3, 4, 5)]
    return CacheLens(
        prompts=table,
        chars=sums[0],
        tokens=sums[1],
        same_chars=sums[2],
        same_tokens=sums[3],
        breaks={runtime.mask(name): times for name, times in breaks.most_common()},
        moves=tuple(_moves(prompts, breaks, sums[2], sums[3], count, runtime.mask)),
        last_position=position,
        token_counter=count_name,
        failed=tuple(failed),
        mask=runtime.mask,
    )


def _checked(messages: Any) -> list[Memory]:
    if isinstance(messages, str | Memory | Content | Mapping) or not isinstance(messages, Iterable):
        raise DefinitionTypeError(f"cache_lens takes a list of messages, not {shown(messages)}")
    return [as_message(message) for message in messages]


def _counter(runtime: AgentRuntime) -> tuple[str, Callable[[str], int]]:
    name, count = runtime.token_counter

    def safely(text: str) -> int:
        try:
            return int(count(text)) if text else 0
        except Exception:  # noqa: BLE001  the user's own counter; the report says so, too
            from agentctx_nb.tokens import estimate_tokens

            return estimate_tokens(text)

    return name, safely


def _moves(
    prompts: Sequence[PromptParts],
    breaks: Counter[str],
    same_chars: int,
    same_tokens: int,
    count: Callable[[str], int],
    mask: Callable[[str], str],
) -> list[Move]:
    changes = changes_between(prompts)
    ranked = sorted(changes, key=changes.__getitem__)  # what changes least often stands first of them
    blamed = [name for name, _ in breaks.most_common() if name not in FIXED][:MOST_TRIED]
    tried = [[key for key in ranked if key[0] == name] for name in blamed]
    if len({name for name, _ in ranked}) > 1:
        tried.append(ranked)
    moves = []
    for keys in tried:
        late = {key: changes[key] for key in keys}
        texts = [prompt.text(late) for prompt in prompts]
        chars = tokens = 0
        for old, new in pairwise(texts):
            start = same_start(old, new)
            chars += start
            tokens += count(new[:start])
        moves.append(
            Move(
                providers=tuple(map(mask, dict.fromkeys(name for name, _ in keys))),
                same_chars=chars,
                same_tokens=tokens,
                gained_chars=chars - same_chars,
                gained_tokens=tokens - same_tokens,
                by_position=any(nth < 0 for _, nth in keys),
                by_template=any(nth >= 0 for _, nth in keys),
            )
        )
    return moves
