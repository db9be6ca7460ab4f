"""The vectors of the `sift` and `wide` sets: a seeded mixture that looks like SIFT descriptors.

2,000 Gaussian clusters with Pareto sizes. Each spreads along the 16 directions of one of 64
subspaces, plus isotropic noise; values are rounded to whole numbers in 0..255.
"""

import numpy as np

SEED = 20261129

CLUSTERS = 2000
SUBSPACES = 64
RANK = 16
NOISE = 9.0


class Mixture:
    """The clusters, and one random stream that every draw continues."""

    def __init__(self, dimension: int, seed: int = SEED):
        self.dimension = dimension
        rng = np.random.default_rng(seed)
        weights = rng.pareto(1.1, CLUSTERS) + 0.05
        self.weights = weights / weights.sum()
        self.centers = np.clip(rng.gamma(0.7, 42.0, (CLUSTERS, dimension)), 0, 190)
        bases = [
            np.linalg.qr(rng.standard_normal((dimension, RANK)))[0].T for _ in range(SUBSPACES)
        ]
        self.bases = np.stack(bases).astype(np.float32)
        self.scale = (np.linspace(1.0, 0.25, RANK) * 60).astype(np.float32)
        spread = rng.lognormal(0.0, 0.35, CLUSTERS)
        self.spread = np.clip(spread, 0.4, 2.5).astype(np.float32)
        self.subspace = rng.integers(0, SUBSPACES, CLUSTERS)
        self.rng = rng

    def draw(self, count: int) -> np.ndarray:
        """The next `count` vectors, `[count, dimension]` f32, in random order."""
        labels = np.sort(self.rng.choice(CLUSTERS, count, p=self.weights))
        vectors = np.empty((count, self.dimension), np.float32)
        clusters, starts = np.unique(labels, return_index=True)
        ends = np.append(starts[1:], count)
        for cluster, start, end in zip(clusters, starts, ends, strict=True):
            vectors[start:end] = self._members(cluster, end - start)
        np.clip(np.rint(vectors, out=vectors), 0, 255, out=vectors)
        return vectors[self.rng.permutation(count)]

    def _members(self, cluster: int, count: int) -> np.ndarray:
        spread = self.spread[cluster]
        along = self.rng.standard_normal((count, RANK), dtype=np.float32) * self.scale * spread
        noise = self.rng.standard_normal((count, self.dimension), dtype=np.float32) * (
            NOISE * spread
        )
        return self.centers[cluster] + along @ self.bases[self.subspace[cluster]] + noise
