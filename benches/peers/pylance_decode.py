"""How fast pylance scans single columns.

python pylance_decode.py DIR [--serve]

DIR is what columns.py made. An operation is `VERSION/KIND`: a scan of that dataset, batch by batch
of 8,192 rows, without looking at the values.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import lance

from worker import latency, run

BATCH = 8192
ROUNDS = 5


def scan(dataset: lance.LanceDataset) -> int:
    """Read all rows; how many there are."""
    return sum(batch.num_rows for batch in dataset.scanner(batch_size=BATCH).to_batches())


def measure(folder: Path, name: str) -> Callable[[], dict]:
    """The measurement of one column."""

    def scan_again_and_again() -> dict:
        dataset = lance.dataset(folder / f"{name}.lance")
        return latency(lambda: scan(dataset), ROUNDS)

    return scan_again_and_again


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a folder that columns.py made")
    parser.add_argument("--serve", action="store_true", help="measure what standard input asks for")
    options = parser.parse_args()
    columns = json.loads((options.folder / "columns.json").read_text())
    names = [f"{column['version']}/{column['kind']}" for column in columns]
    run({name: measure(options.folder, name) for name in names}, options.serve)


if __name__ == "__main__":
    main()
