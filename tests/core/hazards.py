"""Provider code that is right when it is awaited alone and has to stay right among others.

Each hazard is a coroutine that composes and asserts; `test_hazards` adds those of libraries and runs all
of them, on the loop of asyncio and on others.
"""

from __future__ import annotations

import asyncio
import contextvars

from agentctx_nb import AgentRuntime, Provider

FAR = 60
HAZARDS = {}
variable = contextvars.ContextVar("variable", default="clean")


def hazard(check):
    HAZARDS[check.__name__] = check
    return check


async def compose(*gets, rounds=2):
    """Compose ``gets`` as P0, P1, … twice, since known providers are run otherwise, and return the state."""
    runtime = AgentRuntime()
    for number, get in enumerate(gets):
        runtime.register_provider(Provider(f"P{number}", get))
    for _ in range(rounds):
        state = await asyncio.wait_for(runtime.compose_state("hello"), 15)
    return state


async def quick():
    return "quick"


async def slow():
    await asyncio.sleep(0.003)
    return "slow"


@hazard
async def one_provider_has_one_task_from_its_first_step_to_its_last():
    async def get():
        first = asyncio.current_task()
        for pause in (0, 0.001, 0):
            await asyncio.sleep(pause)
            assert asyncio.current_task() is first
        return "same"

    assert (await compose(quick, get, slow, get)).text == "quick\nsame\nslow\nsame"


@hazard
async def the_task_of_a_provider_is_not_its_callers():
    caller = asyncio.current_task()

    async def at_once():
        assert asyncio.current_task() is not caller
        return "other"

    async def later():
        await asyncio.sleep(0)
        return await at_once()

    assert (await compose(at_once, later)).text == "other\nother"


@hazard
async def two_that_wait_at_once_have_two_tasks():
    tasks = []

    async def get():
        tasks.append(asyncio.current_task())
        await asyncio.sleep(0.001)

    await compose(get, quick, get, rounds=1)
    assert len(set(tasks)) == 2


@hazard
async def a_timeout_of_its_own_ends_only_its_own_wait():
    async def get():
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(FAR)
        except TimeoutError:
            assert asyncio.current_task().cancelling() == 0
            await asyncio.sleep(0)
            return "gave up"

    assert (await compose(quick, get, slow, get)).text == "quick\ngave up\nslow\ngave up"


@hazard
async def wait_for_ends_only_its_own_wait():
    async def get():
        try:
            await asyncio.wait_for(asyncio.sleep(FAR), 0.01)
        except TimeoutError:
            return "gave up"

    assert (await compose(quick, get, slow)).text == "quick\ngave up\nslow"


@hazard
async def a_timeout_that_does_not_pass_does_nothing():
    async def get():
        async with asyncio.timeout(FAR):
            await asyncio.sleep(0.001)
        return await asyncio.wait_for(slow(), FAR)

    assert (await compose(get, quick, get)).text == "slow\nquick\nslow"


@hazard
async def a_task_group_cancels_its_own_body_only():
    async def fails():
        await asyncio.sleep(0.001)
        raise ValueError("child")

    async def get():
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())
                await asyncio.sleep(FAR)
        except* ValueError:
            pass
        await asyncio.sleep(0)
        return "caught"

    assert (await compose(quick, get, slow)).text == "quick\ncaught\nslow"


@hazard
async def a_group_that_fails_is_its_providers_failure():
    async def fails():
        raise ValueError("child")

    async def get():
        async with asyncio.TaskGroup() as group:
            group.create_task(fails())

    state = await compose(slow, get, quick)
    assert state.text == "slow\nquick"
    assert isinstance(state.errors["P1"], ExceptionGroup)


@hazard
async def a_context_variable_set_by_one_is_seen_by_no_other():
    async def sets():
        variable.set("dirty")
        return variable.get()

    async def sets_and_waits():
        variable.set("dirtier")
        await asyncio.sleep(0)
        return variable.get()

    async def reads():
        return variable.get()

    async def resets():
        token = variable.set("mine")
        await asyncio.sleep(0.001)
        assert variable.get() == "mine"
        variable.reset(token)
        return variable.get()

    state = await compose(sets, reads, sets_and_waits, resets, reads)
    assert state.text == "dirty\nclean\ndirtier\nclean\nclean"
    assert variable.get() == "clean"


