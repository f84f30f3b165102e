from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agentctx_nb.bridge import home_loop, run_sync
from agentctx_nb.errors import LoopError

ROOT = Path(__file__).parents[2]


def run_script(code, *, seconds=30):
    """Run ``code`` in a fresh interpreter, since nesting patches asyncio for good."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=seconds,
        cwd=ROOT,
        check=False,
    )


def prints(code):
    done = run_script(code)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.split()


async def running_loop():
    await asyncio.sleep(0)
    return asyncio.get_running_loop()


def test_a_script_gets_the_result():
    async def add():
        await asyncio.sleep(0)
        return 1 + 1

    assert run_sync(add) == 2


def test_two_calls_share_a_loop_so_that_clients_bound_to_it_live_on():
    assert run_sync(running_loop) is run_sync(running_loop)


def test_another_thread_has_a_loop_of_its_own_closed_with_the_thread():
    seen = []
    thread = threading.Thread(target=lambda: seen.append(run_sync(running_loop)))
    thread.start()
    thread.join()
    assert seen[0] is not run_sync(running_loop)
    assert seen[0].is_closed()


def test_an_error_keeps_its_class_and_the_frames_it_passed():
    async def deep():
        raise ValueError("from deep")

    async def outer():
        await deep()

    with pytest.raises(ValueError, match="from deep") as caught:
        run_sync(outer)
    assert [entry.name for entry in caught.traceback][-2:] == ["outer", "deep"]


def test_a_worker_thread_hands_its_coroutine_to_the_loop_of_the_composition():
    async def main():
        def work():
            home_loop.set(asyncio_loop)
            return run_sync(running_loop)

        asyncio_loop = asyncio.get_running_loop()
        assert await asyncio.to_thread(work) is asyncio_loop

    asyncio.run(main())


def test_a_timeout_error_of_the_coroutine_is_not_taken_for_a_wait_that_is_not_over():
    async def late():
        raise TimeoutError("mine")

    async def main():
        home_loop.set(asyncio.get_running_loop())
        with pytest.raises(TimeoutError, match="mine"):
            await asyncio.to_thread(run_sync, late)

    asyncio.run(main())


def test_a_worker_thread_whose_loop_has_ended_gets_an_error_instead_of_waiting_for_ever():
    loop = asyncio.new_event_loop()
    errors = []

    def work():
        home_loop.set(loop)
        try:
            run_sync(lambda: asyncio.sleep(60))
        except LoopError as error:
            errors.append(str(error))

    async def start():
        thread = threading.Thread(target=work)
        thread.start()
        await asyncio.sleep(0.2)
        return thread

    thread = loop.run_until_complete(start())
    thread.join(timeout=10)
    assert errors == ["the event loop of the composition ended before its provider did"]
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


NEST = """
import asyncio
from agentctx_nb.bridge import run_sync
async def inner():
    await asyncio.sleep(0.01)
    return asyncio.get_running_loop()
async def provider():
    return run_sync(inner)
"""


def test_it_nests_in_a_running_loop():
    code = NEST + (
        "async def main():\n"
        "    loop = asyncio.get_running_loop()\n"
        "    assert run_sync(provider) is loop is run_sync(inner)\n"
        "    async with asyncio.timeout(5):\n"
        "        print(await asyncio.gather(*(asyncio.to_thread(str, i) for i in range(3))))\n"
        "asyncio.run(main())"
    )
    assert prints(code) == ["['0',", "'1',", "'2']"]


def test_nothing_is_patched_before_a_run_has_to_nest():
    code = (
        NEST
        + "run_sync(inner); import sys; print('nest_asyncio2' in sys.modules, hasattr(asyncio, '_nest_patched'))"
    )
    assert prints(code) == ["False", "False"]


def test_the_turn_a_nested_run_interrupts_still_finds_all_its_callbacks():
    code = NEST + (
        "async def main():\n"
        "    loop = asyncio.get_running_loop(); seen = []\n"
        "    loop.call_soon(lambda: seen.append(run_sync(inner) is loop))\n"
        "    for i in range(5): loop.call_soon(seen.append, i)\n"
        "    await asyncio.sleep(0.1); print(sorted(map(str, seen)))\n"
        "asyncio.run(main())"
    )
    assert prints(code) == ["['0',", "'1',", "'2',", "'3',", "'4',", "'True']"]


@pytest.mark.parametrize("blocker", ["nest_asyncio", "nest_asyncio2"])
def test_it_nests_where_somebody_has_patched_asyncio_before(blocker):
    # As ipykernel 7 does it: everything that is queued runs in the one context already entered.
    code = NEST + (
        f"import {blocker}, contextvars\n"
        "async def main():\n"
        f"    loop = asyncio.get_running_loop(); {blocker}.apply(); seen = []\n"
        "    shared = contextvars.copy_context()\n"
        "    async def cell(i): seen.append((i, run_sync(inner) is loop))\n"
        "    await asyncio.gather(*(loop.create_task(cell(i), context=shared) for i in range(3)))\n"
        "    print(seen)\n"
        "asyncio.run(main())"
    )
    assert "".join(prints(code)) == "[(0,True),(1,True),(2,True)]"


def test_uvloop_gets_a_sentence_that_names_the_way_out():
    uvloop = pytest.importorskip("uvloop")

    async def main():
        with pytest.raises(LoopError, match=r"await runtime\.compose_state"):
            run_sync(running_loop)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())


def test_what_still_waits_on_a_resting_loop_cleans_up_when_the_process_ends():
    code = (
        "import asyncio\nfrom agentctx_nb.bridge import run_sync\n"
        "async def background():\n"
        "    try: await asyncio.sleep(60)\n"
        "    finally: print('cleaned')\n"
        "async def start():\n"
        "    global task; task = asyncio.ensure_future(background()); await asyncio.sleep(0)\n"
        "run_sync(start); print('end')"
    )
    assert prints(code) == ["end", "cleaned"]


def test_a_forked_child_does_not_share_the_loop_of_its_parent():
    code = (
        "import asyncio, os\nfrom agentctx_nb.bridge import run_sync\n"
        "async def loop(): return asyncio.get_running_loop()\n"
        "mine = run_sync(loop)\n"
        "child = os.fork()\n"
        "if not child: os._exit(run_sync(loop) is mine)\n"
        "print(os.waitpid(child, 0)[1], run_sync(loop) is mine)"
    )
    if hasattr(os, "fork"):
        assert prints(code) == ["0", "True"]


def test_system_exit_passes_and_leaves_nothing_running():
    log = []

    async def stubborn():
        try:
            await asyncio.sleep(60)
        finally:
            log.append("finally")

    async def main():
        waiting = asyncio.ensure_future(stubborn())
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(sys.exit, 3)
        await waiting

    with pytest.raises(SystemExit):
        run_sync(main)
    assert log == ["finally"]
