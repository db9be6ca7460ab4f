"""Make one dataset for each kind of column and storage version: what the decoders are measured on.

python columns.py --out DIR                  # 32 MB of values a column: 5 GB, some minutes
python columns.py --out DIR --megabytes 2    # quick

DIR/VERSION/KIND.lance    a dataset of one column, `c`
DIR/columns.json          [{"kind": …, "version": …, "rows": …, "bytes": …}, …]

`bytes` is the size of the column as Arrow lays it out: values, offsets, validity.
"""

import argparse
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import lance
import numpy as np
import pyarrow as pa

SEED = 20261130
VERSIONS = ("2.0", "2.1", "2.2")

Draw = Callable[[np.random.Generator, int], pa.Array]
"""A column of so many rows."""


@dataclass(frozen=True)
class Kind:
    """A kind of column: its values, how wide a row is, and what its field asks the writer for."""

    name: str
    draw: Draw
    row_bytes: float
    wish: dict[str, str] = field(default_factory=dict)
    versions: tuple[str, ...] = VERSIONS
    batch: int = 1 << 20
    """Rows that the writer gets at once: it chooses encodings by them."""

    def array(self, rows: int) -> pa.Array:
        """The values, the same on every machine."""
        return self.draw(np.random.default_rng([SEED, *self.name.encode()]), rows)

    def schema(self, type_: pa.DataType) -> pa.Schema:
        """A schema of one field, and those below it, that ask for the encoding."""
        prefix = "" if "packed" in self.wish else "lance-encoding:"
        metadata = {prefix + key: value for key, value in self.wish.items()}
        return pa.schema([pa.field("c", type_, metadata=metadata or None)])


def kinds() -> list[Kind]:
    """Every kind."""
    return [*numbers(), *nulls(), *texts(), *compressed(), *others(), *nested()]


STRUCTURAL = ("2.1", "2.2")
"""The versions whose writer packs bits and encodes runs."""


def numbers() -> list[Kind]:
    """Numbers of every width in bits, runs, constants, and numbers that are not packed."""
    packed = [
        Kind(f"int{bits}-of-{width}-bits", integers(bits, width), bits / 8, versions=("2.1",))
        for bits in (32, 64)
        for width in range(1, bits, 1 if bits == 32 else 3)
    ]
    return [
        *packed,
        Kind("int8", integers(8, 8), 1),
        Kind("int16", integers(16, 16), 2),
        Kind("int32", integers(32, 32), 4),
        Kind("int64", integers(64, 64), 8),
        Kind("int16-of-11-bits", integers(16, 11), 2, versions=("2.2",)),
        Kind("int32-of-17-bits", integers(32, 17), 4, versions=("2.0", "2.2")),
        Kind("int64-of-37-bits", integers(64, 37), 8, versions=("2.0", "2.2")),
        Kind("float32", floats(np.float32), 4),
        Kind("float64", floats(np.float64), 8),
        Kind("runs-int32", runs(np.int32, 100), 4),
        Kind("runs-int64", runs(np.int64, 100), 8),
        Kind("short-runs-int64", runs(np.int64, 8), 8, {"rle-threshold": "1.0"}, STRUCTURAL),
        Kind("constant-int32", constant(pa.int32(), 7), 4),
        Kind("constant-int64", constant(pa.int64(), 7), 8),
        Kind("constant-string", constant(pa.string(), "always the same"), 19),
    ]


def nulls() -> list[Kind]:
    """The same numbers with more and more nulls, and nothing but nulls."""
    return [
        *(
            Kind(f"int32-{share}-null", with_nulls(integers(32, 32), share), 4.125)
            for share in ("0.1%", "1%", "10%", "50%", "99%")
        ),
        Kind("int64-of-20-bits-10%-null", with_nulls(integers(64, 20), "10%"), 8.125),
        Kind("int64-nulls-in-runs", null_runs, 8.125),
        Kind("int64-all-null", lambda _, rows: pa.nulls(rows, pa.int64()), 8.125),
        Kind("string-10%-null", with_nulls(sentences, "10%"), 40),
        Kind("bool-10%-null", with_nulls(booleans, "10%"), 0.25),
    ]


