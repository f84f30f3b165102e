"""An embedder whose vectors can be read off a map."""

from __future__ import annotations

import numpy as np

ANGLES = {"north": (0.0, 1.0), "east": (1.0, 0.0), "north-east": (0.7, 0.7), "south": (0.0, -1.0)}


class Compass:
    """An embedder of directions."""

    name, dim, default_threshold = "compass", 2, 0.5

    def __init__(self, name="compass"):
        self.name = name
        self.asked = []

    def embed(self, texts, kind):
        self.asked.append((tuple(texts), kind))
        return np.array([ANGLES.get(text, (0.6, 0.8)) for text in texts], dtype=np.float32)
