"""What the library's tests share: a loopback service, and real services only where somebody asks for them."""

from __future__ import annotations

import os

import pytest

from tests.library.loopback import Loopback

# Real services are asked only when AGENTCTX_LIVE is set: a test that needs the network is none of the others.
collect_ignore = [] if os.environ.get("AGENTCTX_LIVE") else ["test_live.py"]


@pytest.fixture
def service(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with Loopback() as made:
        yield made
