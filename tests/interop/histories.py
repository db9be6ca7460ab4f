"""Random histories of datasets, made by pylance, read by lancet.

After every change the newest version is compared with what pylance reads: rows, row ids and row
addresses, by full scans, parts of them, takes and counts. At the end of a history every version,
tag and branch is compared once more. What lancet cannot do yet is found out once, and told.
"""

import random
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import lance
import pyarrow as pa

from support.arguments import common_arguments
from support.changes import CHANGES, History
from support.command import CommandError, Lancet, Row
from support.difference import first_difference
from support.report import Report
from support.stderr import silenced_stderr

from reference.values import table_json

CONFIGURATIONS = [
    (storage_version, stable_row_ids, v2_manifest_paths)
    for v2_manifest_paths in (True, False)
    for stable_row_ids in (False, True)
    for storage_version in ("2.1", "2.2", "2.0")
]
FIRST_ROWS = (1, 40, 250, 250, 1000, 12_000)
TAKEN_ROWS = 30


@dataclass(frozen=True)
class Abilities:
    """What lancet can do so far."""

    versions: bool
    """`--version`, `--tag` and `--branch`."""
    stable_row_ids: bool

    @classmethod
    def of(cls, lancet: Lancet, folder: Path) -> "Abilities":
        """Asks the command, with a dataset whose second fragment's row ids are no addresses."""
        path = folder / "abilities"
        table = pa.table({"a": [1, 2]})
        lance.write_dataset(table, path, max_rows_per_file=1, enable_stable_row_ids=True)

        def can(flags: list[str], column: str, want: list[int]) -> bool:
            try:
                return [row[column] for row in lancet.rows("query", path, *flags)] == want
            except CommandError:
                return False

        return cls(
            versions=can(["--version", "1"], "a", [1, 2]),
            stable_row_ids=can(["--with-row-id"], "_rowid", [0, 1]),
        )

    def missing(self) -> list[str]:
        """What is therefore not compared."""
        told = {
            "older versions, tags and branches": self.versions,
            "stable row ids": self.stable_row_ids,
        }
        return [what for what, compared in told.items() if not compared]


class Comparison:
    """Compares versions of datasets, and keeps the report."""

    def __init__(self, lancet: Lancet, abilities: Abilities):
        self.lancet = lancet
        self.abilities = abilities
        self.report = Report()

    def run_history(self, h: History, steps: int) -> None:
        """Makes a history and compares everything in it."""
        h.create(h.r.choice(FIRST_ROWS))
        self._check_newest(h)
        for _ in range(steps):
            change = h.r.choices(list(CHANGES), list(CHANGES.values()))[0]
            h.log.append(change.__name__)
            try:
                with silenced_stderr():
                    change(h)
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # a panic in pylance is not an `Exception`
                self.report.refuse((change.__name__, str(error).split("\n")[0][:90]))
                h.log[-1] += "(refused)"
            self._check_newest(h)
        if self.abilities.versions:
            self._check_all_versions(h)

    def _check_newest(self, h: History) -> None:
        if h.branch is None:
            self._check(h, h.dataset(), ())
        elif self.abilities.versions:
            self._check(h, h.dataset(), ("--branch", h.branch))

    def _check_all_versions(self, h: History) -> None:
        # Each version is opened anew: a session of pylance keeps row ids by fragment number, and
        # an overwrite uses the numbers again.
        for branch in [None, *lance.dataset(h.path).branches.list()]:
            flags = ("--branch", branch) if branch else ()
            versions = lance.dataset(h.path).checkout_version((branch, None)).versions()
            for number in (version["version"] for version in versions):
                dataset = lance.dataset(h.path).checkout_version((branch, number))
                self._check(h, dataset, (*flags, "--version", str(number)))
        for tag in lance.dataset(h.path).tags.list():
            self._check(h, lance.dataset(h.path).checkout_version(tag), ("--tag", tag))

    def _check(self, h: History, dataset: lance.LanceDataset, flags: tuple[str, ...]) -> None:
        """One version, which `flags` choose."""
        version = Version(dataset, self.abilities.stable_row_ids or not h.stable_row_ids)
        # A generator of its own: what is compared must not change the history.
        r = random.Random(f"{h.path.name}/{len(h.log)}/{flags}")
        change = h.log[-1].removesuffix("(refused)") if h.log else "create"
        failures = [self._count_failure(h.path, flags, len(version.rows))]
        failures += [
            question.failure(self.lancet, h.path, flags) for question in version.questions(r)
        ]
        self.report.compared += len(failures)
        for failure in filter(None, failures):
            self.report.fail((change, h.storage_version), f"{failure}; {h}")

    def _count_failure(self, path: Path, flags: tuple[str, ...], want: int) -> str | None:
        try:
            got = self.lancet.count(path, *flags)
        except CommandError as error:
            return f"count: {error}"
        return None if got == want else f"count: {want} expected, got {got}"


