"""The widgets of an explorer: made together, laid out, and closed together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentctx_nb.notebook.explorer_panes import COMPARE, PANES

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Controls", "close_all", "make_controls"]

MOST_SWITCHES = 200


@dataclass(slots=True)
class Controls:
    """Every widget a callback reads or writes; ``whole`` holds all of them."""

    message: Any
    room: Any
    entity: Any
    include: Any
    only: Any
    compose: Any
    cancel: Any
    status: Any
    switches: Any
    shown: Any
    older: Any
    newer: Any
    against: Any
    panes: dict[str, Any]
    tabs: Any
    whole: Any


def make_controls(*, can_compose: bool) -> Controls:
    """Make the widgets; without a runtime to compose on, there is nothing to write a message in."""
    import ipywidgets as widgets

    wide = {"width": "auto", "flex": "1 1 auto"}
    message = widgets.Textarea(placeholder="A message", rows=2, layout=wide, continuous_update=True)
    room = widgets.Text(placeholder="room", layout={"width": "9em"})
    entity = widgets.Text(placeholder="entity", layout={"width": "9em"})
    include = widgets.Text(placeholder="include: A, B", layout=wide)
    only = widgets.Checkbox(description="only those", indent=False, layout={"width": "auto"})
    compose = widgets.Button(description="Compose", button_style="primary", tooltip="Run the providers")
    cancel = widgets.Button(description="Cancel", disabled=True, tooltip="Stop the providers that run")
    status = widgets.HTML()
    switches = widgets.Box(layout={"flex_flow": "row wrap", "max_height": "9em", "overflow": "auto"})
    shown = widgets.Dropdown(description="Shown", options=[], layout={"width": "22em"})
    older = widgets.Button(icon="arrow-left", description="Older", layout={"width": "6em"}, disabled=True)
    newer = widgets.Button(icon="arrow-right", description="Newer", layout={"width": "6em"}, disabled=True)
    against = widgets.Dropdown(description="Against", options=[], layout={"width": "22em"})
    panes = {name: widgets.HTML() for name in (*PANES, COMPARE)}
    tabs = widgets.Tab(children=list(panes.values()), titles=list(panes))
    rows: list[Any] = []
    if can_compose:
        rows += [message, widgets.HBox([room, entity, include, only]), widgets.HBox([compose, cancel])]
    rows += [status, switches, widgets.HBox([older, newer, shown, against]), tabs]
    return Controls(
        message, room, entity, include, only, compose, cancel, status,
        switches, shown, older, newer, against, panes, tabs, widgets.VBox(rows),
    )  # fmt: skip


def make_switches(names: Sequence[str], labels: Sequence[str]) -> list[Any]:
    """Return a ticked box for each of the first 200 providers; to untick it leaves that provider out."""
    import ipywidgets as widgets

    shown = zip(names[:MOST_SWITCHES], labels, strict=False)
    return [
        widgets.Checkbox(
            value=True, description=label, indent=False, layout={"width": "auto", "margin": "0 1em 0 0"}
        )
        for _, label in shown
    ]


def close_all(widget: Any) -> None:
    """Close ``widget`` and every widget it holds, its layout and style too, which stay open by themselves."""
    from ipywidgets import Widget

    waiting, seen = [widget], set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, list | tuple):
            waiting.extend(one)
        elif isinstance(one, Widget) and id(one) not in seen:
            seen.add(id(one))
            waiting.extend(one.trait_values().values())
            one.close()
