"""What a table holds after a folder was learned: once, again, changed, half-way, twice at once."""

from __future__ import annotations

import asyncio
import os
import stat
from contextlib import suppress

import pytest

from agentctx_nb.errors import DefinitionError
from agentctx_nb.knowledge import learn
from agentctx_nb.memory.store import EmbedderMark


def outcomes(learned):
    return {row.file: row.outcome for row in learned}


def test_a_folder_becomes_chunks_with_their_place(runtime, folder):
    root = folder({"guide/a.md": "# Top\n\nWords.\n\n## Sub\n\nMore.\n", "b.txt": "Plain."})
    learned = runtime.learn(root)
    assert outcomes(learned) == {"b.txt": "learned", "guide/a.md": "learned"}
    assert (learned.chunks, learned["guide/a.md"].chunks) == (3, 2)
    found = sorted(
        (m for _, m in runtime.rows.values()), key=lambda m: (m.content.source, m.metadata["part"])
    )
    last = found[-1]
    assert (last.content.text, last.content.source) == ("## Sub\n\nMore.", "guide/a.md")
    digest = last.metadata.pop("digest")
    assert len(digest) == 64
    assert last.metadata == {
        "source": "guide/a.md", "root": root.as_posix(), "chunking": "1/1000/100/sources",
        "headings": ["Top", "Sub"], "line": 5, "part": 2, "parts": 2,
    }  # fmt: skip
    assert {m.room_id for m in found} == {"agent"}
    assert {table for table, _ in runtime.rows.values()} == {"documents"}
    assert all(m.embedding is not None for m in found)


def test_a_second_time_embeds_only_what_changed(runtime, folder):
    root = folder({"a.md": "one", "b.md": "two", "c.md": "three"})
    runtime.learn(root)
    (root / "b.md").write_text("changed")
    (root / "c.md").unlink()
    folder({"d.md": "four"})
    runtime.embedded.clear()
    assert outcomes(runtime.learn(root)) == {
        "a.md": "unchanged", "b.md": "replaced", "c.md": "removed", "d.md": "learned"
    }  # fmt: skip
    assert runtime.embedded == [["changed", "four"]]
    assert runtime.texts() == ["one", "changed", "four"]


def test_another_way_of_cutting_replaces_and_the_same_one_does_not(runtime, folder):
    root = folder({"a.md": "word " * 100})
    runtime.learn(root, chunk_chars=200, overlap_chars=20)
    assert outcomes(runtime.learn(root, chunk_chars=300, overlap_chars=20)) == {"a.md": "replaced"}
    assert outcomes(runtime.learn(root, chunk_chars=300, overlap_chars=20)) == {"a.md": "unchanged"}
    assert len(runtime.texts()) == 2


def test_a_table_of_another_embedder_is_refused_and_a_reembedded_one_is_as_it_was(runtime, folder):
    root = folder({"a.md": "one"})
    runtime.learn(root)
    runtime.mark_made = EmbedderMark("other", 2, "1")
    with pytest.raises(DefinitionError, match=r"'fake'.*'other'.*runtime.reembed\("):
        runtime.learn(root)
    runtime.store.marks["documents"] = EmbedderMark("other", 2, "1")
    assert outcomes(runtime.learn(root)) == {"a.md": "unchanged"}
    assert (runtime.texts(), len(runtime.embedded)) == (["one"], 1)


def test_tables_rooms_and_folders_do_not_touch_each_other(runtime, folder, tmp_path):
    root = folder({"a.md": "one"})
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("other one")
    runtime.learn(root)
    runtime.learn(root, table_name="notes")
    runtime.learn(root, room_id="lobby")
    runtime.learn(other)
    (root / "a.md").unlink()
    assert outcomes(runtime.learn(root)) == {"a.md": "removed"}
    left = sorted((table, m.room_id, m.content.text) for table, m in runtime.rows.values())
    assert left == [
        ("documents", "agent", "other one"),
        ("documents", "lobby", "one"),
        ("notes", "agent", "one"),
    ]


