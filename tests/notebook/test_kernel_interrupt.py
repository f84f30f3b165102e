"""Interrupting a kernel ends a composition, cleans up, and leaves everything else alive."""

from __future__ import annotations

import pytest

SECONDS = 6  # about 1 on a quiet machine
# Not `pass` in the loop: CPython 3.13.0 skips a `finally` when a signal handler raises at its jump back.
BODIES = {
    "waiting": "await asyncio.sleep(60)",
    "sleeping": "time.sleep(60)",
    "computing": "deadline = time.monotonic() + 60\n    while time.monotonic() < deadline: sum(range(1000))",
    "in a thread": "await asyncio.to_thread(event.wait, 60)",
    "composing": "runtime.compose('x', ['INNER'], True)",
}
SETUP = """
import asyncio, time, threading
log = []
event = threading.Event()
async def beat():
    while True:
        await asyncio.sleep(0.05)
        beats.append(1)
beats = []
heart = asyncio.create_task(beat())
def compose(text):
    return runtime.compose(text)
"""
HOWS = {"awaited": "%compose hi", "nested": "compose('hi')", "timed": "%time %compose hi"}


def provider(body, name="SLOW"):
    return f"%%provider {name}\nprint('started', flush=True)\ntry:\n    {body}\nfinally:\n    log.append('finally')"


@pytest.fixture
def ready(kernel):
    kernel.good(SETUP, "%%provider INNER --private\nawait asyncio.sleep(60)")
    yield kernel
    kernel.good("event.set(); heart.cancel();")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("body", BODIES)
def test_an_interrupt_ends_it_cleans_up_and_the_next_cell_works(ready, body, how):
    ready.good(provider(BODIES[body]))
    answer, seconds = ready.interrupt_when(HOWS[how])
    assert answer.ename == "KeyboardInterrupt"
    assert seconds < SECONDS
    assert ready.good("log").text == "['finally']"
    ready.good("beats.clear(); await asyncio.sleep(0.3); assert beats and not heart.done()")
    assert "next" in ready.good("%%provider SLOW\n'next'", "%compose hi").text


def test_several_blocking_providers_end_one_after_the_other(ready):
    ready.good(*(provider("time.sleep(60)", name) for name in ("A", "B", "C")))
    answer, seconds = ready.interrupt_when("%compose hi")
    assert answer.ename == "KeyboardInterrupt"
    assert seconds < SECONDS
    assert ready.good("len(log)").text in {"1", "2", "3"}
    assert ready.good("1 + 1").text == "2"


def test_an_interrupt_in_a_callback_of_the_loop_leaves_the_kernel_alive(ready):
    ready.good(
        provider("await asyncio.sleep(60)"),
        "async def background():\n    try:\n        runtime.compose('hi')\n"
        "    except BaseException as error:\n        log.append(type(error).__name__)\n        raise",
    )
    ready.interrupt_when("task = asyncio.create_task(background()); await asyncio.sleep(1)")
    assert ready.good("log").text == "['finally', 'Interrupted']"
    assert ready.good("1 + 1").text == "2"


def test_a_callback_of_a_widget_composes_and_is_interrupted(ready):
    ready.good(
        "def opened(comm, message):\n    print(runtime.compose('hi').text)\n"
        "get_ipython().kernel.comm_manager.register_target('click', opened)",
        "%%provider QUICK\n'clicked'",
    )
    assert ready.click("click", printed="clicked") < SECONDS
    ready.good(provider("await asyncio.sleep(60)"))
    assert ready.click("click", printed="started", interrupt=True) < SECONDS
    assert ready.good("log").text == "['finally']"


def test_an_idle_kernel_survives_an_interrupt_after_a_composition(ready):
    ready.good("%%provider A\n'a'", "%compose hi", "compose('hi')")
    ready.manager.interrupt_kernel()
    assert ready.good("1 + 1").text == "2"


def test_an_ordinary_cell_is_interrupted_as_before(ready):
    ready.good("%%provider A\n'a'", "%compose hi")
    answer, seconds = ready.interrupt_when("print('started', flush=True); time.sleep(60)")
    assert answer.ename == "KeyboardInterrupt"
    assert seconds < SECONDS


@pytest.mark.parametrize("how", HOWS)
def test_an_interrupt_is_not_logged_as_the_failure_of_a_provider(ready, how):
    ready.good(provider("time.sleep(60)"))
    answer, _ = ready.interrupt_when(HOWS[how])
    assert answer.ename == "KeyboardInterrupt"
    assert not answer.stderr


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("import sys; sys.exit(3)", "SystemExit"),
        ("await asyncio.sleep(0.01); raise SystemExit(3)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import argparse; argparse.ArgumentParser().parse_args(['--nonsense'])", "SystemExit"),
        ("runtime.compose('x', ['EXITS'], True)", "SystemExit"),
        ("await asyncio.to_thread(runtime.compose, 'x', ['EXITS'], True)", "SystemExit"),
    ],
)
def test_a_provider_that_exits_ends_its_cell_and_not_the_kernel(ready, how, body, name):
    ready.good("%%provider EXITS --private\nimport sys; sys.exit(3)", f"%%provider SLOW\n{body}")
    (answer,) = ready.run(HOWS[how])
    assert answer.ename == name
    ready.good("beats.clear(); await asyncio.sleep(0.3); assert beats and not heart.done()")
    assert "next" in ready.good("%%provider SLOW\n'next'", "%compose hi").text
