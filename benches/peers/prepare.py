"""Make the benchmark data under a folder, the same on every machine.

python prepare.py --out DIR                  # 1,000,000 rows: 1.1 GB, half a minute
python prepare.py --out DIR --rows 50000     # quick: 53 MB

DIR/sift/base.npy       the vectors, [rows, 128] f32
DIR/sift/plain.lance    the dataset, in four fragments, with scalar indices and no vector index
DIR/sift/rows-{n}.u64   the rows that takes ask for (rows.py)
"""

import argparse
import shutil
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa

import rows
from sift import Mixture
from table import table

FRAGMENTS = 4
SCALAR_INDICES = {
    "id": "BTREE",
    "id_or_null": "BTREE",
    "text": "BTREE",
    "event_time_shuffled": "BTREE",
    "category": "BITMAP",
    "event_time": "ZONEMAP",
}


def write_dataset(data: pa.Table, path: Path) -> None:
    """Write `data` as a Lance dataset at `path`, in place of what lies there."""
    shutil.rmtree(path, ignore_errors=True)
    rows_per_file = -(-data.num_rows // FRAGMENTS)
    dataset = lance.write_dataset(data, path, max_rows_per_file=rows_per_file)
    for column, kind in SCALAR_INDICES.items():
        dataset.create_scalar_index(column, kind)


def make_sift(folder: Path, count: int) -> None:
    """The `sift` set of `count` rows."""
    folder.mkdir(parents=True, exist_ok=True)
    vectors = Mixture().draw(count)
    np.save(folder / "base.npy", vectors)
    write_dataset(table("sift", vectors), folder / "plain.lance")
    rows.write(folder, count)


def main() -> None:
    """Read the command line and make every set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    if options.rows < max(rows.TAKES):
        parser.error(f"--rows must be at least {max(rows.TAKES)}, the largest take")
    make_sift(options.out / "sift", options.rows)


if __name__ == "__main__":
    main()
