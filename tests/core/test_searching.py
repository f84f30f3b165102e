"""The runtime embeds, searches, explains and re-embeds on any store."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from agentctx_nb import AgentRuntime, DefinitionError, DefinitionTypeError, Memory
from agentctx_nb.library import FACTS
from tests.core.compass import ANGLES, Compass


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


def test_the_default_embedder_is_read_where_nothing_else_waits_for_it(monkeypatch):
    from agentctx_nb.search import embedder

    where, default = [], embedder.default_embedder

    def noted():
        where.append(threading.current_thread())
        return default()

    async def main():
        async with AgentRuntime() as runtime:
            await asyncio.gather(runtime.embed("rain"), runtime.embedder_mark())

    monkeypatch.setattr(embedder, "default_embedder", noted)
    run(main())
    assert where
    assert threading.current_thread() not in where


@pytest.mark.parametrize("of", ["search_memories", "explain_search"])
def test_a_threshold_that_no_cosine_reaches_is_warned_of(of, caplog):
    async def main():
        async with AgentRuntime() as runtime:
            await runtime.remember("rain", "documents")
            return await getattr(runtime, of)(query="rain", match_threshold=75)

    assert not run(main()) or of == "explain_search"
    assert [record.getMessage() for record in caplog.records] == [
        "no cosine is above 1, so that match_threshold=75 finds nothing"
    ]


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


@pytest.mark.parametrize("table", ["docs", "document"])
def test_a_table_that_holds_nothing_is_warned_of_with_the_nearest_name(table, caplog):
    async def main():
        runtime = await filled(AgentRuntime(embedder=Compass()))
        answers = [
            await runtime.search_memories(table_name=table, query="east"),
            list(await runtime.explain_search(table_name=table, query="east")),
            await runtime.reembed(table),
        ]
        await runtime.search_memories(table_name="documents", query="east", room_id="nowhere")
        return answers

    assert run(main()) == [[], [], 0]
    said = f"table {table!r} holds nothing; did you mean 'documents'?"
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [("WARNING", said)] * 3


def test_a_table_like_no_other_may_be_empty_still(caplog):
    async def main():
        await AgentRuntime(embedder=Compass()).search_memories(table_name="documents", query="east")
        runtime = await filled(AgentRuntime(embedder=Compass()))
        await runtime.search_memories(table_name="messages", query="east")

    with caplog.at_level("INFO"):
        run(main())
    said = "table 'messages' holds nothing; there are 'documents'"
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [("INFO", said)]


class Silent:
    name, dim, default_threshold = "silent", 2, 0.5

    def embed(self, texts, kind):
        return np.zeros((len(texts), 2), dtype=np.float32)


def test_an_embedder_of_zeros_never_takes_the_vectors_of_a_table():
    async def main():
        runtime = await filled(AgentRuntime(embedder=Compass()))
        silent = AgentRuntime(store=runtime.store, embedder=Silent())
        with pytest.raises(DefinitionError, match="embedder silent gives nothing but zeros for the texts of"):
            await silent.reembed("documents")
        return found(await runtime.search_memories(query="east", count=1))

    assert run(main()) == ["east"]


def test_an_embedder_of_zeros_is_an_error_for_many_texts_and_a_warning_for_few(caplog):
    async def main():
        runtime = AgentRuntime(embedder=Silent())
        for _ in range(2):
            await runtime.embed_many(["north", "east"])
        await runtime.embed(" ")
        await runtime.search_memories(query="where?", table_name="documents")
        with pytest.raises(DefinitionError, match="silent gives nothing but zeros for 8 texts"):
            await runtime.embed_many(["north"] * 8)

    run(main())
    assert [record.getMessage() for record in caplog.records] == [
        "embedder silent gives nothing but zeros for 2 texts; a row with such a vector is never found",
        "embedder silent gives nothing but zeros for 1 text, so that no row is near it",
    ]


@pytest.mark.parametrize(
    ("given", "said"), [(42, "int is no embedder"), ("all-MiniLM", "is only a name"), (Compass, "is a class")]
)
def test_what_is_no_embedder_is_refused_when_the_runtime_is_made(given, said):
    with pytest.raises(DefinitionTypeError, match=said):
        AgentRuntime(embedder=given)


def test_an_embedder_is_not_asked_before_it_is_needed():
    asked = []
    AgentRuntime(embedder=asked.append)
    assert asked == []


def test_what_is_remembered_is_found_and_what_has_no_vector_is_not():
    async def main():
        async with AgentRuntime() as runtime:
            await runtime.create_memory({"text": "Ada drinks tea."}, "facts")
            vector = await runtime.embed("Ada drinks coffee.", kind="document")
            await runtime.create_memory({"text": "Ada drinks coffee.", "embedding": vector}, "facts")
            told = await runtime.remember("Ada drinks milk.")
            again = await runtime.remember("Ada drinks milk.")
            hits = await runtime.search_memories(table_name="facts", query="What does Ada drink?")
            return told, again, sorted(found(hits)), {hit.room_id for hit in hits}

    told, again, texts, rooms = run(main())
    assert (told.table_name, told.room_id, told.is_new, again.is_new) == ("facts", "agent", True, False)
    assert texts == ["Ada drinks coffee.", "Ada drinks milk."]
    assert rooms == {None, "agent"}


def test_learn_of_a_runtime_shows_the_options_and_defaults_of_the_module_s():
    from inspect import signature

    from agentctx_nb.knowledge import learn

    wanted = {name: p.default for name, p in signature(learn).parameters.items() if name != "runtime"}
    assert {
        name: p.default for name, p in signature(AgentRuntime.learn).parameters.items() if name != "self"
    } == wanted


def test_remembering_in_a_table_that_is_written_like_another_says_so(caplog):
    runtime = AgentRuntime()

    async def main():
        await runtime.remember("Ada drinks tea.", "facts")
        caplog.clear()
        return await runtime.remember("Ada drinks coffee.", "fact")

    assert run(main()).is_new
    assert "table 'fact' holds nothing; did you mean 'facts'?" in caplog.text


def test_facts_that_are_in_the_agents_own_room_are_named_where_the_room_has_none(caplog):
    runtime = AgentRuntime()
    runtime.register_provider(FACTS)

    async def main():
        await runtime.remember("Ada drinks tea.")
        return await runtime.compose_state(Memory("What does Ada drink?", room_id="lobby"))

    with caplog.at_level("INFO"):
        assert run(main()).text == ""
    assert f"room 'lobby' of table 'facts' holds nothing; what is in room {runtime.agent_id!r}" in caplog.text
