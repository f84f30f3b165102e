"""What must hold on a real kernel, whatever ipykernel does with its event loop."""

from __future__ import annotations

import pytest

HELLO = "%%provider HELLO\nimport asyncio\nawait asyncio.sleep(0.1)\n'Hello there.'"
WEATHER = "%%provider WEATHER --dynamic --keywords rain\n'Rain until noon.'"
IN_FUNCTION = "def compose(text):\n    return runtime.compose(text).text"
BROKEN = (
    "%%provider BROKEN\n#| position: 5\ntext = '''\n'''\nif text:\n    raise RuntimeError('no data')\ntext"
)


UVLOOP = """
import asyncio, uvloop
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
from ipykernel import kernelapp
kernelapp.launch_new_instance()
"""


def test_loading_prints_and_shows_nothing(start_kernel):
    kernel = start_kernel()
    answer = kernel.good("%reload_ext agentctx_nb")
    assert (answer.stdout, answer.stderr, answer.shown) == ("", "", [])


def test_a_composition_shows_its_table_and_text(kernel):
    kernel.good(HELLO, WEATHER)
    shown = kernel.good("%compose will it rain?").shown
    assert len(shown) == 1
    assert set(shown[0]) >= {"text/plain", "text/html", "text/markdown"}
    assert "Rain until noon." in shown[0]["text/plain"]
    assert "keyword 'rain'" in shown[0]["text/plain"]


def test_a_cell_that_can_await_patches_nothing(start_kernel):
    kernel = start_kernel()
    kernel.good(HELLO, "%compose hi")
    assert kernel.good("import asyncio; hasattr(asyncio, '_nest_patched')").text == "False"
    kernel.good("runtime.compose('hi');")
    assert kernel.good("hasattr(asyncio, '_nest_patched')").text == "True"


def test_cells_queued_behind_a_composition_all_run(kernel):
    kernel.good(HELLO)
    answers = kernel.run(
        "%compose hi", *(f"print({i})" for i in range(4)), "%compose hi again", "print('end')"
    )
    assert [answer.stdout for answer in answers] == ["", "0\n", "1\n", "2\n", "3\n", "", "end\n"]
    assert all(answer.status == "ok" for answer in answers)


@pytest.mark.parametrize("first", ["", "import nest_asyncio; nest_asyncio.apply()"])
def test_cells_queued_behind_a_nested_composition_all_run_in_their_order(start_kernel, first):
    kernel = start_kernel(first)
    kernel.good(HELLO, IN_FUNCTION)
    answers = kernel.run(
        "compose('hi')", "print(1)", "compose('hi')", "print(2)", "%compose hi", "order = [3]", "print(order)"
    )
    assert [answer.stdout for answer in answers] == ["", "1\n", "", "2\n", "", "", "[3]\n"]
    assert answers[0].text == answers[2].text == "'Hello there.'"
    assert "Hello there." in answers[4].text


