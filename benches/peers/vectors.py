"""Compare vector search, lancet and FAISS on one thread with pylance: Markdown tables.

python vectors.py DIR/SET --lancet-bench BIN --python PY [--kind KIND] [--only OP] [--passes N]

BIN is lancet-vector-bench, PY an interpreter with pylance; this one needs faiss-cpu. KIND is an
index of prepare.py, OP an operation of searches.py; both are repeatable. The workers take turns,
operation by operation, pass after pass; a figure is the median over the passes. Recall is that of
the ten nearest. FAISS has the partitions of the Lance index; its indices are made once, and kept.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from compare import HERE, Answers, Worker, duration, figure, pylance_version
from searches import BATCH, PROBES, K, row_ids

KINDS = ["ivf_flat", "ivf_pq", "ivf_pq4", "ivf_sq"]
FIRSTS = 5
"""New processes whose first query is measured."""


def operations(kind: str) -> list[str]:
    """What is measured of a kind of index."""
    names = [f"probes/{count}" for count in PROBES]
    if kind.startswith("ivf_pq"):
        names.append("refine/10")
    names.append("batch/10")
    return [*names, "exact", "bandwidth"] if kind == "ivf_flat" else names


def recall(answers: Answers, operation: str, expected: np.ndarray) -> float:
    """How many of the expected ids an answer holds."""
    found = answers[operation][0]["ids"]
    pairs = zip(found, expected.tolist(), strict=False)
    return statistics.mean(len(set(ids) & set(truth)) / K for ids, truth in pairs)


def cells(worker: Worker, operation: str, expected: np.ndarray) -> list[str]:
    """Of one worker: median, p99, recall."""
    if not any("ids" in answer for answer in worker.answers[operation]):
        return ["", "", ""]
    share = BATCH if operation.startswith("batch") else 1
    times = [figure(worker.answers, operation, key) / share for key in ("median_us", "p99_us")]
    return [*map(duration, times), f"{recall(worker.answers, operation, expected):.4f}"]


def first_queries(command: list[str | Path]) -> float:
    """Median over new processes: until the first query is answered."""
    outputs = [subprocess.check_output([*command, "--first"]) for _ in range(FIRSTS)]
    return statistics.median(json.loads(output)["first_query_us"] for output in outputs)


def make_faiss_index(folder: Path, kind: str, pylance: list[str | Path]) -> None:
    """Make the index of FAISS, unless it is there."""
    if (folder / f"faiss-{kind}.index").exists():
        return
    with tempfile.TemporaryDirectory() as scratch:
        centroids = ["--centroids", Path(scratch) / "centroids.npy"]
        subprocess.run([*pylance, *centroids], check=True)
        build = [sys.executable, HERE / "faiss_vectors.py", folder, kind]
        subprocess.run([*build, *centroids], check=True)


def measure(kind: str, options: argparse.Namespace) -> None:
    """Let the workers take turns over one kind of index, and print its table."""
    folder = options.folder
    dataset = [folder / f"{kind}.lance", folder / "queries.npy"]
    theirs = [options.python, HERE / "pylance_vectors.py", *dataset]
    ours = [options.lancet_bench.resolve(), *dataset]
    make_faiss_index(folder, kind, theirs)
    if options.passes == 0:
        return
    names = [name for name in operations(kind) if not options.only or name in options.only]
    pylance = Worker(f"pylance {pylance_version(options.python)}", names, theirs)
    faiss = Worker("FAISS", names, [sys.executable, HERE / "faiss_vectors.py", folder, kind])
    lancet = Worker("lancet", names, ours)
    workers = [pylance, faiss, lancet]
    for _ in range(options.passes):
        for name in names:
            for worker in workers:
                worker.measure(name)
    for worker in workers:
        worker.close()

    rows = np.load(folder / "base.npy", mmap_mode="r").shape[0]
    expected = row_ids(np.load(folder / "truth.npy")[:, :K], rows)
    heads = " | ".join(f"{worker.name} | p99 | recall" for worker in workers)
    print(f"| {folder.name}, {kind} | {heads} |")
    print("|---|" + "---:|" * 3 * len(workers))
    for name in names:
        if name != "bandwidth":
            row = [cell for worker in workers for cell in cells(worker, name, expected)]
            print(f"| {name} | {' | '.join(row)} |")
    print()
    if "bandwidth" in names:
        rate = figure(lancet.answers, "bandwidth", "gb_per_s")
        print(f"base.npy, mapped, is read at {rate:.1f} GB/s.")
    times = [duration(first_queries(command)) for command in (theirs, ours)]
    print(f"First query of a new process: {times[0]} by {pylance.name}, {times[1]} by lancet.")
    print()


def main() -> None:
    """Read the command line, and measure each kind of index."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a set that prepare.py made")
    parser.add_argument("--lancet-bench", type=Path, required=True, help="lancet-vector-bench")
    parser.add_argument("--python", required=True, help="an interpreter with pylance")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only this; repeatable")
    parser.add_argument("--only", action="append", help="only this operation; repeatable")
    parser.add_argument("--passes", type=int, default=3, help="with 0, FAISS's indices are made")
    options = parser.parse_args()
    for kind in options.kind or KINDS:
        measure(kind, options)


if __name__ == "__main__":
    main()
