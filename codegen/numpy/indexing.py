"""Reading through index arithmetic where a guard stands for the entries that are not there."""

import numpy as np


def guarded_entries(x, *index):
    """The entries of x at these indices, any number where an index lies outside: the caller selects."""
    if 0 in x.shape:
        return np.zeros(np.broadcast_shapes(*(np.shape(k) for k in index)))
    return x[tuple(np.clip(k, 0, size - 1) for k, size in zip(index, x.shape, strict=True))]
