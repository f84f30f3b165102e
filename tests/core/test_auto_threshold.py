"""The cut that a table sets for itself: where it is measured, and when anew."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from agentctx_nb import AgentRuntime, DefinitionError
from tests.core.compass import Compass


def run(coroutine):
    return asyncio.run(coroutine)


def test_the_automatic_threshold_is_what_few_random_pairs_reach_and_is_kept():
    async def main():
        runtime = AgentRuntime(embedder=Compass())
        rng = np.random.default_rng(0)
        memories = [{"text": str(i), "embedding": v} for i, v in enumerate(rng.normal(size=(600, 2)))]
        await runtime.create_memories(memories, "documents")
        first = await runtime.auto_threshold("documents")
        reads = []
        inner = runtime.store.get_memories

        async def counted(**given):
            reads.append(given)
            return await inner(**given)

        runtime.store.get_memories = counted
        again = await runtime.auto_threshold("documents")
        return first, again, reads, await runtime.auto_threshold("nothing")

    first, again, reads, empty = run(main())
    assert first == again
    assert first > 0.99  # in a plane, one pair in a hundred lies within two degrees
    assert [given["table_name"] for given in reads] == ["nothing"]
    assert empty == 0.5


def test_a_small_table_is_held_to_the_embedders_own_threshold():
    async def main():
        runtime = AgentRuntime(embedder=Compass())
        await runtime.create_memories(
            [{"text": "a", "embedding": [0.0, 1.0]} for _ in range(30)], "documents"
        )
        return await runtime.auto_threshold("documents")

    assert run(main()) == 0.5


def test_a_table_of_vectors_that_say_nothing_has_the_embedders_own_threshold():
    async def main():
        runtime = AgentRuntime(embedder=Compass())
        await runtime.create_memories([{"text": "a", "embedding": [0.0, 0.0]} for _ in range(3)], "documents")
        return await runtime.auto_threshold("documents")

    assert run(main()) == 0.5


@pytest.mark.parametrize("table", [[], {}, 7, None, " "])
def test_what_names_no_table_has_no_threshold(table):
    with pytest.raises(DefinitionError, match="table_name is"):
        run(AgentRuntime().auto_threshold(table))
    with pytest.raises(DefinitionError, match="table_name is"):
        run(AgentRuntime().search_memories(table_name=table, embedding=[1.0], match_threshold="auto"))


def clouds(count, *, room, spread=0.05):
    """Return memories around one direction, so that two by chance are very near, each a text of its own."""
    rng = np.random.default_rng(1)
    middle = np.zeros(8)
    middle[0] = 1.0
    rows = middle + rng.normal(size=(count, 8)) * spread
    return [{"text": f"{room} {i}", "embedding": row, "roomId": room} for i, row in enumerate(rows)]


class Eight:
    name, dim, default_threshold = "eight", 8, 0.9

    def embed(self, texts, kind):
        return np.tile(np.eye(8, dtype=np.float32)[0], (len(texts), 1))


def test_the_automatic_threshold_is_measured_where_the_search_looks():
    async def main():
        runtime = AgentRuntime(embedder=Eight())
        await runtime.create_memories(clouds(600, room="wide", spread=1.0), "documents")
        alone = await runtime.auto_threshold("documents", room_id="wide")
        await runtime.create_memories(clouds(600, room="near"), "documents")
        explained = await runtime.explain_search(
            embedding=np.eye(8)[0], room_id="wide", match_threshold="auto", count=1
        )
        near = await runtime.auto_threshold("documents", room_id="near")
        return alone, explained.threshold, near, await runtime.auto_threshold("documents")

    alone, beside, near, whole = run(main())
    assert alone == beside
    assert alone < 0.9 < near
    assert alone < whole


@pytest.mark.parametrize("renamed", [False, True])
def test_copies_leave_the_automatic_threshold_of_the_table_where_it_was(renamed):
    async def main():
        runtime = AgentRuntime(embedder=Eight())
        rows = clouds(60, room="mine", spread=1.0)
        await runtime.create_memories(rows, "documents")
        alone = await runtime.auto_threshold("documents")
        for room in ("lobby", "cellar", "attic"):
            copies = [{**row, "text": f"{room} {i}"} if renamed else row for i, row in enumerate(rows)]
            await runtime.create_memories([{**row, "roomId": room} for row in copies], "documents")
        return alone, await runtime.auto_threshold("documents")

    alone, copied = run(main())
    assert alone < 0.88  # a pair of copies, one in sixty, would take it to the 0.9 of the embedder
    assert copied == pytest.approx(alone, abs=0.02)


def test_copies_do_not_make_a_small_table_a_large_one():
    async def main():
        runtime = AgentRuntime(embedder=Eight())
        rows = clouds(300, room="mine")
        await runtime.create_memories([*rows, *rows], "documents")
        return await runtime.auto_threshold("documents")

    assert run(main()) == 0.9


def test_the_threshold_of_a_room_is_kept_until_a_tenth_of_the_room_may_have_changed():
    async def main():
        runtime = AgentRuntime(embedder=Eight())
        await runtime.create_memories(clouds(100, room="mine"), "documents")
        await runtime.create_memories(clouds(1000, room="other"), "documents")
        reads = []
        inner = runtime.store.get_memories

        async def counted(**given):
            reads.append(given["room_id"])
            return await inner(**given)

        runtime.store.get_memories = counted
        for extra in (0, 0, 10, 1):
            await runtime.create_memories(clouds(extra, room="mine"), "documents")
            await runtime.auto_threshold("documents", room_id="mine")
        return reads

    assert run(main()) == ["mine", "mine"]
