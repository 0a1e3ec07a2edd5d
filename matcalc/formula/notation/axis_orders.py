"""Chooses the orders of axes of operands with several axes: squares look equal, sums have the order of the result."""

from __future__ import annotations

from matcalc.formula.notation.context import Context
from matcalc.formula.notation.node_reading import summed
from matcalc.tensor.axes import with_axes
from matcalc.tensor.constructors import add
from matcalc.tensor.nodes.node import Node, OpenProduct


def aligned(written: OpenProduct) -> OpenProduct:
    """Return a product whose equal operands have equal indices where an exchange of axes allows it: squares."""
    first: dict[Node, tuple[int, ...]] = {}
    coef, indices = written.coef, list(written.indices)
    for k, (arg, at) in enumerate(written.operands):
        wanted = first.setdefault(arg, at)
        if at != wanted and arg.rank > 2:
            signs = [sign for order, sign in arg.exchanges if tuple(at[axis] for axis in order) == wanted]
            if signs:
                coef, indices[k] = coef * signs[0], wanted
    return written._replace(coef=coef, indices=tuple(indices))


def in_listed_order(whole: Context, context: Context, written: OpenProduct) -> tuple[Context, OpenProduct] | None:
    """Return a product whose sums of order 3 or more have their axes in the listed order; None if they already are.

    A sum has an order of axes of its own; the order in which its terms show them is free.
    """
    listed = {index: position for position, index in enumerate(written.out)}
    readings, args, indices = dict(context.readings), list(written.args), list(written.indices)
    for position, (arg, at) in enumerate(zip(written.args, written.indices, strict=True)):
        order = tuple(sorted(range(arg.rank), key=lambda axis: (listed.get(at[axis], len(listed)), axis)))
        if arg.kind != "sum" or arg.rank < 3 or order == tuple(range(arg.rank)) or written.args.count(arg) > 1:
            continue
        ordered = with_axes(arg, order)
        if len(written.args) > 1:
            readings[ordered] = whole.readings[ordered]
        else:
            terms = [(coef, with_axes(term, order)) for coef, term in arg.terms]
            if add(terms) is not ordered:
                continue
            readings[ordered] = summed([(c, whole.readings[t]) for c, t in terms], [t.digest for _, t in terms])
        args[position] = ordered
        indices[position] = tuple(at[axis] for axis in order)
    if tuple(indices) == tuple(written.indices):
        return None
    return context._replace(readings=readings), written._replace(args=tuple(args), indices=tuple(indices))
