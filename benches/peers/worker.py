"""What every worker shares: how rounds are timed, and how a driver talks to it.

A worker is a process that measures one library over one dataset. It knows named operations and
answers each with one JSON line. Alone it measures all of them and exits; with `--serve` it reads
the name of an operation from each line of its standard input and measures that one, so that a
driver can let several workers take turns.
"""

import json
import math
import statistics
import sys
from collections.abc import Callable
from time import perf_counter

WARM_UP = 3
"""Rounds before the first one that counts."""

Action = Callable[[], object]
Measure = Callable[[], dict]


def time_rounds(action: Action, rounds: int) -> list[float]:
    """Seconds of each round of `action`, after warm-up."""
    for _ in range(WARM_UP):
        action()
    seconds = []
    for _ in range(rounds):
        start = perf_counter()
        action()
        seconds.append(perf_counter() - start)
    return seconds


def latency(action: Action, rounds: int) -> dict:
    """Wall-clock time of `action`: the median, and the 99th percentile by nearest rank."""
    seconds = sorted(time_rounds(action, rounds))
    return {
        "median_us": round(statistics.median(seconds) * 1e6, 2),
        "p99_us": round(seconds[math.ceil(0.99 * rounds) - 1] * 1e6, 2),
        "rounds": rounds,
    }


def throughput(action: Action, size: int, rounds: int) -> dict:
    """Rate of `action`, which goes through `size` bytes: the median, in 10^9 bytes a second."""
    seconds = statistics.median(time_rounds(action, rounds))
    return {"gb_per_s": round(size / seconds / 1e9, 3), "rounds": rounds}


def run(operations: dict[str, Measure], serve: bool) -> None:
    """Answer for each operation: those that the driver asks for, or all of them."""
    names = (line.strip() for line in sys.stdin) if serve else operations
    for name in names:
        measure = operations.get(name)
        answer = measure() if measure else {"error": "unknown operation"}
        print(json.dumps({"op": name, **answer}), flush=True)
