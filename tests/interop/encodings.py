"""Every type, written by pylance in every encoding, read by lancet.

The matrix is kind of column × share of nulls × storage version × number of rows, first as the
writer chooses the encodings, then as field metadata asks for them. Each dataset holds one kind,
with one column for each share of nulls. The judge is the data that was put in: Lance misreads some
of its own files.
"""

import random
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pyarrow.types as pat

from support.arguments import common_arguments
from support.command import CommandError, Lancet, Row
from support.difference import first_difference
from support.kinds import STORAGE_VERSIONS, Kind, all_kinds
from support.pages import write_small_pages
from support.report import Report
from support.stderr import silenced_stderr
from support.wishes import DEFAULT, Wish, all_wishes

NULL_SHARES = {"none": 0.0, "1%": 0.01, "30%": 0.3, "90%": 0.9, "all": 1.0}
WISHED_NULL_SHARES = ("none", "30%", "all")

ROWS_PER_BATCH = 370
TAKEN_ROWS = 40

WISHED_KINDS = """
    i8 i32-small i64 u16 f16 f32 f64 bool dec128 fixed-binary-7 timestamp-us utf8 utf8-90 utf8-400
    large-utf8 binary utf8-over-32-KiB few-utf8 few-i64 few-f64 prefix-utf8 prefix-binary runs-int32
    runs-int64 runs-double constant-i64 constant-utf8 smooth-f32 dictionary list-i32 list-utf8
    list-prefix-utf8 list-list-i32 struct struct-struct struct-list list-struct list-struct-list
    packable packable-vector packable-utf8 vector-f32-8 vector-f32-128 vector-u8-64 vector-bool-8
    vector-f32-8-null-items
""".split()
SHORT_WISHED_KINDS = "i32-small f64 utf8-90 few-utf8 list-utf8 vector-f32-8 packable".split()


@dataclass(frozen=True)
class Shape:
    """How many rows, and whether they go to many small pages."""

    rows: int
    small_pages: bool = False

    def of_kind(self, kind: Kind, affordable: int) -> "Shape":
        """The same for a kind, of which so many rows can be afforded."""
        return Shape(min(self.rows, affordable), self.small_pages and kind.pages)

    def __str__(self) -> str:
        return f"{self.rows} rows" + (" in small pages" if self.small_pages else "")


@dataclass(frozen=True)
class Extent:
    """How much of the matrix is run."""

    shapes: list[Shape]
    null_shares: tuple[str, ...]
    wished_kinds: list[str]
    wished_shapes: list[Shape]
    largest_cost: int
    """Kinds with large rows have fewer: rows × cost is at most this."""


FULL = Extent(
    shapes=[*map(Shape, (1, 2, 1023, 1024, 1025, 4097)), Shape(20_000, small_pages=True)],
    null_shares=tuple(NULL_SHARES),
    wished_kinds=WISHED_KINDS,
    wished_shapes=[Shape(1025), Shape(4097, small_pages=True)],
    largest_cost=200_000,
)
SHORT = Extent(
    shapes=[Shape(1300, small_pages=True)],
    null_shares=WISHED_NULL_SHARES,
    wished_kinds=SHORT_WISHED_KINDS,
    wished_shapes=[Shape(1025)],
    largest_cost=20_000,
)


@dataclass(frozen=True)
class Column:
    """One column of a dataset and what must be read from it."""

    name: str
    field: pa.Field
    array: pa.Array
    expected: list[Any]


