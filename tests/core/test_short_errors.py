"""A mistake in plain Python shows as the line it stands in, not as the way it took through this package."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from agentctx_nb import AgentRuntime, Memory
from agentctx_nb.errors import AgentCtxError, SettingError, TemplateError
from agentctx_nb.short_errors import short_errors

ROOT = Path(__file__).parents[2]
MISTAKES = {
    "a name nobody wrote": lambda runtime, state: state.prompt("{{foo}}", missing="error"),
    "a tag never closed": lambda runtime, state: state.prompt("{{#if"),
    "no helper": lambda runtime, state: runtime.compose_prompt(state, "{{foo bar}}"),
    "a value that has no text": lambda runtime, state: state.prompt("{{x}}", x=object()),
    "a value deep inside": lambda runtime, state: state.prompt(
        "{{#each xs}}{{this}}{{/each}}", xs=[object()]
    ),
    "a prompt": lambda runtime, state: runtime.register_prompt("X", "{{#if}"),
    "no prompt": lambda runtime, state: runtime.registered_prompt("X"),
    "a setting": lambda runtime, state: runtime.get_setting("UNITS", type=int),
    "a setting of many": lambda runtime, state: runtime.get_setting("UNITS", type=list[int]),
    "a provider": lambda runtime, state: runtime.register_provider({"name": "X"}),
    "no provider": lambda runtime, state: runtime.get_provider("X"),
    "a message": lambda runtime, state: runtime.compose(5),
    "a list": lambda runtime, state: runtime.compose("hi", 5),
    "strict": lambda runtime, state: runtime.compose("hi", ["NOPE"], strict=True),
    "a message, awaited": lambda runtime, state: runtime.compose_state(5),
    "an action": lambda runtime, state: runtime.register_action({"name": "X"}),
    "no action": lambda runtime, state: runtime.run_action("X", "hi"),
    "a search": lambda runtime, state: runtime.search_memories(query="x", match_treshold=3),
    "a threshold": lambda runtime, state: runtime.search_memories(query="x", match_threshold="autom"),
    "an explanation": lambda runtime, state: runtime.explain_search(match_count=-1, query="x"),
    "a vector": lambda runtime, state: runtime.create_memory({"text": "a", "embedding": "xx"}),
    "a read": lambda runtime, state: runtime.get_memories(cont=5),
    "no folder": lambda runtime, state: runtime.learn("/there/is/none"),
    "a fact": lambda runtime, state: runtime.remember(" "),
    "an entity": lambda runtime, state: runtime.create_entity({"nam": 1}),
    "an embedder": lambda runtime, state: AgentRuntime(embedder=42),
    "a store": lambda runtime, state: AgentRuntime(store=42),
    "nothing to find": lambda runtime, state: state.find(""),
    "no difference": lambda runtime, state: state.diff(5),
    "nobody to leave out": lambda runtime, state: state.without("NOPE"),
    "a lens": lambda runtime, state: runtime.cache_lens(5),
    "a template to lint": lambda runtime, state: runtime.lint(5),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_shows_no_frame_of_this_package(mistake):
    runtime = AgentRuntime(settings={"UNITS": "metric"})
    state = runtime.compose("hi")
    with pytest.raises((AgentCtxError, ExceptionGroup)) as caught:
        answer = mistake(runtime, state)
        asyncio.run(answer)
    told = "".join(traceback.format_exception(caught.value))
    assert told.count("Traceback (most recent call last)") == 1
    assert next(frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)) == __file__
    assert "agentctx_nb/" not in told.replace(__file__, "")
    assert "dotpromptz" not in told


NESTED = """
import asyncio, traceback
from agentctx_nb import AgentRuntime

async def cell(*asked, **options):
    try:
        AgentRuntime().compose(*asked, **options)
    except (ValueError, ExceptionGroup) as error:
        traceback.print_exception(error, file=__import__("sys").stdout)

asyncio.run(cell(5))
asyncio.run(cell("hi", 5))
asyncio.run(cell("hi", ["NOPE"], strict=True))
"""


def test_nor_does_one_in_a_cell_where_a_loop_runs_already():
    # In a process of its own: what lets a loop be entered a second time stays.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", NESTED], capture_output=True, text=True, env=environment, check=True
    )
    told = done.stdout
    assert told.count("Traceback (most recent call last)") == 3
    assert [line for line in told.splitlines() if "File " in line and "<string>" not in line] == []
    assert "not int" in told
    assert "include_list is a list of provider names, not 5" in told
    assert "no provider is registered as 'NOPE'" in told


def test_the_frames_of_other_people_stay():
    def of_theirs(state):
        raise TemplateError("they say so")

    state = AgentRuntime().compose("hi")
    with pytest.raises(TemplateError) as caught:
        state.prompt(of_theirs)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "of_theirs"


def test_what_other_people_raised_stays_as_the_cause():
    def theirs(text):
        raise ZeroDivisionError("of theirs")

    with pytest.raises(SettingError) as caught:
        AgentRuntime(settings={"UNITS": "metric"}).get_setting("UNITS", type=theirs)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert [frame.name for frame in traceback.extract_tb(caught.value.__cause__.__traceback__)] == ["theirs"]


def test_any_other_exception_keeps_its_whole_way():
    def broken(state):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        AgentRuntime().compose("hi").prompt(broken)
    assert "prompt" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    with short_errors:
        pass


def test_what_completion_offers_on_a_runtime_is_what_its_users_need():
    offered = dir(AgentRuntime())
    inner = "leave_behind flights warned_of written mark_for threads read_recorder registry open_explorer"
    assert not {*inner.split()} & {*offered}
    assert {"compose", "register_provider", "search_memories", "settings", "logger", "remember"} <= {*offered}


def test_a_content_is_asked_for_its_attributes_as_a_dict_is():
    content = Memory({"text": "hi", "source": None}).content
    assert ("source" in content, "user" in content, list(content)) == (True, False, ["text", "source"])


@pytest.mark.parametrize(
    ("memory", "told"),
    [
        (Memory("hi"), "Memory(content=Content(text='hi'))"),
        (Memory("hi", embedding=[0.5] * 256), "Memory(content=Content(text='hi'), embedding=<256 floats>)"),
        (Memory("hi", embedding=5), "Memory(content=Content(text='hi'), embedding=<int>)"),
        (
            Memory("hi", room_id="lobby", similarity=0.5, metadata={"source": "a.md"}, unique=False),
            (
                "Memory(content=Content(text='hi'), room_id='lobby', similarity=0.5, "
                "metadata={'source': 'a.md'}, unique=False)"
            ),
        ),
    ],
)
def test_a_memory_prints_what_is_set_and_how_long_its_vector_is(memory, told):
    assert repr(memory) == str(memory) == told


def test_many_memories_are_no_content():
    from agentctx_nb.errors import DefinitionTypeError

    with pytest.raises(DefinitionTypeError, match="create_memories takes a list of memories"):
        asyncio.run(AgentRuntime().create_memories(Memory("hi").content))
