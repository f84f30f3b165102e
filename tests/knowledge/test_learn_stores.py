"""Learning with a real runtime, in each store: what a search finds, and what a killed process leaves."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from agentctx_nb import AgentRuntime, DefinitionError
from agentctx_nb.knowledge import remember

ROOT = Path(__file__).parents[2]


def toy(texts):
    return [[1.0 + text.count("tea"), 1.0 + text.count("rain"), 0.5] for text in texts]


@pytest.fixture(params=["in this process", "sqlite"])
def make_runtime(request, tmp_path):
    """A function that makes a runtime on the store, with another embedder if one is given."""
    store = str(tmp_path / "agent.db") if request.param == "sqlite" else None
    return lambda embedder=toy: AgentRuntime(store=store, embedder=embedder)


async def texts(runtime):
    rows = await runtime.get_memories(table_name="documents", room_id=runtime.agent_id)
    rows.sort(key=lambda row: (row.metadata["source"], row.metadata["part"]))
    return [row.content.text for row in rows]


def test_what_was_learned_is_found_and_what_was_changed_is_found_changed(make_runtime, folder):
    root = folder({"a.md": "# Tea\n\ntea tea tea", "b.md": "rain rain", "c.txt": "gone"})

    async def run():
        async with make_runtime() as runtime:
            first = await runtime.learn(root)
            hit = (await runtime.search_memories(table_name="documents", query="tea", count=1))[0]
            folder({"a.md": "# Tea\n\nnow of rain rain rain"})
            (root / "c.txt").unlink()
            second = await runtime.learn(root)
            return first.counts, hit, second.counts, await texts(runtime)

    first, hit, second, kept = asyncio.run(run())
    assert first == {"learned": 3}
    assert (hit.content.source, hit.metadata["headings"], hit.metadata["line"]) == ("a.md", ["Tea"], 1)
    assert second == {"replaced": 1, "removed": 1, "unchanged": 1}
    assert kept == ["# Tea\n\nnow of rain rain rain", "rain rain"]


def test_two_runs_at_once_and_a_second_runtime_do_not_double(make_runtime, folder):
    root = folder({f"{i}.md": f"tea {i}" for i in range(30)})

    async def run():
        async with make_runtime() as runtime:
            await asyncio.gather(*[runtime.learn(root) for _ in range(3)])
            return await texts(runtime)

    assert len(asyncio.run(run())) == 30


def test_a_table_of_another_embedder_wants_to_be_made_anew_first(make_runtime, folder):
    root = folder({"a.md": "tea"})

    def other(texts):
        return [[1.0, 2.0, 3.0, float(len(text))] for text in texts]

    async def run():
        runtime = make_runtime()
        await runtime.learn(root)
        again = AgentRuntime(store=runtime.store, embedder=other)
        with pytest.raises(DefinitionError, match="reembed"):
            await again.learn(root)
        await again.reembed("documents")
        counts = (await again.learn(root)).counts
        await runtime.close()
        return counts

    assert asyncio.run(run()) == {"unchanged": 1}


def test_any_text_is_remembered_and_shown_on_one_line(make_runtime):
    async def run():
        async with make_runtime() as runtime:
            made = [await remember(runtime, "facts", "half \ud800\n\u202e\0 of it") for _ in range(2)]
            with pytest.raises(DefinitionError, match="room_id holds half of a character"):
                await remember(runtime, "facts", "tea", room_id="\ud800")
            with pytest.raises(DefinitionError, match="table_name is a string"):
                await remember(runtime, 7, "tea")
            return made, await runtime.get_memories(table_name="facts")

    made, (kept,) = asyncio.run(run())
    assert (kept.content.text, kept.id) == ("half \ud800\n\u202e\0 of it", made[0].id)
    assert [one.is_new for one in made] == [True, False]
    shown = repr(made[0])
    assert shown.startswith("remembered in facts, room agent: half ")
    assert shown.encode().isascii()
    assert not {"\n", "\u202e", "\0"} & set(shown)


def test_a_fact_is_remembered_once(make_runtime):
    async def run():
        async with make_runtime() as runtime:
            made = [await remember(runtime, "facts", "Ada likes tea.") for _ in range(2)]
            with pytest.raises(DefinitionError, match="no text"):
                await remember(runtime, "facts", "  ")
            return made, await runtime.search_memories(table_name="facts", query="tea")

    made, found = asyncio.run(run())
    assert [one.is_new for one in made] == [True, False]
    assert [(one.content.text, one.room_id) for one in found] == [("Ada likes tea.", "agent")]


KILLED = """
import asyncio, sys
from agentctx_nb import AgentRuntime
sys.path.insert(0, sys.argv[3])
from tests.knowledge.test_learn_stores import toy

