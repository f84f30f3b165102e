"""RECENT_MESSAGES: the last ten messages of the room, oldest first, as a conversation is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentctx_nb.library.user_profile import shown_name
from agentctx_nb.provider import Provider, ProviderResult

if TYPE_CHECKING:
    from agentctx_nb.model import Memory

__all__ = ["RECENT_MESSAGES"]

_COUNT = 10


async def _recent_messages(runtime: Any, message: Memory) -> ProviderResult:
    if message.room_id is None:  # to a store no room means every room
        runtime.logger.info(
            "RECENT_MESSAGES: the message has no room_id, so that no messages are of its room"
        )
        return ProviderResult(data={"messages": []})
    messages = await runtime.get_memories(table_name="messages", room_id=message.room_id, count=_COUNT)
    names: dict[str, str] = {}
    lines = [
        f"{await _writer(runtime, recent, names)}: {recent.content.text}"
        for recent in reversed(messages)
        if recent.content.text
    ]
    text = "\n".join(["Recent messages:", *lines]) if lines else ""
    return ProviderResult(text=text, data={"messages": messages})


async def _writer(runtime: Any, message: Memory, names: dict[str, str]) -> str:
    """Return whom a message says it is from, or whom its entity is known as."""
    entity_id = message.entity_id
    if message.content.user:
        return str(message.content.user)
    if entity_id is None:
        return shown_name(None)
    if entity_id not in names:
        names[entity_id] = shown_name(await runtime.get_entity_by_id(entity_id), otherwise=entity_id)
    return names[entity_id]


RECENT_MESSAGES = Provider(
    "RECENT_MESSAGES",
    _recent_messages,
    description="The last messages of the conversation, oldest first",
    position=-1,
)
