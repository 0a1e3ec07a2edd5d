"""Functions for the values in `structure.toml`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def duplication_(n: int) -> Array:
    at = np.zeros((n, n), int)
    at[np.triu_indices(n)] = np.arange(n * (n + 1) // 2)
    return np.eye(n * (n + 1) // 2)[np.maximum(at, at.T).ravel().astype(int)]


def vech_at_(n: int) -> Array:
    column, row = np.triu_indices(n)
    selection = np.zeros((len(row), n, n))
    selection[np.arange(len(row)), row, column] = 1
    return selection
