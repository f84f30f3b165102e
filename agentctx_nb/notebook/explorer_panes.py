"""What each pane of the explorer shows of a state: the static views, one HTML value a pane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentctx_nb.state import State

__all__ = ["COMPARE", "PANES", "html_of"]

PANES: dict[str, Callable[[State], Any]] = {
    "Why": lambda state: state.why(),
    "Text": lambda state: state.source_map(),
    "Values": lambda state: state.values_view(),
    "Data": lambda state: state.data_tree(),
    "Timeline": lambda state: state.timeline(),
}
COMPARE = "Compare"  # the one pane that needs two states


def html_of(shown: Any) -> str:
    """Return the static HTML of a view."""
    return str(shown._repr_mimebundle_()["text/html"])
