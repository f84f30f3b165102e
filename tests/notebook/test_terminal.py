"""A plain IPython terminal, fed by its standard input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def terminal(*cells):
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"],
        input="\n".join(["%load_ext agentctx_nb", *cells, ""]),
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_terminal_composes_and_shares_its_loop_with_what_it_awaits():
    shown = terminal(
        "import asyncio",
        "lock = asyncio.Lock()",
        "await lock.acquire();",
        "@runtime.provider('A')\nasync def a():\n    asyncio.get_running_loop().call_later(0.05, lock.release)\n"
        "    async with lock:\n        return 'got ' + 'the lock'\n\n",
        "print(runtime.compose('hi').text)",
        "%compose is it?",
        "(await runtime.compose_state('hi')).text.upper()",
    )
    assert "got the lock" in shown
    assert "GOT THE LOCK" in shown
    assert "static" in shown


def test_an_interrupt_in_a_terminal_cleans_up_and_the_next_line_works():
    shown = terminal(
        "import asyncio, os, signal, threading",
        "@runtime.provider('A')\nasync def a():\n    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    try:\n        await asyncio.sleep(60)\n    finally:\n        print('cleaned' + ' up')\n\n",
        "%compose hi",
        "print('still' + ' here')",
    )
    assert "cleaned up" in shown
    assert "KeyboardInterrupt" in shown
    assert "still here" in shown


def test_a_terminal_keeps_silences_and_follows_a_pinned_message():
    shown = terminal(
        "@runtime.provider('A')\ndef a():\n    return 'fir' + 'st'\n\n",
        "x = %compose hi",
        "%compose -o y hi",
        "%compose hi;",
        "print('so far', x.text == y.text == 'first')",
        "%time %compose --out z hi",
        "%pin hi",
        "@runtime.provider('A')\ndef a():\n    return 'sec' + 'ond'\n\n",
        "print(z.text.upper())",
    )
    before, _, after = shown.partition("so far True")
    assert "first" not in before
    assert "pinned: hi" in after
    assert "+ second" in after
    assert "FIRST" in after


END = ("", "")  # as for IPython's own: an empty line ends them, read as one only when the next one comes


def test_a_cell_magic_in_a_terminal_goes_on_until_an_empty_line():
    shown = terminal(
        "%%provider A --position 2",
        '"""What it tells."""',
        "for n in range(2):",
        "    word = 'fir' + 'st'",
        "word",
        *END,
        "%%compose",
        "is it",
        "there?",
        *END,
        "%%prompt P",
        "Say {{A}}",
        *END,
        "%%action ACT",
        "'do' + 'ne'",
        *END,
        "%%provider B",
        *END,
        "print(runtime.compose('hi').text, runtime.prompts, runtime.actions)",
    )
    assert "registered A (position 2)" in shown
    assert "first" in shown.split("registered A")[1].partition("Say")[0]
    assert shown.count("cell of provider B is empty") == 1
    assert "cell of provider A" not in shown
    assert "P" in shown.rsplit("first", 1)[1]
    assert "ACT" in shown.rsplit("first", 1)[1]
    assert "Error" not in shown.replace("CellError: the cell of provider B", "")
