"""Reads data of kind `index` as numbers in a function that is being traced.

A label that a function also looks up along an axis of k entries is the entry of 0, 1, ..., k - 1 at itself. The axis is
known when the function has returned. Until then a symbol stands for the number.
"""

from __future__ import annotations

from typing import Any

from matcalc.errors import ShapeError
from matcalc.expressions.loops.steps import stepping
from matcalc.expressions.numpy_bridge.index_sets import Looked
from matcalc.expressions.numpy_bridge.operators import Marked
from matcalc.expressions.numpy_bridge.taking import take
from matcalc.expressions.user_code.count_from_zero import iota
from matcalc.tensor.constructors import add, broadcast, size_number, symbol
from matcalc.tensor.lookups import is_index, lengths_of
from matcalc.tensor.nodes.node import Node, everything, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import substitute

OWN = "@"
"""The first character of the symbol of a label's number."""
ZERO = Size.of(0)


class Labels:
    """An array of indices plus an offset, which is an array of numbers in arithmetic."""

    __slots__ = ()
    node: Node
    offset: Size
    counted: Any

    @property
    def numbers(self) -> Node:
        """The indices as numbers."""
        return self._shifted(_as_numbers(self.node))

    @property
    def side(self) -> Node:
        """The indices as one side of a comparison."""
        return self._shifted(self.node)

    def _shifted(self, node: Node) -> Node:
        return add([(1, node), (1, broadcast(size_number(self.offset), node.shape))])

    def __neg__(self) -> Any:
        return -1 * self.counted

    @property
    def handed(self) -> Node:
        """The indices as an argument of NumPy's functions."""
        return self.numbers

    @property
    def marked(self) -> Marked:
        """The node that is evaluated."""
        return Marked(self.numbers, False)


def _as_numbers(node: Node) -> Node:
    """Return indices as numbers; an entry at a step of a loop is that of all numbers.

    Raises: ShapeError for an entry at a step that is not run.
    """
    found: dict[Node, Node] = {}
    for one in filter(is_index, toposort([node])):
        step = next((step for step in stepping.get() if one in step.sequences), None)
        if step is None and not one.name.isidentifier():
            hint = "compute with all entries before the loop, as in  z = 1.0*y,  and read  z[t]"
            raise ShapeError("an entry of an index is no number after its loop", hint=hint)
        own = symbol(OWN + one.name, one.shape)
        found[one] = own if step is None else step.slice_of(_as_numbers(step.sequences[one]))
    return substitute(node, found)


def with_labels(root: Node) -> Node:
    """Return a result with the numbers of its labels, looked up along the axis that the labels are looked up in.

    Raises: ShapeError for a label that is no subscript.
    """
    nodes = everything([root])
    numbers = [one for one in nodes if one.kind == "symbol" and one.name.startswith(OWN)]
    if not numbers:
        return root
    lengths = lengths_of([root])
    selecting = [one for node in nodes if node.kind == "selector" for arg in node.args for one in (arg, *arg.args)]
    labels = {one.name: one for one in selecting if is_index(one)}
    found: dict[Node, Node] = {}
    for one in numbers:
        name = one.name.removeprefix(OWN)
        if name not in labels:
            hint = f"declare it a vector or a scalar; labels that are subscripts, too, as in w[{name}], may be numbers"
            raise ShapeError(f"{name} is an index, not a number", hint=hint)
        found[one] = take(iota(lengths[name][0]), (Looked(labels[name], ZERO),))
    return substitute(root, found)
