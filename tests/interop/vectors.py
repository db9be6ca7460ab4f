"""Random vector searches: the same rows and distances from lancet as from pylance.

Each dataset has one index; the kinds, metrics and types go round, with deletions and rows that the
index does not cover or not. Where lancet departs from Lance on purpose (`docs/vectors.md`), the
answers are brought together: estimates of cosine are half of Lance's, and indices with 4-bit codes
get a deletion, since Lance 9 and 10 round such distances where nothing masks a row.
"""

import json
import random
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa

from support.arguments import common_arguments
from support.command import CommandError, Lancet, Row
from support.report import Report
from support.stderr import silenced_stderr

STORAGE_VERSIONS = ("2.0", "2.1", "2.2")
KINDS: dict[str, dict[str, Any]] = {
    "IVF_FLAT": {},
    "IVF_PQ": {"num_sub_vectors": 4},
    "IVF_PQ 4 bit": {"num_sub_vectors": 4, "num_bits": 4},
    "IVF_SQ": {},
}
DIMENSION = 16
PARTITIONS = 6
TOLERANCE = 1e-4
# Lance 9 and 10 round each step to f16 when they make the query a unit vector, so that its codes
# differ, and which rows are the last of the k.
TOLERANCE_OF_F16_COSINE = 1e-2
TYPES = {"f32": np.float32, "f16": np.float16, "f64": np.float64}


@dataclass(frozen=True)
class Shape:
    """What a dataset is."""

    kind: str
    metric: str
    number: str
    deletes: bool
    appends: bool
    version: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What failures are grouped by."""
        return (self.kind, self.metric, self.number)

    @property
    def dtype(self) -> type:
        """The type of the vectors' numbers."""
        return np.uint8 if self.metric == "hamming" else TYPES[self.number]

    @property
    def tolerance(self) -> float:
        """How far distances may differ, relative to those above 1."""
        return TOLERANCE_OF_F16_COSINE if self.is_rounded else TOLERANCE

    @property
    def is_rounded(self) -> bool:
        """Whether the query differs a little from Lance's."""
        return (self.metric, self.number) == ("cosine", "f16")


def shapes(r: random.Random) -> list[Shape]:
    """Every kind with every metric and type."""
    all_shapes = [
        (kind, metric, number)
        for kind in KINDS
        for metric in ("l2", "cosine", "dot")
        for number in TYPES
    ]
    all_shapes.append(("IVF_FLAT", "hamming", "u8"))
    return [
        Shape(
            *parts,
            deletes=r.random() < 0.5 or parts[0].endswith("4 bit"),
            appends=r.random() < 0.4,
            version=r.choice(STORAGE_VERSIONS),
        )
        for parts in all_shapes
    ]


def vectors(rows: int, shape: Shape, g: np.random.Generator) -> np.ndarray:
    """Clustered vectors."""
    if shape.metric == "hamming":
        return g.integers(0, 256, (rows, DIMENSION), dtype=np.uint8)
    centres = g.normal(size=(12, DIMENSION))
    noise = g.normal(scale=0.4, size=(rows, DIMENSION))
    return (centres[g.integers(0, 12, rows)] + noise).astype(shape.dtype)


def table(start: int, values: np.ndarray) -> pa.Table:
    """Rows with keys from `start` on."""
    ids = np.arange(start, start + len(values))
    flat = pa.array(values.reshape(-1))
    vec = pa.FixedSizeListArray.from_arrays(flat, DIMENSION)
    return pa.table({"id": ids, "num": ids % 100, "vec": vec})


