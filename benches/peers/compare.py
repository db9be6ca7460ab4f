"""Compare lancet with pylance on the read path, and print one Markdown table.

python compare.py DIR/sift --lancet-bench BIN [--python PY] [--passes N]

Both workers stay alive and take turns, operation by operation, pass after pass: what disturbs the
machine disturbs both. A figure is the median over the passes.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Row:
    """A row of the table: what it says, and the key of an answer that it shows."""

    label: str
    operation: str
    key: str = "median_us"


ROWS = [
    Row("open, handle ready", "open"),
    Row("open + first row of 3 columns", "first_row"),
    Row("take 1 row of 3 columns", "take_1"),
    Row("take 100 scattered rows of 3 columns", "take_100"),
    Row("take 10,000 scattered vectors", "take_10000_vectors"),
    Row("scan of the vectors, every value read", "scan_vectors", "gb_per_s"),
    Row("scan of the vectors, values not read", "scan_vectors_untouched", "gb_per_s"),
    Row("new process, start to exit", "process"),
    Row("new process: open", "process", "open_us"),
    Row("new process: open + first row", "process", "first_row_us"),
    Row("anonymous memory after the first row", "rss_anon_mb", "mb"),
]
OPERATIONS = list(dict.fromkeys(row.operation for row in ROWS))
BANDWIDTHS = ["bandwidth_heap", "bandwidth_mapped"]

Answers = dict[str, list[dict]]
"""Of one worker: its answers to each operation, one per pass."""


class Worker:
    """A worker process that serves (worker.py says how), and its answers."""

    def __init__(self, name: str, operations: list[str], command: list[str | Path]):
        self.name = name
        self.answers: Answers = {operation: [] for operation in operations}
        self.process = subprocess.Popen(
            [*command, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def measure(self, operation: str) -> None:
        """Ask for one measurement of `operation`."""
        self.process.stdin.write(operation + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended while it measured {operation}")
        self.answers[operation].append(json.loads(line))

    def close(self) -> None:
        """End the process: its standard input ends."""
        self.process.stdin.close()
        self.process.wait()


def figure(answers: Answers, operation: str, key: str) -> float | None:
    """The median over the passes; None if the worker does not measure this."""
    values = [answer[key] for answer in answers[operation] if key in answer]
    return statistics.median(values) if values else None


def amount(value: float, unit: str) -> str:
    """`value` to three digits, with its unit."""
    decimals = max(0, 2 - math.floor(math.log10(value)))
    return f"{value:,.{decimals}f} {unit}"


def duration(microseconds: float) -> str:
    """A time, in µs or ms."""
    if microseconds < 1000:
        return amount(microseconds, "µs")
    return amount(microseconds / 1000, "ms")


def cell(answers: Answers, row: Row) -> str:
    """What the table shows of one worker in one row."""
    value = figure(answers, row.operation, row.key)
    if value is None:
        return "–"
    if row.key == "gb_per_s":
        return amount(value, "GB/s")
    if row.key == "mb":
        return amount(value, "MB")
    if row.key == "median_us":
        return f"{duration(value)} (p99 {duration(figure(answers, row.operation, 'p99_us'))})"
    return duration(value)


def advantage(pylance: Answers, lancet: Answers, row: Row) -> str:
    """How many times lancet is better: faster, or smaller."""
    theirs = figure(pylance, row.operation, row.key)
    ours = figure(lancet, row.operation, row.key)
    if not theirs or not ours:
        return "–"
    ratio = ours / theirs if row.key == "gb_per_s" else theirs / ours
    return amount(ratio, "×")


def markdown(pylance: Worker, lancet: Worker, bandwidth: Worker) -> str:
    """The table, and under it what the machine can do."""
    lines = [f"| | {pylance.name} | {lancet.name} | ratio |", "|---|---:|---:|---:|"]
    for row in ROWS:
        cells = [
            row.label,
            cell(pylance.answers, row),
            cell(lancet.answers, row),
            advantage(pylance.answers, lancet.answers, row),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    heap, mapped = (figure(bandwidth.answers, name, "gb_per_s") for name in BANDWIDTHS)
    lines.append("")
    lines.append(
        f"A numpy maximum over the same vectors, on one thread: {amount(heap, 'GB/s')} in memory, "
        f"{amount(mapped, 'GB/s')} in a mapped file."
    )
    return "\n".join(lines)


def pylance_version(python: str) -> str:
    """The version that the interpreter `python` has installed."""
    code = "from importlib.metadata import version; print(version('pylance'))"
    return subprocess.check_output([python, "-c", code], text=True).strip()


def main() -> None:
    """Read the command line, let the workers take turns, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a set that prepare.py made")
    parser.add_argument("--lancet-bench", type=Path, required=True, help="lancet-read-bench")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with pylance")
    parser.add_argument("--passes", type=int, default=5)
    options = parser.parse_args()

    python, folder = options.python, options.folder
    dataset = [folder / "plain.lance", "--rows-dir", folder]
    pylance = Worker(
        f"pylance {pylance_version(python)}",
        OPERATIONS,
        [python, HERE / "pylance_read.py", *dataset],
    )
    lancet = Worker("lancet", OPERATIONS, [options.lancet_bench.resolve(), *dataset])
    numpy = Worker("numpy", BANDWIDTHS, [python, HERE / "bandwidth.py", folder])
    workers = [pylance, lancet, numpy]
    for _ in range(options.passes):
        for operation in OPERATIONS + BANDWIDTHS:
            for worker in workers:
                if operation in worker.answers:
                    worker.measure(operation)
    for worker in workers:
        worker.close()
    print(markdown(pylance, lancet, numpy))


if __name__ == "__main__":
    main()
