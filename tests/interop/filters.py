"""Random filters over random datasets: the same rows from lancet as from pylance's unindexed scan.

Where lancet departs from Lance on purpose (`docs/cli.md`), the filters keep away: no zeros among
the floats, since Lance orders −0 below 0; no timestamps finer than their column, and none with `Z`.
A filter that either of the two refuses, or that divides by zero in one of them, is not compared:
Lance evaluates operands that can fail in whichever order its plan has. Both are counted.
"""

import random
import sys
import tempfile
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa

from support.arguments import common_arguments
from support.command import CommandError, Lancet
from support.report import Report
from support.stderr import silenced_stderr

STORAGE_VERSIONS = ("2.0", "2.1", "2.2")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
TEXTS = ["", "a", "ab", "Ab", "abc", "aXbXc", "äb", "日本", " x ", "10", "-5", "ß", "%", "_"]
PATTERNS = ["a%", "%b", "%b%", "ab", "a_", "_b%", "%a%c", "", "%", r"a\%", "__", "%bX%"]
EPOCH = datetime(2020, 1, 1)

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("i8", pa.int8()),
        pa.field("i32", pa.int32()),
        pa.field("i64", pa.int64()),
        pa.field("u16", pa.uint16()),
        pa.field("f32", pa.float32()),
        pa.field("f64", pa.float64()),
        pa.field("b", pa.bool_()),
        pa.field("s", pa.string()),
        pa.field("few", pa.string()),
        pa.field("large", pa.large_string()),
        pa.field("bin", pa.binary()),
        pa.field("day", pa.date32()),
        pa.field("ts", pa.timestamp("us")),
        pa.field("utc", pa.timestamp("us", "UTC")),
        pa.field("d", pa.decimal128(10, 2)),
        pa.field("l", pa.list_(pa.int32())),
        pa.field("st", pa.struct([("a", pa.int32()), ("b", pa.string())])),
    ]
)
INTEGERS = ("i8", "i32", "i64", "u16", "st.a")
LIMITS = {"i8": 127, "i32": 2**31 - 1, "i64": 2**63 - 1, "u16": 65535}


def random_table(rows: int, r: random.Random) -> pa.Table:
    """Rows with NULL, NaN, infinities and extremes."""

    def column(field: pa.Field) -> pa.Array:
        if field.name == "id":
            return pa.array(range(rows), field.type)
        share = r.choice([0, 0.1, 0.5])
        values = [None if r.random() < share else value(field.name, r) for _ in range(rows)]
        return pa.array(values, field.type)

    return pa.Table.from_arrays([column(field) for field in SCHEMA], schema=SCHEMA)


def value(name: str, r: random.Random) -> Any:
    """A value of the column that is not NULL."""
    match name:
        case "i8" | "i32" | "i64" | "u16":
            most = LIMITS[name]
            least = 0 if name == "u16" else -most - 1
            return r.choice([r.randrange(0, 6), r.randrange(0, 6), least, most])
        case "f32" | "f64":
            return r.choice(
                [r.randrange(1, 9) / 2, -1.5, 0.1, float("inf"), float("-inf"), float("nan")]
            )
        case "b":
            return r.random() < 0.5
        case "s" | "large":
            return r.choice(TEXTS)
        case "few":
            return r.choice(["red", "green", "blue"])
        case "bin":
            return r.choice([b"", b"\0", b"ab", b"\xff"])
        case "day":
            return date(2020, 1, 1) + timedelta(days=r.randrange(-3, 4))
        case "ts":
            return EPOCH + timedelta(microseconds=r.randrange(0, 4) * 500_000)
        case "utc":
            return (EPOCH + timedelta(hours=r.randrange(0, 4))).replace(tzinfo=UTC)
        case "d":
            return Decimal(r.randrange(-300, 301)) / 100
        case "l":
            return [
                None if r.random() < 0.2 else r.randrange(0, 4) for _ in range(r.randrange(0, 4))
            ]
        case "st":
            return {"a": r.choice([None, 1, 2, 3]), "b": r.choice([None, *TEXTS])}
    raise ValueError(name)