class Source:
    """The values of one kind, with each share of nulls, of which datasets take the first rows."""

    def __init__(self, kind: Kind, rows: int, null_shares: Iterable[str], seed: int):
        self.kind = kind
        r = random.Random(f"{seed}/{kind.name}/nulls")
        values = kind.values(rows, str(seed))
        self.arrays: dict[str, pa.Array] = {}
        self.expected: dict[str, list[Any]] = {}
        for name in null_shares:
            share = NULL_SHARES[name]
            array = kind.array([None if r.random() < share else value for value in values])
            self.arrays[name] = array
            self.expected[name] = kind.expected(array)

    def columns(self, rows: int, wish: Wish, version: str) -> list[Column]:
        """One column for each share of nulls that this storage version can hold."""
        lossy = version == "2.0" and pat.is_struct(self.kind.type)  # 2.0 loses nulls of a struct
        return [
            Column(
                name,
                self.kind.field(wish.field(name, self.kind.type)),
                copied(array, range(rows)),
                self.expected[name][:rows],
            )
            for name, array in self.arrays.items()
            if name == "none" or not lossy
        ]


@dataclass(frozen=True)
class Question:
    """One call of lancet. Each dataset has one fragment: a row's identifiers are its number."""

    command: str
    flags: tuple[str, ...]
    rows: Sequence[int]
    columns: tuple[str, ...]
    identifiers: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.command, *self.flags, "--columns", ",".join(self.columns)])

    def about(self, column: str) -> "Question":
        """The same question about one column."""
        return replace(self, columns=(column,))

    def answer(self, lancet: Lancet, dataset: Path) -> list[Row]:
        """What lancet says."""
        taken = [",".join(map(str, self.rows))] if self.command == "take" else []
        columns = ["--columns", ",".join(self.columns)]
        return lancet.rows(self.command, dataset, *taken, *self.flags, *columns)

    def expected(self, values: dict[str, list[Any]]) -> list[Row]:
        """What lancet must say."""
        return [
            {name: values[name][row] for name in self.columns}
            | dict.fromkeys(self.identifiers, row)
            for row in self.rows
        ]


def questions(names: list[str], rows: int, r: random.Random) -> Iterator[Question]:
    """A full scan, and random parts of it."""
    yield Question("query", (), range(rows), tuple(names))
    offset, limit = r.randrange(rows), r.randrange(1, rows + 1)
    some = tuple(r.sample(names, r.randrange(1, len(names) + 1)))
    flags = ("--offset", str(offset), "--limit", str(limit), "--with-row-id", "--with-row-address")
    part = range(offset, min(offset + limit, rows))
    yield Question("query", flags, part, some, ("_rowid", "_rowaddr"))
    taken = [0, rows - 1, *(r.randrange(rows) for _ in range(TAKEN_ROWS))]
    r.shuffle(taken)
    by = r.choice(("offset", "row-id", "row-address"))
    yield Question("take", ("--by", by), [*taken, taken[0]], tuple(r.sample(names, len(names))))
    yield Question("take", (), [r.randrange(rows)], some)


