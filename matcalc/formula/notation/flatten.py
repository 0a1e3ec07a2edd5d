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
    written = OpenProduct(node.coef, node.args, node.indices, node.out, node.index_sizes)
    readings: dict[Node, Reading] = {}
    place = 0
    while place < len(written.args):
        arg, reading = written.args[place], context.readings[written.args[place]]
        is_product = arg.kind == "product" and not is_closed_scalar(arg)
        if is_product and not is_whole(arg) and reading.form.ast.head != "shared":
            written = written.dissolved(place)
            continue
        readings[arg] = whole(reading) if is_product else reading
        if arg.kind == "selector":
            readings.update({places: context.readings[places] for places in arg.args})
        place += 1
    return context._replace(readings=readings), written
