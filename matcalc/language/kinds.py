"""Kinds and facts of names that the rulebook does not define: sizes, indices along an axis, sparse matrices."""

from __future__ import annotations

SIZE = "size"
"""The kind of a name that is not a tensor: a length, which need not occur in a shape."""

INDEX = "index"
"""The kind of integers from 0 that are indices along an axis, one or a vector; also the fact of their symbols."""

SPARSE = "sparse"
"""The fact of a matrix that is passed as a SciPy sparse matrix."""