class Matrix:
    """Writes the datasets, asks lancet, and keeps the report."""

    def __init__(self, lancet: Lancet, seed: int, largest_cost: int, folder: Path):
        self.lancet = lancet
        self.seed = seed
        self.largest_cost = largest_cost
        self.dataset = folder / "dataset"
        self.report = Report()

    def check_kind(
        self,
        kind: Kind,
        wishes: Sequence[Wish],
        shapes: Sequence[Shape],
        null_shares: Iterable[str],
    ) -> None:
        """One kind in all these forms."""
        affordable = max(self.largest_cost // kind.cost, 2)
        shapes = [shape.of_kind(kind, affordable) for shape in shapes]
        source = Source(kind, max(shape.rows for shape in shapes), null_shares, self.seed)
        for wish in wishes:
            for shape in dict.fromkeys(shapes):
                for version in STORAGE_VERSIONS:
                    if version in kind.versions and wish.since <= version:
                        self._check_dataset(source, wish, shape, version)

    def _check_dataset(self, source: Source, wish: Wish, shape: Shape, version: str) -> None:
        label = (source.kind.name, wish.name, version)
        r = random.Random(f"{self.seed}/{label}/{shape}")
        columns = source.columns(shape.rows, wish, version)
        accepted = self._write(columns, shape, version)
        for column in columns:
            if column not in accepted:
                self.report.refuse((source.kind.name, version))
        if not accepted:
            return
        values = {column.name: column.expected for column in accepted}
        for question in questions(list(values), shape.rows, r):
            for failure in self._failures(question, values):
                self.report.fail(label, f"{shape}: {failure}")
        self.report.compared += 1
        if self.lancet.count(self.dataset) != shape.rows:
            self.report.fail(label, f"{shape}: count differs")

    def _write(self, columns: list[Column], shape: Shape, version: str) -> list[Column]:
        """Writes the columns; those that pylance refuses are left out."""
        if write(self.dataset, columns, shape, version):
            return columns
        accepted = [column for column in columns if write(self.dataset, [column], shape, version)]
        if accepted and not write(self.dataset, accepted, shape, version):
            raise RuntimeError(f"{columns[0].field}: columns can be written only one by one")
        return accepted

    def _failures(self, question: Question, values: dict[str, list[Any]]) -> list[str]:
        """What is wrong with the answer, column by column if it is."""
        failure = self._failure(question, values)
        if failure is None:
            return []
        alone = [self._failure(question.about(name), values) for name in question.columns]
        return [text for text in alone if text] or [failure]

    def _failure(self, question: Question, values: dict[str, list[Any]]) -> str | None:
        self.report.compared += 1
        try:
            got = question.answer(self.lancet, self.dataset)
        except CommandError as error:
            return f"{question}: {error}"
        difference = first_difference(got, question.expected(values))
        return difference and f"{question}: {difference}"


def write(path: Path, columns: list[Column], shape: Shape, version: str) -> bool:
    """Whether pylance writes these columns. A panic in pylance is not an `Exception`."""
    shutil.rmtree(path, ignore_errors=True)
    schema = pa.schema([column.field for column in columns])
    table = pa.Table.from_arrays([column.array for column in columns], schema=schema)
    try:
        with silenced_stderr():
            if shape.small_pages:
                write_small_pages(list(copied_batches(table)), path, version)
            else:
                lance.write_dataset(table, path, data_storage_version=version)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        return False
    return True


def copied_batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """The rows in batches."""
    for start in range(0, table.num_rows, ROWS_PER_BATCH):
        rows = range(start, min(start + ROWS_PER_BATCH, table.num_rows))
        arrays = [copied(column.chunk(0), rows) for column in table.columns]
        yield pa.RecordBatch.from_arrays(arrays, schema=table.schema)


def copied(array: pa.Array, rows: range) -> pa.Array:
    """These rows in buffers of their own: pylance panics on slices of some types."""
    return array.take(pa.array(rows, pa.int64()))


def main() -> int:
    """The exit status: 1 if an answer was wrong."""
    parser = common_arguments(__doc__)
    parser.add_argument("--kind", action="append", help="only this kind of column; repeatable")
    parser.add_argument("--wish", action="append", help="only this encoding; repeatable")
    parser.add_argument("--verbose", action="store_true", help="name every kind in its turn")
    args = parser.parse_args()
    extent = SHORT if args.short else FULL
    kinds = [kind for kind in all_kinds() if not args.kind or kind.name in args.kind]
    defaults = [DEFAULT] if not args.wish or DEFAULT.name in args.wish else []
    wishes = [wish for wish in all_wishes() if not args.wish or wish.name in args.wish]
    with tempfile.TemporaryDirectory() as folder:
        matrix = Matrix(Lancet(args.binary), args.seed, extent.largest_cost, Path(folder))
        for kind in kinds:
            if args.verbose:
                print(kind.name, file=sys.stderr)
            matrix.check_kind(kind, defaults, extent.shapes, extent.null_shares)
            if kind.name in extent.wished_kinds:
                matrix.check_kind(kind, wishes, extent.wished_shapes, WISHED_NULL_SHARES)
    title = f"encodings, pylance {lance.__version__}, seed {args.seed}"
    return matrix.report.finish(title, ("kind", "encoding", "version"))


if __name__ == "__main__":
    sys.exit(main())
