"""Make the benchmark data under a folder, the same on every machine.

python prepare.py --out DIR                  # 1,000,000 rows: 1.1 GB, half a minute
python prepare.py --out DIR --rows 50000     # quick: 53 MB
python prepare.py --out DIR --vectors        # with vector indices, and more sets: 5.5 GB

DIR/sift/base.npy       the vectors, [rows, 128] f32
DIR/sift/plain.lance    the dataset, in four fragments, with scalar indices and no vector index
DIR/sift/rows-{n}.u64   the rows that takes ask for (rows.py)

and with `--vectors`, for the sets `sift`, `glove` and `wide`:

DIR/SET/queries.npy         vectors that are not in the dataset
DIR/SET/truth.npy           their nearest rows (truth.py)
DIR/SET/filter.sql          a filter that holds for 1 % of the rows
DIR/SET/filtered.npy        the numbers of those, in order
DIR/SET/filtered-truth.npy  the nearest among them
DIR/SET/KIND.lance          the dataset with a vector index, KIND being one of VECTOR_INDICES
"""

import argparse
import shutil
from dataclasses import dataclass
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa

import glove
import rows
import truth
from sift import Mixture
from table import one_in_a_hundred, table

FRAGMENTS = 4
SCALAR_INDICES = {
    "id": "BTREE",
    "id_or_null": "BTREE",
    "text": "BTREE",
    "event_time_shuffled": "BTREE",
    "category": "BITMAP",
    "event_time": "ZONEMAP",
}
VECTOR_INDICES = {
    "ivf_flat": {"index_type": "IVF_FLAT"},
    "ivf_pq": {"index_type": "IVF_PQ"},
    "ivf_pq4": {"index_type": "IVF_PQ", "num_bits": 4},
    "ivf_sq": {"index_type": "IVF_SQ"},
}
QUERIES = 10_000


@dataclass(frozen=True)
class VectorSet:
    """A set that gets vector indices. PQ with 4 bits has twice as many sub-vectors as with 8."""

    name: str
    metric: str
    partitions: int
    sub_vectors: int
    kinds: tuple[str, ...] = tuple(VECTOR_INDICES)

    def arguments(self, kind: str) -> dict:
        """What pylance's `create_index` is given."""
        arguments = {"metric": self.metric, "num_partitions": self.partitions}
        arguments |= VECTOR_INDICES[kind]
        if arguments["index_type"] == "IVF_PQ":
            twice = arguments.get("num_bits") == 4
            arguments["num_sub_vectors"] = self.sub_vectors * (2 if twice else 1)
        return arguments


SIFT = VectorSet("sift", "l2", partitions=1024, sub_vectors=16)
GLOVE = VectorSet("glove", "cosine", partitions=512, sub_vectors=25)
WIDE = VectorSet("wide", "cosine", partitions=256, sub_vectors=48, kinds=("ivf_pq",))
WIDE_ROWS = 62_681


def write_dataset(data: pa.Table, path: Path) -> lance.LanceDataset:
    """Write `data` as a Lance dataset at `path`, in place of what lies there."""
    shutil.rmtree(path, ignore_errors=True)
    rows_per_file = -(-data.num_rows // FRAGMENTS)
    dataset = lance.write_dataset(data, path, max_rows_per_file=rows_per_file)
    for column, kind in SCALAR_INDICES.items():
        dataset.create_scalar_index(column, kind)
    return dataset


def write_filter(
    folder: Path, of: VectorSet, data: pa.Table, vectors: np.ndarray, queries: np.ndarray
) -> None:
    """A filter, the rows that it holds for, and the truth among them."""
    condition, numbers = one_in_a_hundred(data)
    (folder / "filter.sql").write_text(condition)
    np.save(folder / "filtered.npy", numbers)
    nearest = truth.nearest(vectors[numbers], queries, of.metric)
    np.save(folder / "filtered-truth.npy", numbers[nearest])


def write_vector_datasets(
    folder: Path, of: VectorSet, data: pa.Table, vectors: np.ndarray, queries: np.ndarray
) -> None:
    """The queries with their truth, and a dataset for each kind of vector index."""
    np.save(folder / "queries.npy", queries)
    np.save(folder / "truth.npy", truth.nearest(vectors, queries, of.metric))
    write_filter(folder, of, data, vectors, queries)
    for kind in of.kinds:
        dataset = write_dataset(data, folder / f"{kind}.lance")
        dataset.create_index("vector", **of.arguments(kind))
        print(f"{of.name} {kind}", flush=True)


def make_sift(folder: Path, count: int, with_indices: bool) -> None:
    """The `sift` set of `count` rows."""
    folder.mkdir(parents=True, exist_ok=True)
    mixture = Mixture(dimension=128)
    vectors = mixture.draw(count)
    np.save(folder / "base.npy", vectors)
    data = table(SIFT.name, vectors)
    write_dataset(data, folder / "plain.lance")
    rows.write(folder, count)
    if with_indices:
        write_vector_datasets(folder, SIFT, data, vectors, mixture.draw(QUERIES))


def make_glove(folder: Path) -> None:
    """The `glove` set."""
    folder.mkdir(parents=True, exist_ok=True)
    vectors, words, queries = glove.read(glove.fetch(folder))
    np.save(folder / "base.npy", vectors)
    write_vector_datasets(folder, GLOVE, table(GLOVE.name, vectors, words), vectors, queries)


def make_wide(folder: Path) -> None:
    """The `wide` set."""
    folder.mkdir(parents=True, exist_ok=True)
    mixture = Mixture(dimension=384)
    vectors = mixture.draw(WIDE_ROWS)
    np.save(folder / "base.npy", vectors)
    data = table(WIDE.name, vectors)
    write_vector_datasets(folder, WIDE, data, vectors, mixture.draw(QUERIES))


def main() -> None:
    """Read the command line and make every set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--vectors", action="store_true", help="vector indices as well")
    options = parser.parse_args()
    if options.rows < max(rows.TAKES):
        parser.error(f"--rows must be at least {max(rows.TAKES)}, the largest take")
    make_sift(options.out / "sift", options.rows, options.vectors)
    if options.vectors:
        make_glove(options.out / "glove")
        make_wide(options.out / "wide")


if __name__ == "__main__":
    main()
