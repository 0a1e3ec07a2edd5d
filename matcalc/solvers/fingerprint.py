"""Digests the data of a fit, so that a checkpoint is resumed only with the same data.

Comparing value and gradient at the start is not enough, since they may not depend on the data (all weights 0, an even
loss). The digest depends on the entries as float64, not on how rows are cut into blocks or stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from matcalc.rows.split import Split
from matcalc.rows.totals import Block, axis_of


def fingerprint(made: Split, blocks: Iterable[Block]) -> str:
    """Return the digest of data with rows, from blocks of rows."""
    digests = {name: blake2b(digest_size=16) for name in sorted(made.split)}
    for block in blocks:
        for name, digest in digests.items():
            for part in _parts(block[name], axis_of(made, name)):
                digest.update(part.tobytes())
    return " ".join(f"{name} {digest.hexdigest()}" for name, digest in digests.items())


def digest_of(data: Mapping[str, Any]) -> str:
    """Return the digest of whole arrays by name."""
    digest = blake2b(digest_size=16)
    for name in sorted(data):
        digest.update(f"{name} {np.shape(data[name])}\n".encode())
        for part in _parts(data[name], 0):
            digest.update(part.tobytes())
    return digest.hexdigest()


def _parts(value: Any, axis: int) -> Iterable[np.ndarray[Any, Any]]:
    """Yield the entries of an array, rows first; for a sparse matrix, row lengths, columns and stored entries."""
    if not hasattr(value, "tocsr"):
        yield np.moveaxis(np.atleast_1d(np.asarray(value, np.float64)), axis, 0)
        return
    rows = (value.T if axis else value).tocsr()
    yield np.diff(rows.indptr).astype(np.int64)
    yield rows.indices.astype(np.int64)
    yield np.asarray(rows.data, np.float64)
