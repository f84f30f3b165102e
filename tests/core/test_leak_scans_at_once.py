"""Leak scans beside and inside each other, secrets of any kind, and streams written to in any way."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import io
import logging
import subprocess
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

from agentctx_nb import AgentRuntime
from agentctx_nb.errors import CompositionRecursionError
from agentctx_nb.secrecy.overhearing import overheard
from agentctx_nb.secrecy.planting import Planted

REAL = "r3al-s3cret-of-the-user"


def runtime_with(get, *, name="agent", secrets=None):
    runtime = AgentRuntime(name, secrets={"API_KEY": REAL} if secrets is None else secrets)
    runtime.register_provider({"name": "P", "get": get})
    return runtime


def as_it_was():
    streams = sys.stdout, sys.stderr
    logger = logging.getLogger("agentctx_nb.agent.leak_scan")
    return streams, list(logging.getLogger().handlers), (logger.propagate, list(logger.handlers))


# Beside each other ------------------------------------------------------------------------


def test_two_scans_at_once_leave_streams_and_loggers_as_they_were_and_hear_their_own():
    before = as_it_was()
    first_in, second_in, first_over = threading.Event(), threading.Event(), threading.Event()
    scans = {}

    def first(runtime):
        first_in.set()
        assert second_in.wait(20)
        sys.stdout.write(f"first {runtime.get_setting('API_KEY')}\n")

    def second(runtime):
        second_in.set()
        assert first_over.wait(20)  # the one that came first leaves first
        sys.stdout.write(f"second {runtime.get_setting('API_KEY')}\n")

    def scan(name, get):
        scans[name] = runtime_with(get).leak_scan("hi")
        if name == "first":
            first_over.set()

    threads = [threading.Thread(target=scan, args=each) for each in (("first", first), ("second", second))]
    threads[0].start()
    assert first_in.wait(20)
    threads[1].start()
    for thread in threads:
        thread.join(60)
    for name in ("first", "second"):
        assert [leak.place for leak in scans[name]] == ["what is written to stdout"]
    assert as_it_was() == before


def test_each_hears_the_other_and_no_secret_of_either_goes_on():
    behind = io.StringIO()
    own = logging.getLogger("agentctx_nb.test.leak_scan")
    with contextlib.redirect_stdout(behind):
        with (
            overheard(lambda text: text.replace("k3y", "***"), own=own) as one,
            overheard(lambda text: text.replace("t0ken", "+++"), own=own) as other,
        ):
            sys.stdout.write("k3y t0ken\n")
            own.warning("logged")
        sys.stdout.write("k3y after\n")
        assert sys.stdout is behind
    assert "".join(one["stdout"]) == "".join(other["stdout"]) == "k3y t0ken\n"
    assert one["logs"] == other["logs"]
    assert set(one["logs"]) == {"logged"}
    assert behind.getvalue() == "*** +++\nk3y after\n"
    assert (own.propagate, own.handlers) == (True, [])


def test_a_stream_somebody_put_there_meanwhile_is_left_to_them():
    own, theirs, before = logging.getLogger("agentctx_nb.test.leak_scan"), io.StringIO(), sys.stdout
    try:
        with overheard(str, own=own):
            sys.stdout = theirs
        assert sys.stdout is theirs
    finally:
        sys.stdout = before


def test_a_scan_in_a_running_loop_beside_another():
    before = as_it_was()

    async def main():
        def prints(runtime):
            sys.stdout.write(runtime.get_setting("API_KEY"))

        scan = runtime_with(prints).leak_scan
        return await asyncio.gather(asyncio.to_thread(scan, "hi"), asyncio.to_thread(scan, "hi"))

    assert [[leak.place for leak in scan] for scan in asyncio.run(main())] == [
        ["what is written to stdout"]
    ] * 2
    assert as_it_was() == before


# Inside each other ------------------------------------------------------------------------


def test_a_provider_that_scans_itself_is_an_error_at_once():
    calls, errors = [], []

    def scans(runtime):
        calls.append(None)
        try:
            return str(len(runtime.leak_scan("hi")))
        except CompositionRecursionError as exc:
            errors.append(str(exc))
            raise

    before = as_it_was()
    runtime = runtime_with(scans)
    assert not runtime.leak_scan("hi")
    assert len(calls) == 1
    assert errors[0].startswith("provider P composes itself: P → P; ")
    assert isinstance(runtime.compose("hi").errors["P"], CompositionRecursionError)
    assert len(calls) == 2
    assert as_it_was() == before


NESTED = """
import asyncio, sys
from agentctx_nb import AgentRuntime

