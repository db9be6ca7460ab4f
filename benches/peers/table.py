"""The columns that stand beside the vectors: keys, categories, times and text of known shape.

| column | values |
|---|---|
| `id` | i64, unique, unordered, with gaps of 7 |
| `category` | 8 words, from 85 % of the rows down to 0.2 % |
| `event_time` | one event a minute, give or take ten minutes: nearly in row order |
| `event_time_shuffled` | the same times in random order |
| `text` | a short sentence, another for every row; in `glove` the word |
| `section` | 60 words, Zipf |
| `id_or_null` | `id`, but NULL in 30 % of the rows |
| `vector` | fixed-size list of f32 |
"""

import zlib

import numpy as np
import pyarrow as pa

CATEGORIES = {
    "common": 0.85,
    "second": 0.06,
    "third": 0.04,
    "fourth": 0.022,
    "fifth": 0.013,
    "sixth": 0.008,
    "seventh": 0.005,
    "rare": 0.002,
}
SECTIONS = [f"section-{i:02d}" for i in range(60)]
NULL_SHARE = 0.3

SECOND = 1_000_000
START = 1_735_689_600 * SECOND
"""2025-01-01T00:00:00Z in microseconds."""


def table(set_name: str, vectors: np.ndarray, texts: list[str] | None = None) -> pa.Table:
    """The table of a set: one row per vector of `vectors` (`[rows, dimension]` f32).

    The set's name is the seed of the other columns. `texts`, if there are any, fill `text`.
    """
    rows, dimension = vectors.shape
    # The order of the draws is part of the data: a new column draws after those below.
    rng = np.random.default_rng(zlib.crc32(set_name.encode()))
    ids = rng.permutation(rows).astype(np.int64) * 7 + 3
    categories = rng.choice(len(CATEGORIES), rows, p=list(CATEGORIES.values()))
    jitter = rng.integers(-600, 600, rows) * SECOND
    times = START + np.arange(rows, dtype=np.int64) * 60 * SECOND + jitter
    shuffled_times = times[rng.permutation(rows)]
    zipf = 1.0 / np.arange(1, len(SECTIONS) + 1) ** 1.1
    sections = rng.choice(len(SECTIONS), rows, p=zipf / zipf.sum())
    absent = rng.random(rows) < NULL_SHARE
    return pa.table(
        {
            "id": pa.array(ids),
            "category": words(list(CATEGORIES), categories),
            "event_time": pa.array(times, pa.timestamp("us")),
            "event_time_shuffled": pa.array(shuffled_times, pa.timestamp("us")),
            "text": pa.array(texts or [f"item {row:07d} of cluster data" for row in range(rows)]),
            "section": words(SECTIONS, sections),
            "id_or_null": pa.array(ids, mask=absent),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), dimension),
        }
    )


def one_in_a_hundred(data: pa.Table) -> tuple[str, np.ndarray]:
    """A range of the shuffled times as a filter, and the numbers of its rows, 1 % of all."""
    times = data["event_time_shuffled"].to_numpy().astype("datetime64[us]")
    low, high = np.sort(times)[[len(times) // 2, len(times) // 2 + len(times) // 100]]
    # Whole seconds, as all of these times are.
    bounds = (str(bound.astype("datetime64[s]")).replace("T", " ") for bound in (low, high))
    condition = "event_time_shuffled >= TIMESTAMP '{}' AND event_time_shuffled < TIMESTAMP '{}'"
    return condition.format(*bounds), np.flatnonzero((low <= times) & (times < high))


def words(vocabulary: list[str], indices: np.ndarray) -> pa.Array:
    """The string column whose row `i` is `vocabulary[indices[i]]`."""
    return pa.array(vocabulary).take(pa.array(indices))
