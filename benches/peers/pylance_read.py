"""The read path of the installed pylance over one dataset: open, first row, take, scan.

python pylance_read.py DATASET [--rows-dir DIR] [--serve]

Prints one JSON line per operation; README.md says what each of them does. `--once` is the new
process that `process` and `rss_anon_mb` start: it opens the dataset, reads the first row, exits.
"""

import argparse
import json
import statistics
import subprocess
import sys
from itertools import cycle
from pathlib import Path
from time import perf_counter

import lance

import rows
from worker import Measure, latency, run, throughput

COLUMNS = ["id", "text", "event_time"]


def first_row(dataset: lance.LanceDataset) -> None:
    """Read the first row of three columns."""
    dataset.take([0], columns=COLUMNS)


def open_and_read_first_row(path: Path) -> None:
    """Open the dataset anew and read its first row."""
    first_row(lance.dataset(path))


def scan_vectors(dataset: lance.LanceDataset) -> None:
    """Scan the vector column and look at every value."""
    for batch in dataset.scanner(columns=["vector"]).to_batches():
        batch.column("vector").flatten().to_numpy().max()


def scan_vectors_untouched(dataset: lance.LanceDataset) -> None:
    """Scan the vector column without looking at the values."""
    for _ in dataset.scanner(columns=["vector"]).to_batches():
        pass


def once(path: Path) -> dict:
    """What a new process does, and what it then knows about itself."""
    start = perf_counter()
    dataset = lance.dataset(path)
    opened = perf_counter()
    first_row(dataset)
    done = perf_counter()
    return {
        "open_us": round((opened - start) * 1e6, 2),
        "first_row_us": round((done - start) * 1e6, 2),
        "rss_anon_mb": anonymous_resident_mb(),
    }


def anonymous_resident_mb() -> float:
    """Resident memory of this process that no file backs, in 10^6 bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "RssAnon":
            return round(int(value.split()[0]) * 1024 / 1e6, 2)
    raise RuntimeError("/proc/self/status has no RssAnon")


def new_process(path: Path) -> dict:
    """Run `once` in a new process."""
    command = [sys.executable, __file__, str(path), "--once"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def process(path: Path, rounds: int) -> dict:
    """Time of a whole new process, and beside it the medians of what it timed itself."""
    answers: list[dict] = []
    whole = latency(lambda: answers.append(new_process(path)), rounds)
    inside = {
        key: statistics.median(answer[key] for answer in answers[-rounds:])
        for key in ("open_us", "first_row_us")
    }
    return whole | inside


def read_operations(path: Path, rows_dir: Path) -> dict[str, Measure]:
    """Every operation of the read path, with its number of rounds."""
    dataset = lance.dataset(path)
    vector_bytes = dataset.count_rows() * dataset.schema.field("vector").type.list_size * 4

    def take(n: int, columns: list[str], rounds: int) -> Measure:
        takes = cycle(rows.read(rows_dir, n))
        return lambda: latency(lambda: dataset.take(next(takes), columns=columns), rounds)

    return {
        "open": lambda: latency(lambda: lance.dataset(path), 100),
        "first_row": lambda: latency(lambda: open_and_read_first_row(path), 100),
        "take_1": take(1, COLUMNS, 200),
        "take_100": take(100, COLUMNS, 50),
        "take_10000_vectors": take(10_000, ["vector"], 7),
        "scan_vectors": lambda: throughput(lambda: scan_vectors(dataset), vector_bytes, 3),
        "scan_vectors_untouched": lambda: throughput(
            lambda: scan_vectors_untouched(dataset), vector_bytes, 3
        ),
        "process": lambda: process(path, 5),
        "rss_anon_mb": lambda: {"mb": new_process(path)["rss_anon_mb"]},
    }


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--rows-dir", type=Path, help="default: the folder of the dataset")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--serve", action="store_true", help="measure what standard input asks for")
    mode.add_argument("--once", action="store_true", help="be the new process")
    options = parser.parse_args()
    if options.once:
        print(json.dumps(once(options.dataset)))
    else:
        rows_dir = options.rows_dir or options.dataset.parent
        run(read_operations(options.dataset, rows_dir), options.serve)


if __name__ == "__main__":
    main()
