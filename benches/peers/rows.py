"""The rows that takes ask for, in files, so that every program takes the same ones.

`rows-{n}.u64` lies beside the dataset and holds several takes of `n` rows each:

    take 0                take 1                …
    ┌─────┬─────┬───┬─────┬─────┬─────┬───┬─────┬──
    │ row │ row │ … │ row │ row │ row │ … │ row │     little-endian u64, offsets in the dataset
    └─────┴─────┴───┴─────┴─────┴─────┴───┴─────┴──
     0     1         n-1   n

Rows are uniform over the dataset, distinct within a take, and not sorted.
"""

from pathlib import Path

import numpy as np

SEED = 20261130

TAKES = {1: 1000, 100: 100, 10_000: 10}
"""Rows per take: takes in the file."""


def path(folder: Path, n: int) -> Path:
    """Where the takes of `n` rows lie."""
    return folder / f"rows-{n}.u64"


def write(folder: Path, rows: int) -> None:
    """Choose among `rows` rows and write one file for each number of rows per take."""
    rng = np.random.default_rng(SEED)
    for n, takes in TAKES.items():
        chosen = [rng.choice(rows, n, replace=False) for _ in range(takes)]
        np.concatenate(chosen).astype("<u8").tofile(path(folder, n))


def read(folder: Path, n: int) -> list[list[int]]:
    """The takes of `n` rows."""
    return np.fromfile(path(folder, n), "<u8").reshape(-1, n).tolist()
