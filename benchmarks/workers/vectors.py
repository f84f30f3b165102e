"""The vectors the benchmark of search works on: of real sentences where that can be had, made ones otherwise."""

from __future__ import annotations

import ast
import importlib
import logging
import re
import sysconfig
import warnings
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from goals import leave_out

if TYPE_CHECKING:
    from collections.abc import Iterator

DIM = 256
QUERIES = 64
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n")


def peer(name: str) -> Any:
    """Return a module, or None after saying that it is not there."""
    try:
        return importlib.import_module(name)
    except ImportError:
        leave_out(name, f"pip install {name.replace('faiss', 'faiss-cpu')}")
        return None


def texts() -> Iterator[str]:
    """Yield the texts to cut sentences from: docstrings, then documentation."""
    for folder in (
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("purelib"),
        "/usr/lib/python3/dist-packages",
    ):
        for path in sorted(Path(folder).rglob("*.py")):
            try:
                warnings.simplefilter("ignore")  # of source that is not ours
                tree = ast.parse(path.read_text(encoding="utf-8"))
            except (SyntaxError, ValueError, OSError, RecursionError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    yield ast.get_docstring(node) or ""
    for path in sorted(Path("/usr/share/doc").rglob("*")):
        if path.suffix in {".txt", ".md", ".rst", ".html"} and path.is_file():
            text = path.read_text(encoding="utf-8", errors="ignore")
            yield re.sub(r"<[^>]+>", " ", text) if path.suffix == ".html" else text


def sentences() -> Iterator[str]:
    """Yield different sentences of 25 to 400 characters that are mostly words."""
    seen = set()
    for text in texts():
        for raw in SENTENCE.split(text):
            sentence = " ".join(raw.split())
            if not 25 <= len(sentence) <= 400 or sentence.lower() in seen:
                continue
            if sum(character.isalpha() or character == " " for character in sentence) > 0.75 * len(sentence):
                seen.add(sentence.lower())
                yield sentence


def real_vectors(count: int) -> np.ndarray | None:
    """Return vectors of ``count`` sentences in random order, or None where that cannot be had."""
    wordllama = peer("wordllama")
    if wordllama is None:
        return None
    logging.getLogger().setLevel(logging.WARNING)  # it turns everybody's messages on
    found = list(islice(sentences(), 2 * count))
    if len(found) < count:
        print(f"only {len(found):,} sentences on this machine, {count:,} needed: synthetic vectors instead")
        return None
    order = np.random.default_rng(0).permutation(len(found))[:count]
    folder = Path(
        wordllama.__file__
    ).parent  # its own loader looks for the tokenizer elsewhere, then on the network
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    rows = np.empty((count, DIM), np.float32)
    for start in range(0, count, 10_000):
        batch = [found[at] for at in order[start : start + 10_000].tolist()]
        rows[start : start + len(batch)] = model.embed(batch, norm=False)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return rows


def made_vectors(count: int) -> np.ndarray:
    """Return ``count`` unit vectors in clusters, the last few near others, as asked-for texts are."""
    random = np.random.default_rng(0)
    spectrum = (np.arange(1, DIM + 1) ** -0.35).astype(np.float32)
    centres = random.standard_normal((400, DIM), dtype=np.float32) * spectrum
    mean = random.standard_normal(DIM, dtype=np.float32) * spectrum * 0.35
    share = 1 / np.arange(1, 401)
    rows = random.standard_normal((count, DIM), dtype=np.float32) * spectrum * 0.72 + mean
    rows += 0.62 * centres[random.choice(400, count, p=share / share.sum())]
    near = count - QUERIES // 2
    rows[near:] = rows[random.integers(0, near - QUERIES, count - near)] + 0.35 * rows[near:]
    rows = (rows @ np.linalg.qr(random.standard_normal((DIM, DIM)))[0]).astype(np.float32)
    unit: np.ndarray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