calls, runtime = [], AgentRuntime(secrets={"API_KEY": "r3al-s3cret-of-the-user"})

@runtime.provider("AWAITS")
async def awaits(runtime):
    calls.append("AWAITS")
    return str(len(runtime.leak_scan("hi")))

@runtime.provider("IN_A_TASK")
async def in_a_task():
    calls.append("IN_A_TASK")
    async def scan():
        return str(len(runtime.leak_scan("hi")))
    return await asyncio.create_task(scan())

@runtime.provider("PRINTS")
def prints(runtime):
    print(runtime.get_setting("API_KEY"))

async def main():
    streams = sys.stdout, sys.stderr
    scan = runtime.leak_scan("hi")
    assert (sys.stdout, sys.stderr) == streams
    return [leak.place for leak in scan], calls

print(*asyncio.run(main()))
"""


def test_so_it_is_in_a_running_loop():
    # In a process of its own: nesting patches asyncio for good.
    done = subprocess.run(
        [sys.executable, "-c", NESTED],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
        check=True,
    )
    printed = "[secret API_KEY]\n['what is written to stdout'] ['AWAITS', 'IN_A_TASK']\n"
    assert done.stdout == printed


def test_so_is_one_in_a_thread_that_scans_the_runtime_it_was_registered_with():
    calls = []

    def scans():
        calls.append(None)
        return str(len(runtime.leak_scan("hi")))

    runtime = runtime_with(scans)
    assert not runtime.leak_scan("hi")
    assert len(calls) == 1


def test_a_provider_may_scan_its_runtime_where_it_does_not_run_again():
    def scans(runtime):
        return str(len(runtime.leak_scan("other"))) if runtime.twin_of is None else "twin"

    runtime = AgentRuntime(secrets={"API_KEY": REAL})
    runtime.register_provider({"name": "P", "get": scans, "dynamic": True})
    runtime.register_provider({"name": "Q", "get": lambda runtime: runtime.get_setting("API_KEY")})
    assert runtime.compose("hi", ["P"], True).text == "1"


# Secrets of any kind ----------------------------------------------------------------------


class Level(enum.IntEnum):
    HIGH = 12345678


class Login(NamedTuple):
    user: str
    password: str


class Exact(int):
    def __new__(cls, value):
        if value != 12345678:
            raise ValueError(f"not {value}")
        return super().__new__(cls, value)


class Rows(list):
    def __init__(self, given, *, needed):
        super().__init__(given)


def holding_itself():
    held = {"password": REAL}
    held["self"] = held
    return held


def list_holding_itself():
    held = [REAL]
    held.append((held, {"again": held}))
    return held


def deep():
    held = REAL
    for _ in range(5_000):
        held = [held]
    return held


def doubling():
    held = (REAL,)
    for _ in range(30):
        held = (held, held)
    return held


@pytest.mark.parametrize(
    ("secret", "kind"),
    [
        (Level.HIGH, int),
        (Exact(12345678), int),
        (12345678, int),
        (1234.5678, float),
        (Decimal("1234.5678"), Decimal),
        (Fraction(12345678, 7), Fraction),
        (12345678 + 1j, complex),
        (Login("ada.lovelace", REAL), Login),
        (Rows([REAL], needed=True), list),
        ({REAL, "another-s3cret"}, set),
        (frozenset({REAL}), frozenset),
        (holding_itself(), dict),
        (list_holding_itself(), list),
        (deep(), list),
        (doubling(), tuple),
        (b"bytes-of-a-s3cret", bytes),
    ],
)
def test_a_secret_of_any_kind_has_a_fake_of_its_kind_and_is_found(secret, kind, capsys):
    seen = []

    def tells(runtime):
        fake = runtime.get_setting("API_KEY")
        seen.append(fake)
        return f"it is {fake if isinstance(fake, str | int | float | Decimal) else flat(fake)}"

    scan = runtime_with(tells, secrets={"API_KEY": secret}).leak_scan("hi")
    assert type(seen[0]) is kind
    assert seen[0] != secret
    assert REAL not in flat(seen[0])
    assert {leak.place for leak in scan} == {"state.text"}
    assert capsys.readouterr() == ("", "")


def flat(value):
    """Return the first text or number in a container, however deep."""
    while isinstance(value, dict | list | tuple | set | frozenset):
        value = next(iter(value.values() if isinstance(value, dict) else value))
    return value.decode() if isinstance(value, bytes) else str(value)


def test_a_container_that_holds_itself_is_planted_as_one_that_does():
    seen = []
    runtime_with(
        lambda runtime: seen.append(runtime.get_setting("API_KEY")), secrets={"API_KEY": holding_itself()}
    ).leak_scan("hi")
    assert seen[0]["self"] is seen[0]
    assert seen[0]["password"] != REAL


def test_each_part_of_a_container_has_a_name_of_its_own():
    scan = runtime_with(
        lambda runtime: runtime.get_setting("LOGIN").password, secrets={"LOGIN": Login("ada.lovelace", REAL)}
    ).leak_scan("hi")
    assert [leak.secret for leak in scan] == ["setting LOGIN[1]"]


# Streams written to in any way ------------------------------------------------------------


class Stream(io.TextIOWrapper):
    def __init__(self):
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    @property
    def written(self):
        self.flush()
        return self.buffer.getvalue()


@pytest.mark.parametrize(
    "write",
    [
        lambda stream, key: stream.write(key),
        lambda stream, key: stream.writelines(["a ", key]),
        lambda stream, key: stream.buffer.write(f"a {key}".encode()),
        lambda stream, key: stream.buffer.write(bytearray(key.encode())),
        lambda stream, key: stream.buffer.write(memoryview(b"\xff" + key.encode())),
        lambda stream, key: stream.buffer.writelines([b"a ", key.encode()]),
        lambda stream, key: print(key, file=stream, flush=True),
    ],
)
@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_whatever_way_a_secret_is_written_it_is_heard_and_goes_on_masked(write, name, monkeypatch):
    stream = Stream()
    monkeypatch.setattr(sys, name, stream)
    keys = []

    def writes(runtime):
        keys.append(runtime.get_setting("API_KEY"))
        write(getattr(sys, name), keys[0])

    scan = runtime_with(writes).leak_scan("hi")
    assert [leak.place for leak in scan] == [f"what is written to {name}"]
    assert b"[secret API_KEY]" in stream.written
    assert keys[0].encode() not in stream.written
    assert getattr(sys, name) is stream


def test_bytes_without_a_secret_go_on_as_they_are_and_what_a_stream_lacks_is_lacking(monkeypatch):
    stream = Stream()
    monkeypatch.setattr(sys, "stdout", stream)
    own = logging.getLogger("agentctx_nb.test.leak_scan")
    with overheard(str, own=own) as heard:
        assert sys.stdout.buffer.write(b"\xff\xfe plain") == 8
        assert sys.stdout.encoding == "utf-8"
        with pytest.raises(TypeError):
            sys.stdout.write(b"bytes")
    assert stream.written == b"\xff\xfe plain"
    assert heard["stdout"] == ["\udcff\udcfe plain"]
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    with overheard(str, own=own), pytest.raises(AttributeError):
        sys.stdout.buffer.write(b"x")


def test_two_fakes_of_one_scan_are_no_fakes_of_another():
    one, other = Planted(), Planted()
    fake = one.fake("setting API_KEY", number=True)
    assert one.found_in(fake) == [("setting API_KEY", "as it is")]
    other.fake("setting API_KEY", number=True)
    assert other.found_in(fake) == []
