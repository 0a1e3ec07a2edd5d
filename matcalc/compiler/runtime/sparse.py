"""Sparse matrices of a call: SciPy's in any format become the three arrays that compiled code takes.

A matrix in CSR with sorted columns, each once, float64 and int32, is taken as it is: nothing is copied or looked at
entry by entry, so that a solver may call with it again and again. Any other is converted once for the call. Whether the
places lie inside the matrix is tested where they are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from matcalc.compiler.runtime.convert import Array, to_array, to_size
from matcalc.compiler.runtime.spec import ARRAYS, CompiledSpec, Operand
from matcalc.errors import NotSupported, ShapeError
from matcalc.tensor.size import Size
from matcalc.tensor.sizes_from_shapes import check_rank, solve

MOST = 2**31 - 1
"""The largest number that columns and starts hold."""
OWN = ("sparse", "constant")
"""Facts of which nothing is to be checked."""


def to_csr(operand: Operand, value: Any, ordered: bool = True) -> Any:
    """Return SciPy's CSR matrix or array of float64, if `ordered` with ascending columns, each once.

    It is the given one where that is so. A dense array is taken too, and its zeros are not stored.

    Raises: TypeError for what holds no real numbers, ShapeError for another rank, NotSupported for too large ones.
    """
    from scipy import sparse

    if not sparse.issparse(value):
        value = sparse.csr_array(to_array(operand, value))
    check_rank(operand.name, operand.shape, value.shape, operand.declared)
    if value.dtype.kind not in "biuf":
        what = "complex numbers" if value.dtype.kind == "c" else f"entries of type {value.dtype}"
        raise TypeError(f"{operand.declared} takes real numbers, not {what}")
    found = value if value.format == "csr" else value.tocsr()
    if ordered and not found.has_canonical_format:
        found = found.copy()
        found.sum_duplicates()
    return found if found.dtype == np.float64 and found.dtype.isnative else found.astype(np.float64)


def arrays_of(operand: Operand, matrix: Any) -> list[Any]:
    """Return values, columns and starts of a CSR matrix, without entries that it only has room for.

    Raises: NotSupported for places that need more than 32 bits.
    """
    count = int(matrix.indptr[-1])
    if max(count, *matrix.shape) > MOST:
        raise NotSupported(f"{operand.declared} is larger than 32-bit places reach: at most {MOST} entries")
    places = (matrix.indices[:count], matrix.indptr)
    columns, starts = (np.ascontiguousarray(a, np.int32) for a in places)
    return [_usable(matrix.data[:count]), columns, starts]


def _usable(values: Array) -> Array:
    """Return an aligned, contiguous array."""
    return values if values.flags.c_contiguous and values.flags.aligned else np.array(values)


def stored(spec: CompiledSpec, values: Sequence[Any]) -> list[Any]:
    """Return what machine code is given for the values of a call: arrays of sparse matrices, and their sizes.

    Raises: as `to_csr`, and ShapeError for shapes that do not fit.
    """
    matrices = {s.declared.name: s.ordered for s in spec.sparse}
    shapes: dict[str, tuple[int, ...]] = {}
    found: list[Any] = []
    given = spec.given
    for operand, value in zip(given, values, strict=False):
        if operand.name in matrices:
            matrix = to_csr(operand, value, matrices[operand.name])
            shapes[operand.name] = matrix.shape
            found += arrays_of(operand, matrix)
            continue
        exact = value if type(value) in (np.ndarray, float) else to_array(operand, value)
        shapes[operand.name] = np.shape(exact)
        found.append(exact if operand.shape else np.asarray(exact)[()])
    told = {name: to_size(name, value) for name, value in zip(spec.asked, values[len(given) :], strict=True)}
    known = _solved(tuple((o.name, o.shape) for o in given), tuple(shapes.items()), tuple(told.items()))
    return [*found, *(known[name] for name in spec.sizes)]


@lru_cache(maxsize=64)
def _solved(
    declared: tuple[tuple[str, tuple[Size, ...]], ...],
    shapes: tuple[tuple[str, tuple[int, ...]], ...],
    told: tuple[tuple[str, int], ...],
) -> dict[str, int]:
    """Return the sizes of a call: those of solvers are the same again and again."""
    return solve(declared, dict(shapes), dict(told))


def stored_by_name(spec: CompiledSpec, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays of sparse matrices that are given by name, by the names of the arguments that they are."""
    found: dict[str, Any] = {}
    for matrix in spec.sparse:
        csr = to_csr(matrix.declared, values[matrix.declared.name], matrix.ordered)
        arrays = arrays_of(matrix.declared, csr)
        names = (a.name for a in spec.arguments[matrix.first : matrix.first + ARRAYS])
        found.update(zip(names, arrays, strict=True))
    return found


def check_stored(spec: CompiledSpec, inputs: Sequence[Any]) -> None:
    """Raise ShapeError for a matrix whose places lie outside of it, once machine code has refused something."""
    for matrix in spec.sparse:
        _, columns, starts = inputs[matrix.first : matrix.first + ARRAYS]
        wrong = starts[0] != 0 or starts[-1] != len(columns) or np.any(np.diff(starts) < 0)
        wrong = wrong or np.min(columns, initial=0) < 0
        if wrong or _exceeds(spec, matrix.declared, columns, inputs):
            message = f"{matrix.declared.declared} has columns or row starts outside of its shape"
            raise ShapeError(message, hint="X.check_format(full_check=True) says which")


def _exceeds(spec: CompiledSpec, operand: Operand, columns: Array, inputs: Sequence[Any]) -> bool:
    """Whether a column is none of the matrix."""
    count = len(spec.arguments)
    shapes = {a.name: np.shape(v) for a, v in zip(spec.arguments, inputs[:count], strict=True)}
    told = dict(zip(spec.sizes, inputs[count:], strict=True))
    known = solve([(a.name, a.shape) for a in spec.arguments], shapes, told)
    return bool(np.max(columns, initial=-1) >= operand.shape[1].evaluate(known))


def refuse_sparse(spec: CompiledSpec, what: str) -> None:
    """Raise NotSupported for a function of sparse matrices, which `what` does not take."""
    if spec.sparse:
        name = spec.sparse[0].declared.name
        hint = f"declare {name} without sparse and give {name}.toarray()"
        raise NotSupported(f"{what} takes no sparse matrices, as {name} is declared", hint=hint)


def check_sparse_facts(spec: CompiledSpec) -> None:
    """Raise NotSupported for facts of sparse matrices that a call would have to check on a dense copy."""
    for matrix in spec.sparse:
        facts = [fact for fact in matrix.declared.facts if fact not in OWN]
        if facts:
            name = matrix.declared.name
            raise NotSupported(f"check_facts: whether the sparse {name} is {facts[0]} is not checked")
