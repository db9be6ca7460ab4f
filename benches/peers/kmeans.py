"""Compare k-means of lancet with FAISS, scikit-learn and pylance, and print Markdown tables.

python kmeans.py ROWS --lancet-bench BIN [--rows N] [--clusters K ...] [--iterations I]
    [--passes N] [--lance PYTHON] [--assign ROWS.npy] [--unit] [--only TEXT]

ROWS is a numpy file, or a size as 63000x384 for rows of a seeded mixture: 1,000 places drawn from a
normal distribution, around which rows spread by 0.7. BIN is lancet-kmeans-bench. All but pylance,
which takes no first centroids, begin with the same distinct rows and run as many iterations with
all rows, and take turns, pass after pass, on one thread unless the name says two. A time is the
median over the passes. The mean squared distance is that of all rows to their nearest of the
centroids that came out, summed up by FAISS. GFLOP/s count only distances that were computed; the
share of the peak is explained in lancet-kmeans-bench. With --assign the rows of another file are
assigned to 1,024 of them. With --unit rows are brought to unit length. --only leaves out peers
without that text in their name.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

if "avx512f" in Path("/proc/cpuinfo").read_text():
    # The OpenBLAS of the package of FAISS does not know the latest processors, and would take what
    # it has for the oldest: half of the speed, or less.
    os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")

import faiss
import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

Run = Callable[[], tuple[float, np.ndarray]]
"""Trains, and gives the seconds that it took and the centroids."""

LANCE = """
import sys, time, numpy, lance.util
rows, clusters, iterations, out = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
rows = numpy.load(rows)
kmeans = lance.util.KMeans(clusters, metric_type="l2", max_iters=iterations)
begun = time.perf_counter()
kmeans.fit(rows)
took = time.perf_counter() - begun
centroids = numpy.stack(kmeans.centroids.to_numpy(zero_copy_only=False))
numpy.save(out, centroids.astype(numpy.float32))
print(took)
"""


def run_faiss(rows: np.ndarray, start: np.ndarray, options: argparse.Namespace) -> Run:
    """FAISS."""

    def run() -> tuple[float, np.ndarray]:
        faiss.omp_set_num_threads(1)
        kmeans = faiss.Kmeans(
            rows.shape[1],
            len(start),
            niter=options.iterations,
            min_points_per_centroid=1,
            max_points_per_centroid=len(rows),
        )
        begun = time.perf_counter()
        kmeans.train(rows, init_centroids=start)
        return time.perf_counter() - begun, kmeans.centroids

    return run


def run_sklearn(rows: np.ndarray, start: np.ndarray, options: argparse.Namespace) -> Run:
    """scikit-learn."""

    def run() -> tuple[float, np.ndarray]:
        kmeans = KMeans(
            len(start), init=start, n_init=1, max_iter=options.iterations, tol=0, algorithm="lloyd"
        )
        with threadpool_limits(1):
            begun = time.perf_counter()
            kmeans.fit(rows)
            return time.perf_counter() - begun, kmeans.cluster_centers_

    return run


def run_lancet(
    folder: Path, clusters: int, flags: list[str], options: argparse.Namespace, facts: dict
) -> Run:
    """lancet, in a process of its own, which times itself; `facts` gets what else it says."""

    def run() -> tuple[float, np.ndarray]:
        out = folder / "out.npy"
        command = [options.lancet_bench, folder / "rows.npy", "--start", folder / "start.npy"]
        command += ["--iterations", options.iterations, "--clusters", clusters, "--out", out]
        command += flags
        done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
        said = json.loads(done.stdout)
        # Of the fastest pass.
        if said["seconds"] < facts.get("seconds", float("inf")):
            facts.update(said)
        return said["seconds"], np.load(out)

    return run


def run_lance(folder: Path, clusters: int, options: argparse.Namespace) -> Run:
    """pylance, in a process of its own."""

    def run() -> tuple[float, np.ndarray]:
        arguments = [folder / "rows.npy", clusters, options.iterations, folder / "lance.npy"]
        command = [options.lance, "-c", LANCE, *arguments]
        environment = os.environ | {"LANCE_CPU_THREADS": "1", "RAYON_NUM_THREADS": "1"}
        done = subprocess.run(
            list(map(str, command)), check=True, capture_output=True, text=True, env=environment
        )
        return float(done.stdout), np.load(folder / "lance.npy")

    return run


def spread(rows: np.ndarray, centroids: np.ndarray) -> float:
    """The mean squared distance of rows to their nearest centroids."""
    index = faiss.IndexFlatL2(rows.shape[1])
    index.add(np.ascontiguousarray(centroids, dtype=np.float32))
    return float(index.search(rows, 1)[0].astype(np.float64).mean())


def read(name: str) -> np.ndarray:
    """The rows of a file, or of the mixture of that size."""
    count, cross, dim = name.partition("x")
    if not (cross and count.isdecimal() and dim.isdecimal()):
        return np.load(name, mmap_mode="r")
    rng = np.random.default_rng(7)
    places = rng.standard_normal((1000, int(dim)), np.float32)
    rows = 0.7 * rng.standard_normal((int(count), int(dim)), np.float32)
    return rows + places[rng.integers(0, len(places), len(rows))]


def compare(rows: np.ndarray, clusters: int, options: argparse.Namespace) -> None:
    """Measure all peers with one number of clusters."""
    chosen = np.random.default_rng(1).choice(len(rows), clusters, replace=False)
    start = np.ascontiguousarray(rows[chosen])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "rows.npy", rows)
        np.save(folder / "start.npy", start)
        runs = {
            "faiss": run_faiss(rows, start, options),
            "scikit-learn": run_sklearn(rows, start, options),
        }
        kinds = {
            "lancet": [],
            "lancet, all distances": ["--all-distances"],
            "lancet, two threads": ["--threads", "2"],
            "lancet, all distances, two threads": ["--all-distances", "--threads", "2"],
        }
        if options.lance:
            runs["pylance"] = run_lance(folder, clusters, options)
            # Lance draws 256 rows for each cluster, but its `KMeans` is given all, and takes 512.
            kinds["lancet, rules of Lance"] = ["--lance", "--sample-rate", "512"]
        facts: dict[str, dict] = {name: {} for name in kinds}
        for name, flags in kinds.items():
            runs[name] = run_lancet(folder, clusters, flags, options, facts[name])
        runs = {name: run for name, run in runs.items() if options.only in name}
        times: dict[str, list[float]] = {peer: [] for peer in runs}
        centroids = {}
        for _ in range(options.passes):
            for peer, run in runs.items():
                took, centroids[peer] = run()
                times[peer].append(took)

    theirs = statistics.median(times.get("faiss", [float("nan")]))
    size = f"{len(rows):,} × {rows.shape[1]}"
    print(f"\n{size}, {clusters:,} clusters, {options.iterations} iterations\n")
    print("| | s | of FAISS | mean squared distance | GFLOP/s | of the peak |")
    print("|---|---:|---:|---:|---:|---:|")
    for peer in runs:
        took = statistics.median(times[peer])
        cells = [f"{took:.3f}", f"{took / theirs:.2f}", f"{spread(rows, centroids[peer]):,.6g}"]
        if said := facts.get(peer):
            cells += [f"{said['gflops']:.1f}", f"{said['of_peak']:.0%}"]
        else:
            cells += ["", ""]
        print(f"| {peer} | {' | '.join(cells)} |")
    sys.stdout.flush()


def assign(options: argparse.Namespace) -> None:
    """Measure the assignment of the rows of another file to 1,024 of them."""
    print("\n| assignment to 1,024 | s | GFLOP/s | of the peak |\n|---|---:|---:|---:|")
    for threads in 1, 2:
        command = [options.lancet_bench, options.assign, "--assign", "--clusters", 1024]
        command += ["--threads", threads]
        done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
        said = json.loads(done.stdout)
        cells = [f"{said['seconds']:.3f}", f"{said['gflops']:.1f}", f"{said['of_peak']:.0%}"]
        print(f"| {threads} thread{'s' * (threads - 1)} | {' | '.join(cells)} |")


def main() -> None:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows_from", metavar="ROWS", help="a numpy file, or a size")
    parser.add_argument("--lancet-bench", type=Path, required=True, help="lancet-kmeans-bench")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--clusters", type=int, nargs="+", default=[256, 1024])
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--lance", type=Path, help="the interpreter of a pylance")
    parser.add_argument("--assign", type=Path, metavar="ROWS.npy", help="rows to assign as well")
    parser.add_argument("--only", default="", help="peers with this in their name")
    parser.add_argument("--unit", action="store_true", help="bring rows to unit length")
    options = parser.parse_args()
    rows = np.ascontiguousarray(read(options.rows_from)[: options.rows], dtype=np.float32)
    if options.unit:
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    for clusters in options.clusters:
        compare(rows, clusters, options)
    if options.assign:
        assign(options)


if __name__ == "__main__":
    main()
