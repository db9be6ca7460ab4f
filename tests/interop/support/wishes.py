"""Wishes: field metadata by which a user makes Lance choose an encoding."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pat

PREFIX = "lance-encoding:"


@dataclass(frozen=True)
class Wish:
    """Metadata of a column's fields; no metadata is the writer's own choice."""

    name: str
    metadata: tuple[tuple[str, str], ...] = ()
    since: str = "2.0"

    def field(self, name: str, type_: pa.DataType) -> pa.Field:
        """A field with this wish on itself and on every field below it."""
        keys = {PREFIX + key: value for key, value in self.metadata}
        return _with_metadata(pa.field(name, type_), keys)


DEFAULT = Wish("default")


def all_wishes() -> list[Wish]:
    """What a field's metadata can ask for, alone and together."""
    zstd, lz4 = ("compression", "zstd"), ("compression", "lz4")
    fsst, none = ("compression", "fsst"), ("compression", "none")
    mini_block, full_zip = (("structural-encoding", to) for to in ("miniblock", "fullzip"))
    return [
        Wish("zstd", (zstd,)),
        Wish("zstd-9", (zstd, ("compression-level", "9"))),
        Wish("lz4", (lz4,)),
        Wish("none", (none,)),
        Wish("fsst", (fsst,), "2.1"),
        Wish("miniblock", (mini_block,), "2.1"),
        Wish("miniblock-zstd", (mini_block, zstd), "2.1"),
        Wish("fullzip", (full_zip,), "2.1"),
        Wish("fullzip-zstd", (full_zip, zstd), "2.1"),
        Wish("fullzip-lz4", (full_zip, lz4), "2.1"),
        Wish("fullzip-fsst", (full_zip, fsst), "2.1"),
        Wish("fullzip-none", (full_zip, none), "2.1"),
        Wish("bss-lz4", (("bss", "on"), lz4), "2.1"),
        Wish("bss-zstd", (("bss", "on"), zstd), "2.1"),
        Wish("rle-always", (("rle-threshold", "1.0"),), "2.1"),
        Wish("rle-lz4", (("rle-threshold", "1.0"), lz4), "2.1"),
        Wish("rle-never", (("rle-threshold", "0"),), "2.1"),
        Wish("dict-always", (("dict-divisor", "1"), ("dict-size-ratio", "1.0")), "2.1"),
        Wish("dict-zstd", (("dict-size-ratio", "1.0"), ("dict-values-compression", "zstd")), "2.1"),
        Wish("dict-none", (("dict-size-ratio", "1.0"), ("dict-values-compression", "none")), "2.1"),
        Wish("dict-never", (("dict-divisor", "1000000"),), "2.1"),
        Wish("minichunk-1k", (("minichunk-size", "1024"),), "2.1"),
        Wish("minichunk-32k", (("minichunk-size", "32768"),), "2.2"),
        Wish("packed", (("packed", "true"),)),
    ]


def _with_metadata(field: pa.Field, keys: dict[str, str]) -> pa.Field:
    type_ = field.type
    if pat.is_struct(type_):
        type_ = pa.struct([_with_metadata(type_.field(i), keys) for i in range(type_.num_fields)])
    elif pat.is_list(type_):
        type_ = pa.list_(_with_metadata(type_.value_field, keys))
    elif pat.is_large_list(type_):
        type_ = pa.large_list(_with_metadata(type_.value_field, keys))
    return field.with_type(type_).with_metadata(keys or None)
