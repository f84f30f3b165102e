"""Warnings point at a line of the user and show none of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_a_warning_prints_no_line_of_the_user_s_source(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from agentctx_nb import AgentRuntime\n"
        "runtime = AgentRuntime(secrets={'PIN': 'abc', 'OTHER': 'k3y-0f-the-d00r'})\n"
        "runtime.register_provider({'name': 'A', 'get': lambda: 'k3y-0f-2', 'private': True, 'always_run': True})\n"
        "runtime.register_provider({'name': 'B', 'get': lambda state: 'k3y-0f-3'})\n"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert done.stderr.count("UserWarning: ") == 3
    assert f"{script}:2:2: UserWarning: the secret 'PIN' is shorter than 4 characters" in done.stderr
    assert "k3y" not in done.stderr
    assert "AgentRuntime" not in done.stderr