def random_filter(r: random.Random, depth: int) -> str:
    """A condition of at most so many levels above its leaves."""
    if depth == 0 or r.random() < 0.15:
        return leaf(r)

    def below() -> str:
        return random_filter(r, depth - 1)

    match r.randrange(9):
        case 0 | 1 | 2:
            return " AND ".join(f"({below()})" for _ in range(r.randrange(2, 4)))
        case 3 | 4:
            return " OR ".join(f"({below()})" for _ in range(r.randrange(2, 4)))
        case 5:
            return f"NOT ({below()})"
        case 6:
            test = r.choice(["NULL", "NOT NULL", "TRUE", "NOT TRUE", "FALSE", "NOT FALSE"])
            return f"({below()}) IS {test}"
        case 7:
            return f"{number(r, depth - 1)} {r.choice(COMPARISONS)} {number(r, depth - 1)}"
        case _:
            return f"{text(r, depth - 1)} {r.choice(COMPARISONS)} {text(r, depth - 1)}"


def literal(name: str, r: random.Random) -> str:
    """A literal that the column can hold."""
    match name:
        case "i8" | "i32" | "i64" | "u16" | "st.a":
            return str(r.choice([0, 1, 2, 3, 5, LIMITS.get(name, 9)]))
        case "f32" | "f64":
            return r.choice(["0.5", "1.0", "-1.5", "0.1", "3"])
        case "d":
            return r.choice(["CAST(1.50 AS DECIMAL(10, 2))", "CAST(-2 AS DECIMAL(10, 2))"])
        case "bin":
            return r.choice(["X'00'", "X'6162'", "X'ff'"])
        case "day":
            return r.choice(["DATE '2020-01-01'", "DATE '2019-12-30'"])
        case "ts" | "utc":
            return r.choice(
                ["TIMESTAMP '2020-01-01 00:00:00'", "TIMESTAMP '2020-01-01 00:00:01.5'"]
            )
        case "few":
            return r.choice(["'red'", "'blue'", "'pink'"])
    return f"'{r.choice(TEXTS)}'"


def leaf(r: random.Random) -> str:
    """A condition on one column."""
    name = r.choice(
        [*INTEGERS, "f32", "f64", "s", "few", "large", "st.b", "bin", "day", "ts", "utc", "d"]
    )
    negated = r.choice(["", "NOT "])
    match r.randrange(9):
        case 0 | 1 | 2:
            return f"{name} {r.choice(COMPARISONS)} {literal(name, r)}"
        case 3:
            return f"{name} IS {negated}NULL"
        case 4:
            return f"{name} {negated}BETWEEN {literal(name, r)} AND {literal(name, r)}"
        case 5:
            items = [literal(name, r) for _ in range(r.randrange(1, 6))]
            items += ["NULL"] if r.random() < 0.2 else []
            return f"{name} {negated}IN ({', '.join(items)})"
        case 6:
            operator = r.choice(["LIKE", "NOT LIKE", "ILIKE"])
            return f"{r.choice(['s', 'few', 'large', 'st.b'])} {operator} '{r.choice(PATTERNS)}'"
        case 7:
            return r.choice(
                ["b", "b = true", "b = false", "b IS TRUE", "b IS NOT FALSE", "isnan(f64)"]
            )
    function = r.choice(["array_has(l, 1)", "array_has_any(l, [1, 2])", "array_has_all(l, [0, 1])"])
    return r.choice([function, "starts_with(s, 'a')", "ends_with(s, 'b')", "contains(s, 'X')"])


def number(r: random.Random, depth: int) -> str:
    """An integer."""
    if depth <= 0 or r.random() < 0.4:
        return r.choice([*INTEGERS, "1", "2", "7"])
    left, right = number(r, depth - 1), number(r, depth - 1)
    return r.choice(
        [
            f"({left} {r.choice('+-*')} {right})",
            f"({left} {r.choice('/%')} {right})",
            f"coalesce({left}, {right})",
            f"nullif({left}, {right})",
            f"CASE WHEN {leaf(r)} THEN {left} ELSE {right} END",
            f"CAST({left} AS {r.choice(['BIGINT', 'INT'])})",
            f"length({text(r, depth - 1)})",
        ]
    )


