"""Standard error without what a panic in pylance writes there."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def silenced_stderr() -> Iterator[None]:
    """Discards what this process, Rust code included, writes to standard error."""
    sys.stderr.flush()
    kept = os.dup(2)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    os.close(nothing)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
