"""How long pylance takes for queries that scalar indices answer.

python pylance_scalar.py DATASET QUERIES --serve

QUERIES is a file of operations (scalar_queries.py).
"""

import argparse
import math
import statistics
import sys
from pathlib import Path
from time import perf_counter

import lance

import scalar_queries
from scalar_queries import Operation
from worker import run

LEAST_ROUNDS = 400
LONGEST = 1.5
"""Seconds for an operation, after which there are no more rounds."""


def ask(dataset: lance.LanceDataset, operation: Operation, condition: str) -> int:
    """One query; the number of its rows."""
    if not operation.columns:
        return dataset.count_rows(filter=condition)
    columns = list(operation.columns)
    return dataset.scanner(columns=columns, filter=condition).to_table().num_rows


def measure(dataset: lance.LanceDataset, operation: Operation) -> dict:
    """Wall-clock time of one query, after a round of all of them."""
    filters = operation.filters()
    rows = [ask(dataset, operation, condition) for condition in filters]
    seconds: list[float] = []
    began = perf_counter()
    while len(seconds) < LEAST_ROUNDS and perf_counter() - began < LONGEST:
        condition = filters[len(seconds) % len(filters)]
        start = perf_counter()
        ask(dataset, operation, condition)
        seconds.append(perf_counter() - start)
    seconds.sort()
    return {
        "median_us": round(statistics.median(seconds) * 1e6, 2),
        "p99_us": round(seconds[math.ceil(0.99 * len(seconds)) - 1] * 1e6, 2),
        "rounds": len(seconds),
        "rows": sum(rows),
    }


def main() -> None:
    """Read the command line and measure what standard input asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--serve", action="store_true", help="measure what standard input asks for")
    options = parser.parse_args()
    if not options.serve:
        sys.exit("this worker only serves")
    dataset = lance.dataset(options.dataset)
    queries = scalar_queries.read(options.queries)
    operations = {
        name: lambda operation=operation: measure(dataset, operation)
        for name, operation in queries.items()
    }
    run(operations, True)


if __name__ == "__main__":
    main()
