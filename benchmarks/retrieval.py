"""Recall@3 of each embedder alone and mixed with BM25, on four sets of real questions and texts.

    python benchmarks/retrieval.py [--sources FOLDER] [--cranfield FOLDER] [--minilm FOLDER] [--save FOLDER]

faq        306 questions of the Python, Git and Debian FAQs -> their answers (from Debian's packages of them)
docstr     the first sentence of a docstring -> the rest of it (the standard library of the running Python)
deb        short -> long descriptions of Debian packages: 1,000 questions to 5,000 texts
cranfield  222 questions of the Cranfield collection -> 1,400 abstracts, human judgements; it cannot be
           installed, so it is read from a folder with cran.all.1400, cran.qry and cranqrel where one is given

Sources from Debian are downloaded by apt-get into --sources (kept) or a temporary folder (not kept), saying so. A folder
to read from must be there: one that is misspelt would otherwise be filled anew. A set whose source is not to be had is
named and left out.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from goals import Row, existing_folder, interruptible, keep, leave_out

from agentctx_nb.errors import DefinitionError, MissingExtraError
from agentctx_nb.search.bm25 import Bm25, mixed
from agentctx_nb.search.embedder import default_embedder
from agentctx_nb.search.minilm import MiniLMEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from agentctx_nb.search.embedder import Embedder

    Scores = NDArray[np.floating[Any]]

# What recall@3 must be: of the vectors alone, and where words count too, which must not be below BM25 either.
GOALS = {"faq": (0.63, 0.76), "docstr": (0.38, 0.53), "deb": (0.72, 0.90), "cranfield": (0.25, 0.35)}
OPTIONS = {
    "sources": "an existing folder where the sources from Debian are kept for the next run (default: nowhere)",
    "cranfield": "where cran.all.1400, cran.qry and cranqrel are",
    "minilm": "where model.safetensors and vocab.txt are (default: without that embedder)",
    "save": "where each set is written as JSON (default: nowhere)",
}
DEBIAN_PACKAGES = ("python3.11-doc", "git-doc", "debian-faq")
NOT_PUBLIC = {"__pycache__", "idle_test", "lib2to3", "site-packages", "test", "tests"}


class NotToBeHadError(Exception):
    """The source of a set is not on this machine and cannot be fetched; the message says what is missing."""


@dataclass(frozen=True)
class RetrievalSet:
    """Texts, questions, and for each question the numbers of the texts that answer it."""

    docs: list[str]
    queries: list[str]
    qrels: list[list[int]]


def one_to_one(pairs: Iterator[tuple[str, str]]) -> RetrievalSet:
    """Return the set whose n-th question is answered by the n-th text alone."""
    queries, docs = zip(*pairs, strict=True)
    return RetrievalSet(list(docs), list(queries), [[number] for number in range(len(docs))])


def one_line(text: str) -> str:
    """Return ``text`` with every run of blanks and line ends as one blank."""
    return re.sub(r"\s+", " ", text).strip()


# --- the sources ---------------------------------------------------------------------------------------------


def fetch_debian(folder: Path) -> None:
    """Put Debian's package descriptions and the unpacked FAQ packages into ``folder``, once."""
    if (folder / "complete").exists():
        return
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise NotToBeHadError("needs apt-get and dpkg (Debian or a relative of it)")
    print(f"downloading Debian's package lists, {', '.join(DEBIAN_PACKAGES)} into {folder}", file=sys.stderr)
    lists = folder / "lists"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    own = ["-qq", "-o", f"Dir::State::lists={lists}", "-o", "Acquire::Languages=en"]
    try:
        subprocess.run(["apt-get", "update", *own], check=True, capture_output=True, timeout=300)
        subprocess.run(
            ["apt-get", "download", *own, *DEBIAN_PACKAGES],
            cwd=folder, check=True, capture_output=True, timeout=300,
        )  # fmt: skip
        for package in sorted(folder.glob("*.deb")):
            subprocess.run(["dpkg", "-x", package, folder / "unpacked"], check=True, timeout=120)
    except (subprocess.SubprocessError, OSError) as error:
        raise NotToBeHadError(f"apt-get could not fetch it: {error}") from error
    (folder / "complete").touch()


