"""Counts of what was compared, and a table of what differed."""

import sys
from collections import Counter
from dataclasses import dataclass, field

TEXT_WIDTH = 160


@dataclass
class Report:
    """Failures and refusals by key, a key being whatever the test groups by."""

    compared: int = 0
    failures: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    refusals: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def fail(self, key: tuple[str, ...], text: str) -> None:
        """An answer of lancet that is wrong or missing. The first of each key is told at once."""
        if key not in self.failures:
            print(*key, text, sep=": ", file=sys.stderr, flush=True)
        self.failures.setdefault(key, []).append(text)

    def refuse(self, key: tuple[str, ...]) -> None:
        """Something that pylance itself would not do."""
        self.refusals[key] += 1

    def finish(self, title: str, header: tuple[str, ...]) -> int:
        """Prints everything; the exit status."""
        failed = sum(map(len, self.failures.values()))
        print(f"{title}: {self.compared} comparisons, {failed} failures")
        if self.refusals:
            refusals = (f"{' '.join(key)} × {n}" for key, n in sorted(self.refusals.items()))
            print(f"refused by pylance: {', '.join(refusals)}")
        if self.failures:
            rows = [(*key, str(len(texts)), texts[0]) for key, texts in self.failures.items()]
            _print_table([(*header, "count", "first"), *sorted(rows)])
        return 1 if self.failures else 0


def _print_table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        last = " ".join(row[-1].split())
        print("  ".join([*cells, last[:TEXT_WIDTH]]))
