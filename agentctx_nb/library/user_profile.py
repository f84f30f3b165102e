"""USER_PROFILE: who wrote the message, and since when they are known."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentctx_nb.moments import from_milliseconds, iso
from agentctx_nb.provider import Provider, ProviderResult

if TYPE_CHECKING:
    from agentctx_nb.model import Entity, Memory

__all__ = ["USER_PROFILE", "shown_name"]


async def _user_profile(runtime: Any, message: Memory) -> ProviderResult:
    entity = await runtime.get_entity_by_id(message.entity_id)
    if entity is None:
        return ProviderResult()
    name = shown_name(entity)
    lines = [f"User: {name}"]
    if entity.created_at is not None:
        with suppress(OverflowError):  # JavaScript has dates Python has none for
            lines.append(f"Joined: {iso(from_milliseconds(entity.created_at))}")
    return ProviderResult(
        text="\n".join(lines),
        values={"userName": name, "userId": entity.id},
        data={"entity": entity},
    )


def shown_name(entity: Entity | None, *, otherwise: str | None = None) -> str:
    """Return the name to show for ``entity``: its first one, else its id, else ``otherwise``.

    >>> from agentctx_nb.model import Entity
    >>> shown_name(Entity("u1", names=["Ada", "Countess"])), shown_name(Entity("u1")), shown_name(None)
    ('Ada', 'u1', 'unknown')
    """
    if entity is not None:
        for name in (*entity.names, entity.id):
            if name and name.strip():
                return name
    return otherwise or "unknown"


USER_PROFILE = Provider("USER_PROFILE", _user_profile, description="Who the user is and when they joined")
