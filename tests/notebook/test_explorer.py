from __future__ import annotations

import asyncio
import sys

import pytest
from IPython.core.getipython import get_ipython
from ipywidgets.widgets.widget import _instances

from agentctx_nb import AgentRuntime, Provider
from agentctx_nb.notebook import explorer as module
from agentctx_nb.notebook.explorer import WIDGET_VIEW, Explorer, explore, explore_state
from agentctx_nb.notebook.explorer_panes import COMPARE, PANES
from tests.hostile import TEXTS

SHORT_TEXTS = [text for text in TEXTS.values() if len(text) < 1_000]  # long ones are the views' own tests


@pytest.fixture
def runtime():
    runtime = AgentRuntime(secrets={"API_KEY": "k3y-0f-the-d00r"})
    runtime.register_provider(
        Provider("GREETING", lambda _, message: f"They said: {message.content.text}", position=-1)
    )
    runtime.register_provider(
        Provider(
            "WEATHER",
            lambda: {"text": "Rain.", "values": {"wet": True}},
            dynamic=True,
            relevance_keywords=["rain"],
        )
    )
    return runtime


@pytest.fixture
def explorer(runtime):
    with Explorer(runtime, mask=runtime.mask) as explorer:
        yield explorer


@pytest.fixture
def front_end(monkeypatch):
    """Let widgets be drawn, as in a kernel."""
    monkeypatch.setattr(module, "_no_widgets", lambda: None)


def compose(explorer, text, **controls):
    explorer.controls.message.value = text
    for name, value in controls.items():
        getattr(explorer.controls, name).value = value
    explorer.controls.compose.click()


def look(explorer, pane):
    explorer.controls.tabs.selected_index = list(explorer.controls.panes).index(pane)
    return explorer.controls.panes[pane].value


def test_a_click_composes_the_message_and_shows_why(explorer):
    compose(explorer, "will it rain?")
    assert explorer.shown.state.text == "They said: will it rain?\nRain."
    assert "keyword &#x27;rain&#x27;" in look(explorer, "Why")
    assert "composed 2 of 2 providers" in explorer.controls.status.value


@pytest.mark.parametrize(
    ("pane", "held"),
    [
        ("Text", "They said: will it rain?"),
        ("Values", "wet"),
        ("Data", "WEATHER"),
        ("Timeline", "WEATHER"),
        (COMPARE, "Compose again"),
    ],
)
def test_each_pane_shows_its_view_when_it_is_looked_at(explorer, pane, held):
    compose(explorer, "will it rain?")
    assert explorer.controls.panes[pane].value == ""  # made for nobody yet
    assert held in look(explorer, pane)


def test_room_entity_and_lists_reach_the_composition(explorer, runtime):
    seen = []
    runtime.register_provider(
        Provider("SEEN", lambda _, message: seen.append((message.room_id, message.entity_id)), dynamic=True)
    )
    compose(explorer, "hi", room="lobby", entity="ada", include="SEEN, WEATHER", only=True)
    assert seen == [("lobby", "ada")]
    assert set(explorer.shown.state.data.provider_order) == {"SEEN", "WEATHER"}


def test_a_name_nobody_registered_is_told_and_nothing_is_lost(explorer):
    compose(explorer, "hi", include="WETHER")
    assert explorer.shown.state.report.unknown == {"WETHER": ("WEATHER",)}
    assert "did you mean WEATHER?" in explorer.controls.status.value


def test_the_history_is_stepped_through_and_compared(explorer):
    compose(explorer, "hello")
    compose(explorer, "will it rain?")
    assert explorer.shown.number == 2
    assert "WEATHER" in look(explorer, COMPARE)
    explorer.controls.older.click()
    assert explorer.shown.text == "hello"
    assert explorer.controls.older.disabled
    assert not explorer.controls.newer.disabled
    explorer.controls.newer.click()
    assert explorer.shown.text == "will it rain?"


