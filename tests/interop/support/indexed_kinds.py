"""Kinds of columns that an index takes: values with the extremes of their type, and as literals."""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from reference.values import TICKS_PER_SECOND, column_json

SCALAR = ("BTREE", "BITMAP", "ZONEMAP")
HASHED = (*SCALAR, "BLOOMFILTER")
TEXT = (*HASHED, "NGRAM", "NGRAM")
"""Two of six, so that every run has some."""

SECONDS_OF_2020 = 1_577_836_800
TEXTS = """
    a b ab abc abd Ab aXbXc a_b a%b % _ ß ä äb İz ﬀ é 日本 日本語 --- 10 -5 hello helium it's
    hello-world zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
""".split()
TEXTS += ["", " ", "a b", "hello world", "\U0010ffff", "a\U0010ffff", "\ud7ff", "back\\slash"]

SENTENCE_WORDS = """
    error Error ERROR warning connect disconnect connection 127.0.0.1 10.0 x86-64 10% user_name
    C:\\temp Straße café naïve Ελλάδα Москва İstanbul 日本語 東京タワー ﬁne don't a ab 007
    2024-02-29 foo::bar() 🙂
""".split()


@dataclass(frozen=True)
class Kind:
    """A type, its values, and the indices that take it."""

    name: str
    type: pa.DataType
    draw: Callable[[random.Random], Any]
    indices: tuple[str, ...] = HASHED

    @property
    def is_text(self) -> bool:
        """Whether LIKE and its kin apply."""
        return pat.is_string(self.type) or pat.is_large_string(self.type)

    @property
    def is_list(self) -> bool:
        """Whether only the functions of lists apply."""
        return pat.is_list(self.type) or pat.is_large_list(self.type)

    @property
    def has_literals(self) -> bool:
        """Whether its values can be written in a filter."""
        return not self.is_list

    def literal(self, value: Any) -> str:
        """A value as it is written in a filter; an item, if the kind is a list."""
        if value is None:
            return "NULL"
        type_ = self.type.value_type if self.is_list else self.type
        if pat.is_boolean(type_):
            return "TRUE" if value else "FALSE"
        if pat.is_string(type_) or pat.is_large_string(type_):
            return "'" + value.replace("'", "''") + "'"
        if isinstance(value, bytes):
            return f"X'{value.hex()}'"
        if pat.is_floating(type_):
            return _float_literal(float(value), type_)
        if pat.is_temporal(type_):
            word = next(word for word, test in TEMPORAL.items() if test(type_))
            return f"{word} '{column_json(pa.array([value], type_))[0]}'"
        return str(value)

    def finer_literal(self, value: Any) -> str:
        """A moment just after the value, which the column cannot hold."""
        return self.literal(value).replace("Z'", "'")[:-1] + ".5'"

    @property
    def has_finer_literals(self) -> bool:
        """Whether a fraction can be added to its literals."""
        return getattr(self.type, "unit", None) == "s" and self.has_literals


TEMPORAL = {"DATE": pat.is_date, "TIME": pat.is_time, "TIMESTAMP": pat.is_timestamp}


def _float_literal(value: float, type_: pa.DataType) -> str:
    if math.isfinite(value):
        return repr(float(np.float32(value))) if pat.is_float32(type_) else repr(value)
    name = "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return f"CAST('{name}' AS {'DOUBLE' if pat.is_float64(type_) else 'FLOAT'})"


def all_kinds() -> list[Kind]:
    """Every kind."""
    return [*_numbers(), *_texts(), *_times(), *_lists()]


def _numbers() -> Iterator[Kind]:
    for type_ in (pa.int8(), pa.int16(), pa.int32(), pa.int64()):
        most = 2 ** (type_.bit_width - 1) - 1
        yield Kind(str(type_), type_, _integer(-most - 1, most))
    for type_ in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()):
        yield Kind(str(type_), type_, _integer(0, 2**type_.bit_width - 1))
    yield Kind("f16", pa.float16(), lambda r: np.float16(_float(r, 0.5)), SCALAR)
    yield Kind("f32", pa.float32(), lambda r: float(np.float32(_float(r, 0.1))))
    yield Kind("f64", pa.float64(), lambda r: _float(r, 0.1))
    yield Kind("bool", pa.bool_(), lambda r: r.random() < 0.5, SCALAR)
    for type_ in (pa.decimal128(10, 2), pa.decimal256(40, 2)):
        yield Kind(
            f"d{type_.bit_width}", type_, lambda r: Decimal(r.randrange(-99, 99)) / 4, SCALAR
        )


def _integer(least: int, most: int) -> Callable[[random.Random], int]:
    def draw(r: random.Random) -> int:
        near = r.randrange(max(least, -50), min(most, 100))
        return r.choice([near] * 8 + [least, most, most - 1])

    return draw


def _float(r: random.Random, step: float) -> float:
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, -math.nan]
    return r.choice(special) if r.random() < 0.3 else r.randrange(-40, 40) * step


def _texts() -> Iterator[Kind]:
    yield Kind("utf8", pa.string(), _text, TEXT)
    yield Kind("large-utf8", pa.large_string(), _text, TEXT)
    yield Kind("sentences", pa.string(), _sentence, TEXT)
    yield Kind("binary", pa.binary(), lambda r: _text(r).encode("utf8"))
    yield Kind("large-binary", pa.large_binary(), lambda r: r.randbytes(r.randrange(5)))
    yield Kind("fixed-binary", pa.binary(3), lambda r: bytes([r.choice([0, 1, 255]), 0, 7]), SCALAR)


def _text(r: random.Random) -> str:
    if r.random() < 0.3:
        return f"{r.choice(['word', 'Word', 'wörd'])} {r.randrange(200)}"
    return r.choice(TEXTS)


def _sentence(r: random.Random) -> str:
    """Long enough for needles that an index on three letters tells apart."""
    words = (r.choice(SENTENCE_WORDS) for _ in range(r.randrange(2, 7)))
    return r.choice([" ", " ", "-", ", ", "", "_"]).join(words)


def _times() -> Iterator[Kind]:
    yield Kind("date32", pa.date32(), lambda r: 18_262 + r.randrange(-30, 30))
    yield Kind("date64", pa.date64(), lambda r: (18_262 + r.randrange(-30, 30)) * 86_400_000)
    for type_ in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        yield Kind(f"time-{type_.unit}", type_, _ticks(type_.unit, 43_200))
    for unit in TICKS_PER_SECOND:
        for zone in (None, "UTC"):
            type_ = pa.timestamp(unit, zone)
            yield Kind(
                f"timestamp-{unit}{'-utc' * bool(zone)}", type_, _ticks(unit, SECONDS_OF_2020)
            )


def _ticks(unit: str, around: int) -> Callable[[random.Random], int]:
    return lambda r: (around + r.randrange(-20, 20)) * TICKS_PER_SECOND[unit] + r.randrange(2)


def _lists() -> Iterator[Kind]:
    items = {
        "i32": (pa.int32(), lambda r: r.randrange(12)),
        "utf8": (pa.string(), lambda r: r.choice(TEXTS[:10])),
    }
    for name, (type_, draw) in items.items():

        def draw_list(r: random.Random, draw: Callable[[random.Random], Any] = draw) -> list[Any]:
            return [None if r.random() < 0.1 else draw(r) for _ in range(r.randrange(4))]

        yield Kind(f"list-{name}", pa.list_(type_), draw_list, ("LABEL_LIST",))
        yield Kind(f"large-list-{name}", pa.large_list(type_), draw_list, ("LABEL_LIST",))
