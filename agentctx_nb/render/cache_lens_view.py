"""What a person is shown of how much prompts share at their start."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentctx_nb.names import counted
from agentctx_nb.render.bounds import cell_text
from agentctx_nb.render.page import Lines, Page
from agentctx_nb.render.table import Table

if TYPE_CHECKING:
    from agentctx_nb.looking.cache_lens import CacheLens, Move

__all__ = ["page_of"]

_NAMED = 3
_NAME = 60


def page_of(lens: CacheLens) -> Page:
    """Return sentences that say what to do, the prompts, and what each move would keep."""
    parts: list[Lines | Table] = [
        Lines((_kept(lens),), strong=True),
        Lines(tuple(_advice(lens))),
        replace(lens.prompts, whole=".to_frame()"),
    ]
    if lens.moves:
        parts.append(_moves(lens))
    if lens.failed:
        names = _listed(lens.failed)
        parts.append(Lines((f"failed while composing, so that their text is missing here: {names}",)))
    return Page(tuple(parts), mask=lens.mask)


def _kept(lens: CacheLens) -> str:
    prompts = len(lens.prompts)
    if prompts < 2:
        return f"{counted(prompts, 'prompt')}: nothing to compare it with; give two messages or more"
    about = "about " if lens.token_counter.startswith("estimate") else ""
    share = f"{about}{lens.same_tokens:,} of {counted(lens.tokens, 'token')} ({_percent(lens.share)})"
    return f"{counted(prompts, 'prompt')}: the start that stays the same from one to the next holds {share}"


def _advice(lens: CacheLens) -> list[str]:
    if len(lens.prompts) < 2:
        return []
    if not lens.breaks:
        return ["Every prompt is the same as the one before."]
    pairs = len(lens.prompts) - 1
    name, times = next(iter(lens.breaks.items()))
    said = [f"It breaks most often in {_name(name)}: {times:,} of {counted(pairs, 'time')}."]
    best = lens.best
    if best is None:
        return [*said, "Moving a provider would keep no more: what changes stands last already."]
    hows = {row["how"] for row in lens.prompts if row["breaks_in"] in best.providers}
    why = f" ({', '.join(sorted(hows))})" if hows else ""
    places = [f"at a position above {lens.last_position:g}"] if best.by_position else []
    places += ["at the end of the template"] if best.by_template else []
    ordered = ", in this order," if len(best.providers) > 1 else ""
    said.append(
        f"With {_listed(best.providers)}{why}{ordered} {' and '.join(places)}, {best.same_tokens:,} of "
        f"{counted(lens.tokens, 'token')} would stay the same: {best.gained_tokens:,} more."
    )
    return said


def _moves(lens: CacheLens) -> Table:
    return Table(
        ("moved_last", "same_chars", "same_tokens", "gained_chars", "gained_tokens"),
        tuple([(_listed(move.providers), *move[1:5]) for move in lens.moves]),
        title="What moving providers behind all others would keep",
        note="position also decides whose value wins where two write the same one"
        if _any(lens.moves)
        else "",
        mask=lens.mask,
        whole="lens.moves",
    )


def _any(moves: tuple[Move, ...]) -> bool:
    return any(move.by_position for move in moves)


def _listed(names: tuple[str, ...]) -> str:
    said = ", ".join([_name(name) for name in names[:_NAMED]])
    return f"{said} and {len(names) - _NAMED:,} more" if len(names) > _NAMED else said


def _name(name: str) -> str:
    return cell_text(name, most=_NAME)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
