"""FACTS: what is known about the user, from the table of facts of the room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentctx_nb.provider import Provider, ProviderResult

if TYPE_CHECKING:
    from agentctx_nb.model import Memory

__all__ = ["FACTS"]

_COUNT = 20


async def _facts(runtime: Any, message: Memory) -> ProviderResult:
    if message.room_id is None:  # to a store no room means every room
        runtime.logger.info("FACTS: the message has no room_id, so that no facts are of its room")
        return ProviderResult()
    facts = await runtime.get_memories(table_name="facts", room_id=message.room_id, count=_COUNT)
    if not facts:
        own = await runtime.get_memories(table_name="facts", room_id=runtime.agent_id, count=1)
        if own:  # where `remember` puts what it is given no room for
            said = "FACTS: room %r of table 'facts' holds nothing; what is in room %r, the agent's own, is not for it"
            runtime.logger.info(said, message.room_id, runtime.agent_id)
        return ProviderResult()
    lines = [f"- {fact.content.text}" for fact in facts if fact.content.text]
    text = "\n".join(["Known facts:", *lines]) if lines else ""
    return ProviderResult(text=text, data={"facts": facts})


FACTS = Provider("FACTS", _facts, description="Known facts about the user")