@hazard
async def errors_now_and_later_stay_where_they_are():
    async def now():
        raise ValueError("now")

    async def later():
        await asyncio.sleep(0.001)
        raise ValueError("later")

    async def iterates_too_far():
        next(iter(()))

    state = await compose(now, quick, later, slow, iterates_too_far, quick)
    assert state.text == "quick\nslow\nquick"
    assert list(state.errors) == ["P0", "P2", "P4"]
    assert isinstance(state.errors["P4"], RuntimeError)


@hazard
async def one_that_cancels_itself_cancels_nobody_else():
    async def awaits_cancelled():
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    async def cancels_its_task():
        asyncio.current_task().cancel()
        return "mine"

    async def cancels_its_task_and_waits():
        asyncio.current_task().cancel()
        await asyncio.sleep(FAR)

    state = await compose(awaits_cancelled, slow, cancels_its_task, quick, cancels_its_task_and_waits, slow)
    await asyncio.sleep(0)
    assert state.text == "slow\nquick\nslow"
    assert list(state.errors) == ["P0", "P2", "P4"]
    assert asyncio.current_task().cancelling() == 0


@hazard
async def cancelling_from_outside_reaches_all_and_waits_for_them():
    log = []

    async def cleans():
        try:
            await asyncio.sleep(FAR)
        finally:
            await asyncio.sleep(0.001)
            log.append("cleaned")

    task = asyncio.ensure_future(compose(cleans, quick, cleans))
    await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.wait([task], timeout=10)
    assert task.cancelled()
    assert log == ["cleaned", "cleaned"]


@hazard
async def a_timeout_from_outside_waits_for_the_clean_up():
    log = []

    async def cleans():
        try:
            await asyncio.sleep(FAR)
        finally:
            log.append("cleaned")

    try:
        async with asyncio.timeout(0.02):
            await compose(quick, cleans)
    except TimeoutError:
        assert log == ["cleaned"]
    else:
        raise AssertionError("the timeout was lost")


@hazard
async def gather_locks_queues_and_tasks_work():
    lock, queue = asyncio.Lock(), asyncio.Queue(1)

    async def gathers():
        async with lock:
            return str(sum(await asyncio.gather(asyncio.sleep(0.001, 1), asyncio.sleep(0, 2))))

    async def puts():
        for number in range(3):
            await queue.put(number)
        return "put"

    async def takes():
        return str([await queue.get() for _ in range(3)])

    async def asks_a_task():
        return await asyncio.ensure_future(slow())

    state = await compose(gathers, takes, gathers, asks_a_task, puts)
    assert state.text == "3\n[0, 1, 2]\n3\nslow\nput"


@hazard
async def a_task_left_running_by_one_outlives_the_composition():
    done, tasks = [], []

    async def background():
        await asyncio.sleep(0.01)
        done.append("done")

    async def leaves():
        tasks.append(asyncio.create_task(background()))

    await compose(leaves, quick, rounds=1)
    await asyncio.wait_for(tasks[0], 10)
    assert done == ["done"]


@hazard
async def waiting_providers_wait_together():
    here, all_here = [], asyncio.Event()

    async def meets():
        await asyncio.sleep(0)
        here.append(None)
        if len(here) == 20:
            all_here.set()
        await all_here.wait()
        return "met"

    assert (await compose(*[meets, quick] * 20, rounds=1)).text.count("met") == 20


@hazard
async def our_deadline_hits_only_the_slow():
    async def hangs():
        await asyncio.sleep(FAR)

    runtime = AgentRuntime()
    for name, get, timeout in (("A", hangs, 0.02), ("B", slow, None), ("C", hangs, None), ("D", quick, FAR)):
        runtime.register_provider(Provider(name, get, timeout=timeout))
    state = await asyncio.wait_for(runtime.compose_state("hello", timeout=0.2), 15)
    assert state.text == "slow\nquick"
    assert [row.outcome for row in state.report] == ["timed_out", "ok", "timed_out", "ok"]
