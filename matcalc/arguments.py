"""Arguments given by position or name, and the value of a node for them by plain NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matcalc.calculus.derive import projected
from matcalc.calculus.evaluate import evaluate
from matcalc.errors import ShapeError, UnknownName
from matcalc.lengths import solve
from matcalc.names import Names, free_sizes
from matcalc.normal_form.node import Node
from matcalc.normal_form.substitute import substitute
from matcalc.normal_form.tensor import symbol
from matcalc.rulebook.fields import nearest


def value_of(node: Node, names: Names, args: Sequence[Any], values: Mapping[str, Any]) -> Any:
    """Return the value of a node for arguments in the order of its names, by plain NumPy."""
    import numpy as np

    inputs, (root,) = project_tangents(names, names.ordered(), [node])
    expected = [*(n.name for n in names.ordered()), *free_sizes([node], names)]
    bound = bind_arguments(expected, args, values)
    arrays = {n.name: np.asarray(bound[n.name]) for n in inputs}
    given = {name: int(bound[name]) for name in expected if name not in arrays}
    sizes = solve([(n.name, n.shape) for n in inputs], {k: a.shape for k, a in arrays.items()}, given)
    (found,) = evaluate([root], arrays, sizes)
    return float(found) if np.ndim(found) == 0 and not np.iscomplexobj(found) else found


def bind_arguments(expected: Sequence[str], args: Sequence[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by name from positions and keywords.

    Raises: ShapeError that names what is missing, UnknownName what is too much.
    """
    if len(args) > len(expected):
        raise ShapeError(f"{len(args)} arguments for {len(expected)}: {', '.join(expected)}")
    bound = dict(zip(expected, args, strict=False))
    for name, value in values.items():
        if name not in expected:
            raise UnknownName(f"no argument {name}{nearest(name, list(expected))}; they are {', '.join(expected)}")
        if name in bound:
            raise ShapeError(f"the argument {name} is given twice")
        bound[name] = value
    missing = [name for name in expected if name not in bound]
    if missing:
        raise ShapeError(f"missing argument{'s' if len(missing) > 1 else ''} {', '.join(missing)}")
    return bound


def project_tangents(names: Names, inputs: Sequence[Node], nodes: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """Return inputs and outputs with structured tangents as plain symbols, projected where they are used."""
    plain = {node: symbol(node.name, node.shape) for node in inputs if node.name in names.tangents and node.data[1]}
    if not plain:
        return list(inputs), list(nodes)
    replaced = {node: projected(new, node, 0) for node, new in plain.items()}
    return [plain.get(node, node) for node in inputs], [substitute(node, replaced) for node in nodes]
