"""Random filters over random scalar indices: the same rows with indices, without, and by the judge.

Datasets have indices of every type over columns of every type, appends, deletes, updates, merges,
compactions, rewritten columns, restores and segments, made by pylance; earlier versions are asked
about, too. Some are compacted again and again, with indices that are told and with such that are
not. The judge evaluates each filter row by row over the live rows; Lance's own answers are
not asked for, since its indices err. Where an answer is wrong, the parts of the filter are asked
too, and the smallest wrong one is told.
"""

import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import lance
import pyarrow as pa

from support.arguments import common_arguments
from support.command import CommandError, Lancet, Row
from support.conditions import Condition, random_condition
from support.difference import first_difference
from support.indexed import PARAMETERS, IndexedHistory, any_change, create_index
from support.indexed_columns import KEY, Columns
from support.report import Report
from support.stderr import silenced_stderr

from reference.evaluate import Evaluator, FloatOrder
from reference.values import table_json

STORAGE_VERSIONS = ("2.1", "2.0", "2.2")
INDICES_AT_FIRST = 6
FIRST_ROWS = (30, 400, 400, 1500, 6000)
IDENTIFIERS = ("--with-row-id", "--with-row-address")
DIFFERENCE_WIDTH = 12


class Version:
    """One version of a dataset: its live rows, and the judge over them."""

    def __init__(self, dataset: lance.LanceDataset):
        self.number = str(dataset.version)
        scanner = dataset.scanner(with_row_id=True, with_row_address=True, scan_in_order=True)
        self.table = scanner.to_table()
        self.keys = self.table[KEY].to_pylist()
        self.fragments = [address >> 32 for address in self.table["_rowaddr"].to_pylist()]
        self.judge = Evaluator(self.table, FloatOrder.ZERO_EQUAL)
        self.judged: dict[str, list[int]] = {}

    def matching(self, condition: str) -> list[int]:
        """The numbers of the rows where a filter is true."""
        if condition not in self.judged:
            self.judged[condition] = self.judge.rows(condition)
        return self.judged[condition]

    def rows(self, numbers: list[int]) -> list[Row]:
        """All columns of these rows."""
        return table_json(self.table.take(pa.array(numbers, pa.int64())))


@dataclass(frozen=True)
class Question:
    """What is asked about a filter."""

    name: str
    flags: tuple[str, ...] = ()
    offset: int = 0
    limit: int | None = None
    indexed_only: bool = False

    def failure(
        self, lancet: Lancet, path: Path, version: Version, condition: Condition
    ) -> str | None:
        """What is wrong with the answer."""
        end = None if self.limit is None else self.offset + self.limit
        expected = version.matching(condition.text)[self.offset : end]
        flags = ("--filter", condition.text, "--version", version.number, *self.flags)
        try:
            if self.indexed_only:
                uncovered = Plan.of(lancet, path, version, condition).uncovered
                expected = [row for row in expected if version.fragments[row] not in uncovered]
            if self.name == "count":
                count = lancet.count(path, *flags)
                return None if count == len(expected) else f"{count}, not {len(expected)}"
            rows = lancet.rows("query", path, *flags)
        except CommandError as error:
            return str(error)
        if self.name == "all columns":
            return first_difference(rows, version.rows(expected))
        return _difference([row[KEY] for row in rows], [version.keys[row] for row in expected])


def _difference(got: list[int], want: list[int]) -> str | None:
    """Which keys are missing, or too many."""
    if got == want:
        return None
    missing, extra = sorted(set(want) - set(got)), sorted(set(got) - set(want))
    if not missing and not extra:
        return f"{len(got)} rows, {len(want)} expected: in another order or twice"
    return (
        f"{len(got)} rows, {len(want)} expected: {len(missing)} missing "
        f"{missing[:DIFFERENCE_WIDTH]}, {len(extra)} too many {extra[:DIFFERENCE_WIDTH]}"
    )


IDS = ("--columns", KEY)


@dataclass(frozen=True)
class Plan:
    """Which indices answer a filter if they must, and which fragments they do not cover."""

    kinds: tuple[str, ...]
    uncovered: frozenset[int]

    @staticmethod
    def of(lancet: Lancet, path: Path, version: Version, condition: Condition) -> "Plan":
        """What `--explain` says."""
        flags = ("--filter", condition.text, "--version", version.number)
        plan = lancet.record("query", path, *flags, "--indexed-only", "--explain")
        kinds = tuple(index["type"] for index in plan["indices"] if index["used"])
        skipped = [part["fragment"] for part in plan["fragments"] if part["read"] == "skip"]
        return Plan(kinds, frozenset(skipped))


