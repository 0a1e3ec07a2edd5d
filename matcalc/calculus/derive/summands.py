"""Finds the summands of a sum over observations in the normal form: the vector whose entries add up to a scalar.

In the normal form a sum over rows is a product in which the rows' index is contracted. With this index in the output it
gives the summands. Terms outside such a sum belong to no observation, except multiples of the number of rows.
"""

from __future__ import annotations

from matcalc.tensor.constructors import add, ones, product
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size


def summands(node: Node, count: Size) -> Node | None:
    """Return the vector of `count` entries whose sum is a scalar; None if it is no such sum, or two at once.

    Example:
        >>> from matcalc.expressions.read_input import expression
        >>> from matcalc.tensor.symbols import Names
        >>> e = expression("y'*X*w - m*t", "t: scalar; X: matrix(m, n)")
        >>> str(type(e)(summands(e.node, e.names.symbols["y"].shape[0]), e.names))
        'y.*(X*w) - t'
    """
    if node.kind == "size" and node.data[0] == count:
        return ones((count,))
    if node.kind == "sum":
        parts = [summands(arg, count) for arg in node.args]
        found = [(coef, part) for coef, part in zip(node.data[0], parts, strict=True) if part is not None]
        return add(found) if len(found) == len(parts) else None
    if node.kind != "product":
        return None
    coef, indices, _, lengths = node.data
    operands, sizes = list(zip(node.args, indices, strict=True)), dict(enumerate(lengths))
    rows = [axis for axis, length in sizes.items() if length == count]
    if rows:
        return product(coef, operands, (rows[0],), sizes) if len(rows) == 1 else None
    scalars = [(k, summands(arg, count)) for k, (arg, at) in enumerate(operands) if not at]
    split = [(k, part) for k, part in scalars if part is not None]
    sums = [(k, part) for k, part in split if operands[k][0].kind != "size"] or split
    if len(sums) != 1:
        return None
    ((position, part),), axis = sums, len(lengths)
    operands[position] = (part, (axis,))
    return product(coef, operands, (axis,), {**sizes, axis: count})
