"""How long pylance takes for the nearest rows, with its default threads.

python pylance_vectors.py DATASET QUERIES.npy --serve
python pylance_vectors.py DATASET QUERIES.npy --first
python pylance_vectors.py DATASET QUERIES.npy --centroids OUT.npy

Operations are those of searches.py, without `batch`. With `--first` it opens the dataset and asks
one query at ten probes; `--centroids` writes those of the index.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from time import perf_counter

import lance
import numpy as np

from searches import EXACT, PROBES, QUERIES, REFINE, K, rounds
from worker import run


def statistics_of(dataset: lance.LanceDataset) -> dict:
    """Those of the vector index."""
    os.environ["LANCE_INCLUDE_VECTOR_CENTROIDS"] = "true"
    index = next(index for index in dataset.list_indices() if "vector" in index["fields"])
    return dataset.stats.index_stats(index["name"])["indices"][0]


def ask(
    dataset: lance.LanceDataset, query: np.ndarray, filter: str | None = None, **how: object
) -> list[int]:
    """One query; the ids of its rows."""
    nearest = {"column": "vector", "q": query, "k": K, **how}
    rows = {"filter": filter, "prefilter": True, "with_row_id": True}
    scanner = dataset.scanner(columns=["_distance"], nearest=nearest, **rows)
    return scanner.to_table().column("_rowid").to_pylist()


def first(path: Path, query: np.ndarray) -> dict:
    """The times of a new process: until the dataset is open, and until the query is answered."""
    start = perf_counter()
    dataset = lance.dataset(path)
    opened = perf_counter()
    ask(dataset, query, nprobes=10)
    times = (opened - start, perf_counter() - start)
    return dict(zip(("open_us", "first_query_us"), (time * 1e6 for time in times), strict=True))


def serve(dataset: lance.LanceDataset, queries: np.ndarray, filter: str) -> None:
    """Measure what standard input asks for, with a warm index."""
    metric = statistics_of(dataset)["metric_type"]
    for query in queries[:QUERIES]:
        ask(dataset, query, nprobes=PROBES[-1])

    def search(count: int, **how: object) -> dict:
        return rounds(count, lambda number: ask(dataset, queries[number], **how))

    operations = {
        f"probes/{probes}": lambda probes=probes: search(QUERIES, nprobes=probes)
        for probes in PROBES
    }
    operations["refine/10"] = lambda: search(QUERIES, nprobes=10, refine_factor=REFINE)
    operations["filtered/20"] = lambda: search(QUERIES, nprobes=20, filter=filter)
    operations["exact"] = lambda: search(EXACT, use_index=False, metric=metric)
    run(operations, True)


def main() -> None:
    """Read the command line, and do what it says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--serve", action="store_true", help="measure what standard input asks for")
    parser.add_argument("--first", action="store_true", help="the times of a new process")
    parser.add_argument("--centroids", type=Path, help="write those of the index")
    options = parser.parse_args()
    queries = np.load(options.queries, mmap_mode="r")
    if options.first:
        print(json.dumps(first(options.dataset, np.array(queries[0]))))
    elif options.centroids:
        centroids = statistics_of(lance.dataset(options.dataset))["centroids"]
        np.save(options.centroids, np.asarray(centroids, np.float32))
    elif options.serve:
        filter = (options.dataset.parent / "filter.sql").read_text()
        serve(lance.dataset(options.dataset), np.array(queries), filter)
    else:
        sys.exit("this worker only serves")


if __name__ == "__main__":
    main()
