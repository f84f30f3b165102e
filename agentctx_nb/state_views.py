"""The part of a state that shows itself: each view is worked out when somebody asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from agentctx_nb.short_errors import short_errors

if TYPE_CHECKING:
    from agentctx_nb.looking.difference import Difference
    from agentctx_nb.looking.finding import Found
    from agentctx_nb.render.source_map import SourceMap
    from agentctx_nb.render.table import Table
    from agentctx_nb.render.timeline import Timeline
    from agentctx_nb.render.tree import Tree
    from agentctx_nb.state import State

__all__ = ["StateViews"]


class StateViews:
    """The views of a `State`; each shows itself as text, Markdown and static HTML and has ``to_frame()``."""

    __slots__ = ()

    def why(self) -> Table:
        """Return why each provider ran or not, what came of it, and what it cost."""
        from agentctx_nb.render.why import why_of

        return why_of(cast("State", self))

    def source_map(self) -> SourceMap:
        """Return the composed text with the part of each provider marked, and its share of the tokens."""
        from agentctx_nb.render.source_map import text_map

        return text_map(cast("State", self))

    def values_view(self) -> Table:
        """Return each value with its type, who wrote it, and whose value it shadows."""
        from agentctx_nb.render.views import values_table

        return values_table(cast("State", self))

    def data_tree(self) -> Tree:
        """Return the data of each provider that ran as a tree that folds."""
        from agentctx_nb.render.tree import data_tree

        return data_tree(cast("State", self))

    def timeline(self) -> Timeline:
        """Return when each provider started and ended, and which of them held the event loop."""
        from agentctx_nb.render.timeline import timeline_of

        return timeline_of(cast("State", self))

    def find(self, text: str) -> Found:
        """Return where ``text`` stands in this state: the provider, and the value or text that holds it."""
        from agentctx_nb.looking.finding import find

        with short_errors(self):
            return find(cast("State", self), text)

    def diff(self, other: State) -> Difference:
        """Return what changed from this state to ``other``: text, values, outcomes, tokens, time."""
        from agentctx_nb.looking.difference import difference

        with short_errors(self):
            return difference(cast("State", self), other)

    def without(self, *names: str) -> State:
        """Return this state as it would be had the providers ``names`` given nothing; nothing is run again.

        Values they shadowed surface again. A provider that saw one of them through ``after=`` is not run
        again: what it made of it stays. ``state.diff(state.without("FACTS"))`` shows what FACTS put there.

        Raises
        ------
        UnknownProviderError
            None of one of these names ran; it says why, or names the nearest.
        """
        from agentctx_nb.looking.left_out import without

        with short_errors(self):
            return without(cast("State", self), names)

    def explore(self) -> Any:
        """Open the explorer on this state; where there is no front end for widgets, its static view."""
        from agentctx_nb.notebook.explorer import explore_state

        return explore_state(cast("State", self))
