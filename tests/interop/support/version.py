"""One version of a dataset, as pylance reads it, and what lancet is asked about it."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import lance

from .command import CommandError, Lancet, Row
from .difference import first_difference
from reference.values import table_json

TAKEN_ROWS = 30
ROW_VERSIONS = ("_row_created_at_version", "_row_last_updated_at_version")
IDENTIFIERS = {"--with-row-id": "_rowid", "--with-row-address": "_rowaddr"}


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
    """One version of a dataset; pylance has read all of it when this is made."""

    def __init__(self, dataset: lance.LanceDataset):
        self.names = dataset.schema.names
        scanner = dataset.scanner(with_row_id=True, with_row_address=True)
        self.rows = table_json(scanner.to_table())
        self.row_versions: list[Row] = []
        if dataset.has_stable_row_ids and self.names:
            columns = [self.names[0], *ROW_VERSIONS]
            self.row_versions = table_json(dataset.to_table(columns=columns))

    def failures(
        self, lancet: Lancet, path: Path, flags: tuple[str, ...], r: random.Random
    ) -> list[str | None]:
        """What is wrong with each of lancet's answers about the version that `flags` choose."""
        failures = [self._count_failure(lancet, path, flags)]
        failures += [question.failure(lancet, path, flags) for question in self._questions(r)]
        return failures

    def _count_failure(self, lancet: Lancet, path: Path, flags: tuple[str, ...]) -> str | None:
        want = len(self.rows)
        try:
            got = lancet.count(path, *flags)
        except CommandError as error:
            return f"count: {error}"
        return None if got == want else f"count: {want} expected, got {got}"

    def _questions(self, r: random.Random) -> Iterator[Question]:
        """A full scan and random parts of it."""
        flags = tuple(IDENTIFIERS)
        yield Question("query", flags, self.rows)
        if not self.rows:
            return
        if self.row_versions:
            all_columns = ",".join(self.row_versions[0])
            yield Question("query", ("--columns", all_columns), self.row_versions)
        some = r.sample(self.names, r.randrange(1, len(self.names) + 1))
        columns = ("--columns", ",".join(some))
        offset, limit = r.randrange(len(self.rows)), r.randrange(1, len(self.rows) + 1)
        part = ("--offset", str(offset), "--limit", str(limit))
        rows = self._rows(range(offset, min(offset + limit, len(self.rows))), some)
        for row, whole in zip(rows, self.rows[offset:], strict=False):
            row.update((name, whole[name]) for name in IDENTIFIERS.values())
        yield Question("query", (*columns, *part, *flags), rows)
        taken = r.choices(range(len(self.rows)), k=TAKEN_ROWS)
        yield Question("take", (_list(taken),), self._rows(taken, self.names))
        for name in IDENTIFIERS.values():
            by = ("--by", {"_rowid": "row-id", "_rowaddr": "row-address"}[name])
            ids = [self.rows[i][name] for i in taken]
            yield Question("take", (_list(ids), *by, *columns), self._rows(taken, some))

    def _rows(self, numbers: Iterable[int], names: list[str]) -> list[Row]:
        return [{name: self.rows[i][name] for name in names} for i in numbers]


def _list(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))
