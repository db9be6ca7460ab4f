"""Changes of a dataset, made by pylance at random.

A change is a function of a `History`. It may do nothing when the dataset is not in a state for it.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import lance
import pyarrow as pa
import pyarrow.types as pat

from .rows import KEY, first_schema, random_table

LARGEST_APPEND = 300


@dataclass
class History:
    """A dataset and where in it the next change goes."""

    path: Path
    r: random.Random
    storage_version: str
    stable_row_ids: bool
    v2_manifest_paths: bool
    branch: str | None = None
    next_key: int = 0
    names: int = 0
    log: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        ids = "stable row ids" if self.stable_row_ids else "row addresses"
        naming = "V2" if self.v2_manifest_paths else "V1"
        return f"storage {self.storage_version}, {ids}, {naming} names: {', '.join(self.log)}"

    def create(self, rows: int) -> None:
        """The first version."""
        lance.write_dataset(
            self.new_rows(first_schema(self.storage_version), rows),
            self.path,
            data_storage_version=self.storage_version,
            enable_stable_row_ids=self.stable_row_ids,
            enable_v2_manifest_paths=self.v2_manifest_paths,
            max_rows_per_file=self.file_size(rows),
        )

    def dataset(self, version: int | None = None) -> lance.LanceDataset:
        """The newest version, or this one, of the branch that the history is on."""
        dataset = lance.dataset(self.path)
        if self.branch is None and version is None:
            return dataset
        return dataset.checkout_version((self.branch, version))

    def new_rows(self, schema: pa.Schema, rows: int) -> pa.Table:
        """Rows with new keys."""
        keys = list(range(self.next_key, self.next_key + rows))
        self.next_key += rows
        self.r.shuffle(keys)
        return random_table(schema, keys, self.r)

    def new_name(self, stem: str) -> str:
        """A name that was not there yet."""
        self.names += 1
        return f"{stem}{self.names}"

    def file_size(self, rows: int) -> int:
        """A maximum of rows per file that makes one to five fragments."""
        return max(rows // self.r.randrange(1, 5), 1)


def append(h: History) -> None:
    """New rows, of some of the columns at times."""
    schema = h.dataset().schema
    if h.r.random() < 0.2:
        optional = [field.name for field in schema if field.nullable]
        left_out = set(h.r.sample(optional, min(len(optional), 2)))
        schema = pa.schema([field for field in schema if field.name not in left_out])
    rows = h.r.choice([1, 2, h.r.randrange(1, LARGEST_APPEND)])
    table = h.new_rows(schema, rows)
    lance.write_dataset(table, h.dataset(), mode="append", max_rows_per_file=h.file_size(rows))


def delete(h: History) -> None:
    """From one row to a whole fragment."""
    dataset = h.dataset()
    key = h.r.randrange(h.next_key)
    predicates = [
        f"{KEY} = {key}",
        f"{KEY} % {h.r.randrange(2, 9)} = 1",
        f"{KEY} >= {key} AND {KEY} < {key + h.r.randrange(1, 200)}",
        f"{KEY} IN ({','.join(str(h.r.randrange(h.next_key)) for _ in range(9))})",
    ]
    dataset.delete(h.r.choice(predicates))


def delete_fragment(h: History) -> None:
    """Every row of one fragment."""
    dataset = h.dataset()
    fragments = dataset.get_fragments()
    if not fragments:
        return
    keys = h.r.choice(fragments).to_table(columns=[KEY])[KEY].to_pylist()
    if 0 < len(keys) < dataset.count_rows() or h.r.random() < 0.2:
        dataset.delete(f"{KEY} IN ({','.join(map(str, keys))})")


def update(h: History) -> None:
    """New values of one column in some rows."""
    dataset = h.dataset()
    values = {}
    for column in dataset.schema:
        if column.name != KEY and pat.is_integer(column.type):
            values[column.name] = f"{column.name} + 1"
        elif pat.is_string(column.type):
            values[column.name] = "'updated'"
    if values:
        name = h.r.choice(list(values))
        where = f"{KEY} % {h.r.randrange(1, 12)} = 0"
        dataset.update({name: values[name]}, where=where)


def merge_insert(h: History) -> None:
    """Rows with old and new keys; the old ones are replaced."""
    dataset = h.dataset()
    schema = dataset.schema
    old = dataset.to_table(columns=[KEY])[KEY].to_pylist()
    old = h.r.sample(old, min(len(old), h.r.randrange(40)))
    insert = h.r.random() < 0.7
    if not insert and h.r.random() < 0.5:  # of some columns only
        schema = pa.schema([schema.field(KEY), *(f for f in schema if f.name in ("n", "s"))])
    table = random_table(schema, old, h.r)
    if insert:
        table = pa.concat_tables([table, h.new_rows(schema, h.r.randrange(40))])
    if table.num_rows == 0:
        return
    merge = dataset.merge_insert(KEY).when_matched_update_all()
    if insert:
        merge = merge.when_not_matched_insert_all()
    if h.r.random() < 0.1:
        merge = merge.when_not_matched_by_source_delete(f"{KEY} % 3 = 0")
    merge.execute(table)


def compact(h: History) -> None:
    """Small fragments together, and fragments with many deleted rows anew."""
    target = h.r.choice([50, 300, 100_000])
    threshold = h.r.choice([0.0, 0.1, 0.9])
    h.dataset().optimize.compact_files(
        target_rows_per_fragment=target, materialize_deletions_threshold=threshold
    )


def add_computed_column(h: History) -> None:
    """A column computed from the key."""
    h.dataset().add_columns({h.new_name("c"): f"{KEY} * {h.r.randrange(2, 9)}"})


def add_null_column(h: History) -> None:
    """A column of nulls that no file holds."""
    type_ = h.r.choice([pa.string(), pa.int32(), pa.list_(pa.int16()), pa.list_(pa.float32(), 4)])
    h.dataset().add_columns(pa.field(h.new_name("null"), type_))


def merge_column(h: History) -> None:
    """A column joined by the key, with nulls where the key is missing."""
    dataset = h.dataset()
    keys = dataset.to_table(columns=[KEY])[KEY].to_pylist()
    keys = h.r.sample(keys, (len(keys) + 1) // 2)
    schema = pa.schema([(KEY, pa.int64()), (h.new_name("joined"), pa.float64())])
    if keys:
        dataset.merge(random_table(schema, keys, h.r), KEY)


def drop_column(h: History) -> None:
    """A column, or a field of a struct."""
    schema = h.dataset().schema
    paths = [f.name for f in schema if f.name != KEY]
    structs = [f for f in schema if pat.is_struct(f.type) and f.type.num_fields > 1]
    paths += [f"{f.name}.{f.type.field(0).name}" for f in structs]
    if len(paths) > 2:
        h.dataset().drop_columns([h.r.choice(paths)])


def rename_column(h: History) -> None:
    """Another name for a column."""
    names = [f.name for f in h.dataset().schema if f.name != KEY]
    if names:
        name = h.r.choice(names)
        h.dataset().alter_columns({"path": name, "name": h.new_name("renamed")})


def cast_column(h: History) -> None:
    """A wider type for a column."""
    wider = {
        pa.int32(): pa.int64(),
        pa.float32(): pa.float64(),
        pa.string(): pa.large_string(),
    }
    fields = [f for f in h.dataset().schema if f.type in wider and f.name != KEY]
    if fields:
        chosen = h.r.choice(fields)
        h.dataset().alter_columns({"path": chosen.name, "data_type": wider[chosen.type]})


def tag(h: History) -> None:
    """A tag on a random version, or an old tag moved to one."""
    dataset = h.dataset()
    version = h.r.choice(dataset.versions())["version"]
    tags = list(dataset.tags.list())
    if tags and h.r.random() < 0.3:
        dataset.tags.update(h.r.choice(tags), (h.branch, version))
    else:
        dataset.tags.create(h.new_name("tag"), (h.branch, version))


def make_branch(h: History) -> None:
    """A branch of a random version; the history goes on there."""
    name = h.new_name("branch")
    version = h.r.choice(h.dataset().versions())["version"]
    h.dataset().create_branch(name, (h.branch, version))
    h.branch = name


def switch_branch(h: History) -> None:
    """The history goes on elsewhere."""
    branches = lance.dataset(h.path).branches.list()
    h.branch = h.r.choice([None, *branches])


def restore(h: History) -> None:
    """An old version once more."""
    version = h.r.choice(h.dataset().versions())["version"]
    h.dataset(version).restore()


def overwrite(h: History) -> None:
    """All rows anew, with the first schema."""
    rows = h.r.randrange(1, LARGEST_APPEND)
    table = h.new_rows(first_schema(h.storage_version), rows)
    lance.write_dataset(table, h.dataset(), mode="overwrite", max_rows_per_file=h.file_size(rows))


def create_index(h: History) -> None:
    """A scalar index."""
    h.dataset().create_scalar_index(KEY, "BTREE", replace=True)


def clean_up(h: History) -> None:
    """Old versions removed."""
    h.dataset().cleanup_old_versions(timedelta(0), error_if_tagged_old_versions=False)


def migrate_names(h: History) -> None:
    """V1 manifest names become V2 names."""
    lance.dataset(h.path).migrate_manifest_paths_v2()


CHANGES: dict[Callable[[History], None], int] = {
    append: 6,
    delete: 6,
    delete_fragment: 2,
    update: 4,
    merge_insert: 5,
    compact: 3,
    add_computed_column: 2,
    add_null_column: 2,
    merge_column: 1,
    drop_column: 2,
    rename_column: 1,
    cast_column: 1,
    tag: 1,
    make_branch: 1,
    switch_branch: 1,
    restore: 1,
    overwrite: 1,
    create_index: 1,
    clean_up: 1,
    migrate_names: 1,
}
"""Every change and how often it is made."""
