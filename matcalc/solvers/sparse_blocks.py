"""Computes matrices of blocks, one for each pair of variables or for each variable, as SciPy CSR arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from matcalc.expressions.expression import Expression
from matcalc.pipeline.build import compile_request
from matcalc.pipeline.inputs import CompileInputs
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
        from scipy.sparse import block_array

        known = {**self.given.fixed, **self.given.packing.unpack(x), **more}
        packing = self.given.packing
        made = [
            [block if name not in packing.entries else block[:, packing.indices(name)] for name, block in pairs]
            for pairs in (
                zip(packing.shapes, row, strict=True) for row in self.compiled({n: known[n] for n in self.names})
            )
        ]
        if self.is_square and packing.entries:
            made = [[block[packing.indices(n)] for block in row] for n, row in zip(packing.shapes, made, strict=True)]
        return made[0][0] if len(made) == len(made[0]) == 1 else block_array(made, format="csr")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments of the function of the blocks."""
        return self.compiled.args


def sparse_hessian(given: Inputs, rows: Sequence[Sequence[Expression]]) -> SparseBlocks:
    """Compile the blocks of a Hessian: a row and a column for each variable."""
    leading = [len(shape) for shape in given.packing.shapes.values() for _ in rows]
    return SparseBlocks(sparse_function_of(given, [list(row) for row in rows], leading), given, True)


def sparse_jacobian(given: Inputs, blocks: Sequence[Expression]) -> SparseBlocks:
    """Compile the blocks of a Jacobian, one for each variable."""
    shapes = given.packing.shapes.values()
    leading = [block.node.rank - len(shape) for block, shape in zip(blocks, shapes, strict=True)]
    return SparseBlocks(sparse_function_of(given, [list(blocks)], leading), given, False)


def sparse_function_of(given: Inputs, outputs: list[Any], rows: Sequence[int]) -> SparseFunction:
    """Compile formulas, in a list or in rows, as matrices whose first `rows` axes are rows."""
    inputs = CompileInputs(outputs, None, given.target, "float64", None, "", "matrix", "f", False, "allow", True)
    return sparse_function(compile_request(inputs), rows)
