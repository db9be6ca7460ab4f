"""Datasets whose columns have many small pages.

pylance closes a page when 8 MiB are buffered; only its writer of single files lets that be less.
So the file is written alone, with the column numbers of a dataset of one row, and then committed.
"""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import lance
import pyarrow as pa
from lance.file import LanceFileWriter
from lance.fragment import DataFile, FragmentMetadata

BUFFERED_BYTES = 2000
FILE = "pages.lance"


def write_small_pages(batches: Sequence[pa.RecordBatch], path: Path, storage_version: str) -> None:
    """Writes a dataset of one fragment; a page ends with a batch, once the buffer is full."""
    schema = batches[0].schema
    like = _data_file(batches[0].slice(0, 1), storage_version)
    file = path / "data" / FILE
    file.parent.mkdir(parents=True)
    with LanceFileWriter(
        str(file), schema, version=storage_version, data_cache_bytes=BUFFERED_BYTES
    ) as writer:
        for batch in batches:
            writer.write_batch(batch)
    data_file = DataFile(
        FILE,
        like.fields,
        like.column_indices,
        like.file_major_version,
        like.file_minor_version,
        file.stat().st_size,
    )
    fragment = FragmentMetadata(0, [data_file], sum(batch.num_rows for batch in batches))
    lance.LanceDataset.commit(path, lance.LanceOperation.Overwrite(schema, [fragment]))


def _data_file(row: pa.RecordBatch, storage_version: str) -> DataFile:
    """How the data file of a dataset with these columns is described."""
    folder = tempfile.mkdtemp()
    try:
        table = pa.Table.from_batches([row])
        dataset = lance.write_dataset(table, folder + "/x", data_storage_version=storage_version)
        return dataset.get_fragments()[0].metadata.files[0]
    finally:
        shutil.rmtree(folder)
