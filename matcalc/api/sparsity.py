"""Provides `sparsity`: the entries of a matrix that can be nonzero, as they follow from its formula."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from matcalc.compiler.call.convert import to_array, to_size
from matcalc.compiler.call.sparse import to_csr
from matcalc.compiler.plan.sparse_data.sparse import is_sparse
from matcalc.errors import ShapeError, UnknownName
from matcalc.expressions.expression import Expression
from matcalc.expressions.read_input import Readable, expressions
from matcalc.language.declare import Declarations
from matcalc.language.identifiers import by_name, nearest
from matcalc.pipeline.compiled_arguments import operand_of
from matcalc.sparse_results.pattern import Instance, stored_entries
from matcalc.sparse_results.results import pattern_of
from matcalc.tensor.lookups import is_index
from matcalc.tensor.sizes.sizes_from_shapes import solve
from matcalc.tensor.symbols import all_sizes

if TYPE_CHECKING:
    from matcalc.sparse_results.drawing import Sparsity


def sparsity(
    matrix: Readable,
    sizes: Mapping[Any, int] | None = None,
    data: Mapping[Any, Any] | None = None,
    declarations: Declarations = "",
    dialect: str = "matrix",
) -> Sparsity:
    """Return where a matrix can be nonzero for some data of these sizes: a boolean CSR array with a method `plot()`.

    The pattern follows from the formula: selectors, masks, diagonals, facts. `sizes` has a number for each size. `data`
    has the values of indices and of sparse matrices, if the pattern depends on them; sizes that it determines can be
    left out. `compile(..., sparse=True)` computes these entries alone. `structure` finds patterns from values instead.

    Shapes: as the matrix.
    Raises: ShapeError for a formula that is no matrix; UnknownName for a size or for data that is missing or unknown.

    Example:
        >>> import matcalc as mc
        >>> H = mc.hessian("sum((x[1:] - x[:-1]).^4)", "x")
        >>> print(mc.sparsity(H, sizes={"m": 4}).toarray().astype(int))
        [[1 1 0 0]
         [1 1 1 0]
         [0 1 1 1]
         [0 0 1 1]]
    """
    from matcalc.sparse_results.drawing import Sparsity

    (e,) = expressions([matrix], declarations, dialect)
    if e.node.rank != 2:
        hint = 'write layout="vec" in jacobian() or hessian() for a matrix'
        raise ShapeError(f"sparsity takes a matrix, not a result with {e.node.rank} axes", hint=hint)
    pattern = pattern_of(e.node, 1, _instance(e, by_name(sizes or {}, "sizes="), by_name(data or {}, "data=")))
    return Sparsity(pattern.matrix(np.ones(pattern.count, dtype=bool)))


def _instance(e: Expression, sizes: Mapping[str, Any], data: Mapping[str, Any]) -> Instance:
    """Return the numbers of all sizes, and the data on which a pattern depends.

    Raises: UnknownName.
    """
    needed = [s for s in e.names.ordered() if is_index(s) or is_sparse(s)]
    for node in needed:
        if node.name not in data:
            raise UnknownName(f"the pattern depends on {node.name}", hint=f'data={{"{node.name}": ...}}')
    for name in data:
        if name not in e.names.symbols:
            raise UnknownName(f"data gives a value for {name}, which the formula does not have")
    lengths = all_sizes([e.node], e.names)
    for name in sizes:
        if name not in lengths:
            raise UnknownName(f"sizes: {name} is not a size of the formula{nearest(name, lengths)}")
    known = {node.name: node for node in e.names.ordered() if node.name in data}
    operands = {name: operand_of(node, e.names, {}) for name, node in known.items()}
    arrays = {n: (to_csr if is_sparse(known[n]) else to_array)(operands[n], data[n]) for n in known}
    given = {name: to_size(name, value) for name, value in sizes.items()}
    found = solve([(n, known[n].shape) for n in known], {n: arrays[n].shape for n in known}, given)
    missing = [name for name in lengths if name not in found]
    if missing:
        raise UnknownName(f"the size {missing[0]} has no number", hint=f'sizes={{"{missing[0]}": ...}}')
    stored = {node.name: stored_entries(arrays[node.name]) for node in needed if is_sparse(node)}
    return Instance(found, {node.name: arrays[node.name] for node in needed if is_index(node)}, stored)