def test_any_composition_can_be_chosen_to_compare_with(explorer):
    for text in ("hello", "hello", "will it rain?"):
        compose(explorer, text)
    explorer.controls.older.click()
    assert "WEATHER" not in look(explorer, COMPARE)
    explorer.controls.against.value = 3
    assert "WEATHER" in look(explorer, COMPARE)


def test_the_history_keeps_the_last_twenty(explorer):
    for number in range(25):
        compose(explorer, f"message {number}")
    assert [kept.number for kept in explorer.history] == list(range(6, 26))


def test_a_switch_leaves_a_provider_out_of_every_pane_and_comes_back(explorer):
    compose(explorer, "will it rain?")
    assert "Rain." in look(explorer, "Text")
    explorer.controls.switches.children[1].value = False
    assert explorer.left_out == ("WEATHER",)
    assert "Rain." not in look(explorer, "Text")
    assert "WEATHER" in look(explorer, COMPARE)
    explorer.controls.switches.children[1].value = True
    assert "Rain." in look(explorer, "Text")


def test_a_new_composition_has_every_switch_on(explorer):
    compose(explorer, "will it rain?")
    explorer.controls.switches.children[1].value = False
    compose(explorer, "will it rain?")
    assert explorer.left_out == ()


def test_cancel_stops_what_runs_and_the_next_composition_works(explorer, runtime):
    ended = []

    @runtime.provider("SLOW", dynamic=True, relevance_keywords=["slow"])
    async def slow():
        try:
            await asyncio.sleep(600)
        finally:
            ended.append(True)

    async def click():
        compose(explorer, "slow")
        await asyncio.sleep(0.01)
        assert explorer.controls.compose.disabled
        compose(explorer, "slow")  # a second click while one runs does nothing
        explorer.controls.cancel.click()
        await asyncio.sleep(0.01)
        assert "Cancelled" in explorer.controls.status.value
        assert not explorer.controls.compose.disabled
        assert explorer.controls.cancel.disabled
        compose(explorer, "hello")
        await explorer.task

    asyncio.run(click())
    assert ended == [True]
    assert [kept.text for kept in explorer.history] == ["hello"]


def test_an_error_of_a_callback_is_in_the_status_line_and_masked(explorer, monkeypatch):
    compose(explorer, "hello")

    def broken(state):
        raise RuntimeError("no view with k3y-0f-the-d00r <b>")

    monkeypatch.setitem(PANES, "Values", broken)
    look(explorer, "Values")
    assert "RuntimeError: no view with [secret API_KEY] &lt;b&gt;" in explorer.controls.status.value
    assert "They said" in look(explorer, "Text")


def test_a_failed_provider_is_shown_and_the_explorer_goes_on(explorer, runtime):
    runtime.register_provider(Provider("BROKEN", lambda: 1 / 0))
    compose(explorer, "hi")
    assert "ZeroDivisionError: division by zero" in explorer.controls.status.value
    assert "ZeroDivisionError" in look(explorer, "Why")


@pytest.mark.parametrize("pane", [*PANES, COMPARE])
def test_hostile_text_acts_nowhere(explorer, runtime, pane):
    for text in SHORT_TEXTS:
        runtime.register_provider(
            Provider("HOSTILE", lambda text=text: {"text": text, "values": {text: text}})
        )
        compose(explorer, text)
        shown = look(explorer, pane)
        for tag in ("<script", "<img", "<svg", "<iframe", "<a "):
            assert tag not in shown.lower()


def test_no_secret_is_in_any_widget(explorer, runtime):
    runtime.register_provider(
        Provider("LEAKY", lambda: {"text": "k3y-0f-the-d00r", "values": {"k": "k3y-0f-the-d00r"}})
    )
    compose(explorer, "what is k3y-0f-the-d00r?")
    compose(explorer, "again")
    for pane in (*PANES, COMPARE):
        look(explorer, pane)
    explorer.controls.message.value = ""  # what the user types is the user's own
    states = [widget.get_state() for widget in _instances.values()]
    assert "k3y-0f-the-d00r" not in repr(states)


