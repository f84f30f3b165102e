"""Texts to learn the static table from: docstrings, service descriptions, read-mes and WordNet's glosses.

`pairs` walks folders of installed packages and yields (short, long): what a person might ask with, and the text
that answers. `LeftOut` recognises what belongs to an evaluation set, exactly or nearly.
"""

from __future__ import annotations

import ast
import gzip
import html
import json
import re
from email.parser import HeaderParser
from typing import TYPE_CHECKING, Any

from agentctx_nb.search.tokenizer import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    Pair = tuple[str, str]

__all__ = ["LeftOut", "pairs", "permissive", "wordnet_pairs"]

LARGEST_FILE = 4_000_000  # bytes
LONGEST_TEXT = 1200  # characters
# A choice between licences counts as the freer one.
PERMISSIVE = re.compile(r"Apache|BSD|MIT|ISC|Public Domain")
NOT_PERMISSIVE = re.compile(r"GPL|General Public|MPL|Mozilla|EPL|CC-BY|Proprietary", re.IGNORECASE)
SHINGLE = 8  # words in a row


class LeftOut:
    """The evaluation texts: anything equal to one of them or sharing 8 words in a row with one is left out."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._shingles: set[int] = set()
        self._whole: set[str] = set()
        for text in texts:
            found = words(text)
            self._whole.add(" ".join(found))
            self._shingles.update(self._hashes(found))

    def __contains__(self, text: str) -> bool:
        found = words(text)
        return " ".join(found) in self._whole or any(value in self._shingles for value in self._hashes(found))

    @staticmethod
    def _hashes(found: list[str]) -> Iterator[int]:
        return (hash(" ".join(found[n : n + SHINGLE])) for n in range(len(found) - SHINGLE + 1))


def permissive(folder: Path) -> bool:
    """Return whether every package in ``folder`` lets its text be used for anything."""
    found = []
    for path in folder.glob("*.dist-info/METADATA"):
        message = HeaderParser().parsestr(path.read_text(encoding="utf-8", errors="ignore"))
        classes = [line for line in message.get_all("Classifier", []) if line.startswith("License")]
        said = (
            message.get("License-Expression") or " / ".join(classes) or str(message.get("License", ""))[:60]
        )
        found.append(bool(PERMISSIVE.search(said)) or not NOT_PERMISSIVE.search(said))
    return bool(found) and all(found)


def pairs(folder: Path) -> Iterator[Pair]:
    """Yield the pairs of one folder of installed packages, file by file in the order of their names."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_symlink() or path.stat().st_size > LARGEST_FILE:
            continue
        if path.suffix == ".py" and "tests" not in path.parts:
            yield from _docstrings(path)
        elif path.name.endswith("service-2.json.gz"):
            yield from _service(path)
        elif path.name == "METADATA":
            yield from _read_me(path)
        elif path.suffix in {".rst", ".md", ".txt"} and "dist-info" not in str(path.parent):
            yield from _sections(path.read_text(encoding="utf-8", errors="ignore"))


def _clean(text: str) -> str:
    text = re.sub(r"(?m)^\s*(>>>|\.\.\.) .*$", " ", text)
    text = re.sub(r"```.*?```", " ", text, flags=re.DOTALL)
    text = re.sub(r":\w+(?::\w+)?:`~?([^`<]+)(?:<[^>]*>)?`", r"\1", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"https?://\S+", " ", html.unescape(re.sub(r"<[^>]{1,200}>", " ", text)))
    text = re.sub(r"(?m)^\s*[-=~^*#]{3,}\s*$|^\.\. .*$|[`*|]", " ", text)
    return re.sub(r"\s+", " ", text).strip()


def _prose(text: str) -> bool:
    """Return whether this is made of words, rather than of code, tables or numbers."""
    return sum(c.isalpha() or c == " " for c in text) > 0.8 * len(text)


def _pair(short: str, long: str) -> Iterator[Pair]:
    short, long = _clean(short)[:300], _clean(long)[:LONGEST_TEXT]
    if len(short) >= 12 and len(long) >= 40 and _prose(short) and _prose(long):
        yield short, long


def _docstrings(path: Path) -> Iterator[Pair]:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8", errors="ignore"))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            text = ast.get_docstring(node) or ""
            first, _, rest = text.partition("\n\n")
            rest = re.split(r"\n\s*(?:Parameters|Returns|Examples?|References)\s*\n\s*-+", rest)[0]
            if len(rest) >= 60:
                yield from _pair(first, rest)
            else:
                name = (
                    re.sub(r"([a-z])([A-Z])", r"\1 \2", getattr(node, "name", "")).replace("_", " ").strip()
                )
                yield from _pair(name, first)


def _service(path: Path) -> Iterator[Pair]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        model: dict[str, Any] = json.load(file)
    title = model["metadata"].get("serviceFullName", "")
    yield from _pair(title, model.get("documentation", ""))
    for name, operation in model["operations"].items():
        text = _clean(operation.get("documentation", ""))
        spoken = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
        first, _, rest = text.partition(". ")
        if len(rest) < 60:
            yield from _pair(f"{spoken} in {title}", text)
        else:
            yield from _pair(first, rest)


def _read_me(path: Path) -> Iterator[Pair]:
    message = HeaderParser().parsestr(path.read_text(encoding="utf-8", errors="ignore"))
    body = str(message.get_payload())
    yield from _pair(str(message.get("Summary", "")), body[:3000])
    yield from _sections(body)


def _sections(text: str) -> Iterator[Pair]:
    parts = re.split(r"(?m)^(?:#+ +(.+)|(.{4,90})\n[-=~^]{4,})\s*$", text)
    for heading, underlined, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        yield from _pair(heading or underlined, body)
    for paragraph in re.split(r"\n\s*\n", text):
        first, stop, rest = paragraph.strip().partition(". ")
        if stop and len(first) > 30 and len(rest) > 80:
            yield from _pair(first, rest)


def wordnet_pairs(folder: Path) -> Iterator[Pair]:
    """Yield words -> gloss for each entry of WordNet's data files (``wordnet-base`` of Debian unpacks them)."""
    for path in sorted(folder.glob("data.*")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("  ") or " | " not in line:
                continue
            head, _, gloss = line.partition(" | ")
            fields = head.split()
            names = [fields[4 + 2 * n].split("(")[0].replace("_", " ") for n in range(int(fields[3], 16))]
            yield ", ".join(names), _clean(gloss.replace('"', " "))[:LONGEST_TEXT]
