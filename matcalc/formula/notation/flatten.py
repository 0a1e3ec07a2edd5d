"""Opening: the groups of a long product dissolved, for it is written in one piece.

The constructor makes the groups again of whatever is read. Wholes, which it does not dissolve, are one factor: they
keep their parentheses. So does what has a name because it stands in several places.
"""

from __future__ import annotations

from matcalc.formula.notation.context import Context
from matcalc.formula.notation.node_reading import Reading, whole
from matcalc.tensor.network import is_closed_scalar, is_whole
from matcalc.tensor.node import Node, OpenProduct


def opened(context: Context, node: Node) -> tuple[Context, OpenProduct]:
    """Return a product with its groups dissolved, and a context in which its wholes are one factor each."""
    args, indices, sizes = list(node.args), list(node.indices), list(node.index_sizes)
    readings: dict[Node, Reading] = {}
    place = 0
    while place < len(args):
        arg, at, reading = args[place], indices[place], context.readings[args[place]]
        is_product = arg.kind == "product" and not is_closed_scalar(arg)
        if is_product and not is_whole(arg) and reading.form.ast.head != "shared":
            inner = dict(zip(arg.out, at, strict=True))
            for index, size in enumerate(arg.index_sizes):
                if index not in inner:
                    inner[index] = len(sizes)
                    sizes.append(size)
            args[place : place + 1] = arg.args
            indices[place : place + 1] = [tuple(inner[i] for i in own) for own in arg.indices]
            continue
        readings[arg] = whole(reading) if is_product else reading
        if arg.kind == "selector":
            readings.update({places: context.readings[places] for places in arg.args})
        place += 1
    written = OpenProduct(node.coef, tuple(args), tuple(indices), node.out, tuple(sizes))
    return context._replace(readings=readings), written