def text(r: random.Random, depth: int) -> str:
    """A text."""
    if depth <= 0 or r.random() < 0.4:
        return r.choice(["s", "large", "few", "st.b", f"'{r.choice(TEXTS)}'"])
    operand = text(r, depth - 1)
    return r.choice(
        [
            f"lower({operand})",
            f"upper({operand})",
            f"trim({operand})",
            f"substr({operand}, {r.choice('12')}, {r.choice('012')})",
            f"concat({operand}, {text(r, depth - 1)})",
            f"({operand} || {text(r, depth - 1)})",
            f"coalesce({operand}, {text(r, depth - 1)})",
        ]
    )


def ids_of_pylance(dataset: lance.LanceDataset, condition: str) -> list[int]:
    """The keys of the rows that pylance finds, without any index."""
    scanner = dataset.scanner(columns=["id"], filter=condition, use_scalar_index=False)
    return sorted(scanner.to_table()["id"].to_pylist())


def main() -> int:
    """The exit status: 1 if an answer differed."""
    parser = common_arguments(__doc__ or "")
    parser.add_argument("--datasets", type=int, help="how many")
    parser.add_argument("--filters", type=int, default=60, help="of each [default: %(default)s]")
    args = parser.parse_args()
    lancet, report = Lancet(args.binary), Report()
    for number_of_dataset in range(args.datasets or (3 if args.short else 30)):
        r = random.Random(f"{args.seed}/{number_of_dataset}")
        version = STORAGE_VERSIONS[number_of_dataset % len(STORAGE_VERSIONS)]
        with tempfile.TemporaryDirectory() as folder:
            compare(lancet, report, Path(folder) / "data", version, args.filters, r)
    print(f"seed {args.seed}")
    return report.finish("filters", ("storage", "what"))


def compare(
    lancet: Lancet, report: Report, path: Path, version: str, filters: int, r: random.Random
) -> None:
    """Asks both about so many filters over one dataset."""
    table = random_table(r.choice([1, 100, 1025, 3000]), r)
    if version == "2.0":  # It loses nulls of a struct.
        table = table.set_column(
            table.schema.get_field_index("st"),
            SCHEMA.field("st"),
            pa.array(
                [row or {"a": None, "b": None} for row in table["st"].to_pylist()],
                SCHEMA.field("st").type,
            ),
        )
    dataset = lance.write_dataset(
        table, path, data_storage_version=version, max_rows_per_file=r.choice([400, 5000])
    )
    if r.random() < 0.5:
        dataset.delete("id % 7 = 3")
    for _ in range(filters):
        condition = random_filter(r, r.randrange(0, 5))
        try:
            with silenced_stderr():
                expected = ids_of_pylance(lance.dataset(path), condition)
        except (ValueError, OSError, RuntimeError) as error:
            report.refuse(("division" if "ivide by zero" in str(error) else "pylance",))
            continue
        try:
            rows = lancet.rows(
                "query", path, "--filter", condition, "--columns", "id", "--no-index"
            )
            count = lancet.count(path, "--filter", condition, "--no-index")
        except CommandError as error:
            if "division by zero" in str(error):
                report.refuse(("division",))
            else:
                report.fail((version, "error"), f"{condition}: {error}")
            continue
        report.compared += 1
        found = [row["id"] for row in rows]
        if sorted(found) != expected:
            differ = sorted(set(found) ^ set(expected))[:3]
            values = table.take(differ).to_pylist()
            report.fail(
                (version, "rows"),
                f"{condition}: {len(found)} rows, {len(expected)} expected: {values}",
            )
        if count != len(expected):
            report.fail((version, "count"), f"{condition}: {count}, {len(expected)} expected")


if __name__ == "__main__":
    sys.exit(main())
