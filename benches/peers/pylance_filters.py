"""How long pylance takes for filtered scans that use no index.

python pylance_filters.py DATASET --serve

An operation is `COLUMNS where FILTER`, or `count where FILTER`.
"""

import argparse
import sys
from pathlib import Path

import lance

from worker import latency, run

ROUNDS = 9


def once(dataset: lance.LanceDataset, columns: str, condition: str) -> None:
    """Count the rows that the filter leaves, or read all of them."""
    if columns == "count":
        dataset.scanner(filter=condition, use_scalar_index=False).count_rows()
        return
    for _ in dataset.scanner(
        columns=columns.split(","), filter=condition, use_scalar_index=False
    ).to_batches():
        pass


class Operations(dict):
    """Any operation, measured when it is asked for."""

    def __init__(self, dataset: lance.LanceDataset):
        super().__init__()
        self.dataset = dataset

    def get(self, name: str, default: object = None) -> object:
        """The measurement of `name`, if it is an operation."""
        columns, where, condition = name.partition(" where ")
        if not where:
            return default
        return lambda: latency(lambda: once(self.dataset, columns, condition), ROUNDS)


def main() -> None:
    """Read the command line and measure what standard input asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--serve", action="store_true", help="measure what standard input asks for")
    options = parser.parse_args()
    if not options.serve:
        sys.exit("this worker only serves")
    run(Operations(lance.dataset(options.dataset)), True)


if __name__ == "__main__":
    main()
