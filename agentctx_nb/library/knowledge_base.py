"""KNOWLEDGE_BASE: the documents of the agent that are nearest to the message.

Which nearness is enough is, unless said otherwise, measured in the table itself ("auto"): cosines of unrelated texts
differ so much from model to model that no fixed number fits. The data tell the threshold, where it came from and, when
it rejected everything, the best score there was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionError
from agentctx_nb.names import shown
from agentctx_nb.provider import Provider, ProviderResult

if TYPE_CHECKING:
    from agentctx_nb.model import Memory

__all__ = ["KNOWLEDGE_BASE", "knowledge_base"]


def knowledge_base(
    name: str = "KNOWLEDGE_BASE",
    *,
    table_name: str = "documents",
    room_id: str | None = None,
    count: int = 3,
    threshold: float | str | None = None,
    **fields: Any,
) -> Provider:
    """Return a provider of the ``count`` rows of a table that are nearest to the message.

    Parameters
    ----------
    room_id
        By default the agent's own room, ``runtime.agent_id``.
    threshold
        The least cosine of what is shown, from -1 to 1, or ``"auto"``: what of the table's random pairs 99 in
        100 stay below. By default the setting ``KNOWLEDGE_THRESHOLD``, and without one ``"auto"``.
    fields
        Of the provider, in place of the reference page's: ``relevance_keywords``, ``dynamic``, ``position``, ...

    >>> knowledge_base("HANDBOOK", table_name="handbook", threshold=0.75).relevance_keywords
    ('documentation', 'how to', 'guide')
    """
    if threshold is not None:
        _checked(threshold, of=f"threshold of provider {name}")

    async def get(runtime: Any, message: Memory) -> ProviderResult:
        question = message.content.text
        if not question or not question.strip():
            return ProviderResult()
        wanted = threshold
        if wanted is None:
            wanted = _checked(
                runtime.get_setting("KNOWLEDGE_THRESHOLD", "auto"), of="the setting KNOWLEDGE_THRESHOLD"
            )
        least = await runtime.auto_threshold(table_name) if wanted == "auto" else float(wanted)
        origin = "auto" if wanted == "auto" else "given"
        where = {
            "table_name": table_name,
            "room_id": runtime.agent_id if room_id is None else room_id,
            "embedding": await runtime.embed(question),
        }
        documents = await runtime.search_memories(
            {**where, "query": question, "match_threshold": least, "match_count": count}
        )
        # The words of the question have a say in the order, so the first need not be the most similar one.
        nearest = documents or await runtime.search_memories({**where, "match_count": 1})
        best = max((document.similarity for document in nearest), default=None)
        if best is not None and not documents:
            runtime.logger.info(
                "%s: nothing reaches the threshold of %.2f (%s); the best score is %.2f",
                name, least, origin, best,
            )  # fmt: skip
        texts = [document.content.text for document in documents if document.content.text]
        return ProviderResult(
            text="\n".join(["Relevant documentation:", "\n\n".join(texts)]) if texts else "",
            data={
                "documents": documents,
                "threshold": least,
                "thresholdFrom": origin,
                "bestScore": best,
            },
        )

    return Provider(
        **{
            "description": "Documents that are near to the message",
            **_PAGE,
            **fields,
            "name": name,
            "get": get,
        }
    )


_PAGE: dict[str, Any] = {"dynamic": True, "relevance_keywords": ("documentation", "how to", "guide")}


def _checked(threshold: Any, *, of: str) -> Any:
    """Return a threshold that is "auto" or a cosine, as a number even where a setting holds it as text."""
    if threshold == "auto":
        return threshold
    try:
        if isinstance(threshold, bool):
            raise TypeError
        found = float(threshold)
    except (TypeError, ValueError):
        raise DefinitionError(f"{of} is a cosine such as 0.75 or 'auto', not {shown(threshold)}") from None
    if not -1 <= found <= 1:
        raise DefinitionError(f"{of} is a cosine from -1 to 1 or 'auto', not {shown(threshold)}")
    return found


KNOWLEDGE_BASE = knowledge_base()
