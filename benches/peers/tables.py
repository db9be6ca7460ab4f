"""Make datasets that are large in other ways than rows: versions, fragments, row ids.

python tables.py --out DIR

- `versions.lance`: 10,000 versions of a small table
- `fragments.lance`: 2,000 fragments
- `row-ids.lance`: 10,000,000 rows with stable row ids in 1,000 fragments, of which every eleventh
  row was deleted and the fragments compacted: 2,000 fragments whose id sequences have holes
"""

import argparse
import shutil
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa

VERSIONS = 10_000
FRAGMENTS = 2_000
ROWS = 10_000_000
ROW_ID_FRAGMENTS = 1_000


def numbers(count: int) -> pa.Table:
    """A table of one column, `id`, that counts up."""
    return pa.table({"id": pa.array(np.arange(count, dtype=np.int64))})


def versions(path: Path) -> None:
    """Commit over and over: each commit changes one setting."""
    dataset = lance.write_dataset(numbers(10), path)
    for number in range(VERSIONS - 1):
        dataset.update_config({"number": str(number)})


def fragments(path: Path) -> None:
    """Write small files."""
    lance.write_dataset(numbers(FRAGMENTS * 10), path, max_rows_per_file=10, max_rows_per_group=10)


def row_ids(path: Path) -> None:
    """Delete every eleventh row and compact: each fragment becomes two."""
    per_fragment = ROWS // ROW_ID_FRAGMENTS
    dataset = lance.write_dataset(
        numbers(ROWS), path, max_rows_per_file=per_fragment, enable_stable_row_ids=True
    )
    dataset.delete("id % 11 = 5")
    dataset.optimize.compact_files(
        target_rows_per_fragment=per_fragment // 2, materialize_deletions_threshold=0.0
    )


MAKERS = {"versions": versions, "fragments": fragments, "row-ids": row_ids}


def main() -> None:
    """Read the command line and make what is not there yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for the datasets")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, make in MAKERS.items():
        path = options.out / f"{name}.lance"
        if path.exists():
            continue
        partial = options.out / f"{name}.partial.lance"
        shutil.rmtree(partial, ignore_errors=True)
        make(partial)
        partial.rename(path)
        print(path)


if __name__ == "__main__":
    main()
