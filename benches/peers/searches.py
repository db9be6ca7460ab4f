"""What the workers that search vectors share: the operations, and how a round of queries is timed.

| operation | one round |
|---|---|
| `probes/N` | one query after the other, N partitions each |
| `refine/N` | the same, `REFINE` × as many candidates, ranked by their exact distances |
| `batch/N` | `BATCH` queries at once, N partitions each |
| `filtered/N` | as `probes`, of the rows for which the filter of `filter.sql` holds |
| `exact` | a few queries without the index |

Answers hold the times of single queries (of `batch`, of the whole of it), and `ids`: the row ids
that each query found. `lancet-vector-bench` is the same in Rust, and has some operations more.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

K = 10
REFINE = 10
PROBES = [1, 5, 10, 20, 50]
QUERIES = 300
BATCH = 500
EXACT = 5
LONGEST = 0.5
"""Seconds, after which there are no more rounds over all queries."""

FRAGMENTS = 4
"""Into so many `prepare.py` cuts a dataset."""

Search = Callable[[int], Sequence[int]]
"""Searches with the query of this number, and gives the ids of its rows."""


def row_ids(numbers: np.ndarray, rows: int) -> np.ndarray:
    """The ids of rows by their numbers in `base.npy`: fragment and offset in it."""
    fragment, offset = np.divmod(numbers.astype(np.int64), -(-rows // FRAGMENTS))
    return fragment << 32 | offset


def latency(seconds: list[float]) -> dict:
    """The median, and the 99th percentile by nearest rank."""
    seconds = sorted(seconds)
    return {
        "median_us": round(statistics.median(seconds) * 1e6, 2),
        "p99_us": round(seconds[math.ceil(0.99 * len(seconds)) - 1] * 1e6, 2),
        "rounds": len(seconds),
    }


def rounds(queries: int, search: Search) -> dict:
    """Times of single queries, after a round of all of them, and what they find."""
    ids = [search(number) for number in range(queries)]
    seconds: list[float] = []
    began = perf_counter()
    while not seconds or perf_counter() - began < LONGEST:
        for number in range(queries):
            start = perf_counter()
            search(number)
            seconds.append(perf_counter() - start)
    return {**latency(seconds), "ids": ids}
