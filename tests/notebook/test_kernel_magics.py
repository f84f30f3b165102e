"""What needs a real kernel: where a state goes from each place a magic can stand in, pins, Tab."""

from __future__ import annotations

import queue
import time

import pytest

ECHO = "%%provider ECHO\nimport asyncio\nawait asyncio.sleep(0)\nf'heard {message.content.text}'"
RAIN = "%%provider RAIN\n'It rains.'"
SLOW = "%%provider SLOW\nimport asyncio\nprint('started', flush=True)\nawait asyncio.sleep({0})\n'slow'"

PLACES = {
    "a cell": "%compose {0}hi",
    "time": "%time %compose {0}hi",
    "time cell": "%%time\n%compose {0}hi",
    "capture": "%%capture\n%compose {0}hi",
    "function": "def f():\n    %compose {0}hi\nf()",
    "loop": "for _ in 'ab':\n    %compose {0}hi",
    "cell magic": "%%compose {0}\nhi",
}


@pytest.fixture
def unpinned(kernel):
    kernel.good("%pin --off\nkept = None;")
    return kernel


@pytest.mark.parametrize("option", ["--out kept ", "-o kept "])
@pytest.mark.parametrize("place", PLACES)
def test_out_keeps_the_state_wherever_the_magic_stands(unpinned, place, option):
    unpinned.good(ECHO)
    answer = unpinned.good(PLACES[place].format(option))
    assert answer.shown == []
    assert unpinned.good("kept.text").text == "'heard hi'"


@pytest.mark.parametrize(
    "cell",
    [
        "%compose hi;",
        "%time %compose hi;",
        "%%time\n%compose hi;",
        "def f():\n    s = %compose hi;\n    return s\nf()",
        "for _ in 'ab':\n    %compose hi;",
        "%%compose --fresh;\nhi",
        "x = %compose hi",
        "x = %compose hi;",
    ],
)
def test_a_semicolon_or_a_name_shows_nothing_wherever_the_magic_stands(unpinned, cell):
    unpinned.good(ECHO)
    assert unpinned.good(cell).shown == []


def test_a_pinned_message_is_composed_below_the_cell_and_nothing_is_patched(start_kernel):
    kernel = start_kernel()
    kernel.good(RAIN, "%pin will it rain?")
    answer = kernel.good("%%provider RAIN\nimport asyncio\nawait asyncio.sleep(0.01)\n'It pours.'")
    first, second = (bundle["text/plain"] for bundle in answer.shown)
    assert first == "replaced RAIN, v2"
    assert "- It rains." in second
    assert "+ It pours." in second
    assert kernel.good("import asyncio; hasattr(asyncio, '_nest_patched')").text == "False"
    seen = kernel.good("@runtime.provider('B')\ndef b():\n    return 'by a decorator'")
    assert "+ by a decorator" in seen.text


def test_a_provider_registered_under_a_pin_has_the_lines_of_its_cell(unpinned):
    unpinned.good(RAIN, "%pin hi")
    answer = unpinned.good("%%provider BROKEN\n\nx = 1\nraise RuntimeError(x)")
    assert "registered BROKEN" in answer.text
    assert "BROKEN failed in BROKEN, line 4" in answer.stderr
    source = unpinned.good(
        "import inspect; print(inspect.getsource(runtime.get_provider('BROKEN').get))"
    ).stdout
    assert "# %%provider BROKEN" in source
    assert "    raise RuntimeError(x)" in source
    (raised,) = unpinned.run("%compose --strict hi")
    assert "----> 4 " in raised.traceback


BODY = SLOW.format(60).partition("\n")[2]
INTERRUPTED = "KeyboardInterrupt: interrupted; what was running has been cancelled"
HANGING = {
    "awaited": SLOW.format(60),
    "after the cell": f"for _ in 'a':\n    get_ipython().run_cell_magic('provider', 'SLOW', {BODY!r})",
}


@pytest.mark.parametrize("cell", HANGING.values(), ids=HANGING)
def test_a_pinned_composition_that_hangs_is_interrupted_and_the_provider_stays(unpinned, cell):
    unpinned.good(RAIN, "%pin hi")
    answer, seconds = unpinned.interrupt_when(cell)
    assert seconds < 6
    assert "registered SLOW" in answer.text or "was not composed: KeyboardInterrupt" in answer.text
    assert answer.traceback in {"", INTERRUPTED}
    assert unpinned.good("runtime.get_provider('SLOW').name").text == "'SLOW'"
    assert unpinned.good("1 + 1").text == "2"  # and it does not hang again
    assert "+ quick" in unpinned.good("%%provider SLOW\n'quick'").text


@pytest.mark.parametrize(
    "cell", ["%compose hi", "for _ in 'a':\n    %compose hi", "def f():\n    %compose hi\nf()"]
)
def test_an_interrupted_composition_is_told_in_one_line(unpinned, cell):
    unpinned.good(SLOW.format(60))
    answer, _ = unpinned.interrupt_when(cell)
    assert (answer.status, answer.ename, answer.traceback) == ("error", "KeyboardInterrupt", INTERRUPTED)


def test_cells_queued_behind_a_pinned_composition_all_run(unpinned):
    unpinned.good(RAIN, "%pin hi")
    answers = unpinned.run(
        SLOW.format(0.2),
        "print(1)",
        "@runtime.provider('B')\nasync def b():\n    import asyncio\n    await asyncio.sleep(0.1)\n    return 'b'",
        "print(2)",
    )
    assert [answer.stdout for answer in answers] == ["started\n", "1\n", "started\n", "2\n"]
    assert "+ slow" in answers[0].text
    assert "+ b" in answers[2].text


def completed(kernel, cell):
    """Ask the kernel itself, as a front end does on Tab, and return what the cell would become."""
    name = kernel.client.complete(cell, len(cell))
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            message = kernel.client.get_shell_msg(timeout=0.2)
        except queue.Empty:
            continue
        if message["parent_header"].get("msg_id") == name:
            content = message["content"]
            head, tail = cell[: content["cursor_start"]], cell[content["cursor_end"] :]
            return [head + match + tail for match in content["matches"]]
    raise AssertionError(f"no answer to Tab after {cell!r}")


def test_a_front_end_that_asks_on_tab_gets_options_names_and_variables(unpinned):
    unpinned.good(ECHO, "my_words = ['a']")
    assert completed(unpinned, "%%provider A --dyn") == ["%%provider A --dynamic"]
    assert completed(unpinned, "x = 1\n%compose --include EC") == ["x = 1\n%compose --include ECHO"]
    assert completed(unpinned, "%%provider A --keywords $my_") == ["%%provider A --keywords $my_words"]
    assert "%%provider A\n%compose --include" not in completed(unpinned, "%%provider A\n%compose --incl")