def test_a_file_learned_alone_or_from_a_folder_inside_is_the_same_file(runtime, folder):
    root = folder({"guide/a.md": "one", "b.md": "two"})
    runtime.learn(root)
    assert outcomes(runtime.learn(root / "guide")) == {"a.md": "unchanged"}
    assert outcomes(runtime.learn(root / "guide" / "a.md")) == {"a.md": "unchanged"}
    (root / "guide" / "a.md").write_text("changed")
    assert outcomes(runtime.learn(root / "guide" / "a.md")) == {"a.md": "replaced"}
    (root / "b.md").unlink()
    assert outcomes(runtime.learn(root / "guide")) == {"a.md": "unchanged"}
    assert outcomes(runtime.learn(root)) == {"b.md": "removed", "guide/a.md": "unchanged"}


def test_a_pattern_chooses_files_of_any_kind_and_leaves_the_others_alone(runtime, folder):
    root = folder({"a.md": "one", "b.cfg": "two", "deep/c.cfg": "three"})
    runtime.learn(root)
    (root / "a.md").unlink()
    assert outcomes(runtime.learn(root, pattern="*.cfg")) == {"b.cfg": "learned", "deep/c.cfg": "learned"}
    assert runtime.sources() == ["a.md", "b.cfg", "deep/c.cfg"]
    assert outcomes(runtime.learn(root)) == {"a.md": "removed"}
    assert runtime.sources() == ["b.cfg", "deep/c.cfg"]
    assert outcomes(runtime.learn(root, pattern="deep/*")) == {"deep/c.cfg": "unchanged"}


def test_hidden_folders_caches_and_environments_are_left_out(runtime, folder):
    root = folder({
        ".git/a.md": "x", "node_modules/p/readme.md": "x", "__pycache__/a.txt": "x", "mine/pyvenv.cfg": "",
        "mine/lib/a.py": "x", "cached/CACHEDIR.TAG": "", "cached/a.md": "x", ".hidden.md": "x",
        "build/a.md": "kept", "picture.png": b"\x00", "data": "x",
    })  # fmt: skip
    learned = runtime.learn(root)
    assert outcomes(learned) == {"build/a.md": "learned"}
    assert learned.left_out == "left out: files of other kinds: 1 .png, 1 no suffix"


def test_links_are_not_followed_so_a_loop_is_none(runtime, folder, tmp_path):
    root = folder({"a/b.md": "one"})
    (tmp_path / "secret.md").write_text("outside")
    (root / "a" / "up").symlink_to(root, target_is_directory=True)
    (root / "self").symlink_to("self")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    learned = runtime.learn(root)
    assert outcomes(learned) == {"a/b.md": "learned"}
    assert "3 links, which are not followed" in learned.left_out
    (tmp_path / "link").symlink_to(root, target_is_directory=True)
    assert outcomes(runtime.learn(tmp_path / "link")) == {"a/b.md": "unchanged"}
    with pytest.raises(DefinitionError, match="cannot be opened"):
        runtime.learn(root / "self")


def test_what_cannot_be_read_is_reported_and_the_others_go_on(runtime, folder):
    root = folder({
        "a.md": b"bin\x00ary", "b.ipynb": "{", "c.txt": b"caf\xe9", "d.md": "good", "e.pdf": "no pdf", "f.md": "",
        "g.py": "def (", "h.md": "x" * 2000,
    })  # fmt: skip
    learned = runtime.learn(root, max_bytes=1000)
    assert outcomes(learned) == {
        "a.md": "unreadable", "b.ipynb": "unreadable", "c.txt": "learned", "d.md": "learned", "e.pdf": "unreadable",
        "f.md": "empty", "g.py": "learned", "h.md": "unreadable",
    }  # fmt: skip
    assert learned["a.md"].note == "no text: it holds NUL bytes"
    assert learned["c.txt"].note == "no UTF-8; read as Windows-1252"
    assert learned["g.py"].note.startswith("read as plain text: ")
    assert learned["h.md"].note == "larger than 0.001 MB; max_bytes= allows more"


def test_a_file_that_became_unreadable_keeps_what_it_was(runtime, folder):
    root = folder({"a.md": "one"})
    runtime.learn(root)
    folder({"a.md": b"\x00"})
    learned = runtime.learn(root)
    assert (learned["a.md"].chunks, learned["a.md"].note) == (
        1,
        "no text: it holds NUL bytes; 1 chunk of before kept",
    )
    assert runtime.texts() == ["one"]


