"""The summands of a sum: a scalar as a vector over the axis that it sums.

A sum over rows is a product with a summed index, in coefficients and numbers: the index becomes the output's. Several
sums over one axis are one vector. What is no such sum has no summands, and is refused rather than spread over rows.
"""

from __future__ import annotations

from fractions import Fraction

from matcalc.errors import NotSupported
from matcalc.tensor.constructors import add, product
from matcalc.tensor.node import Node, Operand, everything
from matcalc.tensor.size import Size

Scale = tuple[Fraction | int, tuple[Operand, ...]]
"""What a sum is multiplied with: a number, and scalars."""


def summands(f: Node, over: Size) -> Node:
    """Return the vector whose sum is the scalar `f`, one entry for each place of the axis of length `over`.

    Shapes: f (); result (over,).
    Raises: NotSupported where `f` is no sum over one axis of this length.
    """
    found: list[tuple[Fraction | int, Node]] = []
    stack: list[tuple[Scale, Node]] = [((1, ()), f)]
    while stack:
        (coef, scalars), node = stack.pop()
        if node.kind == "sum":
            stack += [((coef * c, scalars), term) for c, term in reversed(node.terms)]
            continue
        rows = [k for k, size in node.sizes.items() if size == over and k not in node.out] if _is_product(node) else []
        if len(rows) > 1:
            raise NotSupported(f"two axes of length {over} are summed in one product: which are the rows is not said")
        if rows:
            operands = tuple(zip(node.args, node.indices, strict=True))
            found.append((1, product(coef * node.coef, (*operands, *scalars), (rows[0],), node.sizes)))
            continue
        inner = [k for k, arg in enumerate(node.args) if not arg.shape and _measures(arg, over)]
        if not _is_product(node) or len(inner) != 1:
            raise NotSupported(
                f"the formula is no sum over {over} alone", hint="leave out terms that belong to no row, as a penalty"
            )
        others = tuple(
            (arg, at) for k, (arg, at) in enumerate(zip(node.args, node.indices, strict=True)) if k != inner[0]
        )
        stack.append(((coef * node.coef, (*scalars, *others)), node.args[inner[0]]))
    return add(found)


def _is_product(node: Node) -> bool:
    return node.kind == "product" and not node.shape


def _measures(node: Node, over: Size) -> bool:
    """Whether an axis of this length occurs in a node."""
    return any(size == over for inner in everything([node]) for size in inner.shape)
