"""A shell in this process for what is parsed and registered, and real kernels for what runs."""

from __future__ import annotations

import atexit
import queue
import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpec

from agentctx_nb.notebook.extension import load, unload

ROOT = Path(__file__).parents[2]
ANSI = re.compile(r"\x1b\[[0-9;]*m")
LAUNCH = ("-m", "ipykernel_launcher")


@dataclass
class Answer:
    """What one cell answered."""

    status: str = ""
    shown: list[dict] = field(default_factory=list)
    stdout: str = ""
    stderr: str = ""
    ename: str = ""
    evalue: str = ""
    traceback: str = ""
    idle: bool = False

    @property
    def text(self):
        return "\n".join(bundle.get("text/plain", "") for bundle in self.shown)


class Kernel:
    """A real kernel and its client."""

    def __init__(self, launch=LAUNCH):
        self.manager = KernelManager()
        self.manager._kernel_spec = KernelSpec(
            argv=[sys.executable, *launch, "-f", "{connection_file}"],
            display_name="tested",
            language="python",
            interrupt_mode="signal",
        )
        self.manager.start_kernel(cwd=str(ROOT))
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        self._answers: dict[str, Answer] = {}

    def send(self, cell):
        name = self.client.execute(cell, stop_on_error=False)
        self._answers[name] = Answer()
        return name

    def collect(self, *names, timeout=30.0, until=lambda answer: answer.idle and answer.status):
        """Wait until the answers of the cells ``names`` are complete, and return them."""
        deadline = time.monotonic() + timeout
        while not all(until(self._answers[name]) for name in names):
            assert time.monotonic() < deadline, {name: self._answers[name] for name in names}
            assert self.manager.is_alive(), "the kernel died"
            self._read(self.client.get_iopub_msg, timeout=0.05)
            self._read(self.client.get_shell_msg, timeout=0)
        return [self._answers[name] for name in names]

    def run(self, *cells, timeout=30.0):
        """Send all cells at once, as Run All does, and return their answers."""
        return self.collect(*[self.send(cell) for cell in cells], timeout=timeout)

    def good(self, *cells, timeout=30.0):
        """Run the cells, of which none may fail, and return the last answer."""
        answers = self.run(*cells, timeout=timeout)
        for answer in answers:
            assert answer.status == "ok", answer.traceback
        return answers[-1]

    def interrupt_when(self, cell, printed="started", times=1):
        """Run ``cell``, interrupt it once it has printed that word, and return (answer, seconds it took)."""
        name = self.send(cell)
        self.collect(name, until=lambda answer: printed in answer.stdout)
        start = time.monotonic()
        for _ in range(times):
            time.sleep(0.2)
            self.manager.interrupt_kernel()
        (answer,) = self.collect(name, timeout=20)
        return answer, time.monotonic() - start

    def click(self, target, *, printed, interrupt=False):
        """Open a comm, as a widget's front end does; return the seconds until the kernel has dealt with it."""
        content = {"comm_id": "c", "target_name": target, "data": {}}
        message = self.client.session.msg("comm_open", content)
        name = message["header"]["msg_id"]
        self._answers[name] = Answer()
        self.client.shell_channel.send(message)
        self.collect(name, until=lambda answer: printed in answer.stdout)
        start = time.monotonic()
        if interrupt:
            self.manager.interrupt_kernel()
        self.collect(name, timeout=20, until=lambda answer: answer.idle)
        return time.monotonic() - start

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()
        self.manager.context.destroy()

    def _read(self, get, *, timeout):
        try:
            message = get(timeout=timeout)
        except queue.Empty:
            return
        answer = self._answers.get(message["parent_header"].get("msg_id"))
        if answer is None:
            return
        kind, content = message["msg_type"], message["content"]
        if kind == "execute_reply":
            answer.status = content["status"]
        elif kind == "status":
            answer.idle = content["execution_state"] == "idle"
        elif kind == "stream":
            setattr(answer, content["name"], getattr(answer, content["name"]) + content["text"])
        elif kind in {"execute_result", "display_data"}:
            answer.shown.append(content["data"])
        elif kind == "error":
            answer.ename, answer.evalue = content["ename"], content["evalue"]
            answer.traceback = ANSI.sub("", "\n".join(content["traceback"]))


@pytest.fixture(scope="session")
def shared_kernel():
    kernel = Kernel()
    kernel.good("%load_ext agentctx_nb")
    yield kernel
    kernel.close()


@pytest.fixture
def kernel(shared_kernel):
    """A kernel with the extension and without providers."""
    shared_kernel.good(
        "for _ in runtime.list_providers(include_private=True): runtime.unregister_provider(_.name)\n"
        "%autoawait on"
    )
    return shared_kernel


@pytest.fixture
def start_kernel():
    """A function that starts a kernel of its own, with the extension loaded after ``first``."""
    started = []

    def start(first="", launch=LAUNCH):
        kernel = Kernel(launch)
        started.append(kernel)
        kernel.good(f"{first}\n%load_ext agentctx_nb")
        return kernel

    yield start
    for kernel in started:
        kernel.close()


class Shell:
    """IPython's shell in this process, the extension loaded."""

    def __init__(self, ip):
        self.ip = ip

    @property
    def runtime(self):
        return self.ip.user_ns["runtime"]

    def run(self, cell):
        """Run a cell that must not fail and return its result."""
        with capture_output() as captured:
            result = self.ip.run_cell(cell, store_history=True)
        assert result.success, captured.stdout
        return result.result

    def fail(self, cell):
        """Run a cell that must fail and return (class name of the error, what was shown)."""
        with capture_output() as captured:
            result = self.ip.run_cell(cell, store_history=True)
        error = result.error_in_exec or result.error_before_exec
        assert error is not None
        return type(error).__name__, ANSI.sub("", captured.stdout)


@pytest.fixture
def ip():
    """A bare shell, without the extension."""
    ip = InteractiveShell()
    yield ip
    unload(ip)
    close(ip)
    InteractiveShell.clear_instance()


def close(ip):
    """End a shell now: what it would do when Python ends collects garbage once for each of some hundred shells."""
    ip.history_manager.end_session()
    if thread := ip.history_manager.save_thread:
        thread.stop()
    atexit.unregister(ip.atexit_operations)


@pytest.fixture
def shell(ip):
    load(ip)
    return Shell(ip)
