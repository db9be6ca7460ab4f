"""Distances of one query to many rows, by FAISS, SimSIMD and NumKong: a worker.

python kernel_peers.py [--serve]

An operation is `PEER/METRIC/TYPE/DIM/PLACE`; the part after the peer is that of
lancet-kernel-bench, which says what it means. Peers run on one thread and write to an array that is
there before. What a call with one row takes, which is mostly Python, is taken off.
"""

import argparse
import ctypes
import itertools
import statistics
from collections.abc import Callable

import faiss
import ml_dtypes
import numkong
import numpy as np
import simsimd

from worker import Measure, run, time_rounds

CACHE = 1 << 20
MEMORY = 512 << 20
METRICS = ["l2", "dot", "cosine"]
DIMS = [50, 96, 128, 384, 768, 1536]
TYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f64": np.float64,
    "i8": np.int8,
    "u8": np.uint8,
}
FAISS = {"l2": faiss.fvec_L2sqr_ny, "dot": faiss.fvec_inner_products_ny}
CDIST = {
    "simsimd": (simsimd.cdist, {"l2": "sqeuclidean", "dot": "dot", "cosine": "cosine"}),
    "numkong": (numkong.cdist, {"l2": "sqeuclidean", "dot": "dot", "cosine": "angular"}),
}

Call = Callable[[int], object]
"""Computes the distances to as many rows."""


def vectors(kind: str, dim: int, place: str) -> tuple[np.ndarray, np.ndarray]:
    """A query and rows."""
    dtype = np.dtype(TYPES[kind])
    count = (CACHE if place == "cache" else MEMORY) // (dim * dtype.itemsize)
    rng = np.random.default_rng(1)
    some = rng.random((min(count, 4096) + 1, dim), dtype=np.float32) * 2 - 1
    if kind == "i8":
        some *= 127
    elif kind == "u8":
        some = np.abs(some) * 255
    some = some.astype(dtype)
    rows = np.empty((count, dim), dtype)
    for start in range(0, count, len(some) - 1):
        part = rows[start : start + len(some) - 1]
        part[:] = some[1 : 1 + len(part)]
    return some[:1].copy(), rows


def faiss_call(metric: str, dim: int, query: np.ndarray, rows: np.ndarray) -> Call:
    """FAISS over f32, or over bits. Its pointers keep no array alive: the call has to."""
    out = np.empty(len(rows), np.int32 if metric == "hamming" else np.float32)
    arrays = [query, rows, out]
    queries, many, distances = (faiss.swig_ptr(array) for array in arrays)

    def call(count: int) -> object:
        assert arrays
        if metric == "hamming":
            return faiss.hammings(queries, many, 1, count, dim, distances)
        return FAISS[metric](distances, queries, many, dim, count)

    return call


def cdist_call(peer: str, metric: str, kind: str, query: np.ndarray, rows: np.ndarray) -> Call:
    """SimSIMD or NumKong, whose `cdist` are alike."""
    cdist, names = CDIST[peer]
    wide = kind == "f64" or peer == "numkong"
    out = np.empty((1, len(rows)), np.float64 if wide else np.float32)
    options = {}
    if kind == "bf16":
        query, rows, options = query.view(np.uint16), rows.view(np.uint16), {"dtype": "bfloat16"}
    parts = {count: (rows[:count], out[:, :count]) for count in (1, len(rows))}

    def call(count: int) -> object:
        part, distances = parts[count]
        return cdist(query, part, names[metric], out=distances, **options)

    return call


def measure(peer: str, metric: str, kind: str, dim: int, place: str) -> dict:
    """The rate at which a peer goes through the rows."""
    query, rows = vectors(kind, dim, place)
    if peer == "faiss":
        call = faiss_call(metric, dim, query, rows)
    else:
        call = cdist_call(peer, metric, kind, query, rows)
    repeats = 4 if place == "cache" else 1
    rounds = 50 if place == "cache" else 3

    def seconds(count: int) -> float:
        return statistics.median(time_rounds(lambda: [call(count) for _ in range(repeats)], rounds))

    return {
        "gb_per_s": repeats * rows.nbytes / (seconds(len(rows)) - seconds(1)) / 1e9,
        "rounds": rounds,
    }


def operations() -> dict[str, Measure]:
    """All of them by name."""
    names = [
        (peer, metric, kind, dim, place)
        for place, metric, kind, dim, peer in itertools.product(
            ["cache", "memory"], METRICS, TYPES, DIMS, ["faiss", *CDIST]
        )
        if peer != "faiss" or (kind == "f32" and metric in FAISS)
    ]
    names += [
        ("faiss", "hamming", "u8", size, place)
        for place, size in itertools.product(["cache", "memory"], [16, 32, 64, 96, 192])
    ]
    return {"/".join(map(str, name)): (lambda name=name: measure(*name)) for name in names}


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--serve", action="store_true", help="measure what standard input asks for")
    options = parser.parse_args()
    faiss.omp_set_num_threads(1)
    # SimSIMD returns None without taking a reference; before Python 3.12 they can run out.
    for _ in range(1_000_000):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(None))
    run(operations(), options.serve)


if __name__ == "__main__":
    main()
