"""What was learned from files and folders that are there no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentctx_nb.errors import DefinitionError
from agentctx_nb.knowledge.files import is_gone


def outcomes(learned):
    return {row.file: row.outcome for row in learned}


def test_a_file_that_cannot_be_looked_at_is_not_taken_for_gone(monkeypatch, tmp_path):
    assert is_gone(tmp_path / "a.md")
    assert is_gone(tmp_path / "a.md" / "b.md")

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "lstat", refuse)
    assert not is_gone(tmp_path / "a.md")


def test_a_folder_that_moved_is_told_of_and_removed_when_it_is_learned_at_its_old_place(
    runtime, folder, tmp_path
):
    root = folder({"a.md": "at two", "guide/b.md": "more"})
    runtime.learn(root)
    new = root.rename(tmp_path / "moved")
    (new / "a.md").write_text("at five")
    learned = runtime.learn(new)
    assert outcomes(learned) == {"a.md": "learned", "guide/b.md": "learned"}
    said = f"learn a folder that is gone to remove what is left of it: 2 chunks of {root.as_posix()!r}"
    assert learned.left_out == said
    removed = runtime.learn(root)
    assert outcomes(removed) == {"a.md": "removed", "guide/b.md": "removed"}
    assert (removed.chunks, removed.left_out) == (0, "")
    assert runtime.texts() == ["at five", "more"]
    assert runtime.learn(new).left_out == ""
    with pytest.raises(DefinitionError, match="there is no file or folder"):
        runtime.learn(root)


def test_a_file_that_is_gone_is_removed_by_its_own_path_and_no_other(runtime, folder):
    root = folder({"a.md": "one", "b.md": "two", "c.md": "three"})
    runtime.learn(root)
    for name in ("a.md", "b.md"):
        (root / name).unlink()
    assert outcomes(runtime.learn(root / "a.md")) == {"a.md": "removed"}
    assert runtime.texts() == ["two", "three"]
    with pytest.raises(DefinitionError, match="there is no file or folder"):
        runtime.learn(root / "a.m")