def write(path: Path, shape: Shape, rows: int, g: np.random.Generator) -> None:
    """The dataset with its index."""
    dataset = lance.write_dataset(
        table(0, vectors(rows, shape, g)),
        path,
        data_storage_version=shape.version,
        max_rows_per_file=rows // 2,
    )
    dataset.create_index(
        "vec",
        shape.kind.split()[0],
        metric=shape.metric,
        num_partitions=PARTITIONS,
        **KINDS[shape.kind],
    )
    if shape.deletes:
        dataset.delete("id % 11 = 5")
    if shape.appends:
        lance.write_dataset(table(rows, vectors(rows // 8, shape, g)), path, mode="append")


@dataclass(frozen=True)
class Search:
    """One search."""

    k: int
    probes: int
    refine: int | None
    condition: str | None
    postfilter: bool
    indexed_only: bool

    @staticmethod
    def any(shape: Shape, r: random.Random) -> "Search":
        """A random one."""
        return Search(
            k=r.choice([1, 10, 50, 500]),
            probes=r.randrange(1, PARTITIONS + 1),
            refine=r.choice([None, None, 1, 3]),
            condition=r.choice([None, None, "num < 50", "num = 7", "num < 0"]),
            postfilter=r.random() < 0.3 and not shape.is_rounded,
            indexed_only=r.random() < 0.5,
        )

    def of_pylance(self, path: Path, query: np.ndarray) -> list[Row]:
        """What pylance answers."""
        nearest = {"column": "vec", "q": query, "k": self.k, "nprobes": self.probes}
        if self.refine:
            nearest["refine_factor"] = self.refine
        found = lance.dataset(path).to_table(
            columns=["id", "_distance"],
            nearest=nearest,
            filter=self.condition,
            prefilter=not self.postfilter,
            fast_search=self.indexed_only,
        )
        return found.to_pylist()

    def of_lancet(self, lancet: Lancet, path: Path, query: np.ndarray) -> list[Row]:
        """What lancet answers."""
        vector = json.dumps(query.tolist())
        args = ["--nearest", "vec", "--vector", vector, "--columns", "id"]
        args += ["-k", str(self.k), "--nprobes", str(self.probes)]
        args += ["--refine", str(self.refine)] if self.refine else []
        args += ["--filter", self.condition] if self.condition else []
        args += ["--postfilter"] if self.postfilter and self.condition else []
        args += ["--indexed-only"] if self.indexed_only else []
        return lancet.rows("query", path, *args)


def difference(
    got: list[Row], want: list[Row], factor: float, tolerance: float, same_candidates: bool
) -> str | None:
    """Where two answers differ; rows that are as good as equally far may change places."""
    if len(got) != len(want):
        return f"{len(want)} rows expected, got {len(got)}"
    if not want:
        return None

    def near(a: float, b: float) -> bool:
        return abs(a - b) <= tolerance * max(1.0, abs(b))

    for place, (own, other) in enumerate(zip(got, want, strict=True)):
        if not near(own["_distance"] * factor, other["_distance"]):
            return f"place {place}: {other} expected, got {own}"
    expected = {row["id"]: row["_distance"] for row in want}
    for row in got:
        if not same_candidates and row["id"] not in expected:
            continue
        # A row that is not expected must be as far as the last one that is.
        distance = expected.get(row["id"], want[-1]["_distance"])
        if not near(row["_distance"] * factor, distance):
            return f"row {row['id']}: {row['_distance']}, expected {distance}"
    return None


def compare(
    lancet: Lancet, report: Report, path: Path, shape: Shape, args: Any, r: random.Random
) -> None:
    """Asks both about one dataset."""
    g = np.random.default_rng(r.randrange(1 << 32))
    rows = r.choice([600, 1100]) if args.short else r.choice([600, 3000, 12000])
    try:
        with silenced_stderr():
            write(path, shape, rows, g)
    except (ValueError, OSError, RuntimeError):
        report.refuse(shape.key)
        return
    for query in vectors(args.queries, shape, g):
        search = Search.any(shape, r)
        want = search.of_pylance(path, query)
        exact = search.refine or (shape.appends and not search.indexed_only)
        halved = shape.metric == "cosine" and shape.kind != "IVF_FLAT" and not exact
        report.compared += 1
        try:
            got = search.of_lancet(lancet, path, query)
            factor = 2.0 if halved else 1.0
            # Estimates of a query that differs a little choose other candidates to refine.
            same = not (shape.is_rounded and search.refine)
            text = difference(got, want, factor, shape.tolerance, same)
        except CommandError as error:
            text = str(error)
        if text:
            report.fail(shape.key, f"{shape}, {search}: {text}")


def main() -> int:
    """The exit status: 1 if an answer differed."""
    parser = common_arguments(__doc__ or "")
    parser.add_argument("--rounds", type=int, help="how often through all kinds")
    parser.add_argument("--queries", type=int, default=12, help="of each [default: %(default)s]")
    args = parser.parse_args()
    lancet, report = Lancet(args.binary), Report()
    r = random.Random(args.seed)
    for _ in range(args.rounds or (1 if args.short else 6)):
        for shape in shapes(r):
            with tempfile.TemporaryDirectory() as folder:
                compare(lancet, report, Path(folder) / "data", shape, args, r)
    title = f"vectors, pylance {lance.__version__}, seed {args.seed}"
    return report.finish(title, ("kind", "metric", "type"))


if __name__ == "__main__":
    sys.exit(main())
