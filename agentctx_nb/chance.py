"""How alike texts are by chance: the cosine that few random pairs of a table's vectors reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from agentctx_nb.model import Memory

__all__ = ["chance_threshold", "distinct_vectors"]

PAIRS = 2000
SAME = 0.999  # the cosine of two rows that say the same: copies, which nobody meets by chance
QUANTILE = 0.99


def distinct_vectors(memories: Sequence[Memory]) -> NDArray[np.float32]:
    """Return the vectors of ``memories`` at unit length, one a text, without those of nothing but zeros."""
    import numpy as np

    found: list[Any] = []
    texts: set[str] = set()
    for memory in memories:
        text = memory.content.text
        if memory.embedding is None or text in texts:
            continue
        if text:
            texts.add(text)
        found.append(memory.embedding)
    vectors = np.array(found, dtype=np.float32)
    if not len(vectors):
        return vectors
    lengths = np.linalg.norm(vectors, axis=1)
    units: NDArray[np.float32] = vectors[lengths > 0] / lengths[lengths > 0, None]
    return units


def chance_threshold(vectors: NDArray[np.float32]) -> float | None:
    """Return the 99th percentile of the cosines of random pairs, None where no two vectors differ.

    The same vectors give the same threshold every time.
    """
    import numpy as np

    if len(vectors) < 2:
        return None
    one, other = np.random.default_rng(0).integers(0, len(vectors), (2, PAIRS))
    apart = one != other
    scores = np.einsum("ij,ij->i", vectors[one[apart]], vectors[other[apart]])
    scores = scores[scores <= SAME]
    return float(np.clip(np.quantile(scores, QUANTILE), -1.0, 1.0)) if len(scores) else None
