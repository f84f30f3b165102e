"""How the result shows itself, and the line of progress."""

from __future__ import annotations

import io
from itertools import count

import pytest

from agentctx_nb.knowledge import Learned, LearnedFile
from agentctx_nb.knowledge.progress import progress_line
from tests.hostile import SECRETS, TEXTS, mask, problems


def example(*files, **options):
    return Learned(files, "documents", "agent", **options)


def test_it_shows_what_needs_a_look_first_and_counts():
    learned = example(
        LearnedFile("a.md", 3, "unchanged"),
        LearnedFile("b.md", 1, "learned"),
        LearnedFile("c.md", 0, "unreadable", "no text: it holds NUL bytes"),
        left_out="left out: files of other kinds: 2 .png",
    )
    text = repr(learned)
    assert "4 chunks of 3 files in documents, room agent: 1 unreadable, 1 learned, 1 unchanged" in text
    assert text.index("c.md") < text.index("b.md") < text.index("a.md")
    assert "left out: files of other kinds: 2 .png" in text
    assert learned.counts == {"unreadable": 1, "learned": 1, "unchanged": 1}
    assert list(learned.to_frame().columns) == ["file", "chunks", "outcome", "note"]
    assert "no files" in repr(example())
    with pytest.raises(KeyError):
        learned["d.md"]


@pytest.mark.parametrize("label", TEXTS)
def test_no_name_or_note_breaks_a_view(label):
    text = TEXTS[label]
    learned = example(LearnedFile(text, 1, "learned", text), left_out=text, mask=mask)
    for kind, form in learned._repr_mimebundle_().items():
        assert problems(form, kind) == []
    assert not any(secret in str(learned.to_frame().to_dict()) for secret in SECRETS)


def test_the_line_comes_late_is_kept_up_to_date_and_goes():
    out = io.StringIO()
    seconds = count()
    with progress_line("files", stream=out, clock=lambda: next(seconds)) as progress:
        progress(1, 30)
        assert out.getvalue() == ""
        progress(12, 30)
        progress(9, 30)
    assert out.getvalue() == "\r12 of 30 files\r9 of 30 files \r" + " " * 13 + "\r"


def test_what_is_done_soon_leaves_no_line():
    out = io.StringIO()
    with progress_line("files", stream=out, clock=lambda: 0.0) as progress:
        progress(1, 1)
    assert out.getvalue() == ""