def test_a_file_that_became_empty_leaves_nothing(runtime, folder):
    root = folder({"a.md": "one"})
    runtime.learn(root)
    folder({"a.md": ""})
    assert outcomes(runtime.learn(root)) == {"a.md": "replaced"}
    assert runtime.rows == {}


def test_a_folder_that_cannot_be_listed_is_reported_and_loses_nothing(runtime, folder, monkeypatch):
    root = folder({"shut/a.md": "one", "b.md": "two"})
    runtime.learn(root)
    scandir = os.scandir

    def refuse(place):
        if str(place).endswith("shut"):
            raise PermissionError(13, "Permission denied")
        return scandir(place)

    monkeypatch.setattr(os, "scandir", refuse)
    learned = runtime.learn(root)
    assert outcomes(learned) == {"b.md": "unchanged", "shut/": "unreadable"}
    assert learned["shut/"].note == "permission denied"
    assert runtime.sources() == ["b.md", "shut/a.md"]


def test_names_that_hurt_are_names(runtime, folder):
    names = [
        "new\nline.md",
        "'quo\"te`.md",
        "\u202egnp.md",
        "<b>.md",
        "a b.md",
        "ünï.md",
        "hunter2hunter2.md",
    ]
    root = folder(dict.fromkeys(names, "x"))
    odd = root / os.fsdecode(b"caf\xe9.md")
    odd.write_text("bytes")
    learned = runtime.learn(root)
    assert set(outcomes(learned)) == {*names, "caf\\xe9.md"}
    assert all(source.encode() for source in runtime.sources())
    assert set(outcomes(runtime.learn(root)).values()) == {"unchanged"}
    odd.unlink()
    assert runtime.learn(root)["caf\\xe9.md"].outcome == "removed"


def test_a_pipe_is_no_file(runtime, folder):
    root = folder({"a.md": "one"})
    os.mkfifo(root / "pipe.md")
    assert stat.S_ISFIFO((root / "pipe.md").stat().st_mode)
    assert outcomes(runtime.learn(root)) == {"a.md": "learned"}
    with pytest.raises(DefinitionError, match="neither a file nor a folder"):
        runtime.learn(root / "pipe.md")


def test_texts_are_embedded_together_across_files_and_inside_large_ones(runtime, folder):
    root = folder({f"{i:03}.md": "word" for i in range(300)} | {"big.md": "\n\n".join(["w" * 900] * 700)})
    runtime.learn(root)
    assert [len(texts) for texts in runtime.embedded] == [256, 256, 256, 232]
    assert runtime.texts("big.md") == ["w" * 900] * 700


@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_two_runs_at_once_do_not_double(runtime, folder, noise):
    runtime.noise = noise
    root = folder({f"{i}.md": f"# T\n\n{i}" for i in range(20)})

    async def both():
        return await asyncio.gather(learn(runtime, root), learn(runtime, root), learn(runtime, root))

    asyncio.run(both())
    assert len(runtime.texts()) == 20
    for i in range(20):
        (root / f"{i}.md").write_text("changed")
    asyncio.run(both())
    assert runtime.texts() == ["changed"] * 20


def test_an_interrupt_at_any_moment_leaves_each_file_old_or_new(runtime, folder):
    def texts(word, count):
        return "\n\n".join([f"{word} {'w' * 990}"] * count)

    root = folder({f"{i}.md": texts("old", 3) for i in range(3)})
    runtime.learn(root)
    before = dict(runtime.rows)
    folder({f"{i}.md": texts("new", 2) for i in range(2)})
    (root / "2.md").unlink()

    async def interrupted(moment):
        task = asyncio.ensure_future(learn(runtime, root))
        for _ in range(moment):
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
            return True
        return False

    seen = set()
    for moment in range(1, 1000):
        runtime.rows = dict(before)
        finished = asyncio.run(interrupted(moment))
        said = [[text[:3] for text in runtime.texts(f"{i}.md")] for i in range(3)]
        assert all(one in (["old"] * 3, ["new"] * 2) for one in said[:2])
        assert said[2] in (["old"] * 3, [])
        seen.add(str(said))
        if finished:
            break
    assert len(seen) == 4  # nothing done, each of the three files after the other


