"""The explorer: compose, look, leave a provider out, step back, compare, without writing a cell for each."""

from __future__ import annotations

import asyncio
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from agentctx_nb.bridge import run_sync
from agentctx_nb.errors import describe
from agentctx_nb.model import Content, Memory, as_message
from agentctx_nb.notebook.arguments import as_names
from agentctx_nb.notebook.explorer_controls import close_all, make_controls, make_switches
from agentctx_nb.notebook.explorer_panes import COMPARE, PANES, html_of
from agentctx_nb.render.bounds import cell_text
from agentctx_nb.render.page import Lines, Page
from agentctx_nb.render.views import providers_table, state_page, status_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from agentctx_nb.model import MessageLike
    from agentctx_nb.render.bounds import Mask
    from agentctx_nb.runtime import AgentRuntime
    from agentctx_nb.state import State

__all__ = ["Explorer", "explore", "explore_state"]

MOST_KEPT = 20
LABEL = 40
BEFORE = 0  # in the place of a number: compare with the composition before this one
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class Kept(NamedTuple):
    """One composition in the history: its number, counted from 1, what was asked, and what came of it."""

    number: int
    text: str
    state: State


def explore(runtime: AgentRuntime, message: MessageLike | None = None) -> Explorer | Page:
    """Open the explorer of ``runtime``, closing the one before; where no widget can be drawn, a static view."""
    why_not = _no_widgets()
    if why_not is not None:
        if message is None:
            return Page((Lines((why_not,)), providers_table(runtime)), mask=runtime.mask)
        return Page((Lines((why_not,)), *state_page(runtime.compose(message)).parts), mask=runtime.mask)
    given = None if message is None else as_message(message)
    explorer = _opened(runtime, runtime.mask)
    if given is not None:
        # Last: where loops nest, the next cell may open another explorer meanwhile, and that one stays.
        explorer.fill_in(given)
        explorer.show(runtime.compose(given), given.content.text or "")
    return explorer


def explore_state(state: State) -> Explorer | Page:
    """Open the explorer on ``state``; of one that came from a file or a copy, without the controls to compose."""
    why_not = _no_widgets()
    if why_not is not None:
        return Page((Lines((why_not,)), *state_page(state).parts), mask=state.mask)
    runtime, message = state.origin
    explorer = _opened(runtime, state.mask)
    if message is not None:
        explorer.fill_in(message)
    explorer.show(state, "" if message is None else message.content.text or "")
    return explorer


def _opened(runtime: AgentRuntime | None, mask: Mask) -> Explorer:
    """Return a new explorer in place of the one open on ``runtime``; states without a runtime share one."""
    home: Any = Explorer if runtime is None else runtime
    if home.open_explorer is not None:
        home.open_explorer.close()
    home.open_explorer = Explorer(runtime, mask=mask)
    return home.open_explorer  # type: ignore[no-any-return]  # it was made in the line above


def _no_widgets() -> str | None:
    """Return why no widget can be drawn here, or None where one can."""
    try:
        import ipywidgets  # noqa: F401  whether it is there is the question
        from IPython.core.getipython import get_ipython
    except ImportError:
        return "The explorer needs ipywidgets (pip install ipywidgets); this is the static view."
    if not hasattr(get_ipython(), "kernel"):
        return "The explorer needs a notebook to draw its widgets in; this is the static view."
    return None


def told(callback: Callable[[Explorer, Any], None]) -> Callable[[Explorer, Any], None]:
    """Show what a callback raises in the status line, where else it would be seen by nobody."""

    @wraps(callback)
    def tell(self: Explorer, change: Any = None) -> None:
        try:
            callback(self, change)
        except Exception as error:  # noqa: BLE001  shown to the person who clicked
            self.tell(f"failed: {describe(error)}")

    return tell


