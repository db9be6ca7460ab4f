"""Compare vector search, lancet and FAISS on one thread with pylance: Markdown tables.

python vectors.py DIR/SET --lancet-bench BIN --python PY [--kind KIND] [--only OP] [--passes N]

BIN is lancet-vector-bench, PY an interpreter with pylance; this one needs faiss-cpu. KIND is an
index of prepare.py, OP an operation of searches.py; both are repeatable. The workers take turns,
operation by operation, pass after pass; a figure is the median over the passes. Recall is that of
the ten nearest. FAISS has the partitions of the Lance index; its indices are made once, and kept.
Under a table is what new processes take, and what lancet does on two threads and in which steps.
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
OURS = ["steps/10", "threads/10", "bandwidth"]
"""Operations that only lancet has: they say what its times are held against."""

PROCESSES = ["growth", "first"]
"""What is measured with new processes."""

FIRSTS = 5
"""New processes whose first query is measured."""


def operations(kind: str) -> list[str]:
    """What is measured of a kind of index."""
    names = [f"probes/{count}" for count in PROBES]
    if kind.startswith("ivf_pq"):
        names.append("refine/10")
    names += ["filtered/20", "batch/10"]
    if kind == "ivf_flat":
        names.append("exact")
    return [*names, *OURS, *PROCESSES]


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


def growth(command: list[str | Path]) -> str:
    """How the memory of a new process grows, and what it may take at most."""
    of = json.loads(subprocess.check_output([*command, "--growth"]))
    limit = 5e6 + 8 * of["rows"]
    if "pq" in command[1].name:
        limit += 1.2 * of["bytes"]
    return (
        f"1,000 queries of a new process touch {of['partitions']:,} partitions with "
        f"{of['rows']:,} rows; its anonymous memory grows by {of['growth'] / 1e6:.1f} MB, "
        f"at most to be {limit / 1e6:.1f} MB."
    )


def of_lancet(answers: Answers, base: np.ndarray) -> list[str]:
    """What lancet alone is asked for, in words."""
    lines = []
    if answers.get("exact"):
        rate = base.nbytes / figure(answers, "exact", "median_us") / 1e3
        lines.append(f"Exact search goes through {rate:.1f} GB/s.")
    if answers.get("steps/10"):
        keys = ["whole_us", "rank_us", "scan_us", "fixed_us", "scan_gb_per_s"]
        *times, fixed, rate = (figure(answers, "steps/10", key) for key in keys)
        whole, rank, scan = map(duration, times)
        lines.append(
            f"A query at ten probes: {whole}, of which ranking {rank}, scan {scan} "
            f"({rate:.1f} GB/s), the rest {fixed:.1f} µs."
        )
    if answers.get("threads/10"):
        keys = ["one_per_s", "two_per_s", "one_gb_per_s", "two_gb_per_s"]
        one, two, *rates = (figure(answers, "threads/10", key) for key in keys)
        lines.append(
            f"Two threads: {two / one:.2f} × of one ({two:,.0f} and {one:,.0f} queries a second, "
            f"{rates[1]:.1f} and {rates[0]:.1f} GB/s)."
        )
    if answers.get("bandwidth"):
        one, two = (figure(answers, "bandwidth", key) for key in ("gb_per_s", "two_gb_per_s"))
        lines.append(f"base.npy, mapped, is read at {one:.1f} GB/s, by two threads at {two:.1f}.")
    if answers.get("filtered/20"):
        made = duration(figure(answers, "filtered/20", "prefilter_us"))
        lines.append(f"lancet evaluates the filter in {made}, once for all queries.")
    return lines


def make_faiss_index(folder: Path, kind: str, pylance: list[str | Path]) -> None:
    """Make the index of FAISS, unless it is there."""
    if (folder / f"faiss-{kind}.index").exists():
        return
    with tempfile.TemporaryDirectory() as scratch:
        centroids = ["--centroids", Path(scratch) / "centroids.npy"]
        subprocess.run([*pylance, *centroids], check=True)
        build = [sys.executable, HERE / "faiss_vectors.py", folder, kind]
        subprocess.run([*build, *centroids], check=True)


def start(name: str, operations: list[str], command: list[str | Path]) -> Worker:
    """A worker that has loaded what it needs: while others are measured, it does nothing."""
    worker = Worker(name, [*operations, "ready"], command)
    # No worker knows this operation, so the answer comes at once.
    worker.measure("ready")
    return worker


def print_table(
    title: str, workers: list[Worker], nearest: np.ndarray, of_filtered: np.ndarray
) -> None:
    """A row for each operation of all workers, with what they ought to find."""
    heads = " | ".join(f"{worker.name} | p99 | recall" for worker in workers)
    print(f"| {title} | {heads} |")
    print("|---|" + "---:|" * 3 * len(workers))
    for name in workers[-1].answers:
        if name not in [*OURS, "ready"]:
            expected = of_filtered if name.startswith("filtered") else nearest
            row = [cell for worker in workers for cell in cells(worker, name, expected)]
            print(f"| {name} | {' | '.join(row)} |")
    print()


def measure(kind: str, options: argparse.Namespace) -> None:
    """Let the workers take turns over one kind of index, and print its table."""
    folder = options.folder
    dataset = [folder / f"{kind}.lance", folder / "queries.npy"]
    theirs = [options.python, HERE / "pylance_vectors.py", *dataset]
    ours = [options.lancet_bench.resolve(), *dataset]
    make_faiss_index(folder, kind, theirs)
    if options.passes == 0:
        return
    asked = [name for name in operations(kind) if not options.only or name in options.only]
    names = [name for name in asked if name not in PROCESSES]
    pylance = f"pylance {pylance_version(options.python)}"
    commands = {
        pylance: theirs,
        "FAISS": [sys.executable, HERE / "faiss_vectors.py", folder, kind],
        "lancet": ours,
    }
    shared = set(names) - set(OURS)
    workers = [
        start(name, names, command)
        for name, command in commands.items()
        if shared or name == "lancet"
    ]
    lancet = workers[-1]
    for _ in range(options.passes):
        for name in names:
            for worker in [lancet] if name in OURS else workers:
                worker.measure(name)
    for worker in workers:
        worker.close()

    base = np.load(folder / "base.npy", mmap_mode="r")
    nearest, of_filtered = (
        row_ids(np.load(folder / name)[:, :K], len(base))
        for name in ("truth.npy", "filtered-truth.npy")
    )
    if shared:
        print_table(f"{folder.name}, {kind}", workers, nearest, of_filtered)
    for line in of_lancet(lancet.answers, base):
        print(line)
    if "growth" in asked:
        print(growth(ours))
    if "first" in asked:
        times = [duration(first_queries(command)) for command in (theirs, ours)]
        print(f"First query of a new process: {times[0]} by {pylance}, {times[1]} by lancet.")
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
    made = [kind for kind in KINDS if (options.folder / f"{kind}.lance").exists()]
    for kind in options.kind or made:
        measure(kind, options)


if __name__ == "__main__":
    main()