def test_two_versions_of_a_file_are_put_right_by_the_next_run(runtime, folder):
    root = folder({"a.md": "old"})
    runtime.learn(root)
    old = dict(runtime.rows)
    (root / "a.md").write_text("new")
    runtime.learn(root)
    runtime.rows.update(old)  # as a run at the same time leaves it that read the file before
    runtime.embedded.clear()
    assert outcomes(runtime.learn(root)) == {"a.md": "replaced"}
    assert (runtime.texts(), runtime.embedded) == (["new"], [])
    assert outcomes(runtime.learn(root)) == {"a.md": "unchanged"}


def test_a_store_that_fails_half_way_leaves_the_other_files_learned(runtime, folder):
    root = folder({f"{i}.md": f"text {i}" for i in range(5)})

    def fail(memories):
        if memories[0].content.text == "text 3":
            raise OSError("disk full")

    runtime.before_create = fail
    with pytest.raises(OSError, match="disk full"):
        runtime.learn(root)
    assert runtime.sources() == ["0.md", "1.md", "2.md"]
    runtime.before_create = lambda _: None
    assert list(outcomes(runtime.learn(root)).values()) == ["unchanged"] * 3 + ["learned"] * 2


def test_no_number_of_bytes_is_too_many_to_allow(runtime, folder):
    assert outcomes(runtime.learn(folder({"a.md": "one"}), max_bytes=10**30)) == {"a.md": "learned"}


def test_a_row_somebody_deleted_comes_back(runtime, folder):
    root = folder({"a.md": "\n\n".join(["w" * 900, "x" * 900])})
    runtime.learn(root)
    runtime.rows.pop(next(iter(runtime.rows)))
    assert outcomes(runtime.learn(root)) == {"a.md": "replaced"}
    assert len(runtime.texts()) == 2


def test_a_file_that_goes_while_it_is_read_is_gone(runtime, folder):
    root = folder({"a.md": "one", "b.md": "two"})
    runtime.learn(root)
    folder({"a.md": "changed"})
    run = runtime.threads.run

    async def meanwhile(function, *args):
        if args and args[0] == root / "a.md":
            (root / "a.md").unlink(missing_ok=True)
        return await run(function, *args)

    runtime.threads.run = meanwhile
    assert outcomes(runtime.learn(root)) == {"a.md": "removed", "b.md": "unchanged"}
    folder({"a.md": "never seen"})
    learned = runtime.learn(root)
    assert (learned["a.md"].outcome, learned["a.md"].note) == ("unreadable", "No such file or directory")


def test_progress_counts_files_up_to_the_last(runtime, folder):
    root = folder({"a.md": "one", "b.md": "two", "c.md": b"\x00"})
    seen = []
    runtime.learn(root, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("path", "options", "said"),
    [
        ("doks", {}, "there is no file or folder '.*doks'; did you mean 'docs'?"),
        ("", {}, "learn needs the path"),
        (3, {}, "learn takes the path of a file or folder, not 3"),
        ("docs", {"chunk_chars": 10}, "chunk_chars is a whole number from 100 up, not 10"),
        ("docs", {"chunk_chars": True}, "chunk_chars is a whole number"),
        ("docs", {"overlap_chars": 900}, "overlap_chars is at most a quarter of chunk_chars, not 900"),
        ("docs", {"pattern": ""}, "pattern is text such as"),
        ("docs", {"progress": True}, "progress is called as"),
        ("docs/\x00", {}, "cannot be opened"),
    ],
)
def test_a_mistake_is_one_sentence(runtime, folder, tmp_path, path, options, said):
    folder({"a.md": "one"})
    place = f"{tmp_path}/{path}" if isinstance(path, str) and path else path
    with pytest.raises(DefinitionError, match=said) as raised:
        runtime.learn(place, **options)
    assert "\n" not in str(raised.value)
    assert runtime.rows == {}
