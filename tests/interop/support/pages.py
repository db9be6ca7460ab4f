"""Datasets whose columns have many small pages.

pylance closes a page when 8 MiB are buffered; only its writer of single files lets that be less.
So the file is written alone, with the column numbers of a dataset of one row, and then committed.
"""

import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
from lance.file import LanceFileWriter
from lance.fragment import FragmentMetadata

BUFFERED_BYTES = 2000
FILE = "pages.lance"


def write_small_pages(batches: Sequence[pa.RecordBatch], path: Path, storage_version: str) -> None:
    """Writes a dataset of one fragment; a page ends with a batch, once the buffer is full."""
    schema = batches[0].schema
    fragment = _fragment(batches[0].slice(0, 1), storage_version)
    file = path / "data" / FILE
    file.parent.mkdir(parents=True)
    with LanceFileWriter(
        str(file), schema, version=storage_version, data_cache_bytes=BUFFERED_BYTES
    ) as writer:
        for batch in batches:
            writer.write_batch(batch)
    (data_file,) = fragment["files"]
    data_file["path"] = FILE
    if "file_size_bytes" in data_file:
        data_file["file_size_bytes"] = file.stat().st_size
    fragment["physical_rows"] = sum(batch.num_rows for batch in batches)
    fragments = [FragmentMetadata.from_json(json.dumps(fragment))]
    lance.LanceDataset.commit(path, lance.LanceOperation.Overwrite(schema, fragments))


def _fragment(row: pa.RecordBatch, storage_version: str) -> dict[str, Any]:
    """How the one fragment of a dataset with these columns is described."""
    folder = tempfile.mkdtemp()
    try:
        table = pa.Table.from_batches([row])
        dataset = lance.write_dataset(table, folder + "/x", data_storage_version=storage_version)
        return dataset.get_fragments()[0].metadata.to_json()
    finally:
        shutil.rmtree(folder)
