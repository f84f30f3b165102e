"""Jupyter servers of our own, on a free port, with settings nobody else's are mixed into."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 90
ROOT = Path(__file__).parents[2]


def _free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def _environment(folder):
    settings = folder / "settings"
    quiet = settings / "@jupyterlab" / "apputils-extension"
    quiet.mkdir(parents=True, exist_ok=True)
    news = {"fetchNews": "false", "checkForUpdates": False}
    (quiet / "notification.jupyterlab-settings").write_text(json.dumps(news))
    env = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    for name in ("CONFIG", "DATA", "RUNTIME"):
        env[f"JUPYTER_{name}_DIR"] = str(folder / name.lower())
    env["JUPYTERLAB_SETTINGS_DIR"] = str(settings)
    env["JUPYTERLAB_WORKSPACES_DIR"] = str(folder / "workspaces")
    env["IPYTHONDIR"] = str(folder / "ipython")
    env["PYTHONPATH"] = str(ROOT)
    return env


@contextmanager
def running(command, *, folder, ready):
    """Run ``command`` until the block ends; ``ready`` is the address that answers once it has started."""
    log = folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=out, env=_environment(folder), cwd=folder, start_new_session=True
        )
    try:
        _wait_for(ready, process, log)
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def _wait_for(address, process, log):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            with opener.open(address, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the server did not start:\n{log.read_text(errors='replace')[-3000:]}")


@contextmanager
def jupyter(folder, notebooks):
    """Run one server for JupyterLab and Notebook 7; yield a function from a path to its address."""
    port, token = _free_port(), secrets.token_hex(16)
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
        f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={notebooks}", "--LabApp.extension_manager=readonly",
    ]  # fmt: skip
    here = f"http://127.0.0.1:{port}"
    with running(command, folder=folder, ready=f"{here}/api/status?token={token}"):
        yield lambda path: f"{here}/{path}{'&' if '?' in path else '?'}token={token}"


@contextmanager
def voila(folder, notebook):
    """Run Voila on one notebook; yield its address."""
    port = _free_port()
    command = [
        sys.executable, "-m", "voila", str(notebook), "--no-browser", f"--port={port}",
        "--Voila.ip=127.0.0.1", "--show_tracebacks=True",
    ]  # fmt: skip
    here = f"http://127.0.0.1:{port}/"
    with running(command, folder=folder, ready=f"{here}voila/static/require.min.js"):
        yield here
