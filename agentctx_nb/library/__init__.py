"""The providers of the reference page, ready to register.

>>> [provider.name for provider in reference_providers()][:2]
['CURRENT_TIME', 'USER_PROFILE']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentctx_nb.library.admin_stats import ADMIN_STATS
from agentctx_nb.library.current_time import CURRENT_TIME
from agentctx_nb.library.facts import FACTS
from agentctx_nb.library.recent_messages import RECENT_MESSAGES
from agentctx_nb.library.user_preferences import USER_PREFERENCES
from agentctx_nb.library.user_profile import USER_PROFILE

if TYPE_CHECKING:
    from agentctx_nb.provider import Provider

__all__ = [
    "ADMIN_STATS",
    "CURRENT_TIME",
    "FACTS",
    "RECENT_MESSAGES",
    "USER_PREFERENCES",
    "USER_PROFILE",
    "reference_providers",
]


def reference_providers() -> tuple[Provider, ...]:
    """Return every ready provider, in the order of the reference page; the private one is among them."""
    return (CURRENT_TIME, USER_PROFILE, ADMIN_STATS, RECENT_MESSAGES, USER_PREFERENCES, FACTS)
