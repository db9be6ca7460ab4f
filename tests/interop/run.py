"""Runs the interop tests, once under each Python that has a pylance.

    cargo build --release -p lancet-cli
    python tests/interop/run.py --venv target/interop-venv --short

A pylance needs a process of its own, so the tests are scripts of their own, `encodings.py`,
`histories.py`, `features.py`, `filters.py`, `indices.py` and `vectors.py`. Arguments that are not
listed here go to them.
"""

import argparse
import subprocess
import sys
from pathlib import Path

PYLANCE = "pylance==10.0.0"
FOLDER = Path(__file__).resolve().parent
TESTS = ("encodings", "histories", "features", "filters", "indices", "vectors")


def main() -> int:
    """The exit status: 1 if any run failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="INTERPRETER",
        help="a Python that has pylance; may be given several times [default: this one]",
    )
    parser.add_argument(
        "--venv",
        type=Path,
        metavar="FOLDER",
        help=f"the virtual environment FOLDER, made with {PYLANCE} if it is not there",
    )
    parser.add_argument("--test", choices=TESTS, help="only this test")
    args, rest = parser.parse_known_args()
    pythons = [*args.python, *([_venv_python(args.venv)] if args.venv else [])]
    tests = [args.test] if args.test else TESTS
    statuses = [
        subprocess.call([python, FOLDER / f"{test}.py", *rest])
        for python in pythons or [sys.executable]
        for test in tests
    ]
    return 1 if any(statuses) else 0


def _venv_python(folder: Path) -> str:
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.check_call([sys.executable, "-m", "venv", folder])
        subprocess.check_call([python, "-m", "pip", "install", "--quiet", PYLANCE])
    return str(python)


if __name__ == "__main__":
    sys.exit(main())
