"""The commands of the Makefile for a machine without make: ``python3 run.py demo|test|check``.

Only the standard library is used; everything is installed into ``.venv`` beside this file.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
PYTHON = str(VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
NBVAL = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout", "60"]
SANITIZE = ["--nbval-sanitize-with", "notebooks/nbval_sanitize.cfg"]


def main(command: str) -> int:
    """Set up ``.venv`` when it is missing or older than pyproject.toml, then run ``command``."""
    tutorials = sorted(path.relative_to(HERE).as_posix() for path in HERE.glob("notebooks/*.ipynb"))
    steps: dict[str, list[list[str]]] = {
        "demo": [["notebooks/demo.py"]],
        "test": [["-m", "pytest", "-q"], ["-m", "pytest", "-q", *NBVAL, *SANITIZE, *tutorials]],
        "check": [["-m", "ruff", "check", "."], ["-m", "ruff", "format", "--check", "."], ["-m", "mypy"]],
    }
    if command not in steps:
        print(f"python3 run.py demo|test|check, not {command!r}")
        return 2
    set_up("test,dev" if command == "check" else "test")
    return max(subprocess.run([PYTHON, *step], cwd=HERE, check=False).returncode for step in steps[command])


def set_up(extras: str) -> None:
    """Make the environment and install the package with ``extras``, by uv or else by pip."""
    stamp = VENV / (".ok-dev" if "dev" in extras else ".ok")
    if stamp.exists() and stamp.stat().st_mtime >= (HERE / "pyproject.toml").stat().st_mtime:
        return
    if not Path(PYTHON).exists():
        venv.create(VENV, with_pip=True, symlinks=os.name != "nt")
    subprocess.run([PYTHON, "-m", "pip", "install", "-q", "uv"], check=False)
    by_uv = [PYTHON, "-m", "uv", "pip", "install", "-q", "--python", PYTHON, "-e", f".[{extras}]"]
    if subprocess.run(by_uv, cwd=HERE, check=False).returncode:
        subprocess.run([PYTHON, "-m", "pip", "install", "-q", "-e", f".[{extras}]"], cwd=HERE, check=True)
    stamp.touch()


if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036  an older Python is just what this sentence is for
        sys.exit("agentctx_nb needs Python 3.11 or newer: start run.py with that one")
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
