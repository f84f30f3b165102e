"""environment.yml and pyproject.toml name the same packages in the same versions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PIP_ONLY = ("dotpromptz-handlebars", "httpx2", "pypdf")  # pip brings these with the package and its extras


def plain(requirement):
    return requirement.replace(" ", "").lower()


def wanted():
    extras = PROJECT["optional-dependencies"]
    named = [*PROJECT["dependencies"], *extras["test"], *extras["lab"]]
    everywhere = [r for r in named if ";" not in r and not r.startswith(PIP_ONLY)]
    return {plain(requirement) for requirement in everywhere} | {"python" + PROJECT["requires-python"]}


def sections():
    """Read the few forms of YAML this file uses; any other line is an error."""
    found, current = {}, None
    for line in (ROOT / "environment.yml").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        if top := re.fullmatch(r"(\w+):(?: (\S+))?", line):
            current = found.setdefault(top[1], [top[2]] if top[2] else [])
        else:
            entry = re.fullmatch(r"(?:  |      )- (\S.*)", line)
            assert entry, f"environment.yml: cannot read {line!r}"
            current.append(entry[1])
    return found


def test_every_extra_that_an_error_names_is_there():
    named = set()
    for path in (ROOT / "agentctx_nb").rglob("*.py"):
        named |= set(re.findall(r'extra="([a-z]+)"', path.read_text(encoding="utf-8")))
    assert {"http", "minilm", "pdf"} <= named <= set(PROJECT["optional-dependencies"])


def test_every_package_stands_in_both_files_with_the_same_version():
    own = {plain(entry) for entry in sections()["dependencies"]} - {"pip", "pip:", "-e.[http,pdf]"}
    assert own == wanted()


def test_the_conda_environment_is_named_as_the_package_and_installs_it_from_here():
    found = sections()
    assert list(found) == ["name", "channels", "dependencies"]
    assert found["name"] == [PROJECT["name"]]
    assert found["dependencies"][-3:] == ["pip", "pip:", "-e .[http,pdf]"]


def test_every_line_is_a_name_with_at_most_a_range_of_versions():
    for entry in sections()["dependencies"][:-2]:
        assert re.fullmatch(r"[a-z][a-z0-9_-]*( [<>]=?\d+(\.\d+)*(,[<>]=?\d+(\.\d+)*)*)?", entry), entry