FORMS = {
    "time": "%time %compose hi?",
    "time cell": "%%time\n%compose hi?",
    "capture": "%%capture out\nx = %compose hi?",
    "function": "def f():\n    s = %compose hi?\n    return s\nf()",
    "loop": "for text in 'ab':\n    x = %compose hi?\nx",
    "try": "try:\n    x = %compose hi?\nfinally:\n    pass\nx",
    "with": "import contextlib\nwith contextlib.nullcontext():\n    x = %compose hi?\nx",
    "class": "class C:\n    x = %compose hi?\nC.x",
    "lambda": "(lambda: runtime.compose('hi?'))()",
    "comprehension": "[runtime.compose(t) for t in ['hi?']][0]",
    "await": "await runtime.compose_state('hi?')",
    "beside an await": "import asyncio\nawait asyncio.sleep(0)\nruntime.compose('hi?')",
    "cell magic": "%%compose\nhi?",
    "callback": (
        "import asyncio\nloop = asyncio.get_running_loop()\nanswer = loop.create_future()\n"
        "loop.call_soon(lambda: answer.set_result(runtime.compose('hi?')))\nawait answer"
    ),
    "thread": "import asyncio\nawait asyncio.to_thread(runtime.compose, 'hi?')",
    "autoawait off": "%autoawait off\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_it_composes_wherever_it_stands(kernel, form):
    kernel.good("%%provider ECHO\nimport asyncio\nawait asyncio.sleep(0)\nf'heard {message.content.text}'")
    cells = [FORMS[form], "%compose hi?"] if form == "autoawait off" else [FORMS[form]]
    answer = kernel.good(*cells)
    text = kernel.good("x.text").text if form == "capture" else answer.text
    assert "heard hi?" in text


BOUND = """
import asyncio
lock = asyncio.Lock()
await lock.acquire()
done = asyncio.Event()
async def serve(reader, writer):
    writer.write(b"pong " + await reader.readline())
    await writer.drain()
server = await asyncio.start_server(serve, "127.0.0.1", 0)
reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
async def later():
    await asyncio.sleep(0.2)
    lock.release()
    done.set()
background = asyncio.create_task(later())
"""
USER = """%%provider USER
async with lock:
    pass
await done.wait()
writer.write(b"ping\\n")
await writer.drain()
answer = await reader.readexactly(10)
f"{answer.decode().strip()}, background {background.done() or await background is None}"
"""


@pytest.mark.parametrize("composing", ["%compose hi", "compose('hi')"])
def test_locks_clients_and_tasks_of_one_cell_work_in_a_provider_of_another(start_kernel, composing):
    kernel = start_kernel()
    kernel.good(BOUND, USER, IN_FUNCTION)
    assert "pong ping, background True" in kernel.good(composing).text


def test_an_httpx_client_of_one_cell_works_in_a_provider_of_another(kernel):
    kernel.good(
        "import httpx, asyncio\n"
        "async def serve(reader, writer):\n"
        "    while line := await reader.readline():\n"
        "        if line == b'\\r\\n':\n"
        "            writer.write(b'HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\n\\r\\nrain')\n"
        "server = await asyncio.start_server(serve, '127.0.0.1', 0)\n"
        "address = 'http://127.0.0.1:%d' % server.sockets[0].getsockname()[1]\n"
        "client = httpx.AsyncClient(trust_env=False)",
        "%%provider WEATHER\n(await client.get(address)).text",
        IN_FUNCTION,
    )
    assert "rain" in kernel.good("%compose hi").text
    assert kernel.good("compose('hi')").text == "'rain'"
    kernel.good("await client.aclose(); server.close()")


@pytest.mark.parametrize("composing", ["%compose hi", "compose('hi')"])
@pytest.mark.parametrize(
    "inner",
    [
        "(await runtime.compose_state('x', ['INNER'], True)).text.upper()",
        "runtime.compose('x', ['INNER'], True).text.upper()",
        "def get(runtime):\n    return runtime.compose('x', ['INNER'], True).text.upper()",
    ],
)
def test_a_provider_may_compose_others(kernel, inner, composing):
    kernel.good(
        "%%provider INNER --private\nimport asyncio\nawait asyncio.sleep(0.01, 'from inside')",
        f"%%provider OUTER\n{inner}",
        IN_FUNCTION,
    )
    assert "FROM INSIDE" in kernel.good(composing).text


def test_a_failed_provider_is_shown_and_its_traceback_is_at_the_line_of_the_cell(kernel):
    kernel.good(HELLO, BROKEN)
    answer = kernel.good("state = %compose hi\nstate")
    assert "RuntimeError: no data" in answer.text
    assert "Hello there." in answer.text
    (raised,) = kernel.run("raise state.errors['BROKEN']")
    assert raised.ename == "RuntimeError"
    assert ", line 6" in raised.traceback
    assert "----> 6 " in raised.traceback
    assert "raise RuntimeError('no data')" in raised.traceback
    assert "inspect.getsource" not in raised.traceback


def test_strict_raises_with_the_line_of_the_cell(kernel):
    kernel.good(BROKEN)
    (raised,) = kernel.run("%compose --strict hi")
    assert (raised.ename, raised.evalue) == ("StrictError", "strict composition: BROKEN failed")
    assert "----> 6 " in raised.traceback
    assert "agentctx_nb" not in raised.traceback


def test_mistakes_are_errors_of_their_own_that_a_test_tool_sees(kernel):
    answers = kernel.run("%compose --onyl hi", "%%provider X\nreturn = 1", "%%provider X", "%provider NOBODY")
    assert [answer.ename for answer in answers] == [
        "ArgumentError",
        "CellError",
        "CellError",
        "UnknownProviderError",
    ]
    assert all(answer.status == "error" for answer in answers)
    assert answers[0].traceback == "ArgumentError: %compose has no option '--onyl'; did you mean '--only'?"


def test_getsource_shows_the_function_of_the_cell(kernel):
    kernel.good(HELLO)
    answer = kernel.good("import inspect; print(inspect.getsource(runtime.get_provider('HELLO').get))")
    assert "    await asyncio.sleep(0.1)\n    'Hello there.'" in answer.stdout


def test_output_of_a_provider_appears_below_the_cell_that_composes(kernel):
    kernel.good("%%provider LOUD\nprint('from the provider')")
    answers = kernel.run("%compose hi", "print('next')", "runtime.compose('hi');")
    assert [answer.stdout for answer in answers] == ["from the provider\n", "next\n", "from the provider\n"]


def test_a_kernel_on_uvloop_awaits_and_says_where_it_cannot_nest(start_kernel):
    pytest.importorskip("uvloop")
    kernel = start_kernel(launch=("-c", UVLOOP))
    kernel.good(HELLO, IN_FUNCTION)
    assert "uvloop" in kernel.good("import asyncio; type(asyncio.get_running_loop()).__module__").text
    assert "Hello there." in kernel.good("%compose hi").text
    (answer,) = kernel.run("compose('hi')")
    assert answer.ename == "LoopError"
    assert "await runtime.compose_state(...)" in answer.evalue
    assert kernel.good("1 + 1").text == "2"


@pytest.mark.parametrize(
    "how", ["runtime.compose('hi', strict=True)", "await runtime.compose_state('hi', strict=True)"]
)
def test_a_strict_group_is_shown_without_a_secret(start_kernel, how):
    kernel = start_kernel("key = '-'.join(['k3y', '0f', 'the', 'd00r'])")
    kernel.good(
        "runtime.set_setting('KEY', key, secret=True)", "%%provider BROKEN\nraise ValueError(f'used {key}')"
    )
    (answer,) = kernel.run(how)
    shown = answer.stderr + answer.stdout + answer.traceback + answer.evalue
    assert "ValueError: used [secret KEY]" in shown
    assert "k3y-0f-the-d00r" not in shown
