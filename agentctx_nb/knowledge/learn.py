"""Learning a folder: read, cut, embedded and stored file by file, so that each is either old or new.

A table then holds what the files say now: unchanged files are skipped, changed ones replaced, gone ones
removed, and one that cannot be read is reported and stays as it was.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentctx_nb.errors import DefinitionError, DefinitionTypeError, MissingExtraError, did_you_mean
from agentctx_nb.knowledge.blocks import UnreadableError
from agentctx_nb.knowledge.chunks import split
from agentctx_nb.knowledge.files import (
    Found,
    NothingThereError,
    find,
    is_gone,
    matches,
    resolve,
    storable,
)
from agentctx_nb.knowledge.learned import Learned, LearnedFile
from agentctx_nb.knowledge.readers import parses_in_place, read
from agentctx_nb.knowledge.rows import Known, Version, as_memories, key_of, known_files, roots_of
from agentctx_nb.names import counted, shown
from agentctx_nb.running.clean_up import look_at

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from agentctx_nb.knowledge.chunks import Chunk
    from agentctx_nb.model import Memory

__all__ = ["CHUNK_CHARS", "OVERLAP_CHARS", "learn"]

CHUNK_CHARS = 1000  # about 250 tokens: what small embedding models read at once
OVERLAP_CHARS = 100
MAX_BYTES = 200_000_000
BATCH = 256  # texts embedded in one call, of one file or of several
READING = "1"  # changes when the readers or the cutting do, so that files are learned anew


async def learn(
    runtime: Any,
    path: str | os.PathLike[str],
    *,
    table_name: str = "documents",
    room_id: str | None = None,
    pattern: str | None = None,
    progress: Callable[[int, int], object] | None = None,
    chunk_chars: int = CHUNK_CHARS,
    overlap_chars: int = OVERLAP_CHARS,
    max_bytes: int = MAX_BYTES,
    outputs: bool = False,
) -> Learned:
    """Keep a table up to date with a file, or with all files of a folder that can be read.

    Parameters
    ----------
    runtime
        An `AgentRuntime`; its embedder makes the vectors, its store keeps the rows.
    table_name, room_id
        Where the chunks go; the room is the agent's own by default.
    pattern
        Which files, as ``*.md`` or ``guide/**/*.txt``, of any kind; by default those of the kinds there is
        a reader for.
    progress
        ``progress(done, total)`` is called as files are done.
    chunk_chars, overlap_chars
        The longest chunk, and what the parts of a paragraph that had to be cut share, in characters.
    max_bytes
        Larger files are reported as unreadable.
    outputs
        Whether the text outputs of notebooks are read too.

    Raises
    ------
    DefinitionError
        Nothing is at ``path``, an option cannot be read, or the table belongs to another embedder.
    """
    _check(chunk_chars, overlap_chars, max_bytes, progress, pattern)
    room = runtime.agent_id if room_id is None else room_id
    run = runtime.threads.run
    nothing: NothingThereError | None = None
    try:
        real = await run(resolve, path)
        found: Found = await run(lambda: find(real, pattern=pattern))
    except NothingThereError as error:
        nothing, real, found = error, error.place, Found(error.place)
    await _check_embedder(runtime, table_name)
    rows = await runtime.get_memories(table_name=table_name, room_id=room)
    work = _Work(
        runtime=runtime,
        table_name=table_name,
        room_id=room,
        root=storable(found.root.as_posix()),
        chunking=f"{READING}/{chunk_chars}/{overlap_chars}/{'outputs' if outputs else 'sources'}",
        known=known_files(rows),
        progress=progress or _silent,
        total=len(found.files),
    )
    for source, reason in found.refused.items():
        work.report(source, 0, "unreadable", reason)
    for source, place in found.files.items():
        await work.take(source, place, chunk_chars, overlap_chars, max_bytes, outputs=outputs)
    await work.store_batch()
    if nothing is not None or real.is_dir():
        await work.remove_gone(found, pattern)
    if nothing is not None:
        await work.remove(storable(real.as_posix()), real.name)
        if not work.files:
            raise DefinitionError(str(nothing))
    files = tuple([work.files[source] for source in sorted(work.files)])
    left_out = [_left_out(found, pattern), await run(_left_behind, rows, real)]
    return Learned(files, table_name, room, "; ".join(filter(None, left_out)), runtime.mask)


@dataclass(frozen=True, slots=True)
class _New:
    """A file that is to be stored."""

    source: str
    version: Version
    chunks: list[Chunk]
    note: str


class _Work:
    """One run: the files dealt with so far, and those read and waiting to be embedded together."""

    def __init__(
        self,
        *,
        runtime: Any,
        table_name: str,
        room_id: str,
        root: str,
        chunking: str,
        known: dict[str, Known],
        progress: Callable[[int, int], object],
        total: int,
    ) -> None:
        self.files: dict[str, LearnedFile] = {}
        self.known = known
        self._runtime = runtime
        self._table_name = table_name
        self._room_id = room_id
        self._root = root
        self._chunking = chunking
        self._progress = progress
        self._total = total
        self._batch: list[_New] = []

    def report(self, source: str, chunks: int, outcome: str, note: str = "") -> None:
        """Note what became of a file."""
        self.files[source] = LearnedFile(source, chunks, outcome, note)
        self._progress(min(len(self.files), self._total), self._total)

    async def take(
        self,
        source: str,
        place: Path,
        chunk_chars: int,
        overlap_chars: int,
        max_bytes: int,
        *,
        outputs: bool,
    ) -> None:
        """Read a file and decide what becomes of it; one to be stored waits in the batch."""
        known = self.known.get(key_of(self._root, source), Known())
        run = self._runtime.threads.run
        try:
            data, digest = await run(_bytes, place, max_bytes)
            version = Version(digest, self._chunking)
            if known.is_whole(version):
                await self._keep(source, known, version)
                return

            def cut() -> tuple[list[Chunk], str]:
                document = read(place.name, data, outputs=outputs)
                chunks = split(document.blocks, chunk_chars=chunk_chars, overlap_chars=overlap_chars)
                return chunks, document.note

            chunks, note = cut() if parses_in_place(place.name) else await run(cut)
        except (OSError, UnreadableError, MissingExtraError) as error:
            if known.rows and is_gone(place):
                return  # since it was found; `remove_gone` sees to it
            reason = str(getattr(error, "strerror", None) or error)
            left = f"; {counted(len(known.ids), 'chunk')} of before kept" if known.rows else ""
            self.report(source, len(known.ids), "unreadable", reason + left)
            return
        self._batch.append(_New(source, version, chunks, note))
        if sum(len(new.chunks) for new in self._batch) >= BATCH:
            await self.store_batch()

    async def store_batch(self) -> None:
        """Embed what waits, all together, and store it file by file."""
        batch, self._batch = self._batch, []
        texts = [chunk.text for new in batch for chunk in new.chunks]
        vectors: list[Any] = []
        for start in range(0, len(texts), BATCH):
            vectors += list(await self._runtime.embed_many(texts[start : start + BATCH]))
        at = 0
        for new in batch:
            own = vectors[at : at + len(new.chunks)]
            at += len(new.chunks)
            known = self.known.get(key_of(self._root, new.source), Known())
            await _to_the_end(self._replace(new, own, known))
            outcome = "replaced" if known.rows else "learned" if new.chunks else "empty"
            self.report(new.source, len(new.chunks), outcome, new.note)

    async def remove_gone(self, found: Found, pattern: str | None) -> None:
        """Remove the rows of files under the root that are there no more."""
        for key in sorted(self.known):
            source = key.removeprefix(key_of(self._root, ""))
            if (
                source == key
                or source in self.files
                or (pattern is not None and not matches(source, pattern))
            ):
                continue
            if await self._runtime.threads.run(is_gone, found.root / source):
                await self.remove(key, source)

    async def remove(self, key: str, source: str) -> None:
        """Remove the rows of the file that is known as ``key``, if there are any."""
        known = self.known.get(key)
        if known is not None:
            await _to_the_end(self._store([], known.ids))
            self.report(source, 0, "removed")

    async def _keep(self, source: str, known: Known, version: Version) -> None:
        """Leave a file as it is, but for rows of another version, which a run at the same time may leave."""
        kept = known.of(version)
        stale = [row for row in known.ids if row not in kept]
        if stale:
            await _to_the_end(self._store([], stale))
        self.report(source, len(kept), "replaced" if stale else "unchanged")

    async def _replace(self, new: _New, vectors: list[Any], known: Known) -> None:
        """Store the new rows in place of the old ones, in one step."""
        memories = as_memories(
            new.chunks,
            vectors,
            root=self._root,
            source=new.source,
            version=new.version,
            table_name=self._table_name,
            room_id=self._room_id,
        )
        ids = {str(memory.id) for memory in memories}
        there = known.of(new.version) & ids
        missing = [memory for memory in memories if memory.id not in there]
        old = [row for row in known.ids if row not in ids]
        try:
            await self._store(missing, old)
        except DefinitionError:
            # Another run was faster, with vectors that differ in their last bits: its rows will do.
            if not missing or await self._runtime.get_memory_by_id(missing[0].id) is None:
                raise
            await self._store([], old)

    async def _store(self, memories: list[Memory], old: list[str]) -> None:
        if memories or old:
            await self._runtime.create_memories(memories, self._table_name, replacing=old)


async def _check_embedder(runtime: Any, table_name: str) -> None:
    """Refuse a table of another embedder at once: searches would not find even its unchanged files."""
    mark = await runtime.store.embedder_mark(table_name)
    if mark is None:
        return
    from agentctx_nb.memory.checks import agreed_mark

    own = await runtime.embedder_mark()
    agreed_mark(table_name, None, mark, given_dim=own.dim, given=own)


async def _to_the_end(coroutine: Coroutine[Any, Any, None]) -> None:
    """Await ``coroutine``, and let it finish before a cancellation goes on: a file is never half changed."""
    task = asyncio.ensure_future(coroutine)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        look_at(task)  # the cancellation is what the caller hears of
        raise


def _bytes(place: Path, most: int) -> tuple[bytes, str]:
    with place.open("rb") as file:
        data = file.read() if os.fstat(file.fileno()).st_size <= most else None
    if data is None or len(data) > most:
        raise UnreadableError(f"larger than {most / 1e6:,.6g} MB; max_bytes= allows more")
    return data, hashlib.sha256(data).hexdigest()


def _check(chunk_chars: Any, overlap_chars: Any, max_bytes: Any, progress: Any, pattern: Any) -> None:
    least = {
        "chunk_chars": (chunk_chars, 100),
        "overlap_chars": (overlap_chars, 0),
        "max_bytes": (max_bytes, 1),
    }
    for name, (value, lowest) in least.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
            raise DefinitionError(f"{name} is a whole number from {lowest} up, not {shown(value)}")
    if overlap_chars > chunk_chars // 4:
        raise DefinitionError(f"overlap_chars is at most a quarter of chunk_chars, not {overlap_chars}")
    if progress is not None and not callable(progress):
        raise DefinitionTypeError(
            f"progress is called as progress(done, total); {shown(progress)} is no function"
        )
    if pattern is not None and (not isinstance(pattern, str) or not pattern.strip("/ ")):
        raise DefinitionError(f"pattern is text such as '*.md', not {shown(pattern)}")


def _left_out(found: Found, pattern: str | None) -> str:
    """Return what was passed over, as the report says it below its table."""
    said = []
    if found.others:
        kinds = sorted(found.others.items(), key=lambda kind: (-kind[1], kind[0]))
        named = [f"{count:,} {kind}" for kind, count in kinds[:8]]
        why = "files of other kinds" if pattern is None else "files the pattern does not fit"
        said.append(f"{why}: " + ", ".join([*named, *(["…"] if len(kinds) > 8 else [])]))
    if found.links:
        said.append(f"{counted(found.links, 'link')}, which are not followed")
    hint = [_hint(found, pattern)] if pattern is not None and not found.files else []
    return "; ".join([*hint, *(["left out: " + "; ".join(said)] if said else [])])


def _left_behind(rows: list[Memory], real: Path) -> str:
    """Return what rows of folders that are gone the table still holds, ``real`` not among them."""
    gone = [
        f"{counted(count, 'chunk')} of {root!r}"
        for root, count in sorted(roots_of(rows).items())
        if not Path(root).is_relative_to(real) and is_gone(Path(root))
    ]
    if not gone:
        return ""
    more = [f"{len(gone) - 3} more"] if len(gone) > 3 else []
    # What to do comes first: a table cuts a long line at its end.
    return "learn a folder that is gone to remove what is left of it: " + ", ".join(gone[:3] + more)


def _hint(found: Found, pattern: str) -> str:
    """Return what may be wrong with a pattern that no file fits."""
    said = f"no file fits pattern {shown(pattern)}"
    if near := did_you_mean(pattern, [f"*{kind}" for kind in sorted(found.others) if kind[0] == "."]):
        return said + near
    if pattern.rfind("[") > pattern.rfind("]"):
        return f"{said}, in which no ']' closes the '['"
    return f"{said}; write a name as '*.md', or folders too as 'guide/**/*.txt'"


def _silent(_done: int, _total: int) -> None:
    """Be the progress nobody asked for."""