def texts() -> list[Kind]:
    """Text and bytes: plain, few distinct ones, coded by symbols, and long ones."""
    plain = {"compression": "none", "dict-divisor": "1000000"}
    return [
        Kind("string-plain", sentences, 36, plain),
        Kind("string-plain-short", words(1_000_000), 12, plain),
        Kind("string-dictionary", words(1000), 12, {}, STRUCTURAL, 1 << 17),
        Kind("string-dictionary-20", words(20), 12),
        Kind("string-dictionary-long", words(1000, 60), 64, {}, STRUCTURAL, 1 << 17),
        Kind("string-fsst", sentences, 36, {"compression": "fsst"}, STRUCTURAL),
        Kind("string-default", sentences, 36),
        Kind("string-urls", urls, 60),
        Kind("string-large", long_texts(400), 404),
        Kind("string-large-plain", long_texts(400), 404, plain, STRUCTURAL),
        Kind("large-string", lambda r, n: sentences(r, n).cast(pa.large_string()), 40),
        Kind("binary", blobs(24), 28),
        Kind("large-binary", lambda r, n: blobs(24)(r, n).cast(pa.large_binary()), 32),
        Kind("binary-large", blobs(5000), 5004),
        Kind("dictionary-type", dictionary_type, 12, versions=STRUCTURAL),
    ]


def compressed() -> list[Kind]:
    """Columns whose field asks for a general compression, and split bytes."""
    return [
        *(
            Kind(f"{name}-{scheme}", draw, size, {"compression": scheme, **wish}, STRUCTURAL)
            for scheme in ("lz4", "zstd")
            for name, draw, size, wish in (
                ("string", sentences, 36, {}),
                ("float64-split", floats(np.float64), 8, {"bss": "on"}),
                ("float32-split", floats(np.float32), 4, {"bss": "on"}),
                ("int64-of-20-bits", integers(64, 20), 8, {}),
            )
        ),
        Kind("string-zstd-2.0", sentences, 36, {"compression": "zstd"}, ("2.0",)),
        Kind("string-large-zstd", long_texts(4000), 4004, {"compression": "zstd"}, STRUCTURAL),
    ]


def others() -> list[Kind]:
    """The other types of one width."""
    return [
        Kind("bool", booleans, 1 / 8),
        Kind("decimal128", decimals, 16),
        Kind("timestamp", timestamps, 8),
        Kind("date32", lambda r, n: pa.array(r.integers(0, 30_000, n).astype(np.int32)), 4),
        Kind("fixed-binary-16", fixed_binary(16), 16),
        Kind("fixed-binary-7", fixed_binary(7), 7),
        Kind("vector-f32-4", vectors(4), 16),
        Kind("vector-f32-128", vectors(128), 512),
        Kind("vector-f32-8-null-items", null_items, 33),
    ]


def nested() -> list[Kind]:
    """Lists and structs."""
    packed = {"packed": "true"}
    return [
        Kind("list-int32", lists(integers(32, 32)), 32),
        Kind("list-int32-of-10-bits-nulls", null_lists(lists(integers(32, 10))), 32),
        Kind("list-string", lists(words(1_000_000)), 100),
        Kind("list-vector", lists(vectors(16)), 460),
        Kind("list-list-int32", lists(lists(integers(32, 32))), 240),
        Kind("struct", structs, 28),
        Kind("struct-nulls", null_structs, 28, versions=STRUCTURAL),
        Kind("packed-struct", packed_structs, 20, packed),
        Kind(
            "packed-struct-string", lambda r, n: structs(r, n, validity=False), 28, packed, ("2.2",)
        ),
    ]


# ---- values


def integers(bits: int, width: int) -> Draw:
    """Numbers from 0 on that take `width` bits."""

    def draw(r: np.random.Generator, rows: int) -> pa.Array:
        words_ = r.integers(0, 2**width, rows, dtype=np.uint64)
        return pa.array(words_.astype(f"uint{bits}").view(f"int{bits}"))

    return draw


def floats(type_: type) -> Draw:
    """A smooth measurement with noise."""

    def draw(r: np.random.Generator, rows: int) -> pa.Array:
        values = np.sin(np.arange(rows) / 500) + r.normal(0, 0.01, rows)
        return pa.array(values.astype(type_))

    return draw


