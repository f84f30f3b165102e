"""A pattern that no file fits is told so, with what may be wrong with it."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        (
            "[",
            "no file fits pattern '[', in which no ']' closes the '['; left out: files the pattern does not fit: ",
        ),
        ("*.m[d", "no file fits pattern '*.m[d'; did you mean '*.md'?; left out: files"),
        ("md", "no file fits pattern 'md'; did you mean '*.md'?"),
        ("*.MDX", "no file fits pattern '*.MDX'; did you mean '*.md'?"),
        (
            "other/*",
            "no file fits pattern 'other/*'; write a name as '*.md', or folders too as 'guide/**/*.txt'",
        ),
        ("../docs/a.md", "no file fits pattern '../docs/a.md'; write a name"),
        ("[z-a]", "no file fits pattern '[z-a]'; write a name"),
    ],
)
def test_a_pattern_no_file_fits_gets_a_hint(runtime, folder, pattern, hint):
    root = folder({"guide/a.md": "one", "b.cfg": "two"})
    learned = runtime.learn(root, pattern=pattern)
    assert (len(learned), learned.left_out[: len(hint)]) == (0, hint)
    assert hint.split(";")[0] in repr(learned)


def test_a_pattern_gets_no_hint_where_a_file_fits_or_none_was_asked_for(runtime, folder):
    root = folder({"a[.md": "one"})
    assert runtime.learn(root, pattern="a[*").left_out == ""
    assert "no file fits" not in runtime.learn(folder({"b.png": "x"}) / "b.png", pattern="*.md").left_out
    (root / "a[.md").unlink()
    assert runtime.learn(root).left_out == "left out: files of other kinds: 1 .png"