def plain(text: str) -> str:
    """Return reStructuredText without roles, links and directives."""
    text = re.sub(r":\w+(?::\w+)?:`~?([^`<]+)(?:<[^>]*>)?`", r"\1", text)
    text = re.sub(r"`([^`<]+)\s*<[^>]*>`_+", r"\1", text)
    text = re.sub(r"``([^`]+)``", r"\1", text)
    return one_line(re.sub(r"^\.\. .*$", "", text, flags=re.MULTILINE))


def faq(folder: Path) -> RetrievalSet:
    """Return question -> answer of three FAQs; the question is not in the text."""
    fetch_debian(folder)
    return one_to_one(_faq_pairs(folder / "unpacked/usr/share/doc"))


def _faq_pairs(place: Path) -> Iterator[tuple[str, str]]:
    for source in sorted((place / "python3.11/html/_sources/faq").iterdir()):
        parts = re.split(r"\n([^\n]+\?)\n-{4,}\n", source.read_text(encoding="utf-8"))
        for question, rest in zip(parts[1::2], parts[2::2], strict=True):
            answer = plain(re.split(r"\n[^\n]+\n={4,}\n", rest)[0])
            if len(answer) > 40:
                yield plain(question), answer
    text = (place / "git-doc/gitfaq.txt").read_text(encoding="utf-8")
    parts = re.split(r"\n\[\[[^\]]+\]\]\n([^\n]+(?:\n[^\n]+)?\?)::\n", text)
    for question, rest in zip(parts[1::2], parts[2::2], strict=True):
        answer = one_line(re.split(r"\n[^\n]+\n-{4,}\n", rest)[0].replace("+\n", "\n"))
        if len(answer) > 40:
            yield one_line(question), answer
    with gzip.open(place / "debian/FAQ/debian-faq.en.txt.gz", "rt", encoding="utf-8") as file:
        text = file.read().replace("\xa0", " ").replace("\r", "")
    parts = re.split(r"\n\n(\d+\.\d+\.(?:\d+\.)? [^\n]+(?:\n[^\s\n][^\n]*){0,4})\n\n(?=    )", text)
    seen = set()
    for heading, rest in zip(parts[1::2], parts[2::2], strict=True):
        question = one_line(re.sub(r"^[\d.]+ ", "", heading))
        answer = one_line(re.split(r"\n\n(?=Chapter \d+\.)", rest)[0])
        if len(answer) > 80 and "?" in question and question not in seen:
            seen.add(question)
            yield question, answer


def docstr() -> RetrievalSet:
    """Return first sentence -> rest of the standard library's docstrings."""
    return one_to_one(_docstring_pairs(Path(sysconfig.get_paths()["stdlib"])))


def _docstring_pairs(library: Path) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for path in sorted(library.rglob("*.py")):
        if NOT_PUBLIC.intersection(path.relative_to(library).parts[:-1]):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
                continue
            first, gap, rest = (ast.get_docstring(node) or "").partition("\n\n")
            query, text = one_line(first), one_line(rest)
            if not gap or not 20 <= len(query) <= 200 or len(text) < 120:
                continue
            text = text[:2000]
            if query.lower() not in seen and text not in seen:
                seen |= {query.lower(), text}
                yield query, text


