"""Rules about the files themselves."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LISTED = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
    cwd=ROOT, capture_output=True, text=True, check=False,
)  # fmt: skip
FILES = sorted(ROOT / name for name in LISTED.stdout.splitlines() if (ROOT / name).is_file())
CODE = [path for path in FILES if path.suffix == ".py"]

# Written in pieces, so that this file does not find itself.
REGISTRIES = re.compile(
    "|".join([r"pypi\." + "org", r"pythonhosted\." + "org", r"registry\." + "npmjs", "index" + "-url"])
)
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:home|Users)/[\w.-]+/|(?<![\w.])/ro" + r"ot/|[A-Z]:\\\\?Users\\")
KEYS = re.compile(
    "|".join([
        r"\bsk-[A-Za-z0-9_-]{24,}", r"\bgh[pousr]_[A-Za-z0-9]{30,}", r"\bAKIA[0-9A-Z]{16}\b", r"\bAIza[\w-]{35}\b",
        r"\bxox[abp]-[\w-]{20,}", "-----BEGIN [A-Z ]*PRIVATE" + " KEY",
    ])
)  # fmt: skip


def found(pattern):
    hits = []
    for path in FILES:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        hits += [f"{path.relative_to(ROOT)}: {hit[0]}" for hit in pattern.finditer(text)]
    return hits


def test_the_list_of_files_is_not_empty():
    assert ROOT / "pyproject.toml" in FILES, LISTED.stderr


def test_no_module_is_longer_than_400_lines():
    long = {
        path.name: count
        for path in CODE
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}


def test_no_module_has_a_name_that_says_nothing():
    empty = {"base.py", "common.py", "helper.py", "helpers.py", "misc.py", "util.py", "utils.py"}
    assert [path for path in FILES if path.name in empty] == []


def test_no_file_names_a_package_registry():
    assert found(REGISTRIES) == []


def test_no_file_holds_a_path_of_a_machine():
    assert found(MACHINE_PATHS) == []
    assert found(re.compile(re.escape(f"{ROOT}/"))) == []


def test_no_file_holds_the_shape_of_a_key():
    assert found(KEYS) == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (REGISTRIES, "pypi." + "org"),
        (MACHINE_PATHS, "see /ho" + "me/ada/notes"),
        (MACHINE_PATHS, "/ro" + "ot/x"),
        (KEYS, "sk-" + "a1" * 15),
    ],
)
def test_each_pattern_finds_what_it_looks_for(pattern, text):
    assert pattern.search(text)


def test_nothing_is_left_for_later():
    mark = "TO" + "DO|FIX" + r"ME|raise NotImplemented" + r"Error|mark\.sk" + "ip"
    assert found(re.compile(rf"\b(?:{mark})\b")) == []
