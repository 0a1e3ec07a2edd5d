"""Flattens the groups of a long product, since it is written as one product.

The constructor forms the same groups again when the text is read. Wholes, which are not flattened, are one factor and
keep their parentheses. A part that has a name because it occurs several times is one factor too.
"""

from __future__ import annotations

from matcalc.formula.notation.context import Context
from matcalc.formula.notation.node_reading import Reading, whole
from matcalc.tensor.network import is_closed_scalar, is_whole
from matcalc.tensor.nodes.node import Node, OpenProduct


def opened(context: Context, node: Node) -> tuple[Context, OpenProduct]:
    """Return a product with its groups flattened, and a context in which its wholes are one factor each."""
    written = OpenProduct(node.coef, node.args, node.indices, node.out, node.index_sizes)
    readings: dict[Node, Reading] = {}
    position = 0
    while position < len(written.args):
        arg, reading = written.args[position], context.readings[written.args[position]]
        is_product = arg.kind == "product" and not is_closed_scalar(arg)
        if is_product and not is_whole(arg) and reading.form.ast.head != "shared":
            written = written.dissolved(position)
            continue
        readings[arg] = whole(reading) if is_product else reading
        if arg.kind == "selector":
            readings.update({lookup: context.readings[lookup] for lookup in arg.args})
        position += 1
    return context._replace(readings=readings), written