def runs(type_: type, mean: int) -> Draw:
    """Runs of equal numbers of `mean` rows in the mean."""

    def draw(r: np.random.Generator, rows: int) -> pa.Array:
        lengths = r.geometric(1 / mean, 2 * rows // mean + 1000)
        values = r.integers(0, 1 << 30, len(lengths)).astype(type_)
        return pa.array(np.repeat(values, lengths)[:rows])

    return draw


def constant(type_: pa.DataType, value: object) -> Draw:
    """One value over and over."""
    return lambda _, rows: pa.repeat(pa.scalar(value, type_), rows)


def with_nulls(draw: Draw, share: str) -> Draw:
    """The same values, this share of which is null."""
    part = float(share.rstrip("%")) / 100

    def with_mask(r: np.random.Generator, rows: int) -> pa.Array:
        values = draw(r, rows)
        null = pa.scalar(None, values.type)
        return pa.compute.if_else(pa.array(r.random(rows) < part), null, values)

    return with_mask


def null_runs(r: np.random.Generator, rows: int) -> pa.Array:
    """Nulls and values in long runs."""
    mask = np.repeat(r.random(rows // 1000 + 1) < 0.3, 1000)[:rows]
    return pa.array(r.integers(0, 1 << 62, rows), mask=mask)


def booleans(r: np.random.Generator, rows: int) -> pa.Array:
    """True and false alike."""
    return pa.array(r.random(rows) < 0.5)


def vocabulary(r: np.random.Generator, count: int, length: int = 8) -> pa.Array:
    """`count` different words of about `length` letters."""
    letters = r.integers(97, 123, (count, 2 * length), dtype=np.uint8)
    lengths = r.integers(max(1, length // 2), length + length // 2, count)
    return pa.array([bytes(row[:end]).decode() for row, end in zip(letters, lengths, strict=True)])


def words(count: int, length: int = 8) -> Draw:
    """Some of `count` words."""

    def draw(r: np.random.Generator, rows: int) -> pa.Array:
        return vocabulary(r, count, length).take(pa.array(r.integers(0, count, rows)))

    return draw


def sentences(r: np.random.Generator, rows: int) -> pa.Array:
    """Four words of a vocabulary of 2,000, another four for every row."""
    known = vocabulary(r, 2000, 7)
    parts = [known.take(pa.array(r.integers(0, 2000, rows))) for _ in range(4)]
    return pa.compute.binary_join_element_wise(*parts, " ")


def urls(r: np.random.Generator, rows: int) -> pa.Array:
    """Addresses that begin alike."""
    numbers_ = pa.array(r.integers(0, 1_000_000, rows)).cast(pa.string())
    start, end = "https://example.org/catalogue/items/", "/view?lang=en"
    return pa.compute.binary_join_element_wise(start, numbers_, end, "")


def long_texts(length: int) -> Draw:
    """Texts of `length` letters."""

    def draw(r: np.random.Generator, rows: int) -> pa.Array:
        known = vocabulary(r, 2000, 7)
        text = " ".join(known.take(pa.array(r.integers(0, 2000, 200_000))).to_pylist())
        starts = r.integers(0, len(text) - length, rows)
        return pa.array([text[start : start + length] for start in starts])

    return draw


def blobs(length: int) -> Draw:
    """Random bytes, `length` of them in the mean."""

    def draw(r: np.random.Generator, rows: int) -> pa.Array:
        ends = np.concatenate([[0], np.cumsum(r.integers(length // 2, length * 3 // 2, rows))])
        offsets = pa.py_buffer(ends.astype(np.int32).tobytes())
        return pa.Array.from_buffers(
            pa.binary(), rows, [None, offsets, pa.py_buffer(r.bytes(int(ends[-1])))]
        )

    return draw


def dictionary_type(r: np.random.Generator, rows: int) -> pa.Array:
    """A column of Arrow's dictionary type."""
    indices = pa.array(r.integers(0, 1000, rows).astype(np.int32))
    return pa.DictionaryArray.from_arrays(indices, vocabulary(r, 1000))


def decimals(r: np.random.Generator, rows: int) -> pa.Array:
    """Amounts in cents."""
    halves = np.stack([r.integers(0, 1 << 60, rows), np.zeros(rows, np.int64)], axis=1)
    values = pa.py_buffer(np.ascontiguousarray(halves).tobytes())
    return pa.Array.from_buffers(pa.decimal128(20, 2), rows, [None, values])


def timestamps(r: np.random.Generator, rows: int) -> pa.Array:
    """About an event a second, in microseconds."""
    times = 1_735_689_600_000_000 + np.cumsum(r.integers(0, 2_000_000, rows))
    return pa.array(times).cast(pa.timestamp("us"))


def fixed_binary(width: int) -> Draw:
    """Random bytes of one width."""

    def draw(r: np.random.Generator, rows: int) -> pa.Array:
        values = pa.py_buffer(r.bytes(rows * width))
        return pa.Array.from_buffers(pa.binary(width), rows, [None, values])

    return draw


def vectors(dimension: int) -> Draw:
    """Vectors of f32."""

    def draw(r: np.random.Generator, rows: int) -> pa.Array:
        values = pa.array(r.random(rows * dimension, dtype=np.float32))
        return pa.FixedSizeListArray.from_arrays(values, dimension)

    return draw


def null_items(r: np.random.Generator, rows: int) -> pa.Array:
    """Vectors some of whose items are null."""
    values = with_nulls(floats(np.float32), "10%")(r, rows * 8)
    return pa.FixedSizeListArray.from_arrays(values, 8)


def lists(draw: Draw) -> Draw:
    """Lists of 0 to 14 values."""

    def draw_lists(r: np.random.Generator, rows: int) -> pa.Array:
        ends = np.concatenate([[0], np.cumsum(r.integers(0, 15, rows))]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(ends), draw(r, int(ends[-1])))

    return draw_lists


def null_lists(draw: Draw) -> Draw:
    """The same lists, one in ten of which is null, and one in ten of their items."""

    def draw_lists(r: np.random.Generator, rows: int) -> pa.Array:
        values = draw(r, rows)
        items = with_nulls(lambda _, n: values.values, "10%")(r, len(values.values))
        mask = pa.array(r.random(rows) < 0.1)
        return pa.ListArray.from_arrays(values.offsets, items, mask=mask)

    return draw_lists


def structs(r: np.random.Generator, rows: int, validity: bool = True) -> pa.Array:
    """A number, a time and a word."""
    word = words(1000)(r, rows) if validity else sentences(r, rows)
    return pa.StructArray.from_arrays(
        [integers(32, 20)(r, rows), timestamps(r, rows), word], ["number", "time", "word"]
    )


def null_structs(r: np.random.Generator, rows: int) -> pa.Array:
    """The same, one in ten of which is null."""
    fields = structs(r, rows)
    mask = pa.array(r.random(rows) < 0.1)
    return pa.StructArray.from_arrays(fields.flatten(), fields=list(fields.type), mask=mask)


def packed_structs(r: np.random.Generator, rows: int) -> pa.Array:
    """Three numbers, to be stored row by row."""
    arrays = [integers(32, 32)(r, rows), floats(np.float64)(r, rows), integers(64, 64)(r, rows)]
    return pa.StructArray.from_arrays(arrays, ["a", "b", "c"])


# ---- datasets


def write(kind: Kind, version: str, size: int, folder: Path) -> dict:
    """Write one dataset of about `size` bytes of values; what columns.json says of it."""
    rows = max(1, int(size / kind.row_bytes))
    array = kind.array(rows)
    table = pa.Table.from_arrays([array], schema=kind.schema(array.type))
    path = folder / version / f"{kind.name}.lance"
    if not path.exists():
        partial = path.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        batches = pa.Table.from_batches(table.to_batches(max_chunksize=kind.batch))
        lance.write_dataset(batches, partial, data_storage_version=version)
        partial.rename(path)
    return {"kind": kind.name, "version": version, "rows": rows, "bytes": array.nbytes}


def main() -> None:
    """Read the command line and make what is not there yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--megabytes", type=int, default=32, help="of values a column")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    size = options.megabytes * 1_000_000
    made = [
        write(kind, version, size, options.out) for kind in kinds() for version in kind.versions
    ]
    (options.out / "columns.json").write_text(json.dumps(made, indent=1))


if __name__ == "__main__":
    main()
