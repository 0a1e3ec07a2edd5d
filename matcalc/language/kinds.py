"""Kinds of names and facts that stand apart from those of the rulebook: sizes, places of an axis, sparse matrices."""

from __future__ import annotations

SIZE = "size"
"""The kind of a name that is no tensor: a length, which may stand in no shape at all."""

INDEX = "index"
"""The kind of integers from 0 that are places of an axis, one or a vector; also the fact of their symbols."""

SPARSE = "sparse"
"""The fact of a matrix that is given as one of SciPy's sparse ones."""
