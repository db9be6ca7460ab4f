"""What tables can have that random histories do not make, written by pylance, read by lancet.

A feature is a generator of versions, each with the folder and the flags by which lancet reads it.
What pylance reads is taken at once: some folders are moved away afterwards, and pylance, which goes
by the absolute paths that were recorded, could not read them any more.
"""

import random
import sys
import tempfile
from pathlib import Path

import lance

from support.arguments import common_arguments
from support.command import Lancet
from support.features import FEATURES
from support.report import Report


def main() -> int:
    """The exit status: 1 if an answer was wrong."""
    parser = common_arguments(__doc__)
    names = [feature.__name__ for feature in FEATURES]
    parser.add_argument("--feature", choices=names, help="only this feature")
    args = parser.parse_args()
    lancet, report = Lancet(args.binary), Report()
    pylance = int(lance.__version__.split(".")[0])
    for feature, since in FEATURES.items():
        name = feature.__name__
        if args.feature not in (None, name) or pylance < since:
            continue
        # One of the names that are written otherwise in a URI.
        with tempfile.TemporaryDirectory(prefix="f%20 é ") as folder:
            r = random.Random(f"{args.seed}/{name}")
            for number, case in enumerate(feature(Path(folder), r)):
                failures = case.version.failures(lancet, case.path, case.flags, r)
                report.compared += len(failures)
                for failure in filter(None, failures):
                    report.fail((name,), f"case {number}: {failure}")
    return report.finish(f"features, pylance {lance.__version__}, seed {args.seed}", ("feature",))


if __name__ == "__main__":
    sys.exit(main())
