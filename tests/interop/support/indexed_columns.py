"""Random schemas whose columns may be indexed, and their rows.

A column is clustered or shuffled, has few or many distinct values, may be NULL, and may lie in a
struct, one level down or two.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from .indexed_kinds import Kind, all_kinds

KEY = "id"
"""The column that tells rows apart; it is never changed."""


@dataclass(frozen=True)
class Column:
    """A column, or a field in a struct."""

    path: str
    kind: Kind
    values: tuple[Any, ...]
    """What it may hold, besides NULL."""
    nulls: float
    layout: str

    @staticmethod
    def any(path: str, kind: Kind, r: random.Random) -> "Column":
        """A random column of this kind."""
        distinct = r.choice([1, 3, 3, 20, 300])
        nulls = r.choice([None, 0.0, 0.1, 0.1, 0.5, 0.95])
        return Column(
            path,
            kind,
            tuple(kind.draw(r) for _ in range(distinct)),
            -1.0 if nulls is None else nulls,
            r.choice(["shuffled", "shuffled", "sorted", "runs"]),
        )

    @property
    def is_nullable(self) -> bool:
        """Whether the schema allows NULL."""
        return self.nulls >= 0

    @property
    def field(self) -> pa.Field:
        """The field of the schema."""
        return pa.field(self.path.split(".")[-1], self.kind.type, self.is_nullable)

    def array(self, rows: int, r: random.Random) -> pa.Array:
        """So many random values."""
        numbers = [r.randrange(len(self.values)) for _ in range(rows)]
        if self.layout == "sorted":
            numbers.sort()
        elif self.layout == "runs":
            length = r.choice([3, 40])
            numbers = [numbers[row - row % length] for row in range(rows)]
        values = [self.values[number] for number in numbers]
        if self.layout != "shuffled" and r.random() < 0.5:  # NULLs together, too
            start = r.randrange(rows)
            absent = range(start, start + int(rows * max(self.nulls, 0)))
        else:
            absent = {row for row in range(rows) if r.random() < self.nulls}
        return pa.array(
            [None if row in absent else value for row, value in enumerate(values)], self.kind.type
        )


@dataclass(frozen=True)
class Columns:
    """The columns beside the key; those in structs come last."""

    all: tuple[Column, ...]
    null_structs: float
    """The share of structs that are NULL."""

    @staticmethod
    def any(storage_version: str, r: random.Random, index: str | None = None) -> "Columns":
        """Random ones that take this index. Storage version 2.0 loses nulls of a struct."""
        taking = [kind for kind in all_kinds() if index in (None, *kind.indices)]
        kinds = r.sample(taking, 6) if len(taking) >= 6 else r.choices(taking, k=4)
        columns = [Column.any(f"c{i}", kind, r) for i, kind in enumerate(kinds)]
        null_structs = 0.0 if storage_version == "2.0" else r.choice([0.0, 0.2])
        if r.random() < 0.3:
            for path in ("st.a", "st.b", "st.inner.x", "st.inner.y"):
                column = Column.any(path, r.choice(taking), r)
                if null_structs:  # Lance asks that what lies in a nullable struct is nullable.
                    column = replace(column, nulls=max(column.nulls, 0.0))
                columns.append(column)
        return Columns(tuple(columns), null_structs)

    def in_structs(self) -> tuple[Column, ...]:
        """The columns that lie in a struct."""
        return tuple(column for column in self.all if "." in column.path)

    def renamed(self, column: Column, name: str) -> "Columns":
        """The columns, one of them with another name."""
        columns = (replace(one, path=name) if one is column else one for one in self.all)
        return replace(self, all=tuple(columns))

    def table(self, keys: Sequence[int], r: random.Random) -> pa.Table:
        """Rows with these keys."""
        arrays = {column.path: column.array(len(keys), r) for column in self.all}
        fields = {column.path: column.field for column in self.all}
        for struct in ("st.inner", "st"):
            names = [path for path in fields if path.startswith(f"{struct}.")]
            if names:
                inner = [fields.pop(name) for name in names]
                parts = [arrays.pop(name) for name in names]
                absent = [r.random() < self.null_structs for _ in keys]
                mask = pa.array(absent) if self.null_structs else None
                arrays[struct] = pa.StructArray.from_arrays(parts, fields=inner, mask=mask)
                is_nullable = self.null_structs > 0
                fields[struct] = pa.field(struct.split(".")[-1], arrays[struct].type, is_nullable)
        schema = pa.schema([pa.field(KEY, pa.int64(), nullable=False), *fields.values()])
        return pa.Table.from_arrays([pa.array(keys, pa.int64()), *arrays.values()], schema=schema)
