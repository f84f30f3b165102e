"""What tests of the vector index share: small sizes, rows, and the order float64 gives them."""

from __future__ import annotations

import numpy as np

from agentctx_nb.search.index import VectorIndex
from agentctx_nb.search.products import Sizes

SMALL = Sizes(
    block=32, group=8, plain=64, product=500, first=4, second=3, third=4, step=2, sample=64, per_search=1, waiting=3,
    shared=128,
)  # fmt: skip


def rows_of(count, dim, *, seed=0):
    """Return rows with a falling spectrum, as texts have."""
    random = np.random.default_rng(seed)
    return (random.standard_normal((count, dim)) * np.arange(1, dim + 1) ** -0.5).astype(np.float32)


def filled(count=500, dim=16, *, seed=0, settled=True):
    """Return an index of ``count`` rows and the rows as float64 of unit length."""
    rows = rows_of(count, dim, seed=seed)
    index = VectorIndex(dim, sizes=SMALL)
    index.append_many(rows)
    for _ in range(settled * count // SMALL.block):
        index.search(rows[0], count=1)
    exact = rows.astype(np.float64)
    return index, exact / np.linalg.norm(exact, axis=1, keepdims=True)


def ranked(exact, query, *, keep=None):
    scores = exact @ (query / np.linalg.norm(query))
    order = np.lexsort((np.arange(len(scores)), -scores))
    return [int(row) for row in order if keep is None or keep[row]]
