"""The runtime embeds, searches, explains and re-embeds on any store."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from agentctx_nb import AgentRuntime, DefinitionError, DefinitionTypeError, Memory

ANGLES = {"north": (0.0, 1.0), "east": (1.0, 0.0), "north-east": (0.7, 0.7), "south": (0.0, -1.0)}


class Compass:
    """An embedder of directions."""

    name, dim, default_threshold = "compass", 2, 0.5

    def __init__(self, name="compass"):
        self.name = name
        self.asked = []

    def embed(self, texts, kind):
        self.asked.append((tuple(texts), kind))
        return np.array([ANGLES.get(text, (0.6, 0.8)) for text in texts], dtype=np.float32)


def run(coroutine):
    return asyncio.run(coroutine)


async def filled(runtime, table="documents"):
    for i, text in enumerate(ANGLES):
        vector = await runtime.embed(text, kind="document")
        await runtime.create_memory(
            {"text": text, "id": f"{table}-{i}", "embedding": vector, "roomId": "map"}, table
        )
    return runtime


def found(memories):
    return [memory.content.text for memory in memories]


def test_embed_gives_one_vector_of_unit_length_and_says_for_what():
    async def main():
        compass = Compass()
        runtime = AgentRuntime(embedder=compass)
        vector = await runtime.embed("north-east")
        many = await runtime.embed_many(["north", "east"])
        return compass.asked, vector, many

    asked, vector, many = run(main())
    assert asked == [(("north-east",), "query"), (("north", "east"), "document")]
    assert vector.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vector), 1.0, rtol=1e-6)
    assert many.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_the_default_embedder_needs_nothing_and_finds_by_meaning():
    async def main():
        async with AgentRuntime() as runtime:
            texts = ["Cats purr and sleep.", "The parcel arrives tomorrow.", "It rains all day."]
            vectors = await runtime.embed_many(texts)
            memories = [{"text": t, "embedding": v} for t, v in zip(texts, vectors, strict=True)]
            await runtime.create_memories(memories, "documents")
            return found(await runtime.search_memories(query="When is my delivery?", count=1))

    assert run(main()) == ["The parcel arrives tomorrow."]


@pytest.mark.parametrize("given", [None, 5, ["a"], b"a"])
def test_what_is_no_text_is_refused(given):
    with pytest.raises(DefinitionTypeError):
        run(AgentRuntime(embedder=Compass()).embed(given))


def test_search_takes_a_dict_or_keywords_a_vector_or_a_text():
    async def main():
        runtime = await filled(AgentRuntime(embedder=Compass()))
        camel = await runtime.search_memories(
            {"tableName": "documents", "embedding": [0.0, 1.0], "matchThreshold": 0.6, "matchCount": 5}
        )
        text = await runtime.search_memories(table_name="documents", query="east", limit=1)
        return camel, text

    camel, text = run(main())
    assert found(camel) == ["north", "north-east"]
    assert [round(memory.similarity, 4) for memory in camel] == [1.0, 0.7071]
    assert found(text) == ["east"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "needs embedding=, the vector of the query, or query=, its text"),
        ({"embedding": [1.0, 2.0, 3.0]}, "2"),
        ({"embedding": [1.0, float("nan")]}, "finite"),
        ({"query": "east", "match_threshold": "autom"}, "a cosine, None or 'auto'"),
    ],
)
def test_a_search_that_cannot_be_is_refused(arguments, said):
    async def main():
        runtime = await filled(AgentRuntime(embedder=Compass()))
        await runtime.search_memories(table_name="documents", **arguments)

    with pytest.raises(DefinitionError, match=said):
        run(main())


def test_an_unknown_argument_is_a_type_error_with_the_nearest_name():
    with pytest.raises(TypeError, match="did you mean 'match_threshold'"):
        run(AgentRuntime().search_memories(query="x", match_treshold=0.5))


def test_another_embedder_is_refused_by_name_until_the_table_is_made_anew(tmp_path):
    async def main(path):
        async with AgentRuntime(store=path, embedder=Compass()) as runtime:
            await filled(runtime)
        async with AgentRuntime(store=path, embedder=Compass("sextant")) as runtime:
            with pytest.raises(DefinitionError, match=r"compass.*reembed\(.documents.\)"):
                await runtime.search_memories(table_name="documents", query="east")
            steps = []
            assert await runtime.reembed("documents", progress=lambda *done: steps.append(done)) == 4
            assert steps == [(4, 4)]
            return found(await runtime.search_memories(table_name="documents", query="east", count=1))

    assert run(main(tmp_path / "agent.db")) == ["east"]


def test_reembed_takes_in_what_is_written_meanwhile():
    async def main():
        runtime = await filled(AgentRuntime(embedder=Compass()))
        late = []

        def write(done, total):
            if not late:
                late.append(
                    asyncio.ensure_future(
                        runtime.create_memory(
                            {"text": "south", "id": "late", "embedding": [0.0, -1.0]}, "documents"
                        )
                    )
                )

        inner = runtime.store.replace_embeddings

        async def slowly(*given):
            await asyncio.gather(*late)
            return await inner(*given)

        runtime.store.replace_embeddings = slowly
        return await runtime.reembed("documents", progress=write)

    assert run(main()) == 5


def test_explain_says_of_each_candidate_why_it_was_kept_or_not():
    async def main():
        runtime = await filled(AgentRuntime(embedder=Compass()))
        await runtime.create_memory({"text": "blind", "roomId": "map"}, "documents")
        await runtime.create_memory({"text": "abroad", "roomId": "sea", "embedding": [0.0, 1.0]}, "documents")
        return await runtime.explain_search(
            table_name="documents", room_id="map", embedding=[0.0, 1.0], match_threshold=0.6, match_count=1
        )

    explained = run(main())
    assert {c.memory.content.text: c.verdict for c in explained} == {
        "north": "kept",
        "north-east": "past the count",
        "east": "below the threshold",
        "south": "below the threshold",
        "abroad": "other room",
        "blind": "no embedding",
    }
    assert explained.best_rejected == pytest.approx(0.0, abs=1e-6)
    assert "1 of 6 candidates kept, threshold 0.600 (given)" in repr(explained)
    assert list(explained.to_frame().columns) == ["rank", "similarity", "verdict", "room", "source", "text"]
    bundle = explained._repr_mimebundle_()
    assert "other room" in bundle["text/plain"]
    assert "<table" in bundle["text/html"]


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


def test_a_memory_gets_the_agent_it_belongs_to():
    async def main():
        runtime = AgentRuntime("librarian")
        await runtime.create_memory(Memory("mine", id="a"))
        await runtime.create_memory(Memory("theirs", id="b", agent_id="other"))
        return [(await runtime.get_memory_by_id(name)).agent_id for name in "ab"]

    assert run(main()) == ["librarian", "other"]


@pytest.mark.parametrize("given", ["ab", {"content": {"text": "hi"}, "roomId": "r"}, Memory("a"), None, 5])
def test_many_memories_are_a_list_and_nothing_else(given):
    async def main():
        runtime = AgentRuntime()
        with pytest.raises(DefinitionTypeError, match="create_memories takes a list of memories"):
            await runtime.create_memories(given, "q")
        return await runtime.get_memories(table_name="q")

    assert run(main()) == []


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


def test_progress_of_reembed_is_a_function():
    with pytest.raises(DefinitionTypeError, match=r"progress is called as progress.*; 5 is no function"):
        run(AgentRuntime().reembed("documents", progress=5))


def test_reembed_leaves_rows_without_a_vector_as_they_are_and_takes_those_without_a_text():
    async def main():
        runtime = AgentRuntime(embedder=Compass())
        await runtime.create_memory({"text": "east", "id": "no vector"}, "documents")
        await runtime.create_memory({"content": {}, "id": "no text", "embedding": [1.0, 0.0]}, "documents")
        count = await runtime.reembed("documents")
        return count, (await runtime.get_memory_by_id("no vector")).embedding

    assert run(main()) == (1, None)


@pytest.mark.parametrize("embedding", [5, True, [[1.0, 2.0]], "ab"])
def test_what_is_no_vector_is_refused_in_words(embedding):
    async def main():
        runtime = AgentRuntime()
        await runtime.embed("anything")
        await runtime.create_memory({"text": "a", "embedding": embedding}, "documents")

    with pytest.raises(DefinitionError, match=r"embedding|vector"):
        run(main())


@pytest.mark.parametrize(
    "wrong",
    [{"match_count": -1}, {"match_count": 1.5}, {"match_threshold": float("nan")}, {"match_threshold": True}],
)
def test_an_explanation_refuses_what_a_search_refuses(wrong):
    async def main():
        runtime = await filled(AgentRuntime(embedder=Compass()))
        for ask in (runtime.search_memories, runtime.explain_search):
            with pytest.raises(DefinitionError):
                await ask(table_name="documents", query="east", **wrong)

    run(main())


@pytest.mark.parametrize("texts", [None, 5, "one", {"a"}, ["a", 5], (text for text in "ab")])
def test_many_texts_are_a_list_of_texts(texts):
    with pytest.raises(DefinitionTypeError, match="embed_many takes"):
        run(AgentRuntime(embedder=Compass()).embed_many(texts))
