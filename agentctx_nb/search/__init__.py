"""Vectors and words: the exact index, the embedders, and BM25."""