class Explorer:
    """Widgets over one runtime: ``history`` holds the last compositions, oldest first.

    Everything shown is one HTML value a pane, made when its tab is looked at. `close` frees every widget.
    """

    open_explorer: ClassVar[Explorer | None] = None  # on a state that knows of no runtime

    def __init__(self, runtime: AgentRuntime | None, *, mask: Mask = str) -> None:
        self.runtime = runtime
        self.closed = False
        self.mask = mask
        self.history: list[Kept] = []
        self.task: asyncio.Task[None] | None = None
        self.controls = make_controls(can_compose=runtime is not None)
        self._count = 0
        self._stale: set[str] = set()
        self._names: tuple[str, ...] = ()
        self._settling = False  # while options change, and a drop-down shows now this, now that
        controls = self.controls
        controls.compose.on_click(self._compose)
        controls.cancel.on_click(self._cancel)
        controls.older.on_click(self._older)
        controls.newer.on_click(self._newer)
        controls.shown.observe(self._step, names="value")
        controls.against.observe(self._compare, names="value")
        controls.tabs.observe(self._look, names="selected_index")
        self.tell("Nothing composed yet.")

    # What is shown ------------------------------------------------------------------------

    @property
    def shown(self) -> Kept | None:
        """The composition in view."""
        at = self.controls.shown.value
        return next((kept for kept in self.history if kept.number == at), None)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The providers whose switch is off."""
        boxes = zip(self._names, self.controls.switches.children, strict=False)
        return tuple(name for name, box in boxes if not box.value)

    def show(self, state: State, text: str = "") -> None:
        """Put ``state`` at the end of the history and into view."""
        if self.closed:
            return
        self._count += 1
        self.history = [*self.history, Kept(self._count, text, state)][-MOST_KEPT:]
        options = [(self._label(kept), kept.number) for kept in self.history]
        self._settling = True
        self.controls.against.options = [("the one before", BEFORE), *options]
        self.controls.against.value = BEFORE
        self.controls.shown.options = options
        self.controls.shown.value = self._count
        self._settling = False
        self._view()

    def fill_in(self, message: Memory) -> None:
        """Put a message into the form, to be changed and sent again."""
        controls = self.controls
        controls.message.value = message.content.text or ""
        controls.room.value, controls.entity.value = message.room_id or "", message.entity_id or ""

    def tell(self, *lines: str) -> None:
        """Show these lines above the boxes."""
        self.controls.status.value = html_of(Page((Lines(lines),), mask=self.mask))

    def _label(self, kept: Kept) -> str:
        said = cell_text(kept.text, mask=self.mask, most=LABEL) or "(no text)"
        return f"{kept.number}: {said}"

    def _view(self) -> None:
        kept = self.shown
        if kept is None:
            return
        self._switch_for(kept.state)
        numbers = [one.number for one in self.history]
        self.controls.older.disabled = kept.number == numbers[0]
        self.controls.newer.disabled = kept.number == numbers[-1]
        self.tell(*status_lines(kept.state))
        self._draw_anew()

    def _switch_for(self, state: State) -> None:
        names = tuple(state.data.provider_order)
        if names == self._names and not self.left_out:
            return
        old = self.controls.switches.children
        self._names = names
        boxes = make_switches(names, [cell_text(name, mask=self.mask, most=LABEL) for name in names])
        for box in boxes:
            box.observe(self._switched, names="value")
        self.controls.switches.children = boxes
        close_all(old)

    def _draw_anew(self) -> None:
        self._stale = set(self.controls.panes)
        self._draw()

    def _draw(self) -> None:
        """Make the pane that is looked at, if what it holds is old."""
        name = list(self.controls.panes)[self.controls.tabs.selected_index or 0]
        kept = self.shown
        if kept is None or name not in self._stale:
            return
        state = kept.state.without(*self.left_out) if self.left_out else kept.state
        shown = self._compared(kept, state) if name == COMPARE else PANES[name](state)
        self.controls.panes[name].value = html_of(shown)
        self._stale.discard(name)

    def _compared(self, kept: Kept, state: State) -> Any:
        if self.left_out:
            return kept.state.diff(state)
        chosen = self.controls.against.value
        others = [one for one in self.history if one.number == chosen] or [
            one for one in self.history if one.number < kept.number
        ]
        if not others:
            return Page((Lines(("Compose again, or leave a provider out, to have something to compare.",)),))
        return others[-1].state.diff(state)

    # What is done -------------------------------------------------------------------------

    @told
    def _compose(self, _: Any) -> None:
        if self.task is not None or self.closed:
            return
        controls = self.controls
        text = controls.message.value
        message = Memory(
            Content(text), room_id=controls.room.value or None, entity_id=controls.entity.value or None
        )
        names = as_names(controls.include.value) if controls.include.value.strip() else None
        only = controls.only.value and names is not None
        self._run(self._composed(message, names, only=only))

    async def _composed(self, message: Memory, names: Sequence[str] | None, *, only: bool) -> None:
        assert self.runtime is not None
        controls = self.controls
        controls.compose.disabled, controls.cancel.disabled = True, False
        self.tell("Composing …")
        try:
            state = await self.runtime.compose_state(message, names, only)
            self.show(state, message.content.text or "")
        except asyncio.CancelledError:
            self.tell("Cancelled; every provider was stopped.")
        except Exception as error:  # noqa: BLE001  shown to the person who clicked
            self.tell(f"failed: {describe(error)}")
        except BaseException as error:  # noqa: BLE001  it would end the loop, and with it the kernel
            self.tell(f"A provider asked to leave: {describe(error)}")
        finally:
            self.task = None
            controls.compose.disabled, controls.cancel.disabled = False, True

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # in a script: nobody could click meanwhile
            run_sync(lambda: work)
        else:
            self.task = loop.create_task(work)

    @told
    def _cancel(self, _: Any) -> None:
        if self.task is not None:
            self.task.cancel()

    @told
    def _older(self, _: Any) -> None:
        self._walk(-1)

    @told
    def _newer(self, _: Any) -> None:
        self._walk(1)

    def _walk(self, steps: int) -> None:
        numbers = [kept.number for kept in self.history]
        kept = self.shown
        if kept is not None:
            at = numbers.index(kept.number) + steps
            self.controls.shown.value = numbers[min(max(at, 0), len(numbers) - 1)]

    @told
    def _step(self, _: Any) -> None:
        if not self._settling:
            self._view()

    @told
    def _switched(self, _: Any) -> None:
        self._draw_anew()

    @told
    def _compare(self, _: Any) -> None:
        if not self._settling:
            self._stale.add(COMPARE)
            self._draw()

    @told
    def _look(self, _: Any) -> None:
        self._draw()

    # Life ---------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop what runs and free every widget."""
        if self.task is not None:
            self.task.cancel()
        self.closed = True
        close_all([getattr(self.controls, name) for name in self.controls.__slots__])
        home: Any = Explorer if self.runtime is None else self.runtime
        if home.open_explorer is self:
            home.open_explorer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Explorer: {len(self.history)} of the last compositions kept>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Return the widgets, and beside them what a viewer without a kernel can show."""
        if self.shown is not None:
            static = state_page(self.shown.state)
        else:
            static = Page((Lines(("The explorer: write a message in it and compose.",)),), mask=self.mask)
        bundle: dict[str, Any] = static.bundle()
        drawn = self.controls.whole._repr_mimebundle_() or {}
        bundle.update({kind: form for kind, form in drawn.items() if kind == WIDGET_VIEW})
        return {k: v for k, v in bundle.items() if (not include or k in include) and k not in (exclude or ())}
