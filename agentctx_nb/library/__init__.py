"""The providers of the reference page, ready to register, and `http_provider` and `knowledge_base` to make more.

>>> [provider.name for provider in reference_providers()][:3]
['CURRENT_TIME', 'USER_PROFILE', 'WEATHER']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentctx_nb.library.admin_stats import ADMIN_STATS
from agentctx_nb.library.current_time import CURRENT_TIME
from agentctx_nb.library.facts import FACTS
from agentctx_nb.library.http_client import ServiceError
from agentctx_nb.library.http_provider import http_provider
from agentctx_nb.library.knowledge_base import KNOWLEDGE_BASE, knowledge_base
from agentctx_nb.library.places import find_place
from agentctx_nb.library.recent_messages import RECENT_MESSAGES
from agentctx_nb.library.stock_prices import STOCK_PRICES
from agentctx_nb.library.symbols import find_symbols
from agentctx_nb.library.user_preferences import USER_PREFERENCES
from agentctx_nb.library.user_profile import USER_PROFILE
from agentctx_nb.library.weather import WEATHER

if TYPE_CHECKING:
    from agentctx_nb.provider import Provider

__all__ = [
    "ADMIN_STATS",
    "CURRENT_TIME",
    "FACTS",
    "KNOWLEDGE_BASE",
    "RECENT_MESSAGES",
    "STOCK_PRICES",
    "USER_PREFERENCES",
    "USER_PROFILE",
    "WEATHER",
    "ServiceError",
    "find_place",
    "find_symbols",
    "http_provider",
    "knowledge_base",
    "reference_providers",
]


def reference_providers() -> tuple[Provider, ...]:
    """Return every ready provider, in the order of the reference page; the private one is among them."""
    return (
        CURRENT_TIME,
        USER_PROFILE,
        WEATHER,
        ADMIN_STATS,
        RECENT_MESSAGES,
        KNOWLEDGE_BASE,
        USER_PREFERENCES,
        FACTS,
        STOCK_PRICES,
    )
