"""An explanation of a search finds what is far behind, says how far it looked, and prints as a masked table."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentctx_nb import AgentRuntime, Memory, explaining
from tests.hostile import SECRET, problems

ROOT = Path(__file__).parents[2]


def run(coroutine):
    return asyncio.run(coroutine)


def near(number, *, room, vector=(1.0, 0.0), **more):
    return Memory(f"{room} {number}", room_id=room, embedding=vector, **more)


@pytest.fixture(params=["in this process", "sqlite"])
def runtime(request, tmp_path):
    made = AgentRuntime(store=str(tmp_path / "agent.db") if request.param == "sqlite" else None)
    yield made
    run(made.close())


async def explained(runtime, **more):
    return await runtime.explain_search(
        table_name="documents", room_id="full", embedding=[1.0, 0.0], match_count=1, **more
    )


def told(explanation, verdict):
    return [c.memory.content.text for c in explanation if c.verdict == verdict]


async def filled(runtime, *, near_ones):
    await runtime.create_memories([near(n, room="full") for n in range(near_ones)], "documents")
    far = [near(n, room="far", vector=(0.1, 1.0), created_at=1) for n in range(7)]
    blind = [near(n, room="full", vector=None, created_at=1 + n) for n in range(7)]
    await runtime.create_memories([*far, *blind], "documents")


def test_rows_of_other_rooms_and_without_a_vector_are_found_behind_thousands(runtime):
    async def main():
        await filled(runtime, near_ones=2_500)
        return await explained(runtime)

    explanation = run(main())
    assert told(explanation, "other room") == [f"far {n}" for n in range(5)]
    assert told(explanation, "no embedding") == [f"full {n}" for n in range(6, 1, -1)]
    assert explanation.note == ""


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ({"entity_id": "cleo"}, "other entity"),
        ({"agent_id": "another"}, "other agent"),
        ({"world_id": "w"}, "other world"),
        ({"room_id": "r2"}, "other room"),
        ({"room_id": "r1", "entity_id": "cleo"}, "other entity"),
        ({"start": 2_000}, "other time"),
        ({"end": 999}, "other time"),
    ],
)
def test_what_a_condition_leaves_out_is_told_with_the_condition(runtime, condition, verdict):
    async def main():
        memory = near(0, room="r1", entity_id="ada", agent_id="me", world_id="here", created_at=1_000)
        await runtime.create_memories([memory], "documents")
        return await runtime.explain_search(embedding=[1.0, 0.0], **condition)

    assert [(c.memory.content.text, c.verdict) for c in run(main())] == [("r1 0", verdict)]


@pytest.mark.parametrize(
    "condition", [{"start": 1_000}, {"end": 1_000}, {"unique": False}, {"room_id": "r1"}]
)
def test_what_meets_the_conditions_is_kept(runtime, condition):
    async def main():
        await runtime.create_memories([near(0, room="r1", created_at=1_000)], "documents")
        return await runtime.explain_search(embedding=[1.0, 0.0], **condition)

    assert [c.verdict for c in run(main())] == ["kept"]


def test_a_twin_and_a_vector_of_zeros_say_why_they_are_not_found(runtime):
    async def main():
        rows = [near(n, room="r1") for n in range(2)] + [near(2, room="r1", vector=(0.0, 0.0))]
        for row in rows:
            await runtime.store.create_memory(row, "documents", unique=True)
        found = await runtime.search_memories(embedding=[1.0, 0.0], unique=True)
        return found, await runtime.explain_search(embedding=[1.0, 0.0], unique=True)

    found, explanation = run(main())
    assert [memory.content.text for memory in found] == ["r1 0"]
    verdicts = {c.memory.content.text: c.verdict for c in explanation}
    assert verdicts == {"r1 0": "kept", "r1 1": "not unique", "r1 2": "all zeros"}


def test_where_it_did_not_look_to_the_end_it_says_so(runtime, monkeypatch):
    monkeypatch.setattr(explaining, "_LOOKED_AT", (5, 50))

    async def main():
        await filled(runtime, near_ones=100)
        return await explained(runtime)

    explanation = run(main())
    assert told(explanation, "other room") == told(explanation, "no embedding") == []
    note = "left out: the best 50 rows; no embedding: the newest 50 rows"
    assert explanation.note == note
    assert repr(explanation).startswith(f"What the search looked at ({explanation.note})\n")


@pytest.mark.parametrize(("rows", "note"), [(4, ""), (5, "newest 5"), (50, "newest 5")])
def test_a_table_that_ends_where_it_looked_is_looked_at_whole(runtime, monkeypatch, rows, note):
    monkeypatch.setattr(explaining, "_LOOKED_AT", (5,))

    async def main():
        await runtime.create_memories([near(n, room="full") for n in range(rows)], "documents")
        return await explained(runtime)

    assert note in run(main()).note
    assert bool(run(explained(runtime)).note) is bool(note)


def test_printed_it_is_a_table_without_secrets():
    async def main():
        async with AgentRuntime(secrets={"KEY": SECRET}) as runtime:
            memory = near(0, room="full", metadata={"a": 1})
            memory.content.text, memory.content.source = f"the key is {SECRET}", f"{SECRET}.md"
            await runtime.create_memories([memory, near(1, room=SECRET)], "documents")
            return await explained(runtime)

    explanation = run(main())
    text = repr(explanation)
    assert text == str(explanation) == run(main()).__repr__()
    assert text.splitlines()[0] == "What the search looked at"
    assert text.splitlines()[1].split() == ["rank", "similarity", "verdict", "room", "source", "text"]
    assert text.splitlines()[-1] == "1 of 2 candidates kept, no threshold"
    assert SECRET not in text
    assert "the key is [secret" in text
    bundle = explanation._repr_mimebundle_()
    assert bundle["text/plain"] == text
    for kind, form in bundle.items():
        assert not problems(form, kind)


QUESTIONS = (
    "Can one provider wait for the result of another?",
    "How do I make a provider run only when a keyword is in the message?",
    "Where are secrets hidden?",
    "What is the capital of Mongolia?",
)


@pytest.mark.parametrize("count", [1, 2, 3, None])
def test_what_is_kept_is_what_the_search_returns_where_words_count_too(count):
    async def main():
        runtime = AgentRuntime("q")
        await runtime.learn(ROOT / "docs")
        wanted = {"table_name": "documents", "room_id": "q", "match_threshold": "auto", "match_count": count}
        for question in QUESTIONS:
            found = await runtime.search_memories(**wanted, query=question)
            explanation = await runtime.explain_search(**wanted, query=question)
            assert [c.memory.id for c in explanation.kept] == [memory.id for memory in found]
            others = [c for c in explanation if c.verdict != "kept"]
            cut = explanation.threshold
            assert {c.verdict for c in others if c.similarity < cut} <= {"below the threshold"}
            assert {c.verdict for c in others if c.similarity >= cut} <= {"past the count"}
            assert len({c.memory.id for c in explanation}) == len(explanation)

    run(main())