def deb(folder: Path) -> RetrievalSet:
    """Return short -> long description of packages; four texts in five answer no question."""
    fetch_debian(folder)
    lists = sorted((folder / "lists").glob("*_main_i18n_Translation-en*"))
    main = [path for path in lists if "security" not in path.name and "updates" not in path.name]
    if not main:
        raise NotToBeHadError("apt-get brought no package descriptions in English")
    helper = ["/usr/lib/apt/apt-helper", "cat-file", str(main[0])]
    text = subprocess.run(helper, check=True, capture_output=True, timeout=120).stdout.decode()
    rows = []
    for paragraph in text.split("\n\n"):
        found = re.search(r"^Description-en: ([^\n]*)\n((?: [^\n]*\n?)*)", paragraph, flags=re.MULTILINE)
        if found and re.search(r"^Package: (\S+)", paragraph, flags=re.MULTILINE):
            short, long = found[1].strip(), one_line(re.sub(r"\n ?\.?", " ", found[2]))
            if len(short) >= 25 and len(long) >= 200:
                rows.append((short, long[:2000]))
    random.Random(0).shuffle(rows)
    seen: set[str] = set()
    kept = []
    for short, long in rows:
        if short not in seen and long[:120] not in seen:
            seen |= {short, long[:120]}
            kept.append((short, long))
    kept = kept[:5000]
    return RetrievalSet(
        [long for _, long in kept],
        [short for short, _ in kept[:1000]],
        [[n] for n in range(len(kept[:1000]))],
    )


def cranfield(folder: Path | None) -> RetrievalSet:
    """Return the Cranfield collection: questions on aerodynamics, abstracts, and who judged what relevant."""
    if folder is None or not (folder / "cranqrel").is_file():
        raise NotToBeHadError("give --cranfield FOLDER with cran.all.1400, cran.qry and cranqrel")
    text = (folder / "cran.all.1400").read_text(encoding="latin-1")
    docs = []
    for part in re.split(r"^\.I \d+\s*$", text, flags=re.MULTILINE)[1:]:
        title = re.search(r"^\.T\n(.*?)^\.A", part, flags=re.MULTILINE | re.DOTALL)
        body = re.search(r"^\.W\n(.*)", part, flags=re.MULTILINE | re.DOTALL)
        docs.append(one_line(f"{title[1] if title else ''} {body[1] if body else ''}"))
    text = (folder / "cran.qry").read_text(encoding="latin-1")
    parts = re.split(r"^\.I \d+\s*$", text, flags=re.MULTILINE)[1:]
    queries = [one_line(part.split(".W", 1)[1]) for part in parts]
    relevant: list[list[int]] = [[] for _ in queries]
    for line in (folder / "cranqrel").read_text(encoding="latin-1").splitlines():
        fields = line.split()  # question, abstract, grade: 1 the best, 4 and 5 hardly relevant or not
        if len(fields) >= 3 and int(fields[2]) in {1, 2, 3}:
            relevant[int(fields[0]) - 1].append(int(fields[1]) - 1)
    judged = [number for number, found in enumerate(relevant) if found]
    return RetrievalSet(docs, [queries[n] for n in judged], [relevant[n] for n in judged])


# --- what is measured ----------------------------------------------------------------------------------------


def recall_at_3(scores: Scores, qrels: list[list[int]]) -> float:
    """Return the mean share of what is relevant among the best three of each row."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, :3]
    return float(
        np.mean([len({*row} & {*right}) / min(3, len(right)) for row, right in zip(best, qrels, strict=True)])
    )


def bm25_scores(found: RetrievalSet) -> Scores:
    """Return BM25's score of every text for every question."""
    index = Bm25()
    for row, text in enumerate(found.docs):
        index.add(row, text)
    rows = np.arange(len(found.docs))
    return np.stack([index.scores(query, rows) for query in found.queries])


def measure(found: RetrievalSet, lexical: Scores, embedder: Embedder) -> tuple[float, float, float]:
    """Return recall@3 alone and mixed, and the share of right answers at least default_threshold similar."""
    cosines = embedder.embed(found.queries, "query") @ embedder.embed(found.docs, "document").T
    both = np.stack([mixed(row, other) for row, other in zip(cosines, lexical, strict=True)])
    best = [max(row[right]) for row, right in zip(cosines, found.qrels, strict=True)]
    kept = float(np.mean(np.array(best) >= embedder.default_threshold))
    return recall_at_3(cosines, found.qrels), recall_at_3(both, found.qrels), kept


