"""Generates rows for the benchmarks of large data, in blocks, as `.npy`; they depend only on the seed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

Array = np.ndarray
COLUMNS, BLOCK = 50, 100_000


def truth(columns: int = COLUMNS) -> Array:
    """Return the coefficients of the model that draws the labels."""
    return np.random.default_rng(0).standard_normal(columns) / np.sqrt(columns)


def block(number: int, rows: int, columns: int = COLUMNS) -> tuple[Array, Array]:
    """Return the rows of one block and their labels, 1 and -1."""
    rng = np.random.default_rng([1, number])
    X = rng.standard_normal((rows, columns), dtype=np.float32).astype(np.float64)
    chance = 1 / (1 + np.exp(-(X @ truth(columns))))
    return X, np.where(rng.random(rows) < chance, 1.0, -1.0)


def written(folder: Path, rows: int, columns: int = COLUMNS) -> dict[str, str]:
    """Write X.npy and y.npy if they do not exist, drop them from the page cache, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {"X": folder / f"X{rows}.npy", "y": folder / f"y{rows}.npy"}
    if not all(path.exists() for path in paths.values()):
        with open(paths["X"], "wb") as of_x, open(paths["y"], "wb") as of_y:
            for file, shape in ((of_x, (rows, columns)), (of_y, (rows,))):
                header = {"descr": "<f8", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(file, header)
            for number, start in enumerate(range(0, rows, BLOCK)):
                X, y = block(number, min(BLOCK, rows - start), columns)
                X.tofile(of_x)
                y.tofile(of_y)
    for path in paths.values():
        forget(path)
    return {name: str(path) for name, path in paths.items()}


def forget(path: str | Path) -> None:
    """Ask the system to drop a file from the page cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
