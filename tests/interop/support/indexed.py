"""Random histories of datasets with scalar indices, made by pylance."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
from lance.indices import IndexConfig

from .indexed_columns import KEY, Column, Columns
from .indexed_kinds import all_kinds

PARAMETERS: dict[str, dict[str, tuple[Any, ...]]] = {
    "BTREE": {"zone_size": (2, 17, 100, 4096)},
    "BITMAP": {},
    "ZONEMAP": {"rows_per_zone": (1, 3, 16, 100, 8192)},
    "BLOOMFILTER": {
        "number_of_items": (5, 20, 100, 8192),
        "probability": (0.2, 0.01, 0.0006),
    },
    "LABEL_LIST": {},
    "NGRAM": {},
}


@dataclass
class IndexedHistory:
    """A dataset, its columns and what happened to it."""

    path: Path
    r: random.Random
    storage_version: str
    stable_row_ids: bool
    columns: Columns
    next_key: int = 0
    names: int = 0
    indices: list[tuple[str, str, str]] = field(default_factory=list)
    """Name, path of the column, and type, of each index made so far."""
    log: list[str] = field(default_factory=list)
    only: str | None = None
    """The one type of indices that are made, if not all."""
    defers: bool = False
    """Whether it is compacted often, with indices that are told and with such that are not."""
    earlier: dict[int, tuple[Columns, list[tuple[str, str, str]]]] = field(default_factory=dict)
    """The columns and indices of versions that may be asked about later, or restored."""

    def __str__(self) -> str:
        ids = "stable row ids" if self.stable_row_ids else "row addresses"
        kinds = ", ".join(
            f"{c.path} {c.kind.name} {c.layout} {len(c.values)} values"
            f"{f' nulls {c.nulls}' if c.is_nullable else ''}"
            for c in self.columns.all
        )
        return f"storage {self.storage_version}, {ids}; {kinds}; {', '.join(self.log)}"

    def create(self, rows: int) -> None:
        """The first version."""
        fragments = self.r.choice([1, 2, 4])
        lance.write_dataset(
            self.new_rows(rows),
            self.path,
            data_storage_version=self.storage_version,
            enable_stable_row_ids=self.stable_row_ids,
            max_rows_per_file=-(-rows // fragments),
        )
        self.log[-1] += f"({rows} rows, {fragments} fragments)"

    def dataset(self) -> lance.LanceDataset:
        """The newest version."""
        return lance.dataset(self.path)

    def remember(self) -> None:
        """Keeps what the newest version has."""
        self.earlier[self.dataset().version] = (self.columns, list(self.indices))

    def go_back(self, version: int) -> None:
        """Takes the columns and indices of an earlier version."""
        self.columns, indices = self.earlier[version]
        self.indices = list(indices)

    def new_rows(self, rows: int) -> pa.Table:
        """Rows with new keys."""
        keys = list(range(self.next_key, self.next_key + rows))
        self.next_key += rows
        return self.columns.table(keys, self.r)

    def top_level(self) -> list[Column]:
        """The columns that lie in no struct."""
        return [column for column in self.columns.all if "." not in column.path]


def create_index(h: IndexedHistory) -> None:
    """An index of any type that the column takes, perhaps beside others on it."""
    column = h.r.choice(h.columns.all)
    kind = h.only or h.r.choice(column.kind.indices)
    parameters = {
        name: h.r.choice(choices)
        for name, choices in PARAMETERS[kind].items()
        if h.r.random() < 0.8
    }
    h.names += 1
    name = f"i{h.names}"
    h.log[-1] += f"({name}: {kind} {column.path} {parameters})"
    # The checks of types behind the plain names refuse more than Lance does.
    has_plain_name = kind in ("LABEL_LIST", "NGRAM")
    config = kind if has_plain_name else IndexConfig(kind.lower(), parameters)
    h.dataset().create_scalar_index(column.path, config, name=name)
    h.indices.append((name, column.path, kind))


def drop_index(h: IndexedHistory) -> None:
    """One index less."""
    if h.indices:
        name = h.indices.pop(h.r.randrange(len(h.indices)))[0]
        h.log[-1] += f"({name})"
        h.dataset().drop_index(name)


def append(h: IndexedHistory) -> None:
    """New rows, that no index covers."""
    rows = h.r.choice([1, 20, 150])
    h.log[-1] += f"({rows})"
    lance.write_dataset(h.new_rows(rows), h.dataset(), mode="append")


def delete(h: IndexedHistory) -> None:
    """From one row to most of a fragment."""
    key = h.r.randrange(h.next_key)
    predicate = h.r.choice(
        [
            f"{KEY} = {key}",
            f"{KEY} % {h.r.randrange(2, 9)} = 1",
            f"{KEY} >= {key} AND {KEY} < {key + h.r.randrange(1, 200)}",
        ]
    )
    h.log[-1] += f"({predicate})"
    h.dataset().delete(predicate)


def update(h: IndexedHistory) -> None:
    """One value for some rows of a column; Lance moves the rows to a new fragment."""
    column = h.r.choice([c for c in h.top_level() if c.kind.has_literals] or [None])
    if column is None:
        return
    value = h.r.choice(column.values)
    if column.is_nullable and h.r.random() < 0.2:
        value = None
    where = f"{KEY} % {h.r.randrange(2, 12)} = 0"
    h.log[-1] += f"({column.path} = {column.kind.literal(value)} where {where})"
    h.dataset().update({column.path: column.kind.literal(value)}, where=where)


def merge_insert(h: IndexedHistory) -> None:
    """Rows with old and new keys; the old ones are replaced, or some of their columns."""
    old = h.dataset().to_table(columns=[KEY])[KEY].to_pylist()
    keys = h.r.sample(old, min(len(old), h.r.randrange(1, 60)))
    if h.r.random() < 0.3 and keys:
        names = h.r.sample([column.path for column in h.top_level()], 2)
        h.log[-1] += f"({len(keys)} old, only {names})"
        rows = h.columns.table(keys, h.r).select([KEY, *names])
        h.dataset().merge_insert(KEY).when_matched_update_all().execute(rows)
        return
    new = h.r.choice([0, 0, 1, 30])
    keys += range(h.next_key, h.next_key + new)
    h.next_key += new
    if keys:
        h.log[-1] += f"({len(keys) - new} old, {new} new)"
        merge = h.dataset().merge_insert(KEY).when_matched_update_all()
        merge.when_not_matched_insert_all().execute(h.columns.table(keys, h.r))


def rename(h: IndexedHistory) -> None:
    """Another name for a column; its indices stay."""
    column = h.r.choice(h.top_level())
    h.names += 1
    name = f"renamed{h.names}"
    h.log[-1] += f"({column.path} to {name})"
    h.dataset().alter_columns({"path": column.path, "name": name})
    h.columns = h.columns.renamed(column, name)
    h.indices = [
        (index, name if path == column.path else path, kind) for index, path, kind in h.indices
    ]


def add_column(h: IndexedHistory) -> None:
    """A column of nulls that no file holds."""
    h.names += 1
    column = Column.any(f"added{h.names}", h.r.choice(all_kinds()), h.r)
    column = replace(column, nulls=max(column.nulls, 0.0))
    h.log[-1] += f"({column.path} {column.kind.name})"
    h.dataset().add_columns(column.field)
    h.columns = replace(h.columns, all=(*h.columns.all, column))


def write_column(h: IndexedHistory) -> None:
    """A new column with values for all rows, in files of its own."""
    column = h.r.choice(h.top_level())
    h.names += 1
    column = replace(column, path=f"again{h.names}", nulls=max(column.nulls, 0.0))
    keys = h.dataset().to_table(columns=[KEY])[KEY].to_pylist()
    if h.r.random() < 0.3:
        h.r.shuffle(keys)
    rows = pa.table(
        [pa.array(keys, pa.int64()), column.array(len(keys), h.r)],
        pa.schema([pa.field(KEY, pa.int64(), nullable=False), column.field]),
    )
    h.log[-1] += f"({column.path} {column.kind.name})"
    h.dataset().merge(rows, KEY)
    h.columns = replace(h.columns, all=(*h.top_level(), column, *h.columns.in_structs()))


def restore(h: IndexedHistory) -> None:
    """An earlier version is the newest one again."""
    if h.earlier:
        version = h.r.choice(list(h.earlier))
        h.log[-1] += f"({version})"
        lance.dataset(h.path, version=version).restore()
        h.go_back(version)


def compact(h: IndexedHistory) -> None:
    """Fragments together; the indices follow at once."""
    _compact(h, {})


def defer(h: IndexedHistory) -> None:
    """Fragments together; where the rows of indices went is left to readers."""
    if not h.stable_row_ids:
        _compact(h, {"defer_index_remap": True})


def _compact(h: IndexedHistory, options: dict[str, Any]) -> None:
    options["target_rows_per_fragment"] = h.r.choice([100, 400, 400, 1000, 100_000])
    options["materialize_deletions_threshold"] = h.r.choice([0.0, 0.0, 0.5])
    h.log[-1] += f"({options})"
    before = [fragment.fragment_id for fragment in h.dataset().get_fragments()]
    h.dataset().optimize.compact_files(**options)
    after = [fragment.fragment_id for fragment in h.dataset().get_fragments()]
    h.log[-1] += f" {before} to {after}"


def rewrite(h: IndexedHistory) -> None:
    """New values for a column of a fragment, in place: its rows stay where they are.

    Not of a list: pylance goes on to count the fragment as covered by an index on it.
    """
    column = h.r.choice([c for c in h.top_level() if not c.kind.is_list] or [None])
    if column is None:
        return
    fragment = h.r.choice(h.dataset().get_fragments())
    keys = fragment.to_table(columns=[KEY])[KEY].to_pylist()
    keys = h.r.sample(keys, min(len(keys), h.r.randrange(1, 40)))
    rows = pa.table(
        [pa.array(keys, pa.int64()), column.array(len(keys), h.r)],
        pa.schema([pa.field(KEY, pa.int64(), nullable=False), column.field]),
    )
    h.log[-1] += f"({column.path} of {len(keys)} rows of fragment {fragment.fragment_id})"
    updated, fields = fragment.update_columns(rows, left_on=KEY, right_on=KEY)
    operation = lance.LanceOperation.Update(updated_fragments=[updated], fields_modified=fields)
    lance.LanceDataset.commit(h.path, operation, read_version=h.dataset().version)


def optimize(h: IndexedHistory) -> None:
    """New rows into the indices: as segments of their own, or merged into the newest."""
    options = h.r.choice([{}, {"num_indices_to_merge": 0}, {"num_indices_to_merge": 0}])
    h.log[-1] += f"({options})"
    h.dataset().optimize.optimize_indices(**options)


CHANGES: dict[Callable[[IndexedHistory], None], int] = {
    create_index: 4,
    drop_index: 1,
    append: 4,
    delete: 4,
    update: 4,
    merge_insert: 4,
    rewrite: 2,
    compact: 3,
    defer: 2,
    optimize: 5,
    rename: 1,
    add_column: 1,
    write_column: 2,
    restore: 2,
}
"""Every change and how often it is made."""

OFTEN = {compact: 8, defer: 12, optimize: 8}
"""The changes that are made more often where indices are left behind."""


def any_change(h: IndexedHistory) -> Callable[[IndexedHistory], None]:
    """A random change."""
    weights = CHANGES | OFTEN if h.defers else CHANGES
    return h.r.choices(list(weights), list(weights.values()))[0]