@dataclass(frozen=True)
class Question:
    """One call of lancet and its answer."""

    command: str
    args: tuple[str, ...]
    expected: list[Row]

    def failure(self, lancet: Lancet, path: Path, flags: tuple[str, ...]) -> str | None:
        """What is wrong with lancet's answer."""
        args = (*self.args, *flags)
        try:
            difference = first_difference(lancet.rows(self.command, path, *args), self.expected)
        except CommandError as error:
            difference = str(error)
        return difference and f"{self.command} {' '.join(args)}: {difference}"


class Version:
    """One version of a dataset, as pylance reads it."""

    def __init__(self, dataset: lance.LanceDataset, with_row_ids: bool):
        self.names = dataset.schema.names
        self.identifiers = {"--with-row-address": "_rowaddr"}
        if with_row_ids:
            self.identifiers = {"--with-row-id": "_rowid", **self.identifiers}
        scanner = dataset.scanner(with_row_id=with_row_ids, with_row_address=True)
        self.rows = table_json(scanner.to_table())

    def questions(self, r: random.Random) -> Iterator[Question]:
        """A full scan and random parts of it."""
        flags = tuple(self.identifiers)
        yield Question("query", flags, self.rows)
        if not self.rows:
            return
        some = r.sample(self.names, r.randrange(1, len(self.names) + 1))
        columns = ("--columns", ",".join(some))
        offset, limit = r.randrange(len(self.rows)), r.randrange(1, len(self.rows) + 1)
        part = ("--offset", str(offset), "--limit", str(limit))
        rows = self._rows(range(offset, min(offset + limit, len(self.rows))), some)
        for row, whole in zip(rows, self.rows[offset:], strict=False):
            row.update((name, whole[name]) for name in self.identifiers.values())
        yield Question("query", (*columns, *part, *flags), rows)
        taken = r.choices(range(len(self.rows)), k=TAKEN_ROWS)
        yield Question("take", (_list(taken),), self._rows(taken, self.names))
        for name in self.identifiers.values():
            by = ("--by", {"_rowid": "row-id", "_rowaddr": "row-address"}[name])
            ids = [self.rows[i][name] for i in taken]
            yield Question("take", (_list(ids), *by, *columns), self._rows(taken, some))

    def _rows(self, numbers: Iterable[int], names: list[str]) -> list[Row]:
        return [{name: self.rows[i][name] for name in names} for i in numbers]


def _list(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def main() -> int:
    """The exit status: 1 if an answer was wrong."""
    parser = common_arguments(__doc__)
    parser.add_argument("--histories", type=int, help="how many [default: 60, short: 4]")
    parser.add_argument("--steps", type=int, default=15, help="changes of each [default: 15]")
    args = parser.parse_args()
    lancet = Lancet(args.binary)
    with tempfile.TemporaryDirectory() as folder:
        abilities = Abilities.of(lancet, Path(folder))
        comparison = Comparison(lancet, abilities)
        for number in range(args.histories or (4 if args.short else 60)):
            r = random.Random(f"{args.seed}/{number}")
            # Every combination of these comes in turn.
            version, stable, v2 = CONFIGURATIONS[number % len(CONFIGURATIONS)]
            history = History(Path(folder) / f"history{number}", r, version, stable, v2)
            comparison.run_history(history, args.steps)
            shutil.rmtree(history.path)
    for what in abilities.missing():
        print(f"not compared, since lancet does not have them: {what}")
    title = f"histories, pylance {lance.__version__}, seed {args.seed}"
    return comparison.report.finish(title, ("change", "storage"))


if __name__ == "__main__":
    sys.exit(main())
