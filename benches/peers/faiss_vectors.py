"""How long FAISS takes for the nearest rows, on one thread, with an index of the same shape.

python faiss_vectors.py DIR/SET KIND --centroids CENTROIDS.npy
python faiss_vectors.py DIR/SET KIND --serve

The first makes the index, `faiss-KIND.index` in the folder: partitions by the same centroids, and
codes of the same size. Under cosine vectors are brought to unit length before. Operations are those
of searches.py; a filter is a bitmap of the rows, made before.
"""

import argparse
import sys
from pathlib import Path

import faiss
import numpy as np

import truth
from searches import BATCH, EXACT, PROBES, QUERIES, REFINE, K, latency, rounds, row_ids
from worker import run, time_rounds

SUB_VECTORS = {"sift": 16, "glove": 25, "wide": 48}
COSINE = {"glove", "wide"}
TRAINING = 65_536
"""Rows that the codes learn from."""


def empty(kind: str, quantizer: faiss.Index, dimension: int, sub_vectors: int) -> faiss.IndexIVF:
    """An index without rows; 4-bit codes have twice as many sub-vectors."""
    shape = (quantizer, dimension, quantizer.ntotal)
    match kind:
        case "ivf_flat":
            return faiss.IndexIVFFlat(*shape)
        case "ivf_pq":
            return faiss.IndexIVFPQ(*shape, sub_vectors, 8)
        case "ivf_pq4":
            return faiss.IndexIVFPQFastScan(*shape, 2 * sub_vectors, 4)
        case "ivf_sq":
            return faiss.IndexIVFScalarQuantizer(*shape, faiss.ScalarQuantizer.QT_8bit)
    sys.exit(f"no such kind of index: {kind}")


def build(folder: Path, kind: str, base: np.ndarray, centroids: np.ndarray) -> None:
    """Make the index and write it."""
    dimension = base.shape[1]
    quantizer = faiss.IndexFlatL2(dimension)
    quantizer.add(centroids)
    index = empty(kind, quantizer, dimension, SUB_VECTORS[folder.name])
    index.train(base[:: -(-len(base) // TRAINING)])
    index.add(base)
    faiss.write_index(index, str(folder / f"faiss-{kind}.index"))


def serve(
    index: faiss.IndexIVF, base: np.ndarray, queries: np.ndarray, filtered: np.ndarray
) -> None:
    """Measure what standard input asks for, on one thread."""
    faiss.omp_set_num_threads(1)
    exact = faiss.IndexFlatL2(base.shape[1])
    refining = faiss.IndexRefineFlat(index, faiss.swig_ptr(base))
    refining.k_factor = REFINE

    bits = np.zeros(len(base), bool)
    bits[filtered] = True
    bits = np.packbits(bits, bitorder="little")
    selector = faiss.IDSelectorBitmap(bits)

    def ids(numbers: list[np.ndarray] | np.ndarray) -> list[list[int]]:
        return row_ids(np.array(numbers), len(base)).tolist()

    def single(index: faiss.Index, count: int, **how: object) -> dict:
        def search(number: int) -> np.ndarray:
            return index.search(queries[number : number + 1], K, **how)[1][0]

        answer = rounds(count, search)
        return {**answer, "ids": ids(answer["ids"])}

    def probes(count: int, of: faiss.Index = index) -> dict:
        index.nprobe = count
        return single(of, QUERIES)

    def of_filtered() -> dict:
        params = faiss.SearchParametersIVF(sel=selector, nprobe=20)
        return single(index, QUERIES, params=params)

    def batch() -> dict:
        index.nprobe = 10
        seconds = time_rounds(lambda: index.search(queries[:BATCH], K), 5)
        return {**latency(seconds), "ids": ids(index.search(queries[:BATCH], K)[1])}

    def all_rows() -> dict:
        if exact.ntotal == 0:
            exact.add(base)
        return single(exact, EXACT)

    operations = {f"probes/{count}": lambda count=count: probes(count) for count in PROBES}
    operations["refine/10"] = lambda: probes(10, refining)
    operations |= {"batch/10": batch, "filtered/20": of_filtered, "exact": all_rows}
    run(operations, True)


def main() -> None:
    """Read the command line, and do what it says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("kind")
    parser.add_argument("--serve", action="store_true", help="measure what standard input asks for")
    parser.add_argument("--centroids", type=Path, help="make the index with these")
    options = parser.parse_args()
    folder, kind = options.folder, options.kind
    base, queries = (np.load(folder / f"{name}.npy") for name in ("base", "queries"))
    if folder.name in COSINE:
        base, queries = truth.unit(base), truth.unit(queries)
    if options.centroids:
        build(folder, kind, base, np.load(options.centroids))
    elif options.serve:
        index = faiss.read_index(str(folder / f"faiss-{kind}.index"))
        serve(index, base, queries, np.load(folder / "filtered.npy"))
    else:
        sys.exit("this worker only serves")


if __name__ == "__main__":
    main()