def questions(rows: int, r: random.Random) -> list[Question]:
    """What is asked about every filter, and what at times.

    lancet leaves an index aside where a scan costs less, so that small datasets are often scanned.
    Not so for the count, and where only what indices cover is wanted.
    """
    asked = [
        Question("rows", IDS),
        Question("rows of indices", (*IDS, "--indexed-only"), indexed_only=True),
        Question("rows without index", (*IDS, "--no-index")),
        Question("count"),
    ]
    if r.random() < 0.3:
        offset, limit = r.randrange(rows // 4 + 1), r.randrange(1, rows // 2 + 2)
        flags = (*IDS, "--offset", str(offset), "--limit", str(limit))
        asked.append(Question("part of the rows", flags, offset, limit))
    if r.random() < 0.15:
        asked.append(Question("all columns", IDENTIFIERS))
    return asked


class Comparison:
    """Compares answers about histories, and keeps the report."""

    def __init__(self, lancet: Lancet, filters: int, keep: Path | None):
        self.lancet = lancet
        self.filters = filters
        self.keep = keep
        self.report = Report()
        self.used: Counter[str] = Counter()
        """How many filters were answered by an index of each type, and by any."""

    def run(self, h: IndexedHistory, rows: int, steps: int) -> None:
        """Makes a history, and asks about versions of it on the way."""
        if not self._do(h, lambda h: h.create(rows), "create"):
            return
        for step in range(INDICES_AT_FIRST + steps):
            change = create_index if step < INDICES_AT_FIRST else any_change(h)
            self._do(h, change, change.__name__)
            if step >= INDICES_AT_FIRST - 1 and (step % 2 or step == INDICES_AT_FIRST + steps - 1):
                self._ask(h)
                h.remember()
        if h.earlier:
            version = h.r.choice(list(h.earlier))
            h.go_back(version)
            h.log.append(f"asked about version {version}")
            self._ask(h, version)

    def _do(self, h: IndexedHistory, change: Callable[[IndexedHistory], None], name: str) -> bool:
        """Whether pylance made a change."""
        h.log.append(name)
        try:
            with silenced_stderr():
                change(h)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic in pylance is not an `Exception`
            h.log[-1] += " refused"
            self.report.refuse((name, str(error).split("\n")[0][:70]))
            return False
        return True

    def _ask(self, h: IndexedHistory, number: int | None = None) -> None:
        """Asks about a version, the newest one if no number is given."""
        version = Version(lance.dataset(h.path, version=number))
        # A generator of its own: what is asked must not change the history.
        r = random.Random(f"{h.path.name}/{len(h.log)}")
        indexed = [path for _, path, _ in h.indices]
        # Columns with an index come twice, so that filters are often answered by indices alone.
        columns = [*h.columns.all, *(c for c in h.columns.all if c.path in indexed)]
        for _ in range(self.filters):
            parts_only = h.only == "NGRAM"
            indexed_only = r.random() < (0.9 if parts_only else 0.5)
            asked = [c for c in columns if c.path in indexed] if indexed_only else columns
            depth = r.randrange(3 if parts_only else 5)
            condition = random_condition(asked or columns, depth, r, parts_only)
            self._count_indices(h, version, condition)
            for question in questions(len(version.keys), r):
                self.report.compared += 1
                self._check(h, version, question, condition)

    def _count_indices(self, h: IndexedHistory, version: Version, condition: Condition) -> None:
        try:
            kinds = set(Plan.of(self.lancet, h.path, version, condition).kinds)
        except CommandError:
            return  # The questions tell.
        self.used.update([*kinds, "any index"] if kinds else ["no index"])

    def _check(
        self, h: IndexedHistory, version: Version, question: Question, condition: Condition
    ) -> None:
        failure = question.failure(self.lancet, h.path, version, condition)
        if failure is None:
            return
        for part in condition.smaller():
            smaller = question.failure(self.lancet, h.path, version, part)
            if smaller is not None:
                break
        else:
            part, smaller = condition, f"{failure} (not again)"
        kinds = sorted({kind for _, path, kind in h.indices if path in part.text})
        text = f"{part.text}: {smaller}; version {version.number} of {h.path.name}: {h}"
        self.report.fail((question.name, " ".join(kinds) or "no index"), text)
        if self.keep and not (self.keep / h.path.name).exists():
            shutil.copytree(h.path, self.keep / h.path.name)


def main() -> int:
    """The exit status: 1 if an answer was wrong."""
    parser = common_arguments(__doc__ or "")
    parser.add_argument("--histories", type=int, help="how many [default: 60, short: 6]")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--rows", type=int, help="of each at first [default: 30 to 6000]")
    parser.add_argument("--steps", type=int, default=10, help="changes of each [default: 10]")
    parser.add_argument("--filters", type=int, default=12, help="for each version [default: 12]")
    parser.add_argument("--index", choices=list(PARAMETERS), help="indices of this type only")
    parser.add_argument("--defer", action="store_true", help="only where indices are left behind")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="copy failing datasets there")
    args = parser.parse_args()
    comparison = Comparison(Lancet(args.binary), args.filters, args.keep)
    count = args.histories or (6 if args.short else 60)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.first, args.first + count):
            r = random.Random(f"{args.seed}/{number}")
            storage_version = STORAGE_VERSIONS[number % len(STORAGE_VERSIONS)]
            history = IndexedHistory(
                Path(folder) / f"history{number}",
                r,
                storage_version,
                stable_row_ids=number % 2 == 1 and not args.defer,
                columns=Columns.any(storage_version, r, args.index),
                only=args.index,
                defers=args.defer or number % 4 == 0,
            )
            comparison.run(history, args.rows or r.choice(FIRST_ROWS), args.steps)
            shutil.rmtree(history.path, ignore_errors=True)
    used = ", ".join(f"{kind} × {count}" for kind, count in comparison.used.most_common())
    print(f"filters answered by {used}")
    title = f"indices, pylance {lance.__version__}, seed {args.seed}"
    return comparison.report.finish(title, ("question", "indices"))


if __name__ == "__main__":
    sys.exit(main())
