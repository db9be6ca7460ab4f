"""Kinds of columns: every Arrow type that Lance stores, and values that invite an encoding."""

import datetime
import decimal
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from reference.values import TICKS_PER_SECOND, column_json

Draw = Callable[[random.Random, int], Any]
"""One value, from a generator and the number of its row."""

PRINTABLE = bytes(33 + byte % 94 for byte in range(256))
"""Any byte as a printable ASCII character."""

PYLANCE = tuple(int(part) for part in lance.__version__.split(".")[:2])
STORAGE_VERSIONS = ("2.0", "2.1", "2.2") if PYLANCE >= (1, 0) else ("2.0",)
"""Those of this pylance: what the first ones wrote as 2.1 was not yet the format."""
VECTOR_DIMENSIONS = (1, 3, 8, 64, 128, 768)


@dataclass(frozen=True)
class Kind:
    """A type with its random values."""

    name: str
    type: pa.DataType
    draw: Draw
    cost: int = 1
    """About how many numbers one row holds."""
    versions: tuple[str, ...] = STORAGE_VERSIONS
    """The storage versions that keep it."""
    metadata: tuple[tuple[str, str], ...] = ()
    """What its field says besides the encoding that is wished for."""
    pages: bool = True
    """Whether the writer of single files can write it, in small pages."""

    def values(self, rows: int, seed: str) -> list[Any]:
        """Random values without a null at the top."""
        r = random.Random(f"{seed}/{self.name}")
        return [self.draw(r, i) for i in range(rows)]

    def array(self, values: list[Any]) -> pa.Array:
        """The values, some of which may be None, as an array of this type."""
        if pat.is_dictionary(self.type):
            return self._dictionary_array(values)
        if isinstance(self.type, pa.ExtensionType):
            return lance.blob_array(values)
        return pa.array(values, self.type)

    def expected(self, array: pa.Array) -> list[Any]:
        """What must be read of an array that was written: the bytes, where it describes blobs."""
        if isinstance(self.type, pa.ExtensionType):
            return column_json(array.storage.field("data"))
        return column_json(array)

    def field(self, field: pa.Field) -> pa.Field:
        """The field with what this kind says of it."""
        metadata = {**(field.metadata or {}), **dict(self.metadata)}
        return field.with_metadata(metadata or None)

    def _dictionary_array(self, values: list[Any]) -> pa.Array:
        """Never with an empty dictionary, at which pylance panics."""
        items = list(dict.fromkeys(value for value in values if value is not None))
        items = items or [self.draw(random.Random(0), 0)]
        number = {item: index for index, item in enumerate(items)}
        indices = [None if value is None else number[value] for value in values]
        return pa.DictionaryArray.from_arrays(
            pa.array(indices, self.type.index_type), pa.array(items, self.type.value_type)
        )


def all_kinds() -> list[Kind]:
    """Every kind."""
    groups = (_numbers, _texts, _blobs, _times, _vectors, _nested, _inviting_an_encoding)
    return [kind for group in groups for kind in group()]


# ---- one value


def _any_float(r: random.Random, _: int) -> float:
    return r.choice([0.0, -0.0, math.inf, -math.inf, math.nan, r.gauss(0, 100), r.gauss(0, 1)])


def _normal(r: random.Random, _: int) -> float:
    return r.gauss(0, 1)


def _half(r: random.Random, i: int) -> np.float16:
    return np.float16(_any_float(r, i))


def _bool(r: random.Random, _: int) -> bool:
    return r.random() < 0.5


def _text(r: random.Random, _: int) -> str:
    return "".join(r.choices('abcdefghij é東😀\r\n"\\\0', k=r.choice([0, 1, 3, 8, 20])))


def _i32(r: random.Random, _: int) -> int:
    return r.randrange(-(10**6), 10**6)


def _date(r: random.Random, _: int) -> datetime.date:
    return datetime.date(1970, 1, 1) + datetime.timedelta(days=r.randrange(-20_000, 40_000))


def _below(low: int, high: int) -> Draw:
    return lambda r, _: r.randrange(low, high)


def _one_of(*values: Any) -> Draw:
    return lambda r, _: r.choice(values)


def _byte_range(low: int, high: int) -> Draw:
    return lambda r, _: r.randbytes(r.randrange(low, high))


def _bytes(*lengths: int) -> Draw:
    return lambda r, _: r.randbytes(r.choice(lengths))