def test_fifty_reruns_leave_the_count_of_widgets_flat(runtime, front_end):
    def rerun():
        explorer = runtime.explore("will it rain?")
        explorer.controls.switches.children[0].value = False
        return len(_instances)

    counts = [rerun() for _ in range(50)]
    assert counts[0] == counts[-1] == max(counts)
    runtime.open_explorer.close()
    assert runtime.open_explorer is None


def test_states_that_know_of_no_runtime_share_one_explorer(runtime, front_end):
    state = runtime.compose("will it rain?").without("GREETING")
    counts = []
    for _ in range(5):
        explorer = state.explore()
        counts.append(len(_instances))
    assert counts[0] == counts[-1]
    explorer.close()
    assert Explorer.open_explorer is None


def test_a_closed_explorer_composes_no_more(explorer):
    explorer.close()
    compose(explorer, "hello")
    assert explorer.history == []


def test_the_message_stands_in_the_form_to_be_sent_again(runtime, front_end):
    message = {"text": "will it rain?", "roomId": "lobby", "entityId": "ada"}
    with runtime.explore(message) as explorer:
        written = [getattr(explorer.controls, name).value for name in ("message", "room", "entity")]
        assert written == ["will it rain?", "lobby", "ada"]
        assert explorer.controls.against.value == 0
        assert explorer.controls.against.label == "the one before"


def test_an_explorer_opened_while_another_composes_is_the_one_that_stays(runtime, front_end):
    opened = []

    @runtime.provider("IMPATIENT", dynamic=True, relevance_keywords=["impatient"])
    async def impatient():
        opened.append(runtime.explore())

    first = runtime.explore("impatient")
    assert runtime.open_explorer is opened[0]
    assert not opened[0].closed
    assert first.closed
    opened[0].close()


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_a_provider_that_exits_ends_its_composition_and_not_the_loop(explorer, runtime, kind):
    @runtime.provider("LEAVING", dynamic=True, relevance_keywords=["leave"])
    async def leaving():
        raise kind(3)

    async def click():
        compose(explorer, "leave")
        await explorer.task
        return "still here"

    assert asyncio.run(click()) == "still here"
    assert f"A provider asked to leave: {kind.__name__}" in explorer.controls.status.value
    compose(explorer, "hello")
    assert explorer.shown.text == "hello"


def test_there_is_one_explorer_a_runtime(runtime, front_end):
    first = explore(runtime)
    second = explore(runtime)
    assert runtime.open_explorer is second
    assert first.controls.message.comm is None
    second.close()


def test_what_is_shown_is_a_widget_with_the_static_view_beside_it(runtime, front_end):
    with explore(runtime, "will it rain?") as explorer:
        bundle = explorer._repr_mimebundle_()
        assert {"text/plain", "text/markdown", "text/html", WIDGET_VIEW} <= set(bundle)
        assert "Rain." in bundle["text/html"]
        assert set(explorer._repr_mimebundle_(include={"text/plain"})) == {"text/plain"}


def test_a_state_opens_on_the_runtime_that_composed_it(runtime, front_end):
    with runtime.compose("will it rain?").explore() as explorer:
        assert explorer.runtime is runtime
        assert explorer.shown.text == "will it rain?"
        compose(explorer, "hello")
        assert len(explorer.history) == 2


def test_a_part_of_a_state_opens_without_the_controls_to_compose(runtime, front_end):
    with explore_state(runtime.compose("will it rain?").without("GREETING")) as explorer:
        assert explorer.runtime is None
        assert explorer.controls.compose not in explorer.controls.whole.children
        assert "Rain." in look(explorer, "Text")


def test_without_a_front_end_there_is_the_static_view_and_one_line(runtime):
    assert get_ipython() is None
    page = runtime.explore("will it rain?")
    assert repr(page).startswith("The explorer needs a notebook")
    assert "Rain." in repr(page)
    assert "WEATHER" in repr(runtime.explore())
    assert "Rain." in runtime.compose("will it rain?").explore().to_html()


def test_without_ipywidgets_there_is_the_static_view_and_one_line(runtime, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert "needs ipywidgets" in repr(runtime.explore("will it rain?"))
