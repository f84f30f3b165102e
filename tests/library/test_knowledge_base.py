from __future__ import annotations

import asyncio

import numpy as np
import pytest

from agentctx_nb import AgentRuntime, Memory
from agentctx_nb.errors import DefinitionError
from agentctx_nb.library import KNOWLEDGE_BASE, knowledge_base

DOCUMENTS = {
    "Install the package with pip.": (1.0, 0.0, 0.0),
    "Install a package from its folder.": (0.9, 0.436, 0.0),
    "Remove a package.": (0.8, 0.6, 0.0),
    "Deploy to the server.": (0.6, 0.8, 0.0),
    "The cat sleeps.": (0.0, 0.0, 1.0),
}


class Turned:
    """An embedder in three directions: a text it does not know points where questions do."""

    name, dim, default_threshold = "turned", 3, 0.7

    def embed(self, texts, kind="document"):
        rows = np.array([DOCUMENTS.get(text, (1.0, 0.0, 0.0)) for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def ask(
    provider=KNOWLEDGE_BASE,
    message="how to install it",
    *,
    documents=DOCUMENTS,
    table="documents",
    room=None,
    **settings,
):
    """Return what ``provider`` adds to the state of ``message``, with ``documents`` in the store."""

    async def run():
        async with AgentRuntime(settings=settings, embedder=Turned()) as runtime:
            for text in documents:
                vector = await runtime.embed(text, kind="document")
                memory = Memory(text, room_id=runtime.agent_id if room is None else room, embedding=vector)
                await runtime.create_memory(memory, table)
            runtime.register_provider(provider)
            state = await runtime.compose_state(message, [provider.name], only_include=True, strict=True)
            return state.data.providers[provider.name]

    return asyncio.run(run())


def shown(found):
    return found.text.removeprefix("Relevant documentation:\n").split("\n\n") if found.text else []


def test_the_three_nearest_documents_are_written_as_on_the_page():
    found = ask()
    assert found.text == (
        "Relevant documentation:\nInstall the package with pip.\n\nInstall a package from its folder.\n\nRemove a package."
    )
    assert [document.content.text for document in found.data["documents"]] == shown(found)
    assert [round(document.similarity, 2) for document in found.data["documents"]] == [1.0, 0.9, 0.8]


def test_it_is_the_page_s_provider():
    assert (KNOWLEDGE_BASE.name, KNOWLEDGE_BASE.dynamic, KNOWLEDGE_BASE.position) == (
        "KNOWLEDGE_BASE",
        True,
        0,
    )
    assert KNOWLEDGE_BASE.relevance_keywords == ("documentation", "how to", "guide")


def test_the_threshold_is_measured_in_the_table_unless_it_is_given():
    found = ask()
    assert found.data["thresholdFrom"] == "auto"
    assert found.data["threshold"] == pytest.approx(0.7)  # too few rows to measure: the embedder's own
    assert found.data["bestScore"] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("provider", "settings"),
    [
        (knowledge_base(threshold=0.85), {}),
        (knowledge_base(threshold="0.85"), {"KNOWLEDGE_THRESHOLD": 0.1}),
        (KNOWLEDGE_BASE, {"KNOWLEDGE_THRESHOLD": 0.85}),
        (KNOWLEDGE_BASE, {"KNOWLEDGE_THRESHOLD": "0.85"}),
    ],
)
def test_a_given_threshold_is_a_raw_cosine(provider, settings):
    found = ask(provider, **settings)
    assert shown(found) == ["Install the package with pip.", "Install a package from its folder."]
    assert (found.data["threshold"], found.data["thresholdFrom"]) == (0.85, "given")


def test_auto_as_an_argument_goes_before_a_setting():
    assert ask(knowledge_base(threshold="auto"), KNOWLEDGE_THRESHOLD=0.99).data["thresholdFrom"] == "auto"


def nothing(found):
    return (found.text, found.values, found.data, found.outcome) == ("", {}, {}, "empty")


def test_when_all_is_rejected_nothing_is_written_and_a_warning_tells_the_best_score(caplog):
    assert nothing(ask(knowledge_base(threshold=0.9), documents=["Deploy to the server.", "The cat sleeps."]))
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        (
            "WARNING",
            "KNOWLEDGE_BASE: nothing reaches the threshold of 0.90 (given); the best score is 0.60",
        )
    ]


def test_what_other_rooms_have_above_the_threshold_is_told(caplog):
    async def run():
        async with AgentRuntime(embedder=Turned()) as runtime:
            for room, text in [
                (runtime.agent_id, "The cat sleeps."),
                ("lobby", "Install the package with pip."),
                ("lobby", "Remove a package."),
                ("cellar", "Deploy to the server."),
            ]:
                await runtime.remember(text, "documents", room_id=room)
            runtime.register_provider(knowledge_base(threshold=0.75))
            return await runtime.compose_state("how to install it")

    assert nothing(asyncio.run(run()).data.providers.KNOWLEDGE_BASE)
    assert [record.getMessage() for record in caplog.records] == [
        (
            "KNOWLEDGE_BASE: nothing reaches the threshold of 0.75 (given); the best score is 0.00; "
            "room 'lobby' has 2 rows above it"
        )
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"documents": []}, []),
        (
            {"room": "lobby"},
            [
                (
                    "KNOWLEDGE_BASE: room 'agent' of table 'documents' holds nothing to search; "
                    "room 'lobby' has 5 rows"
                )
            ],
        ),
        ({"table": "document"}, ["table 'documents' holds nothing; did you mean 'document'?"]),
        ({"table": "messages"}, []),
    ],
    ids=["no documents", "another room", "a table of nearly its name", "another table"],
)
def test_only_the_agent_s_own_documents_are_looked_at(given, said, caplog):
    assert nothing(ask(**given))
    assert [record.getMessage() for record in caplog.records] == said  # warnings: info is not on


def test_table_room_and_count_are_arguments():
    provider = knowledge_base("HANDBOOK", table_name="handbook", room_id="lobby", count=1, dynamic=False)
    assert shown(ask(provider, table="handbook", room="lobby")) == ["Install the package with pip."]
    assert not provider.dynamic


@pytest.mark.parametrize("text", ["", "  \n", None])
def test_a_message_without_text_asks_nothing(text):
    assert ask(message=Memory({"text": text})).outcome == "empty"


@pytest.mark.parametrize("threshold", [1.5, -2, "high", True, float("nan"), 10**400])
def test_a_threshold_that_is_no_cosine_is_refused_by_name(threshold):
    with pytest.raises(DefinitionError, match="threshold of provider KNOWLEDGE_BASE is a cosine"):
        knowledge_base(threshold=threshold)
    with pytest.raises(ExceptionGroup) as caught:
        ask(KNOWLEDGE_THRESHOLD=threshold)
    assert "the setting KNOWLEDGE_THRESHOLD is a cosine" in str(caught.value.exceptions[0])
