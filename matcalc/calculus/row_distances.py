"""Reads sums that are squared differences multiplied out: `diag(X*X') .- 2*X*Y' .+ diag(Y*Y')'`, also with weights.

The rounded sum may be negative, and its root has no derivative where two rows are equal. The squares of the differences
have neither fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from matcalc.tensor.constructors import add, product
from matcalc.tensor.nodes.node import Indices, Node, Operand
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sums import split_coef


def as_squares(node: Node) -> Node | None:
    """Return a sum of two sums of squares and their cross term, or a multiple, as a sum of squares; None for others."""
    if node.kind == "product" and len(node.args) > 0:
        sums = [k for k, arg in enumerate(node.args) if arg.kind == "sum"]
        inner = as_squares(node.args[sums[0]]) if len(sums) == 1 else None
        if inner is None:
            return None
        operands = [(inner if k == sums[0] else arg, at) for k, (arg, at) in enumerate(node.operands)]
        return product(node.coef, operands, node.out, node.sizes)
    terms = dict((term, coef) for coef, term in node.terms) if node.kind == "sum" and len(node.args) == 3 else {}
    for cross, coef in terms.items():
        for ours, theirs, weights in _sides(cross):
            both = [_placed([*side, *side, *weights], cross) for side in (ours, theirs)]
            if all(terms.get(core) == -coef / 2 * factor for factor, core in both):
                return _squares(ours, theirs, weights, cross, -coef / 2)
    return None


Side = tuple[Operand, ...]


def _sides(cross: Node) -> Iterator[tuple[Side, Side, Side]]:
    """Yield the operands of a product by row, those by column, and those of neither."""
    if cross.kind != "product" or cross.rank != 2 or cross.out[0] == cross.out[1]:
        return
    row, column = cross.out
    if any(row in at and column in at for at in cross.indices):
        return
    ours = tuple(o for o in cross.operands if row in o[1])
    theirs = tuple(o for o in cross.operands if column in o[1])
    if ours and theirs:
        yield ours, theirs, tuple(o for o in cross.operands if o not in ours and o not in theirs)


def _placed(operands: list[Operand], cross: Node) -> tuple[Fraction, Node]:
    """Return the product of operands with the axes of the cross term: its number, and the rest."""
    return split_coef(product(cross.coef, operands, cross.out, _lengths(cross, cross.out)))


def _squares(ours: Side, theirs: Side, weights: Side, cross: Node, coef: Fraction) -> Node:
    summed = tuple(i for i in range(len(cross.index_sizes)) if i not in cross.out)
    every = (*cross.out, *summed)
    rows, columns = (product(1, side, every, _lengths(cross, every)) for side in (ours, theirs))
    gap = add([(Fraction(1), rows), (Fraction(-1), columns)])
    return product(coef * cross.coef, [(gap, every), (gap, every), *weights], cross.out, _lengths(cross, cross.out))


def _lengths(cross: Node, at: Indices) -> dict[int, Size]:
    return {i: cross.index_sizes[i] for i in at}
