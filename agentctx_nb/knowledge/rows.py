"""The rows of a table that `learn` has written: which version of which file they are a part of."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentctx_nb.model import Content, Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentctx_nb.knowledge.chunks import Chunk

__all__ = ["Known", "Version", "as_memories", "key_of", "known_files", "roots_of"]

_NAMESPACE = uuid.UUID("5d0f6b0e-6d8a-5a53-9d3c-0c8f5f9a7c11")


@dataclass(frozen=True, slots=True)
class Version:
    """What decides whether a file is as it was: its bytes, and how they are cut."""

    digest: str
    chunking: str


@dataclass(slots=True)
class Known:
    """The rows of one file: ids by part for each version, and how many parts there should be."""

    rows: dict[Version, dict[int, str]] = field(default_factory=dict)
    parts: dict[Version, int] = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        """The ids of all rows, the order of their parts kept."""
        return [by_part[part] for by_part in self.rows.values() for part in sorted(by_part)]

    def of(self, version: Version) -> set[str]:
        """Return the ids of one version."""
        return set(self.rows.get(version, {}).values())

    def is_whole(self, version: Version) -> bool:
        """Whether every part of a version is there."""
        return version in self.rows and set(self.rows[version]) == set(range(1, self.parts[version] + 1))


def key_of(root: str, source: str) -> str:
    """Return what names a file whatever folder it was learned from: its whole path."""
    return f"{root.rstrip('/')}/{source}"


def known_files(memories: Iterable[Memory]) -> dict[str, Known]:
    """Return by `key_of` what was learned before; rows that came otherwise are passed over."""
    found: dict[str, Known] = {}
    for memory in memories:
        said = memory.metadata
        texts = [said.get(name) for name in ("root", "source", "digest", "chunking")]
        numbers = [said.get(name) for name in ("part", "parts")]
        if not all(isinstance(text, str) for text in texts) or not all(isinstance(n, int) for n in numbers):
            continue
        root, source, digest, chunking = [str(text) for text in texts]
        part, parts = [int(number or 0) for number in numbers]
        known = found.setdefault(key_of(root, source), Known())
        version = Version(digest, chunking)
        known.rows.setdefault(version, {})[part] = str(memory.id)
        known.parts[version] = parts
    return found


def roots_of(memories: Iterable[Memory]) -> Counter[str]:
    """Return the folders that rows were learned from, and of how many rows each."""
    roots = [memory.metadata.get("root") for memory in memories]
    return Counter([root for root in roots if isinstance(root, str)])


def as_memories(
    chunks: Sequence[Chunk],
    vectors: Sequence[Any],
    *,
    root: str,
    source: str,
    version: Version,
    table_name: str,
    room_id: str,
) -> list[Memory]:
    """Return the rows of one file.

    Their ids follow from what they are, so that two runs at once write the same rows and not twice as many.
    """
    memories = []
    about = {"source": source, "root": root, "digest": version.digest, "chunking": version.chunking}
    for part, (chunk, vector) in enumerate(zip(chunks, vectors, strict=True), 1):
        named = (
            table_name,
            room_id,
            key_of(root, source),
            version.digest,
            version.chunking,
            str(part),
        )
        metadata: dict[str, Any] = {
            **about,
            "headings": list(chunk.headings),
            "line": chunk.line,
            "part": part,
            "parts": len(chunks),
        }
        places = {"page": chunk.page, "cell": chunk.cell}
        metadata |= {name: place for name, place in places.items() if place is not None}
        memories.append(
            Memory(
                Content(chunk.text, source=source),
                room_id=room_id,
                id=str(uuid.uuid5(_NAMESPACE, "\x1f".join(named))),
                embedding=vector,
                metadata=metadata,
            )
        )
    return memories
