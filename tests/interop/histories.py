"""Random histories of datasets, made by pylance, read by lancet.

After every change the newest version is compared with what pylance reads: rows, row ids and row
addresses, the versions in which rows were created and updated, by full scans, parts of them, takes
and counts. At the end of a history every version, tag and branch is compared once more.
"""

import random
import shutil
import sys
import tempfile
from pathlib import Path

import lance

from support.arguments import common_arguments
from support.changes import CHANGES, History
from support.command import Lancet
from support.report import Report
from support.stderr import silenced_stderr
from support.version import Version

CONFIGURATIONS = [
    (storage_version, stable_row_ids, v2_manifest_paths)
    for v2_manifest_paths in (True, False)
    for stable_row_ids in (False, True)
    for storage_version in ("2.1", "2.2", "2.0")
]
FIRST_ROWS = (1, 40, 250, 250, 1000, 12_000)


class Comparison:
    """Compares versions of datasets, and keeps the report."""

    def __init__(self, lancet: Lancet):
        self.lancet = lancet
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
        self._check_all_versions(h)

    def _check_newest(self, h: History) -> None:
        self._check(h, h.dataset(), ("--branch", h.branch) if h.branch else ())

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
        # A generator of its own: what is compared must not change the history.
        r = random.Random(f"{h.path.name}/{len(h.log)}/{flags}")
        change = h.log[-1].removesuffix("(refused)") if h.log else "create"
        failures = Version(dataset).failures(self.lancet, h.path, flags, r)
        self.report.compared += len(failures)
        for failure in filter(None, failures):
            self.report.fail((change, h.storage_version), f"{failure}; {h}")


def main() -> int:
    """The exit status: 1 if an answer was wrong."""
    parser = common_arguments(__doc__)
    parser.add_argument("--histories", type=int, help="how many [default: 60, short: 4]")
    parser.add_argument("--steps", type=int, default=15, help="changes of each [default: 15]")
    args = parser.parse_args()
    lancet = Lancet(args.binary)
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(lancet)
        for number in range(args.histories or (4 if args.short else 60)):
            r = random.Random(f"{args.seed}/{number}")
            # Every combination of these comes in turn.
            version, stable, v2 = CONFIGURATIONS[number % len(CONFIGURATIONS)]
            history = History(Path(folder) / f"history{number}", r, version, stable, v2)
            comparison.run_history(history, args.steps)
            shutil.rmtree(history.path)
    title = f"histories, pylance {lance.__version__}, seed {args.seed}"
    return comparison.report.finish(title, ("change", "storage"))


if __name__ == "__main__":
    sys.exit(main())
