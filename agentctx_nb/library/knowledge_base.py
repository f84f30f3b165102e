"""KNOWLEDGE_BASE: the documents of the agent that are nearest to the message.

Which nearness is enough is, unless said otherwise, measured in the table itself ("auto"): cosines of unrelated texts
differ so much from model to model that no fixed number fits. The data tell the threshold, where it came from and the
best score. When nothing was found there are no data, and a line in the log says so with the best score that was seen.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionError
from agentctx_nb.names import counted, shown
from agentctx_nb.provider import Provider, ProviderResult

if TYPE_CHECKING:
    from agentctx_nb.model import Memory

__all__ = ["KNOWLEDGE_BASE", "knowledge_base"]

OTHERS = 200  # rows of other rooms that are looked at when nothing was found
MOST_ROOMS = 3  # of them that are named


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
        The least cosine of what is shown, from -1 to 1, or ``"auto"``: what of the room's random pairs 99 in
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
        room = runtime.agent_id if room_id is None else room_id
        where = {"table_name": table_name, "embedding": await runtime.embed(question)}
        automatic = wanted == "auto"
        least = await runtime.auto_threshold(table_name, room_id=room) if automatic else float(wanted)
        origin = "auto" if automatic else "given"
        documents = await runtime.search_memories(
            {**where, "room_id": room, "query": question, "match_threshold": least, "match_count": count}
        )
        if not documents:
            whence = "auto; the setting KNOWLEDGE_THRESHOLD replaces it" if automatic else origin
            await _say_why(runtime, name, where, room, f"the threshold of {least:.2f} ({whence})", least)
            return ProviderResult()
        # The words of the question have a say in the order, so the first need not be the most similar one.
        best = max(document.similarity for document in documents)
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


async def _say_why(
    runtime: Any, name: str, where: dict[str, Any], room: str, threshold: str, least: float
) -> None:
    """Log in one line why nothing was found: the threshold, the best score, and what other rooms hold."""
    table_name = where["table_name"]
    if not where["embedding"].any():
        return  # the message says nothing to the embedder, which `embed` told already
    if table_name not in (await runtime.store.stats()).memories:
        runtime.logger.info("%s: table %r holds nothing yet; runtime.learn(path) fills it", name, table_name)
        return
    nearest = await runtime.search_memories({**where, "room_id": room, "match_count": 1})
    others = await runtime.search_memories(
        {**where, "match_threshold": least if nearest else None, "match_count": OTHERS}
    )
    if nearest:
        said = f"nothing reaches {threshold}; the best score is {nearest[0].similarity:.2f}"
        which = " above it"
    else:
        said, which = f"room {room!r} of table {table_name!r} holds nothing to search", ""
    rooms = Counter(memory.room_id for memory in others if memory.room_id != room)
    for other, rows in rooms.most_common(MOST_ROOMS):
        of = "no room" if other is None else f"room {other!r}"
        said += f"; {of} has {'at least ' * (len(others) == OTHERS)}{counted(rows, 'row')}{which}"
    runtime.logger.warning("%s: %s", name, said)


_PAGE: dict[str, Any] = {"dynamic": True, "relevance_keywords": ("documentation", "how to", "guide")}


def _checked(threshold: Any, *, of: str) -> Any:
    """Return a threshold that is "auto" or a cosine, as a number even where a setting holds it as text."""
    if threshold == "auto":
        return threshold
    try:
        if isinstance(threshold, bool):
            raise TypeError
        found = float(threshold)
    except (TypeError, ValueError, OverflowError):
        raise DefinitionError(f"{of} is a cosine such as 0.75 or 'auto', not {shown(threshold)}") from None
    if not -1 <= found <= 1:
        raise DefinitionError(f"{of} is a cosine from -1 to 1 or 'auto', not {shown(threshold)}")
    return found


KNOWLEDGE_BASE = knowledge_base()
