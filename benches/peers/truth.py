"""The nearest neighbours of some queries, exactly, by brute force.

Beside the dataset lie `queries.npy`, `[queries, dimension]` f32, and for the first of them
`truth.npy`, `[TRUTHS, K]` i32: the rows of the nearest vectors, nearest first.
"""

import numpy as np

TRUTHS = 1000
K = 100
BLOCK = 50
"""Queries at once; their distances to all rows lie in memory."""


def nearest(base: np.ndarray, queries: np.ndarray, metric: str) -> np.ndarray:
    """The rows of `base` nearest to each of the first `TRUTHS` queries, by `l2` or `cosine`."""
    queries = queries[:TRUTHS]
    if metric == "cosine":
        base, queries = unit(base), unit(queries)
    squares = np.einsum("ij,ij->i", base, base)
    blocks = [
        _nearest_of_block(base, squares, queries[start : start + BLOCK])
        for start in range(0, len(queries), BLOCK)
    ]
    return np.concatenate(blocks).astype(np.int32)


def unit(vectors: np.ndarray) -> np.ndarray:
    """The vectors, each divided by its length."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, np.finfo(np.float32).tiny)


def _nearest_of_block(base: np.ndarray, squares: np.ndarray, queries: np.ndarray) -> np.ndarray:
    # The matrix product loses digits, so it only chooses: some more than K, ranked again exactly.
    rough = squares - 2.0 * (queries @ base.T)
    chosen = np.argpartition(rough, K + BLOCK, axis=1)[:, : K + BLOCK]
    gaps = base[chosen].astype(np.float64) - queries[:, None].astype(np.float64)
    distances = np.einsum("ijk,ijk->ij", gaps, gaps)
    order = np.argsort(distances, axis=1, kind="stable")[:, :K]
    return np.take_along_axis(chosen, order, axis=1)
