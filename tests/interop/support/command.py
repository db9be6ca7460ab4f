"""Runs the `lancet` command."""

import json
import subprocess
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class CommandError(Exception):
    """The command failed; the text is what it wrote on standard error."""


class Lancet:
    """The command, asked about one dataset after the other."""

    def __init__(self, binary: Path):
        self.binary = binary.resolve(strict=True)

    def rows(self, command: str, dataset: Path, *args: str) -> list[Row]:
        """The rows that `query` or `take` writes."""
        return json.loads(self._run(command, dataset, *args, "--output", "json"))

    def record(self, command: str, dataset: Path, *args: str) -> Row:
        """The one record that a command writes."""
        return json.loads(self._run(command, dataset, *args, "--output", "json"))

    def count(self, dataset: Path, *args: str) -> int:
        """The number that `count` prints."""
        return int(self._run("count", dataset, *args))

    def _run(self, command: str, dataset: Path, *args: str) -> str:
        line = [str(self.binary), command, str(dataset), *args]
        done = subprocess.run(line, capture_output=True, check=False)
        if done.returncode != 0:
            text = done.stderr.decode().replace(str(dataset), "DATASET").strip()
            raise CommandError(text or f"exit status {done.returncode}")
        return done.stdout.decode()
