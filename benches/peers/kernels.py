"""Compare the distance kernels of lancet with those of peers, and print a Markdown table.

python kernels.py --lancet-bench BIN [--place cache|memory] [--only TEXT] [--passes N]

BIN is lancet-kernel-bench. The workers take turns, operation by operation, pass after pass. A
figure is the median over the passes, in GB/s of rows.
"""

import argparse
import itertools
import sys
from pathlib import Path

from compare import HERE, Worker, figure
from kernel_peers import CDIST, DIMS, FAISS, METRICS, TYPES

PEERS = ["faiss", *CDIST]
PROBES = ["sum", "streams", "prefetch"]


def cells(place: str) -> list[str]:
    """The operations at one place."""
    names = itertools.product(METRICS, TYPES, DIMS)
    distances = [f"{metric}/{kind}/{dim}/{place}" for metric, kind, dim in names]
    return distances + [f"hamming/u8/{size}/{place}" for size in (16, 32, 64, 96, 192)]


def peers_of(cell: str) -> list[str]:
    """The peers that have an operation."""
    metric, kind, *_ = cell.split("/")
    if metric == "hamming":
        return ["faiss"]
    return PEERS if kind == "f32" and metric in FAISS else list(CDIST)


def main() -> None:
    """Read the command line, let the workers take turns, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lancet-bench", type=Path, required=True, help="lancet-kernel-bench")
    parser.add_argument("--place", choices=["cache", "memory"], default="cache")
    parser.add_argument("--only", nargs="*", default=[""], help="operations that hold such a text")
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()

    chosen = [cell for cell in cells(options.place) if any(text in cell for text in options.only)]
    probes = [f"bandwidth/{probe}/{options.place}" for probe in PROBES]
    theirs = [f"{peer}/{cell}" for cell in chosen for peer in peers_of(cell)]
    lancet = Worker("lancet", [*probes, "fma", *chosen], [options.lancet_bench.resolve()])
    peers = Worker("peers", theirs, [sys.executable, HERE / "kernel_peers.py"])
    for _ in range(options.passes):
        for probe in [*probes, "fma"]:
            lancet.measure(probe)
        for cell in chosen:
            lancet.measure(cell)
            for peer in peers_of(cell):
                peers.measure(f"{peer}/{cell}")
    lancet.close()
    peers.close()

    read = max(figure(lancet.answers, probe, "gb_per_s") for probe in probes)
    flops = figure(lancet.answers, "fma", "gflop_per_s")
    print(f"Read bandwidth ({options.place}): {read:.1f} GB/s. Peak: {flops:.0f} GFLOP/s of f32.\n")
    print("| metric | type | dim | lancet | faiss | simsimd | numkong | lancet / best |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for cell in chosen:
        metric, kind, dim, _ = cell.split("/")
        ours = figure(lancet.answers, cell, "gb_per_s")
        rates = {
            peer: figure(peers.answers, f"{peer}/{cell}", "gb_per_s") for peer in peers_of(cell)
        }
        shown = [f"{rates[peer]:.1f}" if peer in rates else "–" for peer in PEERS]
        ratio = ours / max(rates.values())
        line = [metric, kind, dim, f"{ours:.1f}", *shown, f"{ratio:.2f}"]
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