def _letters(low: int, high: int) -> Draw:
    return lambda r, _: r.randbytes(r.randrange(low, high)).translate(PRINTABLE).decode()


def _list(item: Draw, lengths: tuple[int, ...] = (0, 0, 1, 2, 3, 7)) -> Draw:
    return lambda r, i: [item(r, i) for _ in range(r.choice(lengths))]


def _fixed_list(item: Draw, length: int) -> Draw:
    return lambda r, i: [item(r, i) for _ in range(length)]


def _or_null(draw: Draw, share: float = 0.15) -> Draw:
    return lambda r, i: None if r.random() < share else draw(r, i)


def _struct(**fields: Draw) -> Draw:
    return lambda r, i: {name: draw(r, i) for name, draw in fields.items()}


# ---- flat types


def _numbers() -> Iterator[Kind]:
    for bits in (8, 16, 32, 64):
        half, full = 2 ** (bits - 1), 2**bits
        signed, unsigned = pa.type_for_alias(f"int{bits}"), pa.type_for_alias(f"uint{bits}")
        yield Kind(f"i{bits}", signed, _below(-half, half))
        yield Kind(f"u{bits}", unsigned, _below(0, full))
        yield Kind(f"u{bits}-extremes", unsigned, _one_of(0, full - 1))
        yield Kind(f"i{bits}-small", signed, _below(0, 2 ** (bits // 3)))
    yield Kind("f16", pa.float16(), _half)
    yield Kind("f32", pa.float32(), _any_float)
    yield Kind("f64", pa.float64(), _any_float)
    yield Kind("bool", pa.bool_(), _bool)
    yield Kind("dec128", pa.decimal128(20, 4), _decimal(10**18, 4))
    yield Kind("dec128-38", pa.decimal128(38, 0), _decimal(10**37, 0))
    yield Kind("dec256", pa.decimal256(60, 10), _decimal(10**55, 10))
    yield Kind("null", pa.null(), lambda _r, _i: None)


def _decimal(bound: int, scale: int) -> Draw:
    wide = decimal.Context(prec=80)
    return lambda r, _: wide.scaleb(Decimal(r.randrange(-bound, bound)), -scale)


def _texts() -> Iterator[Kind]:
    yield Kind("utf8", pa.string(), _text)
    yield Kind("large-utf8", pa.large_string(), _text)
    yield Kind("binary", pa.binary(), _bytes(0, 1, 3, 17))
    yield Kind("large-binary", pa.large_binary(), _bytes(0, 1, 3, 17))
    yield Kind("utf8-90", pa.string(), _letters(80, 100), cost=2)
    yield Kind("utf8-near-256", pa.string(), _letters(250, 260), cost=8)
    yield Kind("utf8-400", pa.string(), _letters(0, 800), cost=12)
    yield Kind("binary-400", pa.binary(), _bytes(0, 300, 800), cost=4)
    large_texts, large_binaries = _mostly_small(_letters), _mostly_small(_byte_range)
    yield Kind("utf8-over-32-KiB", pa.string(), large_texts, cost=1000)
    yield Kind("large-utf8-over-32-KiB", pa.large_string(), large_texts, cost=1000)
    yield Kind("binary-over-32-KiB", pa.binary(), large_binaries, cost=1000)
    for width in (1, 7, 16, 40):
        yield Kind(f"fixed-binary-{width}", pa.binary(width), _bytes(width))


def _blobs() -> Iterator[Kind]:
    """Bytes of all sizes at which Lance stores them elsewhere, in both versions of blobs."""
    draw = _any_size(_bytes(0, 1, 17, 300), _bytes(70_000))
    mark = (("lance-encoding:blob", "true"),)
    yield Kind("blob", pa.large_binary(), draw, 300, ("2.0", "2.1"), mark)
    if hasattr(lance, "blob_array"):
        yield Kind("blob-v2", lance.blob.BlobType(), draw, 300, ("2.2",), pages=False)


def _any_size(small: Draw, large: Draw) -> Draw:
    return lambda r, i: (large if r.random() < 0.02 else small)(r, i)


def _mostly_small(between: Callable[[int, int], Draw]) -> Draw:
    small, large = between(0, 10), between(33_000, 40_000)
    return lambda r, i: (small if i % 20 else large)(r, i)


def _times() -> Iterator[Kind]:
    yield Kind("date32", pa.date32(), _date)
    yield Kind("date64", pa.date64(), _date)
    for type_ in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        yield Kind(f"time-{type_.unit}", type_, _below(0, 86_400 * TICKS_PER_SECOND[type_.unit]))
    for unit, ticks in TICKS_PER_SECOND.items():
        instant = _below(-(10**9) * ticks, 4 * 10**9 * ticks)
        yield Kind(f"timestamp-{unit}", pa.timestamp(unit), instant)
        yield Kind(f"timestamp-{unit}-utc", pa.timestamp(unit, "UTC"), instant)
        yield Kind(f"duration-{unit}", pa.duration(unit), _below(-(10**12), 10**12))
    recent = _below(10**15, 2 * 10**15)
    yield Kind("timestamp-us-new-york", pa.timestamp("us", "America/New_York"), recent)


# ---- vectors


def _vectors() -> Iterator[Kind]:
    items: dict[str, tuple[pa.DataType, Draw]] = {
        "f32": (pa.float32(), _normal),
        "f16": (pa.float16(), lambda r, _: np.float16(r.gauss(0, 1))),
        "u8": (pa.uint8(), _below(0, 256)),
        "bool": (pa.bool_(), _bool),
        "i32": (pa.int32(), _i32),
    }
    for name, (type_, item) in items.items():
        for length in VECTOR_DIMENSIONS:
            kind, draw = pa.list_(type_, length), _fixed_list(item, length)
            yield Kind(f"vector-{name}-{length}", kind, draw, cost=length)
    for length in (3, 8, 128):
        for name in ("f32", "bool", "u8"):
            type_, item = items[name]
            draw = _fixed_list(_or_null(item), length)
            kind = pa.list_(type_, length)
            yield Kind(f"vector-{name}-{length}-null-items", kind, draw, cost=length)
    yield Kind("vector-f64-4", pa.list_(pa.float64(), 4), _fixed_list(_normal, 4), cost=4)
    yield Kind("vector-i8-4", pa.list_(pa.int8(), 4), _fixed_list(_below(-128, 128), 4), cost=4)
    for outer, inner in ((3, 2), (8, 40)):
        pair = _fixed_list(_below(0, 99), inner)
        type_ = pa.list_(pa.list_(pa.int16(), inner), outer)
        name, cost = f"vector-{outer}-of-vector-i16-{inner}", inner * outer
        # Where it chooses full-zip, pylance writes only a part of each row, and says so to nobody.
        versions = STORAGE_VERSIONS if cost < 128 else ("2.0",)
        yield Kind(name, type_, _fixed_list(pair, outer), cost, versions)
        yield Kind(f"{name}-null-items", type_, _fixed_list(_or_null(pair), outer), cost)
    point = pa.struct([("x", pa.int32()), ("y", pa.string())])
    draw = _fixed_list(_struct(x=_i32, y=_text), 2)
    yield Kind("vector-struct", pa.list_(point, 2), draw, cost=4, versions=("2.2",))


# ---- lists, structs, maps, dictionaries


def _nested() -> Iterator[Kind]:
    words = pa.string()
    yield Kind("dictionary", pa.dictionary(pa.int32(), words), lambda r, _: f"v{r.randrange(9)}")
    yield Kind(
        "dictionary-u8", pa.dictionary(pa.uint8(), words), lambda r, _: f"w{r.randrange(200)}"
    )
    yield Kind("dictionary-i64", pa.dictionary(pa.int16(), pa.int64()), _below(0, 2000))
    yield from _lists()
    yield from _structs()
    text_to_number = pa.map_(pa.string(), pa.int32())
    yield Kind("map", text_to_number, _map(_or_null(_i32)), cost=4, versions=("2.2",))
    map_of_lists = pa.map_(pa.string(), pa.list_(pa.int32()))
    yield Kind("map-list", map_of_lists, _map(_or_null(_list(_i32))), cost=8, versions=("2.2",))
    yield Kind("list-map", pa.list_(text_to_number), _list(_map(_i32)), cost=8, versions=("2.2",))


def _map(value: Draw) -> Draw:
    lengths = (0, 0, 1, 2, 3, 7)
    return lambda r, i: [(f"k{n}", value(r, i)) for n in range(r.choice(lengths))]


def _lists() -> Iterator[Kind]:
    items: dict[str, tuple[pa.DataType, Draw]] = {
        "i32": (pa.int32(), _i32),
        "bool": (pa.bool_(), _bool),
        "f64": (pa.float64(), _any_float),
        "utf8": (pa.string(), _text),
        "binary": (pa.binary(), _bytes(0, 1, 17)),
        "vector-f32-3": (pa.list_(pa.float32(), 3), _fixed_list(_normal, 3)),
        "timestamp": (pa.timestamp("us", "UTC"), _below(0, 10**15)),
        "dictionary": (pa.dictionary(pa.int32(), pa.string()), _one_of("x", "yy")),
    }
    for name, (type_, item) in items.items():
        yield Kind(f"list-{name}", pa.list_(type_), _list(_or_null(item)), cost=3)
    yield Kind("list-i32-no-null-items", pa.list_(pa.int32()), _list(_i32), cost=3)
    yield Kind("list-i32-never-empty", pa.list_(pa.int32()), _list(_i32, (1, 2, 5)), cost=3)
    yield Kind("large-list-utf8", pa.large_list(pa.string()), _list(_or_null(_text)), cost=3)
    yield Kind("list-utf8-400", pa.list_(pa.string()), _list(_or_null(_letters(0, 800))), cost=30)
    vectors = _list(_or_null(_fixed_list(_normal, 128)), (0, 1, 2))
    yield Kind("list-vector-f32-128", pa.list_(pa.list_(pa.float32(), 128)), vectors, cost=128)
    long_lists = _list(_below(0, 999), (0, 0, 0, 0, 0, 0, 0, 0, 0, 3000))
    yield Kind("list-i16-3000", pa.list_(pa.int16()), long_lists, cost=300)
    yield Kind("list-list-i32", pa.list_(pa.list_(pa.int32())), _two_levels(_i32), cost=8)
    three_levels = pa.list_(pa.list_(pa.list_(pa.string())))
    yield Kind("list-list-list-utf8", three_levels, _list(_or_null(_two_levels(_text))), cost=20)


def _two_levels(item: Draw) -> Draw:
    """Lists of lists, with nulls in both."""
    return _list(_or_null(_list(_or_null(item))))


def _structs() -> Iterator[Kind]:
    flat = pa.struct([("a", pa.int32()), ("b", pa.string()), ("c", pa.bool_())])
    flat_value = _struct(a=_or_null(_i32), b=_or_null(_text), c=_bool)
    nested = pa.struct([("a", pa.int32()), ("s", flat)])
    holder = pa.struct([("l", pa.list_(pa.int32())), ("k", pa.int8())])
    holder_value = _struct(l=_or_null(_list(_or_null(_i32))), k=_below(0, 100))
    nullable = {"versions": ("2.1", "2.2")}  # 2.0 loses nulls of a struct
    yield Kind("struct", flat, flat_value, cost=3)
    yield Kind("struct-struct", nested, _struct(a=_i32, s=_or_null(flat_value)), 4, **nullable)
    yield Kind("struct-list", holder, holder_value, cost=4)
    large = pa.struct([("l", pa.list_(pa.string()))])
    large_value = _struct(l=_or_null(_list(_letters(0, 800))))
    yield Kind("struct-list-utf8-400", large, large_value, cost=30)
    vector = pa.struct([("v", pa.list_(pa.float32(), 64)), ("k", pa.int8())])
    vector_value = _struct(v=_or_null(_fixed_list(_normal, 64)), k=_below(0, 100))
    yield Kind("struct-vector", vector, vector_value, cost=64)
    yield from _packable_structs()
    yield Kind("list-struct", pa.list_(flat), _list(flat_value), cost=9)
    yield Kind("list-null-struct", pa.list_(flat), _list(_or_null(flat_value)), 9, **nullable)
    lists = _list(_or_null(holder_value))
    yield Kind("list-struct-list", pa.list_(holder), lists, 12, **nullable)
    yield Kind(
        "list-list-struct",
        pa.list_(pa.list_(nested)),
        _two_levels(_struct(a=_i32, s=_or_null(flat_value))),
        20,
        **nullable,
    )


def _packable_structs() -> Iterator[Kind]:
    """Structs that metadata can pack: their children have no nulls."""
    numbers = [("x", pa.int32()), ("y", pa.float64()), ("z", pa.uint8())]
    draws = {"x": _i32, "y": _normal, "z": _below(0, 256)}
    yield Kind("packable", pa.struct(numbers), _struct(**draws), cost=3)
    vector = ("v", pa.list_(pa.float32(), 3))
    draws_with_vector = {**draws, "v": _fixed_list(_normal, 3)}
    type_ = pa.struct([*numbers, vector])
    yield Kind("packable-vector", type_, _struct(**draws_with_vector), cost=6)
    type_ = pa.struct([*numbers, ("t", pa.string())])
    yield Kind("packable-utf8", type_, _struct(**draws, t=_text), cost=4)


# ---- values that invite an encoding


def _inviting_an_encoding() -> Iterator[Kind]:
    def outlier(r: random.Random, i: int) -> int:
        return 2**50 if i % 1024 == 700 else r.randrange(4)

    def url(r: random.Random, _: int) -> str:
        return f"https://example.org/catalogue/items/{r.randrange(10**6):06}/view?lang=en"

    few_words = _one_of(*(f"{word}-value" for word in ("alpha", "beta", "gamma", "delta")))
    yield Kind("constant-i64", pa.int64(), _one_of(42))
    yield Kind("constant-f32", pa.float32(), _one_of(1.5))
    yield Kind("constant-bool", pa.bool_(), _one_of(True))
    yield Kind("constant-utf8", pa.string(), _one_of("same"))
    yield Kind("constant-utf8-long", pa.string(), _one_of("same" * 20))
    yield Kind("constant-fixed-binary-40", pa.binary(40), _one_of(bytes(range(40))))
    yield Kind("constant-dec128", pa.decimal128(38, 2), _one_of(Decimal(7)))
    yield Kind("constant-list", pa.list_(pa.int32()), _list(_one_of(7)))
    yield Kind("constant-vector", pa.list_(pa.float32(), 8), _one_of([0.5] * 8), cost=8)
    yield Kind("constant-struct", pa.struct([("a", pa.int32())]), _struct(a=_one_of(3)))
    yield Kind("range-from-2-to-40", pa.uint64(), _below(2**40, 2**40 + 7))
    yield Kind("bits-12", pa.int64(), _below(0, 4096))
    yield Kind("bits-one-outlier", pa.int64(), outlier)
    for type_ in (pa.uint8(), pa.int16(), pa.int32(), pa.int64(), pa.float64()):
        yield Kind(f"runs-{type_}", type_, lambda _, i: i // 150 % 100)
    yield Kind("runs-bool", pa.bool_(), lambda _, i: i // 100 % 2 == 0)
    yield Kind("runs-date", pa.date32(), lambda _, i: i // 300)
    yield Kind("sorted-i64", pa.int64(), lambda r, i: i * 3 + r.randrange(3))
    yield Kind("sorted-timestamp", pa.timestamp("us"), lambda _, i: 10**15 + i * 10**6)
    yield Kind("few-utf8", pa.string(), few_words)
    yield Kind("few-utf8-long", pa.string(), _one_of("x" * 40, "y" * 50, "", "z" * 300))
    yield Kind("few-large-utf8", pa.large_string(), few_words)
    yield Kind("few-binary", pa.binary(), _one_of(b"\0\xff" * 20, b"", b"abc"))
    yield Kind("few-f64", pa.float64(), _one_of(1.25, 2.5, 1e300))
    yield Kind("few-i64", pa.int64(), _one_of(-(2**40), 3, 2**50))
    yield Kind("few-dec128", pa.decimal128(38, 2), _one_of(Decimal(1), Decimal(2), Decimal(3)))
    yield Kind("few-fixed-binary-16", pa.binary(16), _one_of(b"a" * 16, b"b" * 16))
    yield Kind("list-few-utf8", pa.list_(pa.string()), _list(_or_null(few_words)))
    yield Kind("prefix-utf8", pa.string(), url, cost=2)
    yield Kind("prefix-binary", pa.binary(), lambda r, i: url(r, i).encode(), cost=2)
    yield Kind("list-prefix-utf8", pa.list_(pa.string()), _list(_or_null(url)), cost=6)
    yield Kind("empty-utf8", pa.string(), _one_of(""))
    yield Kind("empty-lists", pa.list_(pa.int32()), lambda _r, _i: [])
    yield Kind("empty-or-null-lists", pa.list_(pa.int32()), _or_null(lambda _r, _i: [], 0.5))
    yield Kind("lists-of-null", pa.list_(pa.int32()), _list(lambda _r, _i: None))
    yield Kind("smooth-f32", pa.float32(), lambda _, i: float(np.float32(math.sin(i / 50))))
