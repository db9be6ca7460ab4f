"""How fast this machine reads: a numpy maximum over the vectors of a set, on one thread.

python bandwidth.py DIR/sift [--serve]

`bandwidth_heap` reads a copy in memory, `bandwidth_mapped` a mapping of base.npy whose pages were
touched before. Both hold as many bytes as a scan of the vector column reads: no scan that looks at
every value can beat them by much.
"""

import argparse
from pathlib import Path

import numpy as np

from worker import Measure, run, throughput


def bandwidth_operations(vectors: np.ndarray) -> dict[str, Measure]:
    """The probes over `vectors`, which are mapped from their file."""
    copy = np.array(vectors)
    return {
        "bandwidth_heap": lambda: throughput(copy.max, copy.nbytes, 5),
        "bandwidth_mapped": lambda: throughput(vectors.max, vectors.nbytes, 5),
    }


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a set that prepare.py made")
    parser.add_argument("--serve", action="store_true", help="measure what standard input asks for")
    options = parser.parse_args()
    vectors = np.load(options.folder / "base.npy", mmap_mode="r").view(np.ndarray)
    run(bandwidth_operations(vectors), options.serve)


if __name__ == "__main__":
    main()
