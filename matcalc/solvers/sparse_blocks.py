"""Computes matrices of blocks, one for each pair of variables or for each variable, as SciPy CSR arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import matcalc as mc
from matcalc.expressions.expression import Expression
from matcalc.pipeline.build import compile_request
from matcalc.pipeline.inputs import CompileInputs
from matcalc.solvers.packing import Packing
from matcalc.solvers.problem_input import Inputs
from matcalc.sparse_results.build import sparse_function
from matcalc.sparse_results.function import SparseFunction

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class SparseBlocks:
    """A compiled matrix of blocks as a function of the vector of the variables."""

    compiled: SparseFunction
    given: Inputs
    is_square: bool

    def __call__(self, x: ArrayLike, **more: Any) -> csr_array:
        """Return the matrix. Its pattern is the same for all x."""
        return self._joined(self.compiled(*self._arguments(x, more)))

    def pattern(self, x: ArrayLike) -> csr_array:
        """Return the matrix with each stored entry 1; nothing is computed at x."""
        return self._joined(self.compiled.pattern(*self._arguments(x, {})))

    def _arguments(self, x: ArrayLike, more: Mapping[str, Any]) -> list[Any]:
        known = {**self.given.fixed, **self.given.packing.unpack(x), **more}
        return [known[name] for name in self.compiled.args]

    def _joined(self, blocks: Any) -> csr_array:
        from scipy.sparse import block_array

        packing = self.given.packing
        made = [
            [block if name not in packing.entries else block[:, packing.indices(name)] for name, block in pairs]
            for pairs in (zip(packing.shapes, row, strict=True) for row in blocks)
        ]
        if self.is_square and packing.entries:
            made = [[block[packing.indices(n)] for block in row] for n, row in zip(packing.shapes, made, strict=True)]
        return made[0][0] if len(made) == len(made[0]) == 1 else block_array(made, format="csr")


def sparse_hessian(given: Inputs, rows: Sequence[Sequence[Expression]]) -> SparseBlocks:
    """Compile the blocks of a Hessian: a row and a column for each variable."""
    leading = [len(shape) for shape in given.packing.shapes.values() for _ in rows]
    return SparseBlocks(sparse_function_of(given, [list(row) for row in rows], leading), given, True)


def sparse_jacobian(given: Inputs, blocks: Sequence[Expression]) -> SparseBlocks:
    """Compile the blocks of a Jacobian, one for each variable."""
    shapes = given.packing.shapes.values()
    leading = [block.node.rank - len(shape) for block, shape in zip(blocks, shapes, strict=True)]
    return SparseBlocks(sparse_function_of(given, [list(blocks)], leading), given, False)


class SecondDerivatives:
    """The derivative of a sparse Jacobian as a function of the vector of the variables.

    Shapes: (k*n, n) for k values of n variables. Row i + k*j has the derivatives of entry (i, j) of the Jacobian.
    """

    def __init__(self, given: Inputs, jacobians: Sequence[Expression], values: int) -> None:
        self.given, self.values = given, values
        rows = [list(mc.jacobian(block, given.names)) for block in jacobians]
        leading = [block.node.rank for block in jacobians for _ in given.names]
        self.compiled = sparse_function_of(given, rows, leading)

    def __call__(self, x: ArrayLike) -> csr_array:
        """Return the matrix. Its pattern is the same for all x."""
        return self._joined(self.compiled(*self._arguments(x)))

    def pattern(self, x: ArrayLike) -> csr_array:
        """Return the matrix with each stored entry 1; nothing is computed at x."""
        return self._joined(self.compiled.pattern(*self._arguments(x)))

    def _arguments(self, x: ArrayLike) -> list[Any]:
        known = {**self.given.fixed, **self.given.packing.unpack(x)}
        return [known[name] for name in self.compiled.args]

    def _joined(self, blocks: Any) -> csr_array:
        from scipy.sparse import coo_array

        packing, k = self.given.packing, self.values
        places = _places(packing)
        parts = []
        for own, row in zip(places.values(), blocks, strict=True):
            for other, block in zip(places.values(), row, strict=True):
                matrix = block.tocoo()
                value, variable = np.divmod(matrix.row, max(len(own), 1))
                rows, columns = own[variable], other[matrix.col]
                stays = (rows >= 0) & (columns >= 0)
                parts.append((value[stays] + k * rows[stays], columns[stays], matrix.data[stays]))
        rows, columns, data = map(np.concatenate, zip(*parts, strict=True))
        return coo_array((data, (rows, columns)), shape=(k * packing.size, packing.size)).tocsr()


def _places(packing: Packing) -> dict[str, NDArray[np.int64]]:
    """Return for each variable the places of its entries in the vector, -1 for those that are not packed."""
    found, start = {}, 0
    for name, shape in packing.shapes.items():
        indices = packing.indices(name)
        found[name] = np.full(prod(shape), -1)
        found[name][indices] = start + np.arange(len(indices))
        start += len(indices)
    return found


def sparse_function_of(given: Inputs, outputs: list[Any], rows: Sequence[int]) -> SparseFunction:
    """Compile formulas, in a list or in rows, as matrices whose first `rows` axes are rows."""
    inputs = CompileInputs(outputs, None, given.target, "float64", None, "", "matrix", "f", False, "allow", True)
    return sparse_function(compile_request(inputs), rows)
