"""What the core tests share: a fresh runtime that counts one token a character."""

from __future__ import annotations

import pytest

from agentctx_nb import AgentRuntime


@pytest.fixture
def runtime():
    return AgentRuntime(count_tokens=len)