async def run():
    async with AgentRuntime(store=sys.argv[1], embedder=toy) as runtime:
        await runtime.learn(sys.argv[2], progress=lambda done, total: print(done, flush=True))

asyncio.run(run())
"""


@pytest.mark.parametrize("files", [1, 40])
def test_a_killed_process_leaves_whole_files_and_the_next_run_finishes(tmp_path, folder, files):
    old = {f"{i:03}.md": "\n\n".join([f"old {i} " + "tea " * 240] * 4) for i in range(120)}
    root = folder(old)
    store = str(tmp_path / "agent.db")

    async def learned():
        async with AgentRuntime(store=store, embedder=toy) as runtime:
            return (await runtime.learn(root)).counts, await texts(runtime)

    asyncio.run(learned())
    folder({name: text.replace("old", "new").rsplit("\n\n", 1)[0] for name, text in old.items()})
    command = [sys.executable, "-c", KILLED, store, str(root), str(ROOT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        for _ in range(files):
            process.stdout.readline()
        process.kill()

    async def left():
        async with AgentRuntime(store=store, embedder=toy) as runtime:
            rows = await runtime.get_memories(table_name="documents", room_id="agent")
        found = {}
        for row in rows:
            words = row.content.text.split()
            found.setdefault(row.metadata["source"], {}).setdefault(words[0], []).append(row)
        return found

    found = asyncio.run(left())
    assert len(found) == 120
    for versions in found.values():
        assert {word: len(rows) for word, rows in versions.items()} in ({"old": 4}, {"new": 3})
    assert sum("new" in versions for versions in found.values()) >= files
    counts, kept = asyncio.run(learned())
    assert sum(counts.values()) == 120
    assert [text[:3] for text in kept] == ["new"] * 360


# Kills itself at the given statement of those that write, wherever in a transaction that is.
KILLS_ITSELF = """
import asyncio, os, signal, sys
from agentctx_nb import AgentRuntime
from agentctx_nb.memory import sqlite
sys.path.insert(0, sys.argv[4])
from tests.knowledge.test_learn_stores import toy

statements = iter(range(int(sys.argv[3])))
open_file = sqlite.open_file

def watched(path):
    connection = open_file(path)
    connection.set_trace_callback(lambda _: next(statements, None) is None and os.kill(os.getpid(), signal.SIGKILL))
    return connection

async def run():
    sqlite.open_file = watched
    async with AgentRuntime(store=sys.argv[1], embedder=toy) as runtime:
        await runtime.learn(sys.argv[2])
        print("done")

asyncio.run(run())
"""


def test_a_process_killed_at_any_statement_leaves_each_file_old_or_new_and_never_both(tmp_path, folder):
    root = folder({f"{name}.md": "\n\n".join(["old " + "tea " * 240] * 2) for name in "abc"})
    store = str(tmp_path / "agent.db")

    async def rows(*, learning):
        async with AgentRuntime(store=store, embedder=toy) as runtime:
            if learning:
                await runtime.learn(root)
            found = await runtime.get_memories(table_name="documents", room_id="agent")
        versions = {}
        for row in found:
            versions.setdefault(row.metadata["source"], []).append(row.content.text[:3])
        return versions

    asyncio.run(rows(learning=True))
    folder({f"{name}.md": "\n\n".join(["new " + "tea " * 240] * 3) for name in "ab"})
    (root / "c.md").unlink()
    seen = set()
    for statement in range(3, 300, 8):
        command = [sys.executable, "-c", KILLS_ITSELF, store, str(root), str(statement), str(ROOT)]
        said = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
        found = asyncio.run(rows(learning=False))
        assert found["a.md"] in (["old"] * 2, ["new"] * 3)
        assert found["b.md"] in (["old"] * 2, ["new"] * 3)
        assert found.get("c.md", []) in (["old"] * 2, [])
        seen.add(str(sorted(found.items())))
        if said.stdout == "done\n":
            break
        assert said.stderr == ""
    assert len(seen) > 2
    assert found == {"a.md": ["new"] * 3, "b.md": ["new"] * 3}
