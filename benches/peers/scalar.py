"""Compare queries that scalar indices answer, lancet on one thread with pylance: Markdown tables.

python scalar.py DIR/sift --lancet-bench BIN [--python PY] [--passes N]

BIN is lancet-scalar-bench; pylance has its default threads. The workers take turns, operation by
operation, pass after pass; a figure is the median over the passes. lancet's queries are prepared;
what planning their text takes is a column of its own. The slowest query is the one whose own median
is highest: where p99 is far above it, the machine was slow, not the query.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import scalar_queries
from compare import HERE, Worker, amount, duration, figure, pylance_version

PROCESSES = 9
FIRST = ["id = x", "rare category, count", "1 % of ordered times"]


def first_queries(bench: Path, dataset: Path, queries: Path, operation: str) -> list[float]:
    """Medians over new processes: until the dataset is open, and of the first query after it."""
    command = [bench, dataset, queries, "--first", operation]
    answers = [json.loads(subprocess.check_output(command)) for _ in range(PROCESSES)]
    return [statistics.median(a[key] for a in answers) for key in ("open_us", "first_query_us")]


def main() -> None:
    """Read the command line, let the workers take turns, print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a set that prepare.py made")
    parser.add_argument("--lancet-bench", type=Path, required=True, help="lancet-scalar-bench")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with pylance")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--only", action="append", help="only this operation; repeatable")
    options = parser.parse_args()

    dataset, bench = options.folder / "plain.lance", options.lancet_bench.resolve()
    with tempfile.TemporaryDirectory() as folder:
        queries = Path(folder) / "queries.tsv"
        all_names = scalar_queries.write(queries)
        names = options.only or all_names
        python = [options.python, HERE / "pylance_scalar.py"]
        pylance = Worker(
            f"pylance {pylance_version(options.python)}", names, [*python, dataset, queries]
        )
        lancet = Worker("lancet", names, [bench, dataset, queries])
        for _ in range(options.passes):
            for name in names:
                pylance.measure(name)
                lancet.measure(name)
        pylance.close()
        lancet.close()
        firsts = {name: first_queries(bench, dataset, queries, name) for name in FIRST}

    print(f"| | rows | {pylance.name} | p99 | lancet | p99 | slowest query | planning | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in names:
        keys = ("median_us", "p99_us")
        theirs = [figure(pylance.answers, name, key) for key in keys]
        ours = [figure(lancet.answers, name, key) for key in (*keys, "slowest_query_us", "plan_us")]
        rows = [figure(worker.answers, name, "rows") for worker in (pylance, lancet)]
        same = f"{rows[0]:,.0f}" if rows[0] == rows[1] else f"{rows[0]:,.0f} / {rows[1]:,.0f}"
        times = map(duration, (*theirs, *ours))
        cells = [name, same, *times, amount(theirs[0] / ours[0], "×")]
        print("| " + " | ".join(cells) + " |")
    print()
    print("| first query of a new process | dataset open | query |")
    print("|---|---:|---:|")
    for name, times in firsts.items():
        print(f"| {name} | {' | '.join(map(duration, times))} |")


if __name__ == "__main__":
    main()
