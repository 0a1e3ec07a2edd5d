"""Binds arguments by position or name, and evaluates a node for them by plain NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from matcalc.calculus.derive.conventions import projected
from matcalc.calculus.evaluate.check_data import check_declared
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.calculus.simplify.simplify import stable_all
from matcalc.expressions.sympy_bridge.sympy_objects import is_sympy
from matcalc.language.containers import by_position, grouped, spread
from matcalc.language.kinds import INDEX, SPARSE
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.sizes_from_shapes import check_conditions, solve
from matcalc.tensor.substitute import substitute
from matcalc.tensor.symbols import Names, free_sizes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from matcalc.compiler.spec.spec import Operand

Value: TypeAlias = "float | npt.NDArray[np.float64]"


def value_of(
    node: Node, names: Names, args: Sequence[object], values: Mapping[str, object], check_facts: bool = False
) -> Value:
    """Return the value of a node for arguments in the order of its names, by plain NumPy.

    Raises: TypeError for an argument that is missing, unknown or not numeric, or a size that is no integer; ShapeError
        for a shape that does not fit; with `check_facts` the errors of `check_declared`.
    """
    import numpy as np

    from matcalc.compiler.call.bind import bind
    from matcalc.compiler.call.convert import to_numbers, to_size

    inputs, (root,) = project_tangents(names, names.ordered(), [node])
    leaves = [*(n.name for n in names.arguments()), *free_sizes([node], names)]
    expected = grouped(leaves, names.containers)
    alone = by_position(args, expected, names.containers)
    listed = bind("expression", expected, () if alone else args, {**alone, **values})
    given = dict(zip(expected, listed, strict=True))
    bound = {**names.bound, **spread(given, names.containers)}
    arrays = {n.name: to_numbers(_operand(n), _plain(_dense(n, bound[n.name]), n.rank)) for n in inputs}
    size_values = {name: to_size(name, bound[name]) for name in leaves if name not in arrays}
    sizes = solve([(n.name, n.shape) for n in inputs], {k: a.shape for k, a in arrays.items()}, size_values)
    if check_facts:
        check_declared((n.name, n.data[1], arrays[n.name]) for n in inputs)
    check_conditions(names.conditions, sizes)
    (found,) = evaluate(stable_all([root]), arrays, sizes)
    return float(found) if np.ndim(found) == 0 and not np.iscomplexobj(found) else found


def _operand(symbol: Node) -> Operand:
    from matcalc.compiler.spec.spec import Operand

    return Operand(symbol.name, symbol.shape, dtype="int64" if INDEX in symbol.data[1] else "float64")


def _dense(symbol: Node, value: Any) -> Any:
    """Return a sparse matrix as a dense one, for a symbol declared sparse: plain evaluation is for small data."""
    return value.toarray() if SPARSE in symbol.facts and hasattr(value, "toarray") else value


def _plain(value: object, rank: int) -> object:
    """Return a number or matrix of SymPy as an array; a matrix of one column or row is a vector if expected."""
    if not is_sympy(value):
        return value
    import numpy as np

    array = np.array(value.tolist() if hasattr(value, "tolist") else value, dtype=np.float64)
    return array.reshape(-1) if rank == 1 and array.ndim == 2 and 1 in array.shape else array


def project_tangents(names: Names, inputs: Sequence[Node], nodes: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """Return inputs and outputs with structured tangents as plain symbols, projected where they are used."""
    plain = {node: symbol(node.name, node.shape) for node in inputs if node.name in names.tangents and node.data[1]}
    if not plain:
        return list(inputs), list(nodes)
    replaced = {node: projected(new, node, 0) for node, new in plain.items()}
    return [plain.get(node, node) for node in inputs], [substitute(node, replaced) for node in nodes]