def unrelated(found: RetrievalSet, embedder: Embedder) -> float:
    """Return the 99th percentile of the cosine of a question and a text drawn at random."""
    draw = np.random.default_rng(0)
    chosen = draw.integers(0, len(found.docs), 2000)
    queries = embedder.embed(found.queries, "query")[draw.integers(0, len(found.queries), 2000)]
    docs = embedder.embed([found.docs[number] for number in chosen], "document")
    return float(np.percentile((queries * docs).sum(1), 99))


def milliseconds(embedder: Embedder) -> float:
    """Return the median CPU time of embedding one question, in ms."""
    spent = []
    for number in range(60):
        start = time.process_time()
        embedder.embed([f"how do I reset password {number} when the account is locked"], "query")
        spent.append(time.process_time() - start)
    return float(np.median(spent)) * 1000


def goal_rows(name: str, alone: float, both: float, bm25: float) -> list[Row]:
    """Return the rows of the built-in embedder on one set: its vectors alone, and mixed with words."""
    least, least_mixed = GOALS[name]
    what = f"recall@3 of the built-in embedder on {name}"
    return [
        Row(f"{what}, vectors alone", f"{alone:.3f}", "", alone, "", least, at_least=True),
        Row(
            f"{what}, words counted too",
            f"{both:.3f}",
            f"BM25 {bm25:.3f}",
            both,
            "",
            max(least_mixed, bm25),
            at_least=True,
        ),
    ]


def main() -> None:
    """Build what sets there are and print one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for option, text in OPTIONS.items():
        kind = Path if option == "save" else existing_folder
        parser.add_argument(f"--{option}", type=kind, metavar="FOLDER", help=text)
    options = parser.parse_args()
    embedders: list[Embedder] = [default_embedder()]
    try:
        embedders.append(MiniLMEmbedder(options.minilm))
    except MissingExtraError as error:
        leave_out("all-MiniLM-L6-v2", str(error))
    except DefinitionError as error:
        parser.error(str(error))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.sources or Path(scratch)
        makers: dict[str, Callable[[], RetrievalSet]] = {
            "faq": lambda: faq(folder),
            "docstr": docstr,
            "deb": lambda: deb(folder),
            "cranfield": lambda: cranfield(options.cranfield),
        }
        print(f"{'set':10} {'embedder':22} {'alone':>6} {'mixed':>6} {'BM25':>6} {'p99':>5} {'kept':>5}")
        for name, make in makers.items():
            try:
                found = make()
            except NotToBeHadError as error:
                leave_out(name, str(error))
                continue
            if options.save:
                options.save.mkdir(parents=True, exist_ok=True)
                (options.save / f"{name}.json").write_text(json.dumps(asdict(found)), encoding="utf-8")
            lexical = bm25_scores(found)
            bm25 = recall_at_3(lexical, found.qrels)
            for embedder in embedders:
                alone, both, kept = measure(found, lexical, embedder)
                print(
                    f"{name:10} {embedder.name:22} {alone:6.3f} {both:6.3f} {bm25:6.3f} "
                    f"{unrelated(found, embedder):5.2f} {kept:5.0%}",
                    flush=True,
                )
                if embedder is embedders[0]:
                    rows += goal_rows(name, alone, both, bm25)
    keep("retrieval", rows)
    print("recall@3; p99: 99th percentile of random pairs; kept: right answers that reach default_threshold")
    for embedder in embedders:
        print(
            f"{embedder.name}: {milliseconds(embedder):.3f} ms a question, threshold {embedder.default_threshold}"
        )
    print(f"Python {sys.version.split()[0]}, numpy {np.__version__}")


if __name__ == "__main__":
    interruptible(main)
