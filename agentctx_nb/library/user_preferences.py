"""USER_PREFERENCES: the language, time zone and whatever else the user set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentctx_nb.provider import Provider, ProviderResult

if TYPE_CHECKING:
    from agentctx_nb.model import Memory

__all__ = ["USER_PREFERENCES"]


async def _user_preferences(runtime: Any, message: Memory) -> ProviderResult:
    entity = await runtime.get_entity_by_id(message.entity_id)
    kept = entity.metadata.get("preferences") if entity is not None else None
    preferences = dict(kept) if isinstance(kept, Mapping) else {}
    lines = []
    if preferences.get("language"):
        lines.append(f"Preferred language: {preferences['language']}")
    if preferences.get("timezone"):
        lines.append(f"Timezone: {preferences['timezone']}")
    return ProviderResult(text="\n".join(lines), values=dict(preferences), data={"preferences": preferences})


USER_PREFERENCES = Provider(
    "USER_PREFERENCES", _user_preferences, description="The user's language, time zone and other preferences"
)
