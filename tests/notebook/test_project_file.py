"""A pyproject.toml that cannot be read is told in one sentence, and none is waited for."""

from __future__ import annotations

import os
import sys

import pytest

from agentctx_nb.notebook.mistakes import SettingsError
from agentctx_nb.notebook.project_file import find_section

SECTION = "[tool.agentctx_nb]\nrows = 5\n"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (b"[tool.agentctx_nb]\nrows=" + b"[" * 3_000, "its brackets are nested too deep"),
        (b"[tool.agentctx_nb]\nrows=" + b"9" * 5_000, "a number in it has too many digits"),
        (SECTION.encode("utf-16"), "not written in UTF-8 (byte 0)"),
        (SECTION.encode("utf-16-be"), "cannot be read as TOML"),
        (SECTION.encode() + b"# \xff", "not written in UTF-8 (byte 30)"),
        (b"#" * 1_000_001, "larger than 1 MB"),
    ],
    ids=["brackets", "digits", "utf-16", "utf-16-be", "one byte", "large"],
)
def test_what_cannot_be_read_is_one_sentence_that_names_the_file(tmp_path, monkeypatch, written, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_bytes(written)
    with pytest.raises(SettingsError) as caught:
        find_section(tmp_path)
    assert str(caught.value).startswith("pyproject.toml ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path, encoding, end):
    (tmp_path / "pyproject.toml").write_bytes(SECTION.replace("\n", end).encode(encoding))
    assert find_section(tmp_path) == (tmp_path / "pyproject.toml", {"rows": 5})


def test_a_file_of_just_1_mb_is_read(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(SECTION.encode() + b"#" * (1_000_000 - len(SECTION)))
    assert find_section(tmp_path)[1] == {"rows": 5}


if sys.platform != "win32":

    def test_a_pipe_is_not_waited_for(tmp_path):
        (tmp_path / ".git").mkdir()
        os.mkfifo(tmp_path / "pyproject.toml")
        assert find_section(tmp_path) is None


def test_a_folder_of_that_name_is_no_file(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "pyproject.toml").mkdir()
    assert find_section(tmp_path) is None
