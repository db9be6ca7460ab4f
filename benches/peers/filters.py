"""Compare filtered scans of lancet, on one thread and on two, with pylance; print a Markdown table.

python filters.py DIR/sift --lancet-bench BIN [--python PY] [--passes N]

BIN is lancet-filter-bench. No scan uses an index; pylance has its default threads. The workers
take turns, operation by operation, pass after pass; a figure is the median over the passes.
"""

import argparse
import sys
from pathlib import Path

from compare import HERE, Worker, amount, duration, figure, pylance_version

ONE_PERCENT = "id < 70003"
LATER_HALF = "event_time >= TIMESTAMP '2025-12-14 00:00:00'"
OPERATIONS = [
    "id where section = 'section-07'",
    "section where section = 'section-07'",
    "text where section = 'section-07'",
    "id where text LIKE 'item 0001%'",
    "id where text LIKE '%99 of%'",
    f"count where {ONE_PERCENT}",
    "count where id BETWEEN 70003 AND 140003",
    f"count where section = 'section-07' AND {ONE_PERCENT} AND {LATER_HALF}",
    f"count where section IN ('section-07', 'section-08') OR {ONE_PERCENT}",
    f"count where {LATER_HALF}",
]


def main() -> None:
    """Read the command line, let the workers take turns, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a set that prepare.py made")
    parser.add_argument("--lancet-bench", type=Path, required=True, help="lancet-filter-bench")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with pylance")
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()

    dataset, bench = options.folder / "plain.lance", options.lancet_bench.resolve()
    pylance = Worker(
        f"pylance {pylance_version(options.python)}",
        OPERATIONS,
        [options.python, HERE / "pylance_filters.py", dataset],
    )
    one = Worker("lancet, one thread", OPERATIONS, [bench, dataset])
    two = Worker("two threads", OPERATIONS, [bench, dataset, "--threads", "2"])
    workers = [pylance, one, two]
    for _ in range(options.passes):
        for operation in OPERATIONS:
            for worker in workers:
                worker.measure(operation)
    for worker in workers:
        worker.close()

    print(f"| | {pylance.name} | {one.name} | ratio | {two.name} | speed-up |")
    print("|---|---:|---:|---:|---:|---:|")
    for operation in OPERATIONS:
        theirs, ours, both = (figure(worker.answers, operation, "median_us") for worker in workers)
        cells = [
            f"`{operation}`",
            duration(theirs),
            duration(ours),
            amount(theirs / ours, "×"),
            duration(both),
            amount(ours / both, "×"),
        ]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
