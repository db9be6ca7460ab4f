"""Compare how fast lancet and pylance decode columns on one core, and print one Markdown table.

python decode.py DIR --lancet-bench BIN [--python PY] [--passes N] [--only TEXT]

DIR is what columns.py made, BIN is lancet-decode-bench. Both workers are pinned to core 0, pylance
with one thread for decoding and one for reading, and take turns column by column, pass after pass.
A figure is the median over the passes: 10^9 bytes a second of the column as Arrow lays it out.
"""

import argparse
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from compare import HERE, Worker, figure, pylance_version

LARGE_BATCH = "@65536"
"""What lancet is asked for beside batches of 8,192 rows."""


@dataclass(frozen=True)
class Column:
    """A dataset of one column, as columns.json lists it."""

    kind: str
    version: str
    rows: int
    bytes: int

    @property
    def operation(self) -> str:
        """What the workers call its scan."""
        return f"{self.version}/{self.kind}"


def rate(worker: Worker, column: Column, suffix: str = "") -> float:
    """Gigabytes a second."""
    return column.bytes / figure(worker.answers, column.operation + suffix, "median_us") / 1e3


def short(value: float) -> str:
    """A rate with as many decimals as it deserves."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else "lent"


def line(column: Column, pylance: Worker, lancet: Worker) -> str:
    """The row of one column."""
    theirs, ours = rate(pylance, column), rate(lancet, column)
    cells = [
        column.kind,
        column.version,
        short(theirs),
        short(ours),
        short(rate(lancet, column, LARGE_BATCH)),
        f"{ours / theirs:.1f} ×",
    ]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Read the command line, let the workers take turns, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a folder that columns.py made")
    parser.add_argument("--lancet-bench", type=Path, required=True, help="lancet-decode-bench")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with pylance")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--only", default="", help="columns with this text in `VERSION/KIND`")
    options = parser.parse_args()

    listed = json.loads((options.folder / "columns.json").read_text())
    columns = [Column(**entry) for entry in listed]
    columns = [column for column in columns if options.only in column.operation]
    names = [column.operation for column in columns]
    name = f"pylance {pylance_version(options.python)}"
    os.environ.update(LANCE_CPU_THREADS="1", LANCE_IO_THREADS="1")
    pinned = ["taskset", "-c", "0"]
    script = HERE / "pylance_decode.py"
    pylance = Worker(name, names, [*pinned, options.python, script, options.folder])
    bench = options.lancet_bench.resolve()
    large = [name + LARGE_BATCH for name in names]
    lancet = Worker("lancet", [*names, *large], [*pinned, bench, options.folder])
    for _ in range(options.passes):
        for name in names:
            pylance.measure(name)
            lancet.measure(name)
            lancet.measure(name + LARGE_BATCH)
    pylance.close()
    lancet.close()
    print(f"| column | version | {pylance.name} | lancet | lancet, 65,536 rows a batch | ratio |")
    print("|---|---|---:|---:|---:|---:|")
    for column in columns:
        print(line(column, pylance, lancet))


if __name__ == "__main__":
    main()
