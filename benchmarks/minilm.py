"""One question through MiniLM in numpy beside the same model through torch, in one run.

    python benchmarks/minilm.py [--minilm FOLDER] [--rounds 200]

Both read the same weights and get the same text, a question of a few words and a text of 128 tokens. Each runs on one
thread, they take turns, and what counts is the median of their CPU times. torch runs the model through
sentence-transformers, as its users do, and also bare, without what sentence-transformers adds to a call. Without
torch, or without the model (the extra ``[minilm]``), it says so and leaves that out.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import statistics
import time
from typing import TYPE_CHECKING, Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # read once, when the libraries are loaded

import numpy as np  # noqa: E402
from goals import ROUNDS, Row, at_least_one, existing_folder, interruptible, keep, leave_out  # noqa: E402

from agentctx_nb.errors import DefinitionError, MissingExtraError  # noqa: E402
from agentctx_nb.search.minilm import MiniLMEmbedder, find_minilm  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Embed = Callable[[str], np.ndarray]

SHORT = "how do I reset my password when the account is locked"
LONG = "the value of each setting is kept until the file " * 12 + "is read once more today and"  # 128 tokens


def torch_ways(folder: Path) -> dict[str, Embed]:
    """Return how torch embeds a text: through sentence-transformers and bare; nothing where they are missing."""
    try:
        torch = importlib.import_module("torch")
        transformers = importlib.import_module("sentence_transformers")
    except ImportError as error:
        leave_out(str(error.name), "pip install torch sentence-transformers")
        return {}
    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    model: Any = transformers.SentenceTransformer(str(folder), device="cpu")

    read = model.preprocess if hasattr(model, "preprocess") else model.tokenize

    def usual(text: str) -> np.ndarray:
        found: np.ndarray = model.encode([text], show_progress_bar=False, normalize_embeddings=True)[0]
        return found

    def bare(text: str) -> np.ndarray:
        with torch.inference_mode():
            found: np.ndarray = model(read([text]))["sentence_embedding"].numpy()
        unit: np.ndarray = found[0] / np.linalg.norm(found[0])
        return unit

    return {"sentence-transformers": usual, "torch bare": bare}


def main() -> None:
    """Let them take turns and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--minilm", type=existing_folder, help="the folder with model.safetensors and vocab.txt"
    )
    parser.add_argument("--rounds", type=at_least_one, default=200, help=ROUNDS)
    options = parser.parse_args()
    try:
        folder = options.minilm or find_minilm()
        embedder = MiniLMEmbedder(folder)
    except MissingExtraError as error:
        leave_out("all-MiniLM-L6-v2", str(error))
        keep("minilm", [])
        return
    except DefinitionError as error:
        parser.error(str(error))
    ways: dict[str, Embed] = {"ours": lambda text: embedder.embed([text], "query")[0], **torch_ways(folder)}
    print("| text | " + " | ".join(f"{name}, ms" for name in ways) + " | torch / ours |")
    print("|---|" + "---|" * (len(ways) + 1))
    random = np.random.default_rng(0)
    rows: list[Row] = []
    for name, text in (("a question", SHORT), ("128 tokens", LONG)):
        spent: dict[str, list[float]] = {way: [] for way in ways}
        vectors = {way: embed(text) for way, embed in ways.items()}
        for _ in range(options.rounds):
            for way in random.permutation(list(ways)).tolist():
                start = time.process_time()
                ways[way](text)
                spent[way].append(time.process_time() - start)
        medians = {way: 1000 * statistics.median(times) for way, times in spent.items()}
        ratios = [f"{medians[way] / medians['ours']:.2f}" for way in ways if way != "ours"]
        cells = [f"{medians[way]:.2f}" for way in ways]
        print(f"| {name} | {' | '.join(cells)} | {', '.join(ratios) or '-'} |")
        rows += [
            Row(
                f"{name} through all-MiniLM-L6-v2 in numpy, CPU",
                f"{medians['ours']:.2f} ms",
                f"{way} {time_of:.2f} ms",
                medians["ours"] / time_of,
                "×",
                1.0 if text is SHORT else None,
            )
            for way, time_of in medians.items()
            if way != "ours"
        ]
        for way, vector in vectors.items():
            assert np.abs(vector - vectors["ours"]).max() < 1e-5, f"{way} gives another vector"
    keep("minilm", rows)


if __name__ == "__main__":
    interruptible(main)
