"""The queries that measure scalar indices, on the `sift` set: what each asks, and with what values.

An operation is a filter with gaps and many sets of literals for them; all of them are asked one
after the other. In a file of operations, which every worker reads, each has a line of four fields
that tabs divide:

    name ⇥ columns, or nothing to count ⇥ filter with ? for each literal ⇥ sets of literals

Commas stand between columns, `;` between sets, and `|` between the literals of a set.
"""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

SEED = 5
ROWS = 1_000_000
COLUMNS = ("id", "text", "event_time")
START = datetime(2025, 1, 1)


@dataclass(frozen=True)
class Operation:
    """A query, asked with many values."""

    name: str
    columns: tuple[str, ...]
    """None of them: the rows are counted."""
    template: str
    literals: tuple[tuple[str, ...], ...]

    def filters(self) -> list[str]:
        """The filter with each set of literals."""
        return [self.template.replace("?", "{}").format(*values) for values in self.literals]

    def line(self) -> str:
        """The operation in a file."""
        sets = ";".join("|".join(values) for values in self.literals)
        return "\t".join([self.name, ",".join(self.columns), self.template, sets])

    @staticmethod
    def of_line(line: str) -> "Operation":
        """The operation that a line of a file holds."""
        name, columns, template, sets = line.split("\t")
        literals = tuple(tuple(values.split("|")) for values in sets.split(";"))
        return Operation(name, tuple(filter(None, columns.split(","))), template, literals)


def write(path: Path) -> list[str]:
    """Writes all operations, and returns their names."""
    found = operations(random.Random(SEED))
    path.write_text("".join(operation.line() + "\n" for operation in found))
    return [operation.name for operation in found]


def read(path: Path) -> dict[str, Operation]:
    """The operations in a file, by name."""
    found = map(Operation.of_line, path.read_text().splitlines())
    return {operation.name: operation for operation in found}


def operations(r: random.Random) -> list[Operation]:
    """All operations."""

    def ids(count: int) -> tuple[str, ...]:
        return tuple(str(r.randrange(ROWS) * 7 + 3) for _ in range(count))

    def absent() -> tuple[str, ...]:
        return (str(r.randrange(ROWS) * 7 + 4),)

    def times(share: float) -> tuple[str, str]:
        minutes = ROWS * share
        low = START + timedelta(minutes=r.randrange(int(ROWS - minutes)))
        return tuple(f"TIMESTAMP '{at}'" for at in (low, low + timedelta(minutes=minutes)))

    def text() -> tuple[str, ...]:
        return (f"'item {r.randrange(ROWS):07d} of cluster data'",)

    def between(column: str) -> str:
        return f"{column} >= ? AND {column} < ?"

    hundred = ", ".join("?" * 100)
    three_columns = [
        ("id = x", "id = ?", [ids(1) for _ in range(200)]),
        ("id = x, absent", "id = ?", [absent() for _ in range(200)]),
        ("id IN 100", f"id IN ({hundred})", [ids(100) for _ in range(40)]),
        ("1 % of ordered times", between("event_time"), [times(0.01) for _ in range(40)]),
        ("1 % of shuffled times", between("event_time_shuffled"), [times(0.01) for _ in range(20)]),
        ("rare category", "category = ?", [("'rare'",)] * 20),
        (
            "AND of three",
            f"category = ? AND {between('event_time')} AND {between('event_time_shuffled')}",
            [("'second'", *times(0.05), *times(0.05)) for _ in range(40)],
        ),
        ("text = x", "text = ?", [text() for _ in range(200)]),
        ("id_or_null = x", "id_or_null = ?", [ids(1) for _ in range(200)]),
        ("id_or_null IN 100", f"id_or_null IN ({hundred})", [ids(100) for _ in range(40)]),
    ]
    counts = [
        ("id = x, count", "id = ?", [ids(1) for _ in range(200)]),
        (
            "1 % of shuffled times, count",
            between("event_time_shuffled"),
            [times(0.01) for _ in range(40)],
        ),
        ("rare category, count", "category = ?", [("'rare'",)] * 100),
        ("common category, count", "category = ?", [("'common'",)] * 100),
        ("id_or_null = x, count", "id_or_null = ?", [ids(1) for _ in range(200)]),
    ]
    return [
        Operation(name, columns, template, tuple(literals))
        for columns, group in ((COLUMNS, three_columns), ((), counts))
        for name, template, literals in group
    ]
