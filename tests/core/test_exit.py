"""A provider that exits: it ends the call that composes, and never the event loop the call runs on."""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from agentctx_nb import AgentRuntime, Provider
from agentctx_nb.bridge import await_interruptible

ROOT = Path(__file__).parents[2]


async def exits():
    sys.exit(3)


async def exits_later():
    await asyncio.sleep(0.01)
    sys.exit(3)


async def is_interrupted():
    raise KeyboardInterrupt


async def reads_arguments():
    argparse.ArgumentParser(exit_on_error=True).parse_args(["--nonsense"])


def exits_in_a_thread():
    sys.exit(3)


GETS = [exits, exits_later, is_interrupted, reads_arguments, exits_in_a_thread]


async def survives(call):
    try:
        await call
    except (SystemExit, KeyboardInterrupt) as error:
        await asyncio.sleep(0.01)
        return type(error).__name__


@pytest.mark.parametrize("ttl", [None, 60])
@pytest.mark.parametrize("get", GETS)
def test_an_exit_is_raised_where_the_composition_is_awaited_and_the_loop_lives_on(get, ttl):
    runtime = AgentRuntime()
    runtime.register_provider(Provider("EXITS", get, ttl=ttl))
    left = asyncio.run(survives(await_interruptible(runtime.compose_state("hi"))))
    assert left == ("KeyboardInterrupt" if get is is_interrupted else "SystemExit")


@pytest.mark.parametrize("get", GETS)
def test_an_exit_in_a_composition_that_a_thread_has_started_passes_through_that_thread(get):
    runtime, seen = AgentRuntime(), []
    runtime.register_provider(Provider("EXITS", get, private=True))

    def outer(runtime):
        try:
            runtime.compose("hi", ["EXITS"], True)
        except BaseException as error:
            seen.append(type(error))
            raise

    runtime.register_provider(Provider("OUTER", outer))
    left = asyncio.run(survives(runtime.compose_state("hi")))
    assert left == seen[0].__name__
    assert seen[0] in {SystemExit, KeyboardInterrupt}


def test_an_exit_in_a_nested_composition_passes_through_the_provider_that_started_it():
    code = (
        "import asyncio, sys\nfrom agentctx_nb import AgentRuntime, Provider\n"
        "async def exits(): sys.exit(3)\n"
        "async def outer(runtime):\n"
        "    try: runtime.compose('hi', ['EXITS'], True)\n"
        "    except SystemExit: print('outer'); raise\n"
        "runtime = AgentRuntime()\n"
        "runtime.register_provider(Provider('EXITS', exits, private=True))\n"
        "runtime.register_provider(Provider('OUTER', outer))\n"
        "async def main():\n"
        "    try: await runtime.compose_state('hi')\n"
        "    except SystemExit as exit: await asyncio.sleep(0.01); print(exit.code)\n"
        "asyncio.run(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=30, check=False
    )
    assert (done.stdout.split(), done.returncode) == (["outer", "3"], 0), done.stderr


def test_a_context_variable_that_exits_when_it_is_compared_exits_the_composition_alone():
    import contextvars

    variable = contextvars.ContextVar("variable")

    class Exits:
        __hash__ = None

        def __eq__(self, other):
            sys.exit(3)

    async def sets():
        variable.set(Exits())

    async def main():
        variable.set(Exits())
        runtime = AgentRuntime()
        runtime.register_provider(Provider("SETS", sets))
        return await survives(runtime.compose_state("hi"))

    assert asyncio.run(main()) == "SystemExit"


@pytest.mark.parametrize("ttl", [None, 60])
def test_a_provider_that_ignores_its_cancellation_does_not_keep_the_interpreter_alive(ttl):
    code = f"""
import asyncio
from agentctx_nb import AgentRuntime, bridge

async def stubborn():
    while True:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            pass

bridge.EXIT_SECONDS = 0.1
runtime = AgentRuntime()
runtime.register_provider({{"name": "STUBBORN", "get": stubborn, "timeout": 0.01, "ttl": {ttl}}})
print(runtime.compose("hello").report["STUBBORN"].outcome)
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "timed_out\n"


def test_what_a_task_left_behind_raises_at_the_exit_is_not_printed():
    code = """
import asyncio
from agentctx_nb import AgentRuntime

tasks = []

async def background():
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        raise ValueError("in the clean-up")

async def leaves():
    tasks.append(asyncio.create_task(background()))
    await asyncio.sleep(0)
    return "left"

runtime = AgentRuntime()
runtime.register_provider({"name": "LEAVES", "get": leaves})
print(runtime.compose("hello").text)
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("left\n", "")
