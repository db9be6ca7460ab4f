"""The arguments that all tests take."""

import argparse
from pathlib import Path

from . import REPOSITORY

BINARY = REPOSITORY / "target" / "release" / "lancet"


def common_arguments(description: str) -> argparse.ArgumentParser:
    """A parser with the arguments of every test."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--binary", type=Path, default=BINARY, help="the lancet command [default: %(default)s]"
    )
    parser.add_argument("--short", action="store_true", help="the part that CI runs")
    parser.add_argument("--seed", type=int, default=1, help="of all random choices")
    return parser
