"""Random rows for a table whose schema has changed in the meantime."""

import random
from typing import Any

import pyarrow as pa
import pyarrow.types as pat

KEY = "id"
"""The column that tells rows apart; it is never changed."""


def first_schema(storage_version: str) -> pa.Schema:
    """A schema with something of each sort."""
    inner = pa.struct([("a", pa.int32()), ("b", pa.string())])
    fields = [
        pa.field(KEY, pa.int64(), nullable=False),
        pa.field("n", pa.int32()),
        pa.field("f", pa.float32()),
        pa.field("s", pa.string()),
        pa.field("l", pa.list_(pa.int16())),
        pa.field("v", pa.list_(pa.float32(), 4)),
        # Storage version 2.0 loses nulls of a struct.
        pa.field("st", inner, nullable=storage_version != "2.0"),
    ]
    return pa.schema(fields)


def random_table(schema: pa.Schema, keys: list[int], r: random.Random) -> pa.Table:
    """Rows with these keys."""
    arrays = [
        pa.array(keys if field.name == KEY else [_value(field, r) for _ in keys], field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _value(field: pa.Field, r: random.Random) -> Any:
    if field.nullable and r.random() < 0.15:
        return None
    type_ = field.type
    if pat.is_integer(type_):
        return r.randrange(-99, 100)
    if pat.is_floating(type_):
        return r.randrange(-400, 400) / 8
    if pat.is_string(type_) or pat.is_large_string(type_):
        return "".join(r.choices("abcxyzé", k=r.randrange(9)))
    if pat.is_struct(type_):
        return {type_.field(i).name: _value(type_.field(i), r) for i in range(type_.num_fields)}
    if pat.is_fixed_size_list(type_):
        return [r.randrange(-8, 8) / 4 for _ in range(type_.list_size)]
    if pat.is_list(type_):
        return [_value(type_.value_field, r) for _ in range(r.randrange(5))]
    raise TypeError(f"no random values for {type_}")
