"""What tests of running providers share: bounds on waiting, and runtimes made in a line."""

from __future__ import annotations

import asyncio
import time

from agentctx_nb import AgentRuntime, Provider

FAR = 60


async def quick():
    return "quick"


async def hangs():
    await asyncio.sleep(FAR)
    return "hung"


async def holds():
    time.sleep(0.05)  # noqa: ASYNC251  it holds the event loop on purpose


async def bounded(work, seconds=20):
    """Fail instead of hanging."""
    async with asyncio.timeout(seconds):
        return await work


async def until(condition):
    while not condition():  # noqa: ASYNC110  an event for each condition would say less
        await asyncio.sleep(0.001)


def runtime_of(**gets):
    """Return a runtime with a provider for each; a pair is a ``get`` and its timeout."""
    runtime = AgentRuntime()
    for name, given in gets.items():
        get, timeout = given if isinstance(given, tuple) else (given, None)
        runtime.register_provider(Provider(name, get, timeout=timeout))
    return runtime


def run(runtime, **options):
    return asyncio.run(bounded(runtime.compose_state("hello", **options)))


def outcomes(state):
    return {row.provider: row.outcome for row in state.report}
