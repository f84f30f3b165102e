"""Every hazard on every loop: asyncio's own here, others in fresh interpreters, since they patch or replace it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx
import pytest

from agentctx_nb import AgentRuntime, Provider
from tests.core.hazards import FAR, HAZARDS, compose, hazard, quick, slow

ROOT = Path(__file__).parents[2]


@hazard
async def anyio_cancel_scopes_work():
    async def moves_on():
        with anyio.move_on_after(0.01) as scope:
            await anyio.sleep(FAR)
        assert scope.cancelled_caught
        await anyio.lowlevel.checkpoint()
        return "moved on"

    async def in_time():
        with anyio.fail_after(FAR):
            await anyio.sleep(0.001)
        return "in time"

    async def too_late():
        with anyio.fail_after(0.01):
            await anyio.sleep(FAR)

    state = await compose(moves_on, quick, in_time, too_late)
    assert state.text == "moved on\nquick\nin time"
    assert isinstance(state.errors["P3"], TimeoutError)


@hazard
async def anyio_task_groups_work():
    async def get():
        log = []

        async def child():
            await anyio.sleep(0.001)
            log.append("child")

        async def hangs():
            await anyio.sleep(FAR)

        async with anyio.create_task_group() as group:
            group.start_soon(child)
        async with anyio.create_task_group() as group:
            group.start_soon(hangs)
            group.cancel_scope.cancel()
        return " ".join([*log, "end"])

    assert (await compose(quick, get, slow, get)).text == "quick\nchild end\nslow\nchild end"


@asynccontextmanager
async def a_server():
    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.001)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nsunny")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()


@hazard
async def an_http_client_works_shared_or_not():
    async with a_server() as url, httpx.AsyncClient(trust_env=False, timeout=10) as shared:

        async def own():
            async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
                return (await client.get(url)).text

        async def shares():
            return (await shared.get(url)).text

        assert (await compose(shares, quick, own, shares)).text == "sunny\nquick\nsunny\nsunny"


@hazard
async def threads_and_executors_work():
    async def to_thread():
        return await asyncio.to_thread(lambda: "thread")

    async def executor():
        return await asyncio.get_running_loop().run_in_executor(None, lambda: "executor")

    assert (await compose(to_thread, quick, executor, lambda: "def")).text == "thread\nquick\nexecutor\ndef"


@hazard
async def async_generators_and_context_managers_close_in_their_task():
    @asynccontextmanager
    async def resource():
        opened_in = asyncio.current_task()
        try:
            await asyncio.sleep(0)
            yield "open"
        finally:
            await asyncio.sleep(0)
            assert asyncio.current_task() is opened_in

    async def counts():
        for number in range(3):
            await asyncio.sleep(0)
            yield number

    async def get():
        async with resource() as text:
            return text + str([number async for number in counts()])

    assert (await compose(get, quick, get)).text == "open[0, 1, 2]\nquick\nopen[0, 1, 2]"


@hazard
async def a_composition_may_be_awaited_inside_a_provider():
    inner = AgentRuntime()
    inner.register_provider(Provider("INNER", slow))

    async def get():
        async with asyncio.timeout(FAR):
            return (await inner.compose_state("hello")).text

    assert (await compose(quick, get, get)).text == "quick\nslow\nslow"


@hazard
async def an_anyio_scope_around_the_call_waits_for_the_clean_up():
    log = []

    async def cleans():
        try:
            await asyncio.sleep(FAR)
        finally:
            await asyncio.sleep(0.01)
            log.append("cleaned")

    runtime = AgentRuntime()
    runtime.register_provider(Provider("CLEANS", cleans))
    with anyio.move_on_after(0.02) as scope:
        await runtime.compose_state(
            "hello"
        )  # not by wait_for, which on 3.11 waits in a task outside the scope
    assert scope.cancelled_caught
    assert log == ["cleaned"]
    assert asyncio.current_task().cancelling() == 0
    await slow()


@pytest.mark.parametrize("name", HAZARDS)
def test_on_the_loop_of_asyncio(name):
    async def main():
        await HAZARDS[name]()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left

    asyncio.run(main())


LOOPS = {
    "uvloop": "import uvloop; make = uvloop.new_event_loop",
    "nest_asyncio2": "import asyncio, nest_asyncio2; nest_asyncio2.apply(); make = asyncio.new_event_loop",
    "nest_asyncio": "import asyncio, nest_asyncio; nest_asyncio.apply(); make = asyncio.new_event_loop",
}


@pytest.mark.parametrize("loop", LOOPS)
def test_on_other_loops(loop):
    code = f"{LOOPS[loop]}\nfrom tests.core.test_hazards import report; report(make)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT, check=False
    )
    assert done.stdout.split("\n")[:-1] == [f"{name}: ok" for name in HAZARDS], done.stderr


def report(make_loop):
    """Run every hazard on a loop of its own and print what came of each."""
    for name, check in HAZARDS.items():
        loop = make_loop()
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(check())
            said = "ok"
        except BaseException as error:  # noqa: BLE001  the other hazards are to run too
            said = f"{type(error).__name__}: {error}"
        finally:
            loop.close()
        print(f"{name}: {said}")  # noqa: T201  read by the test above
