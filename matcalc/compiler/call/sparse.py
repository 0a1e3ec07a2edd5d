"""Converts SciPy's sparse matrices of any format to the three arrays that compiled code takes.

A CSR matrix of float64 and int32 with sorted columns and no duplicates is used as it is. Nothing is copied or checked
entry by entry, so repeated calls of a solver are cheap. Any other matrix is converted in each call. Compiled code
tests that columns are inside the matrix when it reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from matcalc.compiler.call.convert import Array, to_array, to_size
from matcalc.compiler.spec.spec import ARRAYS, CompiledSpec, Operand
from matcalc.errors import NotSupported, ShapeError
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.sizes_from_shapes import check_rank, solve

MOST = 2**31 - 1
"""The largest number that columns and row starts can hold."""
OWN = ("sparse", "constant")
"""Facts that need no check."""


def to_csr(operand: Operand, value: Any, ordered: bool = True) -> Any:
    """Return a value as a CSR matrix of float64, with `ordered` in ascending columns without duplicates.

    A value that already has this form is returned itself. A dense array is accepted; its zeros are not stored.

    Raises: TypeError for entries that are no real numbers, ShapeError for another rank.
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
    """Return values, columns and row starts of a CSR matrix, without its unused capacity.

    Raises: NotSupported for a matrix that needs indices of more than 32 bits.
    """
    count = int(matrix.indptr[-1])
    if max(count, *matrix.shape) > MOST:
        raise NotSupported(f"{operand.declared} is too large for 32-bit indices: at most {MOST} entries")
    indices = (matrix.indices[:count], matrix.indptr)
    columns, starts = (np.ascontiguousarray(a, np.int32) for a in indices)
    return [_usable(matrix.data[:count]), columns, starts]


def _usable(values: Array) -> Array:
    """Return the array, or a copy if it is not aligned and contiguous."""
    return values if values.flags.c_contiguous and values.flags.aligned else np.array(values)


def stored(spec: CompiledSpec, values: Sequence[Any]) -> list[Any]:
    """Return the inputs of machine code for the arguments of a call: sparse matrices as three arrays, and all sizes.

    Raises: as `to_csr` and `arrays_of`; ShapeError for shapes that do not fit.
    """
    matrices = {s.declared.name: s.ordered for s in spec.sparse}
    shapes: dict[str, tuple[int, ...]] = {}
    found: list[Any] = []
    given = spec.call_operands
    for operand, value in zip(given, values, strict=False):
        if operand.name in matrices:
            matrix = to_csr(operand, value, matrices[operand.name])
            shapes[operand.name] = matrix.shape
            found += arrays_of(operand, matrix)
            continue
        exact = value if type(value) in (np.ndarray, float) else to_array(operand, value)
        shapes[operand.name] = np.shape(exact)
        found.append(exact if operand.shape else np.asarray(exact)[()])
    passed = {name: to_size(name, value) for name, value in zip(spec.size_arguments, values[len(given) :], strict=True)}
    known = _solved(tuple((o.name, o.shape) for o in given), tuple(shapes.items()), tuple(passed.items()))
    return [*found, *(known[name] for name in spec.sizes)]


@lru_cache(maxsize=64)
def _solved(
    declared: tuple[tuple[str, tuple[Size, ...]], ...],
    shapes: tuple[tuple[str, tuple[int, ...]], ...],
    passed: tuple[tuple[str, int], ...],
) -> dict[str, int]:
    """Return the sizes of a call; cached, since solvers repeat the same shapes."""
    return solve(declared, dict(shapes), dict(passed))


def stored_by_name(spec: CompiledSpec, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the three arrays of each sparse matrix, by the names of the machine code's arguments."""
    found: dict[str, Any] = {}
    for matrix in spec.sparse:
        csr = to_csr(matrix.declared, values[matrix.declared.name], matrix.ordered)
        arrays = arrays_of(matrix.declared, csr)
        names = (a.name for a in spec.arguments[matrix.first : matrix.first + ARRAYS])
        found.update(zip(names, arrays, strict=True))
    return found


def check_stored(spec: CompiledSpec, inputs: Sequence[Any]) -> None:
    """Raise ShapeError for a matrix with columns or row starts out of range, after machine code returned a fault."""
    for matrix in spec.sparse:
        _, columns, starts = inputs[matrix.first : matrix.first + ARRAYS]
        wrong = starts[0] != 0 or starts[-1] != len(columns) or np.any(np.diff(starts) < 0)
        wrong = wrong or np.min(columns, initial=0) < 0
        if wrong or _exceeds(spec, matrix.declared, columns, inputs):
            message = f"{matrix.declared.declared} has columns or row starts that do not fit its shape"
            raise ShapeError(message, hint="X.check_format(full_check=True) reports the fault")


def _exceeds(spec: CompiledSpec, operand: Operand, columns: Array, inputs: Sequence[Any]) -> bool:
    """Whether a column index is not less than the number of columns."""
    count = len(spec.arguments)
    shapes = {a.name: np.shape(v) for a, v in zip(spec.arguments, inputs[:count], strict=True)}
    passed = dict(zip(spec.sizes, inputs[count:], strict=True))
    known = solve([(a.name, a.shape) for a in spec.arguments], shapes, passed)
    return bool(np.max(columns, initial=-1) >= operand.shape[1].evaluate(known))


def refuse_sparse(spec: CompiledSpec, what: str) -> None:
    """Raise NotSupported if a function has sparse arguments, which `what` does not accept."""
    if spec.sparse:
        name = spec.sparse[0].declared.name
        hint = f"declare {name} without sparse and give {name}.toarray()"
        raise NotSupported(f"{what} takes no sparse matrices, as {name} is declared", hint=hint)


def check_sparse_facts(spec: CompiledSpec) -> None:
    """Raise NotSupported for facts of sparse matrices whose check would need a dense copy."""
    for matrix in spec.sparse:
        facts = [fact for fact in matrix.declared.facts if fact not in OWN]
        if facts:
            name = matrix.declared.name
            raise NotSupported(f"check_facts: the fact {facts[0]} cannot be checked for the sparse {name}")
